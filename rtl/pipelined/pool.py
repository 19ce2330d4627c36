"""Schedules of key switches on a pool of in-place transform units (`rtl/inplace_ntt`).

    python -m rtl.pipelined.pool        intervals and latencies of some sets on ten units

The times of a unit are those of its RTL. Around the units stand groups of 16 lanes: a lift takes the rows
that enter a forward transform, a group of sums those that leave it. The schedule is made ahead, by a list of
priorities: each step starts the transform that can start first, of the oldest key switch that has one.
Only the units are RTL. The pool is this model alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

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
    def transforms(self) -> int:
        """Transforms of a key switch."""
        return (self.digits + 2) * (self.limbs + self.special)


@dataclass(frozen=True)
class Unit:
    """The times of `rm_inplace_ntt` at a degree, as `test/inplace.h` holds them to the RTL."""

    log_n: int
    multiplier: int

    @property
    def rows(self) -> int:
        """Rows of a polynomial: the cycles in which it enters, and leaves."""
        return 1 << (self.log_n - 4)

    @property
    def row_latency(self) -> int:
        """From the row that is asked for to the row that it becomes."""
        return 4 * (self.multiplier + 4) + 4

    @property
    def turn(self) -> int:
        """Idle cycles between transforms of different directions."""
        return 3 * (self.multiplier + 4) - 1

    def _starts(self, *, inverse: bool) -> list[int]:
        """The first row of each pass."""
        passes = -(-self.log_n // 4)
        at = [0]
        for p in range(passes - 1):
            level = p + 1 if inverse else passes - 1 - p
            window = self.log_n - 4 if level + 1 == passes else 4 * level
            at.append(at[-1] + max(self.rows, (1 << window) + self.row_latency - 1))
        return at

    def interval(self, *, inverse: bool) -> int:
        """From a start to the next of the same direction."""
        return self._starts(inverse=inverse)[-1] + self.rows

    def leaves(self, *, inverse: bool) -> int:
        """From the first row that is asked for to the first that leaves."""
        return self._starts(inverse=inverse)[-1] + self.row_latency


class Task(NamedTuple):
    """A transform of a key switch, and those whose results it is made of."""

    inverse: bool
    after: tuple[int, ...]
    stage: int


def tasks(sort: Sort) -> list[Task]:
    """Every transform: the operand back, its digits, the special sums back, what is subtracted."""
    if not 1 <= sort.digits <= sort.limbs or sort.special < 1:
        raise ValueError(f"{sort} is no set: 1 to {sort.limbs} digits and a special prime are needed")
    limbs, special, _ = sort
    size = -(-limbs // sort.digits)
    found = [Task(True, (), 0) for _ in range(limbs)]
    sums: list[list[int]] = [[] for _ in range(limbs + special)]
    for first in range(0, limbs, size):
        own = tuple(range(first, min(limbs, first + size)))
        # What the way down waits for comes first.
        for target in (*range(limbs, limbs + special), *(i for i in range(limbs) if i not in own)):
            sums[target].append(len(found))
            found.append(Task(False, own, 1 if target >= limbs else 3))
    down = []
    for component, k in product(range(2), range(special)):
        down.append((component, len(found)))
        found.append(Task(True, tuple(sums[limbs + k]), 2))
    for component in range(2):
        after = tuple(task for of, task in down if of == component)
        found += [Task(False, (*after, *sums[i]), 4) for i in range(limbs)]
    return found


@dataclass(frozen=True)
class Pool:
    """Units that share lifts and groups of sums, and key switches in a row on them."""

    unit: Unit
    units: int
    lifts: int
    sums: int
    #: Key switches that may be under way.
    inside: int = 3

    @property
    def multipliers(self) -> int:
        """Of units, lifts from one limb (from several, one a limb and lane), and sums of both components."""
        return self.units * (BUTTERFLIES + TWIDDLES) + LANES * self.lifts + 2 * LANES * self.sums

    def bound(self, sort: Sort) -> float:
        """Cycles that the butterflies need at least for a key switch."""
        return sort.transforms * self.unit.log_n * (1 << (self.unit.log_n - 1)) / (BUTTERFLIES * self.units)

    def run(self, sort: Sort, count: int) -> list[tuple[int, int]]:
        """First start and last row of each of `count` key switches."""
        all_tasks, unit = tasks(sort), self.unit
        free, back = [-unit.turn] * self.units, [False] * self.units
        lifts, sums = [0] * self.lifts, [0] * self.sums
        # From rows that leave a transform to those that enter the next: a conversion, or the last product.
        between = 2 * unit.multiplier + 4
        left: dict[tuple[int, int], int] = {}
        todo = {n: set(range(len(all_tasks))) for n in range(count)}
        ends: dict[int, int] = {}
        first: dict[int, int] = {}

        def candidates() -> Iterator[tuple[int, int, int, int, int]]:
            # When each unit can begin, by direction.
            able = [
                sorted((free[u] + unit.turn * (back[u] != inverse), u) for u in range(self.units))
                for inverse in (0, 1)
            ]
            for n in sorted(todo)[: self.inside]:
                if n >= self.inside and n - self.inside not in ends:
                    continue
                least = ends[n - self.inside] if n >= self.inside else 0
                for t in todo[n]:
                    task = all_tasks[t]
                    if any((n, p) not in left for p in task.after):
                        continue
                    ready = max([least, *(left[n, p] + between for p in task.after)])
                    if not task.inverse:
                        ready = max(ready, min(lifts), min(sums) - unit.leaves(inverse=False))
                    # The unit that has waited least of those that are free by then.
                    units = able[task.inverse]
                    at, u = units[max(bisect_right(units, (ready, self.units)) - 1, 0)]
                    yield max(at, ready), n, task.stage, t, u

        while todo:
            at, n, _, t, u = min(candidates())
            task = all_tasks[t]
            out = at + unit.leaves(inverse=task.inverse)
            free[u], back[u] = at + unit.interval(inverse=task.inverse), task.inverse
            left[n, t] = out
            if not task.inverse:
                lifts[lifts.index(min(lifts))] = at + unit.rows
                sums[sums.index(min(sums))] = out + unit.rows
            first[n] = min(first.get(n, at), at)
            todo[n].discard(t)
            if not todo[n]:
                del todo[n]
                ends[n] = max(left[n, p] for p in range(len(all_tasks))) + unit.rows
        return [(first[n], ends[n]) for n in range(count)]


class Found(NamedTuple):
    """Cycles of a set on a pool."""

    bound: float
    interval: float
    latency: float
    alone: int


#: Key switches of a run; figures are of those from the first of these to before the last.
COUNT, FIRST, LAST = 60, 10, 54


def slope(values: list[int]) -> float:
    """The least squares' slope of evenly spaced values: key switches of a pool end in groups."""
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    above = sum((i - middle) * (v - mean) for i, v in enumerate(values))
    return above / sum((i - middle) ** 2 for i in range(len(values)))


