"""A product of two encrypted matrices in six forms that a person would write, and as ``@`` takes it.

    python -m benches.product_forms [--out FILE] [--jobs N]
    python -m benches.product_forms --print [FILE]

Each shape of a grid is compiled in every form for results of 16 bits. Compared are the seconds that a run
takes by the cost model of the CPU and the bytes of its keys. Nothing is timed, so that every machine gives
the same figures. Sides are 1, 2, 8, 20, 64 and 256, products of the three sides at most 2^15.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import multiprocessing
import statistics
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ringmill as rm
from ringmill.atomic import write_text
from ringmill.studies.stored import text_of

Form = Callable[[Any, Any], Any]


Shape = tuple[int, int, int]

STORED = Path(__file__).parents[1] / "docs" / "measured" / "product-forms.json"
#: Shapes (r, c, p) that a ring holds in some form; the others need blocks of 2^16 slots and more.
GRID: list[Shape] = [
    shape for shape in itertools.product([1, 2, 8, 20, 64, 256], repeat=3) if math.prod(shape) <= 1 << 15
]
#: How much more than the best form the chosen way may take.
BAR = 1.2


def chosen(a: Any, b: Any) -> Any:
    """As a person writes it who leaves the way to the compiler."""
    return a @ b


def copies(a: Any, b: Any) -> Any:
    """Both factors copied along the axis that they lack, one product, and a sum."""
    return (a[:, :, None] * b[None, :, :]).sum(axis=1)


def columns(a: Any, b: Any) -> Any:
    """A product with a vector for each column of the right factor."""
    return np.stack([a @ b[:, j] for j in range(b.shape[1])], axis=1)


def rows(a: Any, b: Any) -> Any:
    """A product with a vector for each row of the left factor."""
    return np.stack([a[i] @ b for i in range(a.shape[0])], axis=0)


def outer(a: Any, b: Any) -> Any:
    """A sum of products of a column and a row."""
    return sum(a[:, k : k + 1] * b[k : k + 1, :] for k in range(a.shape[1]))


def diagonals(a: Any, b: Any) -> Any:
    """Wrapped diagonals of a square result: element (i, i + d) for each d."""
    turned = [np.concatenate([b[:, d:], b[:, :d]], axis=1) if d else b for d in range(a.shape[0])]
    return np.stack([(a.T * t).sum(axis=0) for t in turned])


def squares(a: Any, b: Any) -> Any:
    """Both factors in squares of the largest side."""
    side = max(*a.shape, *b.shape)
    wide = [np.pad(m, [(0, side - n) for n in m.shape]) for m in (a, b)]
    return copies(*wide)[: a.shape[0], : b.shape[1]]


FORMS: list[Form] = [copies, columns, rows, outer, diagonals, squares]


def fits(form: Form, shape: Shape) -> bool:
    """Whether a form is one of this shape: diagonals need a square result, squares 2^16 slots at most."""
    r, c, p = shape
    if form is diagonals:
        return r == p
    return form is not squares or (max(shape) <= 40 and len({r, c, p}) > 1)


@dataclass(frozen=True)
class Cost:
    """Predicted milliseconds of a run on one core, and megabytes of keys."""

    ms: float
    mb: float


def cost(form: Form, shape: Shape) -> Cost:
    """What a form takes of results of 16 bits."""
    r, c, p = shape
    compiled = rm.kernel(form).compile(rm.matrix(r, c), rm.matrix(c, p), precision=16)
    return Cost(1e3 * compiled.work()["seconds"], compiled.cost["key_bytes"] / 1e6)


def costs(shape: Shape) -> dict[str, Cost]:
    """What every form of a shape takes, and under ``chosen`` the way that ``@`` takes."""
    found = {}
    for form in (chosen, *FORMS):
        if form is chosen or fits(form, shape):
            # Some forms fit into no ring.
            with suppress(rm.KernelError, rm.ParameterError, rm.ProgramError):
                found[form.__name__] = cost(form, shape)
    return found


def stored(path: Path = STORED) -> list[dict[str, Any]]:
    """The rows of a stored grid."""
    rows: list[dict[str, Any]] = json.loads(path.read_text())["rows"]
    return rows


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """How the chosen ways compare with the best forms, as lines of Markdown."""
    ratios, apart = [], []
    for row in rows:
        ms, mb = row["chosen"]
        forms = list(row["forms"].values())
        best = min(f[0] for f in forms), min(f[1] for f in forms)
        product = ms * mb / min(f[0] * f[1] for f in forms)
        one = any(f[0] <= BAR * best[0] and f[1] <= BAR * best[1] for f in forms)
        ratios.append((ms / best[0], mb / best[1], product))
        if ms > BAR * best[0] or mb > BAR * best[1]:
            apart.append((row["shape"], *ratios[-1], one))
    means = [statistics.geometric_mean(r[k] for r in ratios) for k in range(3)]
    held = [sum(r[k] <= BAR ** (1 + (k == 2)) for r in ratios) for k in range(3)]
    lines = [
        "| of the best form | geometric mean | largest | shapes within the bar |",
        "|---|---|---|---|",
    ]
    for k, name in enumerate(("time", "keys", "time × keys")):
        bar = BAR ** (1 + (k == 2))
        most = max(r[k] for r in ratios)
        lines.append(f"| {name} | {means[k]:.2f} | {most:.2f} | {held[k]} of {len(rows)} within {bar:.2f} |")
    none = sum(not one for *_, one in apart)
    lines += [
        "",
        f"{len(rows) - len(apart)} of {len(rows)} shapes are within {BAR} of the best form in time and of "
        f"the best in keys. Of the other {len(apart)}, {none} have no form that is within it in both.",
        "",
        "| shape | time | keys | time × keys | a form within the bar in both |",
        "|---|---|---|---|---|",
    ]
    for shape, ms, mb, product, one in sorted(apart, key=lambda row: -max(row[1:3])):
        side = " × ".join(map(str, shape))
        lines.append(f"| {side} | {ms:.2f} | {mb:.2f} | {product:.2f} | {'yes' if one else 'none'} |")
    return lines


def _row(shape: Shape) -> dict[str, Any]:
    found = {name: [round(c.ms, 3), round(c.mb, 3)] for name, c in costs(shape).items()}
    return {"shape": shape, "chosen": found.pop("chosen"), "forms": found}


def main() -> None:
    """Compile every shape in every form, or print what is stored."""
    parser = argparse.ArgumentParser(prog="python -m benches.product_forms", description=__doc__)
    parser.add_argument("--out", type=Path, default=STORED)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--print", nargs="?", type=Path, const=STORED, dest="shown")
    options = parser.parse_args()
    if options.shown:
        print("\n".join(summary(stored(options.shown))))
        return
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        rows = sorted(pool.imap_unordered(_row, GRID, chunksize=1), key=lambda row: row["shape"])
    write_text(options.out, text_of({"precision": 16, "unit": ["ms", "MB"], "rows": rows}))
    print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()
