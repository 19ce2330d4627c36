"""Timetables of a pool of in-place transform units: the order in which transforms of key switches start.

    python -m rtl.pipelined.timetable             intervals and latencies of some sets on ten units
    python -m rtl.pipelined.timetable 4 1 4       the timetable of one of them, as the test bench reads it
    python -m rtl.pipelined.timetable --search    finds them anew (minutes), into `timetables.json`

Units take their transforms in turn, so time is counted in **places**: a place is a start. Every key switch
does what the one before did a period later: T places, T being its transforms, or more, of which some stay
empty, where nothing is found in T. Simulated annealing moves tasks between places until all that
`rm_pool_rules` would wait for has passed by then.
"""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from functools import cache
from math import ceil, exp, gcd
from pathlib import Path
from typing import NamedTuple

from rtl.pipelined.pool import (
    COUNT,
    INSIDE,
    TAKE,
    BlockedError,
    Kind,
    Pool,
    Row,
    Sort,
    Task,
    Unit,
    needs,
    steady,
    tasks,
)


def in_order(pool: Pool, sort: Sort) -> list[Row]:
    """The plainest timetable: one key switch after the other, units in turn."""
    return [Row(TAKE, 0, 0), *(Row(t, n % pool.units, 0) for n, t in enumerate(tasks(sort)))]


Places = dict[Task, int]
Pairs = list[tuple[list[int], list[int]]]


