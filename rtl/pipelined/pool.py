"""Key switches on a pool of in-place transform units: what a build is made of, and its figures.

    python -m rtl.pipelined.pool             intervals and latencies of some sets on ten units
    python -m rtl.pipelined.pool 4 1 4       the timetable of one of them, as the test bench reads it
    python -m rtl.pipelined.pool --search    finds them anew, into the machine's `timetables.txt`

The cycles are those of machine `pipelined`, whose model stands in `crates/machine/src/pipelined/pool`.
`rtl/tools/tests/test_pool.py` holds every start and every end to the RTL.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import NamedTuple

from ringmill._native import pool_run, pool_search, pool_sums, pool_timetable
from rtl.tools.block import RTL

#: Rows of a unit are of 16 words.
LANES = 16
#: Butterflies of a unit, and multipliers of its twiddle factors.
BUTTERFLIES, TWIDDLES = 32, 15


class Sort(NamedTuple):
    """A parameter set: limbs, special primes, digits."""

    limbs: int
    special: int
    digits: int

    @property
    def alpha(self) -> int:
        """Limbs of a digit; the last one may have fewer."""
        return -(-self.limbs // self.digits)

    @property
    def transforms(self) -> int:
        """Transforms of a key switch."""
        return (self.digits + 2) * (self.limbs + self.special)


class Row(NamedTuple):
    """A row of a timetable, as `rm_pool_pkg` has it; kind 0 takes a key switch. Special moduli come last."""

    kind: int
    unit: int
    mod: int
    part: int
    age: int


class Start(NamedTuple):
    """A task that starts."""

    switch: int
    kind: int
    unit: int
    mod: int
    part: int
    cycle: int


class Ran(NamedTuple):
    """Starts in their order, and the last row of each key switch."""

    starts: list[Start]
    ends: list[int]


@dataclass(frozen=True)
class Pool:
    """A build of `rm_pool_key_switch` at a degree; `multiplier`: the cycles of a product."""

    log_n: int
    multiplier: int
    units: int
    feeds: int
    #: Limbs of sums; 0 for those of a build for the set.
    sums: int = 0

    def _numbers(self) -> tuple[int, int, int, int, int]:
        return self.log_n, self.multiplier, self.units, self.feeds, self.sums

    def limbs_of_sums(self, sort: Sort) -> int:
        """Of this build, or of one for this set."""
        return self.sums or pool_sums((sort.limbs, sort.special, sort.alpha))

    def bound(self, sort: Sort) -> float:
        """Cycles that the butterflies need at least for a key switch."""
        return sort.transforms * self.log_n * (1 << (self.log_n - 1)) / (BUTTERFLIES * self.units)

    def multipliers(self, sort: Sort) -> dict[str, int]:
        """Of a build for this set: butterflies, twiddle factors, and of each feed: rows that enter, sums."""
        return {
            "butterflies": self.units * BUTTERFLIES,
            "twiddle factors": self.units * TWIDDLES,
            "feeds": LANES * self.feeds * max(sort.alpha, sort.special),
            "adders": 2 * LANES * self.feeds,
        }

    def memory_words(self, sort: Sort) -> dict[str, int]:
        """Of a build for this set: limbs in units, slots of coefficients, and sums."""
        n = 1 << self.log_n
        return {
            "units": self.units * n,
            "slots": (sort.digits + 2) * max(sort.alpha, sort.special) * n,
            "sums": self.limbs_of_sums(sort) * n,
        }

    def timetable(self, sort: Sort, moves: int | None = None) -> list[Row]:
        """The machine's timetable; for `moves` of 0 the plainest one, else one of a search of that length."""
        found = pool_timetable(self._numbers(), (sort.limbs, sort.special, sort.alpha), moves)
        return [Row(*row) for row in found]

    def run(self, sort: Sort, table: list[Row], count: int) -> Ran:
        """`count` key switches, all promised from cycle 0 on, when the first is taken; no row is late."""
        starts, ends = pool_run(self._numbers(), (sort.limbs, sort.special, sort.alpha), table, count)
        return Ran([Start(*start) for start in starts], ends)

    def line(self, sort: Sort) -> str:
        """The line of `timetables.txt`, searched for anew."""
        found = pool_search(self._numbers(), (sort.limbs, sort.special, sort.alpha))
        if found is None:
            raise ValueError(f"no timetable of {sort} was found")
        return found


class Found(NamedTuple):
    """Cycles of a set on a pool."""

    bound: float
    interval: float
    latency: float
    alone: int
    rows: int


#: Ten units: the butterflies of Duong and Lee.
TEN = Pool(16, 12, units=10, feeds=3)
SETS = (Sort(4, 1, 4), Sort(4, 2, 2), Sort(6, 2, 3), Sort(7, 1, 7), Sort(12, 4, 3))
STORE = RTL.parent / "crates" / "machine" / "src" / "pipelined" / "pool" / "timetables.txt"

#: Key switches of a run; figures are of those from FIRST to LAST, as many as any body has.
COUNT, FIRST, LAST = 60, 20, 50


@cache
def best(sort: Sort) -> Found:
    """Figures on ten units; alone: first start to last row of a key switch that has no other beside it."""
    table = TEN.timetable(sort)
    ran, alone = TEN.run(sort, table, COUNT), TEN.run(sort, table, 1)
    first = {
        switch: next(of).cycle
        for switch, of in groupby(sorted(ran.starts, key=lambda s: (s.switch, s.cycle)), lambda s: s.switch)
    }
    interval = (ran.ends[LAST] - ran.ends[FIRST]) / (LAST - FIRST)
    latency = sum(ran.ends[k] - first[k] for k in range(FIRST, LAST)) / (LAST - FIRST)
    return Found(TEN.bound(sort), interval, latency, alone.ends[0] - alone.starts[0].cycle, len(table))


def text(table: list[Row]) -> str:
    """A timetable as lines of kind, unit, modulus, part and age: what the test bench reads."""
    return "".join(" ".join(map(str, row)) + "\n" for row in table)


def main() -> None:
    """Print, or search."""
    if sys.argv[1:] == ["--search"]:
        STORE.write_text("".join(TEN.line(sort) for sort in SETS), "utf-8")
    elif len(sys.argv) == 4:
        print(text(TEN.timetable(Sort(*map(int, sys.argv[1:])))), end="")
    else:
        for sort in SETS:
            f = best(sort)
            print(
                f"{tuple(sort)!s:12} bound {f.bound:8,.0f} interval {f.interval:9,.1f} "
                f"({f.interval / f.bound - 1:.2%}) latency {f.latency:9,.0f} alone {f.alone:8,} rows {f.rows}"
            )


if __name__ == "__main__":
    main()
