"""Key switches on a pool of in-place transform units: the cycles of `rm_pool_key_switch` on a timetable.

A timetable is the order in which the transforms of consecutive key switches start, and the unit of each
(`timetable.py`). The cycle of a start follows from the rules of `rm_pool_rules`. `Pool.run` has them, and
`rtl/tools/tests/test_pool.py` holds every start and every end to the RTL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from typing import NamedTuple

#: Rows of a unit are of 16 words.
LANES = 16
#: Butterflies of a unit, and multipliers of its twiddle factors.
BUTTERFLIES, TWIDDLES = 32, 15
#: Key switches that may be inside: their tags have three bits.
INSIDE = 8


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

    def check(self) -> Sort:
        """The set itself, if there is such a set."""
        if not 1 <= self.digits <= self.limbs or self.special < 1:
            raise ValueError(f"{self} is no set: 1 to {self.limbs} digits and a special prime are needed")
        if -(-self.limbs // self.alpha) != self.digits:
            raise ValueError(
                f"{self} is no set: digits of {self.alpha} limbs are {-(-self.limbs // self.alpha)}"
            )
        return self


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
        """Further cycles from a start to the next one where directions differ."""
        return 3 * (self.multiplier + 4)

    @property
    def to_last_pass(self) -> int:
        """From the first row of the first pass to that of the last, in both directions."""
        passes = -(-self.log_n // 4)
        windows = [self.log_n - 4 if level + 1 == passes else 4 * level for level in range(1, passes)]
        return sum(max(self.rows, (1 << window) + self.row_latency - 1) for window in windows)

    @property
    def interval(self) -> int:
        """From a start to the next of the same direction."""
        return self.to_last_pass + self.rows

    @property
    def leaves(self) -> int:
        """From a start to the first row that leaves."""
        return 2 * self.multiplier + self.to_last_pass + self.row_latency


class Kind(IntEnum):
    """What a row of a timetable is, as in `rm_pool_pkg`."""

    TAKE = 0
    BACK = 1
    UP = 2
    REST = 3
    DOWN = 4


class Task(NamedTuple):
    """A transform of a key switch: its modulus (special ones come after limbs), its digit or component."""

    kind: Kind
    mod: int
    part: int

    @property
    def inverse(self) -> bool:
        """Its direction."""
        return self.kind in (Kind.BACK, Kind.REST)

    @property
    def adds(self) -> bool:
        """Whether it adds a product to the sums of its modulus."""
        return self.kind in (Kind.BACK, Kind.UP)


class Row(NamedTuple):
    """A row of a timetable: a task of the key switch that is `age` older than the newest, on a unit."""

    task: Task
    unit: int
    age: int


TAKE = Task(Kind.TAKE, 0, 0)


@cache
def tasks(sort: Sort) -> tuple[Task, ...]:
    """Every transform, each after those it is made of."""
    limbs, special, digits = sort.check()
    found = [Task(Kind.BACK, i, i // sort.alpha) for i in range(limbs)]
    for j in range(digits):
        # What the way down waits for comes first.
        targets = (*range(limbs, limbs + special), *(i for i in range(limbs) if i // sort.alpha != j))
        found += [Task(Kind.UP, m, j) for m in targets]
    found += [Task(Kind.REST, limbs + k, c) for c in range(2) for k in range(special)]
    found += [Task(Kind.DOWN, i, c) for c in range(2) for i in range(limbs)]
    return tuple(found)


@cache
def needs(sort: Sort) -> dict[Task, tuple[Task, ...]]:
    """The tasks that each one is made of."""
    every = tasks(sort)

    def made_of(task: Task) -> tuple[Task, ...]:
        if task.kind is Kind.UP:
            return tuple(t for t in every if t.kind is Kind.BACK and t.part == task.part)
        if task.kind is Kind.REST:
            return tuple(t for t in every if t.adds and t.mod == task.mod)
        if task.kind is Kind.DOWN:
            rests = [t for t in every if t.kind is Kind.REST and t.part == task.part]
            return (*rests, *(t for t in every if t.adds and t.mod == task.mod))
        return ()

    return {task: made_of(task) for task in every}


class BlockedError(ValueError):
    """A timetable whose next task waits for one behind it."""


@dataclass
class _Slot:
    readers: set[int] = field(default_factory=set)
    switch: int = -1
    begun: dict[int, int] = field(default_factory=dict)
    read: int = -(1 << 40)


@dataclass
class _Bank:
    digits: set[int] = field(default_factory=set)
    switch: int = -1
    finished_switch: int = -1
    finished: set[int] = field(default_factory=set)
    written: int = 0
    given: int = -(1 << 40)
    rest: int = -(1 << 40)


class Start(NamedTuple):
    """A task that starts."""

    switch: int
    task: Task
    unit: int
    cycle: int


class Ran(NamedTuple):
    """Starts in their order, and the last row of each key switch."""

    starts: list[Start]
    ends: list[int]


@dataclass(frozen=True)
class Pool:
    """A build of `rm_pool_key_switch` at a degree."""

    unit: Unit
    units: int
    feeds: int

    def bound(self, sort: Sort) -> float:
        """Cycles that the butterflies need at least for a key switch."""
        return sort.transforms * self.unit.log_n * (1 << (self.unit.log_n - 1)) / (BUTTERFLIES * self.units)

    def multipliers(self, sort: Sort) -> dict[str, int]:
        """Of a build for this set: butterflies, twiddle factors, feeds, and the banks' two components."""
        return {
            "butterflies": self.units * BUTTERFLIES,
            "twiddle factors": self.units * TWIDDLES,
            "feeds": LANES * self.feeds * max(sort.alpha, sort.special),
            "banks": 2 * LANES * (sort.limbs + sort.special),
        }

    def memory_words(self, sort: Sort) -> dict[str, int]:
        """Of a build for this set: limbs in units, slots of coefficients, and banks."""
        n = 1 << self.unit.log_n
        return {
            "units": self.units * n,
            "slots": (sort.digits + 2) * max(sort.alpha, sort.special) * n,
            "banks": 4 * (sort.limbs + sort.special) * n,
        }

    def run(self, sort: Sort, table: list[Row], count: int) -> Ran:
        """`count` key switches, all promised from cycle 0 on, when the first is taken; no row is late."""
        unit, m, rows = self.unit, self.unit.multiplier, self.unit.rows
        limbs, special, digits = sort
        slots = [_Slot() for _ in range(digits + 2)]
        banks = [_Bank() for _ in range(limbs + special)]
        free, inverse = [-(1 << 40)] * self.units, [False] * self.units
        feeds, feed = [-(1 << 40)] * self.feeds, 0
        left: dict[int, int] = {}
        ends: dict[int, int] = {}
        starts: list[Start] = []
        # Key switches taken; the newest number, a key switch or none; the cycle of the next row.
        taken, newest, now, at = 0, -1, 0, 0
        named: dict[int, int] = {}

        def inside(switch: int, cycle: int) -> bool:
            return switch >= 0 and (left[switch] > 0 or cycle <= ends[switch])

        while taken < count or any(inside(k, now) for k in range(taken)):
            task, number, age = table[at]
            at = (at + 1) % len(table)
            if task.kind is Kind.TAKE:
                old = named.get(newest + 1 - INSIDE, -1)
                if inside(old, now):
                    if left[old]:
                        raise BlockedError(f"{INSIDE} key switches are inside")
                    now = ends[old] + 1
                newest += 1
                if taken < count:
                    named[newest] = taken
                    left[taken], ends[taken] = 2 * limbs, -1
                    taken += 1
                now += 1
                continue
            switch = named.get(newest - age, -1)
            if not inside(switch, now):
                now += 1
                continue
            slot = slots[task.part if task.adds else digits + task.part]
            bank = banks[task.mod]
            cycle = max(now, free[number] + unit.turn * (inverse[number] != task.inverse), feeds[feed] + rows)
            possible = True
            if task.inverse:
                possible &= not slot.readers or (slot.switch == switch and task.mod not in slot.begun)
            else:
                width = (
                    special
                    if task.kind is Kind.DOWN
                    else sum(i // sort.alpha == task.part for i in range(limbs))
                )
                possible &= slot.switch == switch and task.mod in slot.readers and len(slot.begun) == width
                cycle = max(
                    cycle, slot.read + rows, *(start + unit.leaves + 1 for start in slot.begun.values())
                )
            if task.adds:
                possible &= not bank.digits or (bank.switch == switch and task.part not in bank.digits)
                possible &= len(bank.digits) + 1 < digits or not bank.finished
            else:
                possible &= bank.finished_switch == switch and task.part in bank.finished
            if task.kind is Kind.REST:
                cycle = max(cycle, bank.written, bank.rest + rows)
            else:
                cycle = max(cycle, bank.given + rows)
            if not possible:
                raise BlockedError(f"key switch {switch}: {task} waits for a task behind it")

            starts.append(Start(switch, task, number, cycle))
            free[number], inverse[number] = cycle + unit.interval, task.inverse
            feeds[feed], feed = cycle, (feed + 1) % self.feeds
            if task.inverse:
                if not slot.readers:
                    read = range(limbs + special) if task.adds else range(limbs)
                    slot.readers = {
                        i for i in read if not (task.adds and i < limbs and i // sort.alpha == task.part)
                    }
                    slot.switch, slot.begun = switch, {}
                slot.begun[task.mod] = cycle
            else:
                slot.readers.discard(task.mod)
                slot.read = cycle
            if task.kind is Kind.REST:
                bank.rest = cycle
            else:
                bank.given = cycle
            if task.adds:
                bank.digits.add(task.part)
                bank.switch = switch
                if len(bank.digits) == digits:
                    bank.digits, bank.finished = set(), {0, 1}
                    bank.finished_switch, bank.written = switch, cycle + unit.leaves + 6 + m
            else:
                bank.finished.discard(task.part)
            if task.kind is Kind.DOWN:
                left[switch] -= 1
                ends[switch] = max(ends[switch], cycle + unit.leaves + 5 + m + rows - 1)
            now = cycle + 1
        return Ran(starts, [ends[k] for k in range(count)])


#: Key switches of a run; figures are of those from FIRST on, of which as many go round as any body has.
COUNT, FIRST = 60, 20


def steady(ran: Ran) -> tuple[float, float]:
    """Interval and latency once a timetable repeats itself: the mean over a number of bodies."""
    last = COUNT - 10
    first = {}
    for start in ran.starts:
        first.setdefault(start.switch, start.cycle)
    interval = (ran.ends[last] - ran.ends[FIRST]) / (last - FIRST)
    return interval, sum(ran.ends[k] - first[k] for k in range(FIRST, last)) / (last - FIRST)
