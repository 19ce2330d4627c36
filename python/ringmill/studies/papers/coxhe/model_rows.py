"""Rows that follow from coxHE's models alone: Eq. 5 for each design, Eq. 11 over depth, memory on chip."""

from __future__ import annotations

from collections.abc import Iterator

import ringmill
from ringmill._native import Params
from ringmill.compiled import compile_traced
from ringmill.kernels import NINE
from ringmill.studies.papers.coxhe import models
from ringmill.studies.papers.coxhe.rows import CLOCK_MHZ, KERNEL, LIMBS, Row, complete, drift
from ringmill.studies.papers.figures import read_figures

#: Eq. 11: depths, and the ring and the width of the chain that decrypts; the base prime is wider.
DEPTHS, LOG_N, BITS, WIDER = range(1, 7), 14, 43, 10
#: What is said of values between −1 and 1.
SLOTS = 16


def ports() -> Iterator[Row]:
    """Eq. 3 to 8 for the designs of Table III, with the words a cycle that Eq. 5 gives for their ports.

    A multiplier is balanced with a transform when both take equally long: Eq. 3 equal to Eq. 4.
    """
    kernel = next(row for row in NINE if row.letter == KERNEL)
    cost = compile_traced(kernel.trace(), precision=10).cost
    products = cost.get("mul_plain", 0) + cost.get("mul_scalar", 0)
    calls = models.Calls(cost["key_switches"], cost.get("rescale", 0), products, cost.get("add", 0))
    for design in read_figures(__package__)["design"]:
        n, pintra = design["n"], design["pintra"]
        fed = models.parallel_by_ports(design["packnum"], design["portnum"])
        balanced = 2 * pintra / (n.bit_length() - 1)
        reported: Row = {"by_ports": fed, "balanced": round(balanced, 2)}
        for name, words in (("ms_by_ports", fed), ("ms_balanced", balanced)):
            cycles = models.kernel_cycles(n, models.Modules(pintra, words, words, words), LIMBS, calls)
            reported[name] = round(cycles / CLOCK_MHZ / 1e3, 4)
        paper = {name: design[name] for name in ("pintra", "portnum", "packnum", "latency_ms")}
        row = {
            "table": "Eq. 5",
            "row": design["row"],
            "n": n,
            "bits": design["bits"],
            "board": design["board"],
        }
        yield complete({**row, "paper": paper, "model_of_paper": reported})


def depths() -> Iterator[Row]:
    """Eq. 11: the drift that the paper calls error, and the error that decrypts, over a power's depth."""
    one = drift(1 << LOG_N, BITS)
    for depth in DEPTHS:
        params = Params.from_bits(
            LOG_N, [BITS + WIDER] + [BITS] * depth, [BITS + WIDER], depth + 1, scale_bits=BITS, insecure=True
        )
        power = ringmill.kernel(lambda x, exponent=1 << depth: x**exponent)
        compiled = power.compile(ringmill.vector(SLOTS), params=params)
        row: Row = {"table": "Eq. 11", "row": f"depth {depth}", "n": 1 << LOG_N, "bits": BITS, "depth": depth}
        row["model_of_paper"] = {"error": models.error_at_depth(one, depth)}
        row["ours"] = {"error": 2.0 ** max(compiled.predicted_error.values())}
        yield complete(row)


def memory() -> Iterator[Row]:
    """The example of Section III: parameters for which a board has too little memory on chip."""
    figures = read_figures(__package__)
    example = figures["too_large"]
    yield complete(
        {
            "table": "Section III",
            "row": "memory on chip",
            "n": example["n"],
            "bits": example["bits"],
            "board": "zcu104",
            "paper": {"mbit": example["mbit"], "board_mbit": figures["board"]["zcu104"]["on_chip_mbit"]},
            "model_of_paper": {"mbit": models.megabits_on_chip(example["n"], example["bits"])},
            "remarks": ["ours keeps six limbs on chip and streams the rest: docs/area.md has its block RAM"],
        }
    )


def rows() -> list[Row]:
    """Return every row."""
    return [*ports(), *depths(), *memory()]
