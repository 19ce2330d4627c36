"""Functional coverage: the points of a test plan, and which of them the tests of a block reach.

`rtl/BLOCK/test/plan.json` is a list of

    {"point": "error", "of": [{"operation": ["ntt", "add"]}, {"error": ["opcode", "bank"]}],
     "not": [["ntt", "bank"]], "why": "…", "tests": ["decode"]}

A point is every combination of the values, but for those that begin as one of `not` does; `*` stands for any
value. A harness prints what it reached (`cover.h`). A point counts when all tests that it names have run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from rtl.tools.block import RTL, BlockError, load

#: How a line of a harness begins.
WORD = "COVER "
#: Holes that are printed of a point.
_SHOWN = 8


@dataclass(frozen=True)
class Point:
    """One point of a plan: its bins, and the tests that reach them together."""

    name: str
    bins: tuple[str, ...]
    tests: tuple[str, ...]


def plan(block: str, root: Path = RTL) -> list[Point]:
    """The plan of a block, none where it has none.

    A test that the block does not have, or an exception that matches nothing, is a `BlockError`.
    """
    file = root / block / "test" / "plan.json"
    if not file.is_file():
        return []
    known = {test.name for test in load(block, root).tests}
    points = []
    for spec in json.loads(file.read_text()):
        name, values = spec["point"], [list(map(str, next(iter(one.values())))) for one in spec["of"]]
        if missing := [test for test in spec["tests"] if test not in known]:
            raise BlockError(f"{file}: point {name}: no test {missing[0]}")
        bins = list(product(*values))
        for rule in spec.get("not", []):
            kept = [one for one in bins if not _matches(rule, one)]
            if len(kept) == len(bins):
                raise BlockError(f"{file}: point {name}: nothing is left out by {rule}")
            bins = kept
        points.append(Point(name, tuple("/".join((name, *one)) for one in bins), tuple(spec["tests"])))
    return points


def _matches(rule: list[str], values: tuple[str, ...]) -> bool:
    return all(wanted in ("*", value) for wanted, value in zip(map(str, rule), values, strict=False))


def parsed(lines: Iterable[str]) -> Counter[str]:
    """What a harness printed."""
    found: Counter[str] = Counter()
    for line in lines:
        if line.startswith(WORD):
            key, _, times = line.removeprefix(WORD).rpartition(" ")
            found[key] += int(times)
    return found


def holes(block: str, reached: dict[str, Counter[str]], root: Path = RTL) -> list[str]:
    """Print the figures of a block and return the bins that nothing reached.

    Args:
        block: its name.
        reached: by test, what it printed. A point whose tests did not all run is left out.
        root: the folder of the blocks.
    """
    missed: list[str] = []
    for point in plan(block, root):
        if not set(point.tests) <= set(reached):
            continue
        hit = set().union(*(reached[test] for test in point.tests))
        left = [one for one in point.bins if one not in hit]
        shown = " ".join(left[:_SHOWN]) + (" …" if len(left) > _SHOWN else "")
        print(
            f"cover {block}/{point.name}: {len(point.bins) - len(left)} of {len(point.bins)}"
            + (f"; not reached: {shown}" if left else "")
        )
        missed += left
    return missed
