"""Table IV over the number of digits: a bootstrapping and products at every level left, compiled and priced.

Chains follow Equation 1 at N = 2^16 with primes of 36 bits, (38, 6) among them. Times are predictions by the
shipped costs of one core. Compiling takes minutes, so what was found is stored in ``swept.json``;
``python -m ringmill.studies.papers.taiyi_parameters`` makes it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ringmill._native import Params
from ringmill.compiled import Compiled, compile_traced
from ringmill.errors import RingmillError
from ringmill.studies.papers.figures import read_figures
from ringmill.studies.papers.taiyi_parameters.rows import shape
from ringmill.studies.stored import read_stored
from ringmill.trace import kernel, vector
from ringmill.trace.marks import bootstrap

Row = dict[str, Any]

FILE = "swept.json"
LOG_N = 16
#: Numbers of digits: from one special prime a limb to three limbs a digit.
DIGITS = (1, 2, 3, 4, 6, 9, 15)


@kernel
def _refresh(x: Any) -> Any:
    """Bootstrapping alone."""
    return bootstrap(x)


@kernel
def _product(x: Any, y: Any) -> Any:
    return x * y


def _seconds(compiled: Compiled) -> float:
    return float(compiled.work()["seconds"])


def priced(dnum: int) -> Row:
    """Return what the chain of a number of digits takes, or the reason why nothing is compiled for it."""
    figures = read_figures(__package__)
    target = next(row["target"] for row in figures["security"] if row["log_n"] == LOG_N)
    s = shape(LOG_N, dnum, target)
    row: Row = {"dnum": dnum, "level": s.limbs - 1, "special": s.special}
    bits = figures["word_bits"]
    try:
        params = Params.from_bits(LOG_N, [bits] * s.limbs, [bits] * s.special, dnum)
        boot = _refresh.compile(vector(params.slots), params=params)
        left = s.limbs - 1 - boot.plan.depth
        if left < 1:
            return {**row, "reason": f"a bootstrapping takes {boot.plan.depth} of its {s.limbs - 1} levels"}
        traced = _product.trace(vector(params.slots), vector(params.slots))
        products = [compile_traced(traced, params=params, output_level=end) for end in range(left)]
    except RingmillError as refused:
        return {**row, "reason": f"not compiled: {refused.message.split('.py:')[-1].split(': ', 1)[-1]}"}
    return {
        **row,
        "boot_levels": boot.plan.depth,
        "levels_left": left,
        "boot_seconds": round(_seconds(boot), 3),
        "product_seconds": round(sum(map(_seconds, products)), 4),
        "log2_error": round(max(boot.predicted_error.values()), 1),
    }


def made(reported: Callable[[Row], None]) -> Row:
    """Price every chain, and print each as it is found."""
    rows = []
    for dnum in DIGITS:
        rows.append(priced(dnum))
        reported(rows[-1])
    return {"costs": "shipped: one core of Zen 4", "rows": rows}


def stored() -> Row:
    """Return what was priced last."""
    return read_stored(__package__, FILE)


def nanoseconds(row: Row) -> float:
    """Return the time of a multiplication and slot, bootstrapping included, as Table IV defines it."""
    return float((row["boot_seconds"] + row["product_seconds"]) * 1e9 / row["levels_left"] * 2 / 2**LOG_N)
