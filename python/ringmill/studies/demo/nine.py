"""The nine kernels of coxHE's Table II, compiled, run and held against NumPy."""

from __future__ import annotations

import time
from typing import Any

from ringmill.compiled import Compiled, compile_traced
from ringmill.kernels import NINE, PaperKernel
from ringmill.progress import Show, steps
from ringmill.studies.demo.clinic import outline

PRECISION = 16
# The first evaluation lowers the program and touches its memory; the least of the others is reported.
REPEATS = 3


def run_kernel(row: PaperKernel) -> dict[str, Any]:
    """One kernel from trace to checked result."""
    traced = row.trace()
    compiled: Compiled = compile_traced(traced, precision=PRECISION, magnitude=1.0)
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys, row.encrypted())
    seconds = []
    results = compiled.evaluate(keys, arguments)
    for _ in range(REPEATS):
        start = time.perf_counter()
        results = compiled.evaluate(keys, arguments)
        seconds.append(time.perf_counter() - start)
    compared = compiled.measure_error(keys, results, row.reference(*row.data()))
    return {
        "letter": row.letter,
        "label": f"{row.letter}  {row.title}",
        "title": row.title,
        "operands": row.operands,
        "size": row.size,
        "log_n": compiled.params.log_n,
        "depth": compiled.plan.depth,
        "key_switches": compiled.cost["key_switches"],
        "key_bytes": compiled.plan.key_bytes,
        "seconds": min(seconds),
        "predicted_log2": results.error_log2,
        "measured_log2": max(comparison.measured_log2 for comparison in compared.values()),
        "program": {"name": traced.name, "text": traced.text, "outline": outline(traced.text)},
    }


def run_nine(show: Show) -> list[dict[str, Any]]:
    """All nine, in the table's order."""
    rows = []
    with steps("kernels", len(NINE), show) as step:
        for row in NINE:
            step(f"{row.letter} {row.title} {row.size}")
            rows.append(run_kernel(row))
    return rows
