"""The error model against decryptions: the nine kernels, and repeated positive maps, at many parameter sets.

    python -m ringmill.studies.validation.error --out FILE

What is predicted is the error of the worst of all slots of all results, before anything runs, for arguments
no larger than 1, exceeded by one run in `1 / FAILURE`. Beside it stands the worst slot that was decrypted in
`RUNS` runs, each with fresh keys and encryptions, of arguments that are all 1 or −1: those that the
prediction is for. Parameters are toys below 128 bits, since the error does not depend on the security.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ringmill._native import Params
from ringmill.atomic import write_text
from ringmill.compiled import compile_traced
from ringmill.kernels import NINE, PaperKernel
from ringmill.progress import Show, steps
from ringmill.studies.stored import text_of
from ringmill.studies.validation.positive import POSITIVE
from ringmill.trace import Traced
from ringmill.validate.design import worst_slot

#: What is run at every set.
KERNELS = (*NINE, *POSITIVE)

#: Bits of the primes that rescaling divides by, and of the scale.
SCALES = (26, 28, 31, 34, 36, 38, 40, 43, 46, 48)
#: Bits by which the first prime is wider: space for the result's integer part.
MARGIN = 12
#: log2 N, special primes, distribution of the secret.
SHAPES = ((12, 1, "ternary"), (12, 2, "gaussian"), (13, 1, "gaussian"), (13, 2, "ternary"))

#: Runs of a point, and the chance at which the model predicts: half of such sets of runs exceed it,
#: (1 − FAILURE)^RUNS ≈ 1/2.
RUNS, FAILURE = 8, 1 / 12

#: Held by the tests, in bits: median deviation of all points, of one kernel's; how optimistic any may be.
MEDIAN, KERNEL_MEDIAN, OPTIMISTIC = 1.5, 2.5, 0.5

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Set:
    """A parameter set, for a program of some depth."""

    scale_bits: int
    log_n: int
    special: int
    secret: str

    def params(self, depth: int) -> Params:
        """The parameters: a prime a level, digits as long as there are special primes."""
        first = self.scale_bits + MARGIN
        q = [first, *[self.scale_bits] * depth]
        digits = -(-len(q) // self.special)
        p = [first] * self.special
        return Params.from_bits(
            self.log_n, q, p, digits, secret=self.secret, scale_bits=self.scale_bits, insecure=True
        )


def sets() -> list[Set]:
    """All of them."""
    return [Set(bits, *shape) for bits, shape in itertools.product(SCALES, SHAPES)]


def depth_of(traced: Traced) -> int:
    """Levels that a program takes."""
    return compile_traced(traced, precision=10).plan.depth


def corner(row: PaperKernel, seed: int) -> tuple[Traced, dict[str, Any]]:
    """The kernel with plain operands of one size each, and encrypted ones of 1 and −1."""
    data = row.data(seed)
    traced = row.function.trace(
        *(
            np.sign(x) * np.max(np.abs(x)) if spec is None else spec
            for spec, x in zip(row.specs, data, strict=True)
        )
    )
    return traced, {name: np.sign(x) for name, x in row.encrypted(seed).items()}


def measure(
    row: PaperKernel, traced: Traced, arguments: dict[str, Any], chosen: Set, runs: int = RUNS
) -> Row:
    """One kernel at one set: predicted and measured error in bits."""
    compiled = compile_traced(traced, params=chosen.params(depth_of(traced)))
    return {
        "kernel": row.letter,
        "log_n": chosen.log_n,
        "scale_bits": chosen.scale_bits,
        "special": chosen.special,
        "dnum": compiled.params.dnum,
        "secret": chosen.secret,
        "slots": compiled.signature.slots,
        "predicted_log2": round(max(compiled.plan.predicted_error(FAILURE).values()), 3),
        "measured_log2": round(max(worst_slot(compiled, arguments) for _ in range(runs)), 3),
    }


def sweep(
    kernels: Iterable[PaperKernel], chosen: list[Set], show: Show = "none", runs: int = RUNS
) -> Iterator[Row]:
    """Every kernel at every set."""
    kernels = list(kernels)
    with steps("error model", len(kernels) * len(chosen), show) as step:
        for row in kernels:
            traced, arguments = corner(row, seed=2022)
            for one in chosen:
                step(f"{row.letter} 2^{one.log_n} {one.scale_bits}")
                yield measure(row, traced, arguments, one, runs)


def summary(rows: list[Row]) -> Row:
    """Deviations in bits: predicted minus measured, above 0 where the model is pessimistic."""
    by_kernel = {}
    for letter in sorted({row["kernel"] for row in rows}):
        off = [r["predicted_log2"] - r["measured_log2"] for r in rows if r["kernel"] == letter]
        by_kernel[letter] = _spread(off)
    return {"all": _spread([r["predicted_log2"] - r["measured_log2"] for r in rows]), "kernels": by_kernel}


def _spread(off: list[float]) -> Row:
    return {
        "points": len(off),
        "median_deviation": round(statistics.median(abs(x) for x in off), 3),
        "most_optimistic": round(max(0.0, -min(off)), 3),
        "most_pessimistic": round(max(0.0, max(off)), 3),
    }


def main() -> int:
    """Run everything and store it."""
    parser = argparse.ArgumentParser(prog="python -m ringmill.studies.validation.error", description=__doc__)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    letters = "".join(row.letter for row in KERNELS)
    parser.add_argument("--kernel", default=letters, help="letters of the kernels")
    options = parser.parse_args()
    rows = list(sweep((row for row in KERNELS if row.letter in options.kernel), sets(), "auto"))
    reported = summary(rows)
    print(json.dumps(reported, indent=1))
    if options.out:
        write_text(options.out, text_of({"summary": reported, "rows": rows}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