def best(pool: Pool, sort: Sort) -> Found:
    """With two or three key switches under way: the shorter latency if intervals differ by 0.5 % at most."""
    found = []
    for inside in (2, 3):
        times = replace(pool, inside=inside).run(sort, COUNT)[FIRST:LAST]
        found.append(
            (slope([end for _, end in times]), sum(end - start for start, end in times) / len(times))
        )
    least = min(found)[0]
    interval, latency = min((f for f in found if f[0] <= 1.005 * least), key=lambda f: f[1])
    start, end = replace(pool, inside=1).run(sort, 1)[0]
    return Found(pool.bound(sort), interval, latency, end - start)


#: Ten units: the butterflies of Duong and Lee.
TEN = Pool(Unit(16, 12), units=10, lifts=3, sums=3)
SETS = (Sort(4, 1, 4), Sort(4, 2, 2), Sort(6, 2, 3), Sort(7, 1, 7), Sort(12, 4, 3))

if __name__ == "__main__":
    for sort in SETS:
        f = best(TEN, sort)
        print(
            f"{tuple(sort)!s:12} bound {f.bound:8,.0f} interval {f.interval:9,.1f} "
            f"({f.interval / f.bound - 1:.2%}) latency {f.latency:9,.0f} alone {f.alone:8,}"
        )