class _Search:
    """Places of the tasks of a key switch, and what is violated by them."""

    def __init__(self, pool: Pool, sort: Sort, period: int, seed: int) -> None:
        self.period, self.chance = period, random.Random(seed)
        self.every = every = tasks(sort)
        pace, unit = pool.unit.interval / pool.units, pool.unit
        #: Places between starts that share a port, and from a start to one that needs what leaves.
        self.gap = ceil(unit.rows / pace)
        ahead = ceil((unit.leaves + 8 + unit.multiplier + unit.turn) / pace)
        number = {task: n for n, task in enumerate(every)}
        self.after = [
            [(number[p], ahead if p.inverse or t.inverse else 1) for p in needs(sort)[t]] for t in every
        ]
        ports: dict[tuple[str, int], list[int]] = defaultdict(list)
        for n, task in enumerate(every):
            ports["rest" if task.kind is Kind.REST else "bank", task.mod].append(n)
            if not task.inverse:
                ports["slot", task.part if task.adds else sort.digits + task.part].append(n)
        self.ports = list(ports.values())

        def of(kind: Kind, part: int) -> list[int]:
            return [n for n, t in enumerate(every) if t.kind is kind and t.part == part]

        # The second ones have started before the next key switch's first: slots, sums in progress;
        # before its last: finished sums.
        self.free: Pairs = [(of(Kind.BACK, j), of(Kind.UP, j)) for j in range(sort.digits)]
        self.free += [(of(Kind.REST, c), of(Kind.DOWN, c)) for c in range(2)]
        self.divided: Pairs = []
        for m in range(sort.limbs + sort.special):
            adds = [n for n, t in enumerate(every) if t.adds and t.mod == m]
            self.free.append((adds, adds))
            self.divided.append((adds, [n for n, t in enumerate(every) if not t.adds and t.mod == m]))
        # Where tasks may begin, and how widely they are strewn there: over a good part of the period.
        wide = max(10, period // 2)
        begin = {Kind.BACK: 0, Kind.UP: ahead, Kind.REST: ahead + wide, Kind.DOWN: 2 * ahead + wide}
        self.at = [begin[t.kind] + self.chance.randrange(wide) for t in every]
        self.steps = (-6, -4, -3, -2, -1, 1, 2, 3, 4, 6)

    def violated(self) -> tuple[int, list[int]]:
        """By how many places, and the tasks that have a part in it."""
        at, period, total = self.at, self.period, 0
        guilty: list[int] = []
        owner: dict[int, int] = {}
        for n, after in enumerate(self.after):
            for p, lag in after:
                late = at[p] + lag - at[n]
                if late > 0:
                    total += late
                    guilty += (n, p)
            if owner.setdefault(at[n] % period, n) != n:
                total += 2
                guilty += (n, owner[at[n] % period])
        for port in self.ports:
            line = sorted((at[n] % period, n) for n in port)
            for (a, i), (b, j) in zip(line, [*line[1:], (line[0][0] + period, line[0][1])], strict=True):
                if i != j and b - a < self.gap:
                    total += self.gap - b + a
                    guilty += (i, j)
        for pairs, pick in ((self.free, min), (self.divided, max)):
            for first, last in pairs:
                begin, end = pick(first, key=at.__getitem__), max(last, key=at.__getitem__)
                if at[end] - at[begin] >= period:
                    total += at[end] - at[begin] - period + 1
                    guilty += (begin, end)
        return total + 100 * (max(at) >= (INSIDE - 1) * period), guilty

    def run(self, moves: int) -> Places | None:
        """The shortest places in which nothing is violated, if any are found."""
        chance, at, every = self.chance, self.at, self.every
        total, guilty = self.violated()
        energy, best = total + max(at) / 8, (INSIDE * self.period, list[int]())
        for move in range(moves):
            heat = 1.5 * (1 - move / moves) + 0.12
            a = chance.choice(guilty) if guilty and chance.random() < 0.8 else chance.randrange(len(at))
            b = chance.randrange(len(at)) if chance.random() < 0.3 else a
            before = at[a], at[b]
            if a != b:
                at[a], at[b] = at[b], at[a]
            else:
                at[a] = max(0, at[a] + chance.choice(self.steps))
            total, others = self.violated()
            then = total + max(at) / 8
            if then <= energy or chance.random() < exp((energy - then) / heat):
                energy, guilty = then, others
                if total == 0 and max(at) < best[0]:
                    best = max(at), list(at)
            else:
                at[a], at[b] = before
        return dict(zip(every, best[1], strict=True)) if best[1] else None


def _table(pool: Pool, at: Places, period: int) -> list[Row]:
    """The rows of as many key switches as it takes until units come round."""
    body = pool.units // gcd(period, pool.units)
    rows: list[tuple[int, Row]] = []
    for b in range(body):
        rows.append((2 * b * period, Row(TAKE, 0, 0)))
        for task, place in at.items():
            where = (place + b * period) % (body * period)
            rows.append((2 * where + 1, Row(task, where % pool.units, place // period)))
    return [row for _, row in sorted(rows, key=lambda r: r[0])]


def search(pool: Pool, sort: Sort, moves: int, seeds: int) -> tuple[int, Places] | None:
    """Period and places of the shortest interval, then latency, of the first period that has any."""
    for period in range(sort.transforms, sort.transforms * 3 // 2):
        found = []
        for seed in range(seeds):
            at = _Search(pool, sort, period, seed).run(moves)
            if at is None:
                continue
            try:
                found.append((*steady(pool.run(sort, _table(pool, at, period), COUNT)), seed, at))
            except BlockedError:
                continue
        if found:
            return period, min(found, key=lambda f: f[:3])[3]
    return None


def searched(pool: Pool, sort: Sort, moves: int, seeds: int) -> list[Row]:
    """A timetable that is searched for; the plainest one where none is found."""
    found = search(pool, sort, moves, seeds)
    return _table(pool, found[1], found[0]) if found else in_order(pool, sort)


class Found(NamedTuple):
    """Cycles of a set on a pool."""

    bound: float
    interval: float
    latency: float
    alone: int
    rows: int


#: Ten units: the butterflies of Duong and Lee.
TEN = Pool(Unit(16, 12), units=10, feeds=3)
SETS = (Sort(4, 1, 4), Sort(4, 2, 2), Sort(6, 2, 3), Sort(7, 1, 7), Sort(12, 4, 3))
STORE = Path(__file__).with_name("timetables.json")


def stored(sort: Sort) -> list[Row]:
    """The timetable of one of the sets on ten units at N = 2^16, as it was found by `--search`."""
    found = json.loads(STORE.read_text("utf-8"))[",".join(map(str, sort))]
    return _table(TEN, dict(zip(tasks(sort), found["places"], strict=True)), found["period"])


@cache
def best(sort: Sort) -> Found:
    """Figures on ten units; alone: first start to last row of a key switch that has no other beside it."""
    table = stored(sort)
    interval, latency = steady(TEN.run(sort, table, COUNT))
    alone = TEN.run(sort, table, 1)
    return Found(TEN.bound(sort), interval, latency, alone.ends[0] - alone.starts[0].cycle, len(table))


def text(table: list[Row]) -> str:
    """A timetable as lines of kind, unit, modulus, part and age: what the test bench reads."""
    return "".join(f"{int(r.task.kind)} {r.unit} {r.task.mod} {r.task.part} {r.age}\n" for r in table)


def _search_all() -> None:
    """Minutes."""
    store = {}
    for sort in SETS:
        found = search(TEN, sort, moves=100_000, seeds=3)
        if found is None:
            raise ValueError(f"no timetable of {sort}")
        store[",".join(map(str, sort))] = {"period": found[0], "places": list(found[1].values())}
        STORE.write_text(json.dumps(store) + "\n", "utf-8")


def main() -> None:
    """Print, or search."""
    if sys.argv[1:] == ["--search"]:
        _search_all()
    elif len(sys.argv) == 4:
        print(text(stored(Sort(*map(int, sys.argv[1:])))), end="")
    else:
        for sort in SETS:
            f = best(sort)
            print(
                f"{tuple(sort)!s:12} bound {f.bound:8,.0f} interval {f.interval:9,.1f} "
                f"({f.interval / f.bound - 1:.2%}) latency {f.latency:9,.0f} alone {f.alone:8,} rows {f.rows}"
            )


if __name__ == "__main__":
    main()
