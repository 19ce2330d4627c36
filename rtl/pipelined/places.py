"""Whether a pool has a timetable of a period at all: the question that a search cannot answer with no.

    python -m rtl.pipelined.places 4 2 2 24        sets of finished sums a modulus: one
    python -m rtl.pipelined.places 4 2 2 24 2      two

Units take their transforms in turn, so time is counted in places, as the machine's search counts it. A solver
(bitwuzla) gets a truth value for each task and place, and the rules of `rm_pool_rules` as clauses.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from math import ceil

from rtl.pipelined.pool import TEN, Pool, Row, Sort

BACK, UP, REST, DOWN = 1, 2, 3, 4

Clause = list[int]


class Places:
    """Clauses that hold if and only if tasks have places; a literal is a number, negative where denied."""

    def __init__(self, pool: Pool, sort: Sort, period: int, finished: int) -> None:
        self.tasks = [row for row in pool.timetable(sort, 0) if row.kind]
        self.period, self.end, self.count = period, 5 * period // 2, 0
        self.clauses: list[Clause] = []
        # at[n][p]: task n is at place p; since[n][p]: at p or later.
        self.at = [self._new(self.end) for _ in self.tasks]
        self.since = [self._new(self.end + 1) for _ in self.tasks]
        pace = (4 * (1 << (pool.log_n - 4)) + 4 * (pool.multiplier + 4) + 3) / pool.units
        rows, passes = 1 << (pool.log_n - 4), 3 * (1 << (pool.log_n - 4)) + 4 * (pool.multiplier + 4) + 3
        self.gap = ceil(rows / pace)
        # From a start to one that needs what leaves: through the unit, the sums, and a turn of the next.
        wait = 2 * pool.multiplier + passes + 4 * (pool.multiplier + 4) + 4
        self.ahead = ceil((wait + 8 + pool.multiplier + 3 * (pool.multiplier + 4)) / pace)
        self._places()
        self._order()
        self._ports(sort)
        self._memories(sort, finished)

    def _new(self, count: int) -> list[int]:
        self.count += count
        return list(range(self.count - count + 1, self.count + 1))

    def _places(self) -> None:
        for at, since in zip(self.at, self.since, strict=True):
            self.clauses += [[since[0]], [-since[-1]]]
            for p, here in enumerate(at):
                now, later = since[p], since[p + 1]
                self.clauses += [[-later, now], [-here, now], [-here, -later], [here, -now, later]]
        # A place of the period is one task's.
        for i, j in combinations(range(len(self.tasks)), 2):
            self._apart(i, j, 1)
        self.clauses.append([-self.since[0][self.period]])

    def _apart(self, i: int, j: int, gap: int) -> None:
        for p, q in ((p, q) for p in range(self.end) for q in range(self.end)):
            distance = (p - q) % self.period
            if min(distance, self.period - distance) < gap:
                self.clauses.append([-self.at[i][p], -self.at[j][q]])

    def _needs(self, task: Row, other: Row) -> bool:
        sums = other.kind in (BACK, UP) and other.mod == task.mod
        if task.kind == UP:
            return other.kind == BACK and other.part == task.part
        if task.kind == DOWN:
            return sums or (other.kind == REST and other.part == task.part)
        return task.kind == REST and sums

    def _order(self) -> None:
        for i, task in enumerate(self.tasks):
            for j, other in enumerate(self.tasks):
                if self._needs(task, other):
                    lag = 1 if {task.kind, other.kind} <= {UP, DOWN} else self.ahead
                    for p in range(self.end):
                        self.clauses.append([-self.since[j][p], self.since[i][min(self.end, p + lag)]])

    def _ports(self, sort: Sort) -> None:
        ports: dict[tuple[str, int], list[int]] = defaultdict(list)
        for n, row in enumerate(self.tasks):
            ports["rest" if row.kind == REST else "bank", row.mod].append(n)
            if row.kind in (UP, DOWN):
                ports["slot", row.part if row.kind == UP else sort.digits + row.part].append(n)
        for port in ports.values():
            for i, j in combinations(port, 2):
                self._apart(i, j, self.gap)

    def _within(self, last: int, first: int, periods: int) -> Iterator[Clause]:
        """The last one starts less than some periods after the first."""
        span = periods * self.period
        for p in range(self.end + 1 - span):
            yield [-self.since[last][p + span], self.since[first][p + 1]]

    def _memories(self, sort: Sort, finished: int) -> None:
        def of(kinds: Iterable[int], **fields: int) -> list[int]:
            rows = enumerate(self.tasks)
            return [
                n
                for n, row in rows
                if row.kind in kinds and all(getattr(row, f) == v for f, v in fields.items())
            ]

        pairs = [(of([BACK], part=j), of([UP], part=j)) for j in range(sort.digits)]
        pairs += [(of([REST], part=c), of([DOWN], part=c)) for c in range(2)]
        for mod in range(sort.limbs + sort.special):
            adds = of([BACK, UP], mod=mod)
            pairs.append((adds, adds))
            # Finished sums are read before the last of those that replace them.
            for read in of([REST, DOWN], mod=mod):
                choice = self._new(len(adds))
                self.clauses.append(choice)
                for chosen, add in zip(choice, adds, strict=True):
                    self.clauses += [[-chosen, *clause] for clause in self._within(read, add, finished)]
        for first, last in pairs:
            for i in first:
                for j in last:
                    if i != j:
                        self.clauses += self._within(j, i, 1)

    def question(self) -> str:
        """The clauses as the solver reads them."""
        names = (f"(declare-const v{n} Bool)\n" for n in range(1, self.count + 1))
        said = (" ".join(f"v{x}" if x > 0 else f"(not v{-x})" for x in clause) for clause in self.clauses)
        asserts = (f"(assert (or {clause} false))\n" for clause in said)
        return "(set-logic QF_BV)\n" + "".join(names) + "".join(asserts) + "(check-sat)\n"


def possible(pool: Pool, sort: Sort, period: int, finished: int = 1) -> bool:
    """Whether there is a timetable of the period, by the solver."""
    text = Places(pool, sort, period, finished).question()
    said = subprocess.run(["bitwuzla", "/dev/stdin"], input=text, capture_output=True, text=True, check=True)
    return {"sat": True, "unsat": False}[said.stdout.split()[0]]


def main() -> None:
    """Ask."""
    limbs, special, digits, period, *rest = map(int, sys.argv[1:])
    sort = Sort(limbs, special, digits)
    print("there is one" if possible(TEN, sort, period, *rest) else "no timetable")


if __name__ == "__main__":
    main()
