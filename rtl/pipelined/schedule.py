"""The cycles of the pipelined key switch, and what it is made of.

    python -m rtl.pipelined.schedule        the table of Duong and Lee's set, and of other numbers of limbs

The rules of `rm_ks_sequencer`: a slot starts N/P cycles after the one before at the earliest. A component of
a finished special residue goes first, then the next digit. The last digit of a key switch waits until both
components of the one before have started. `rtl/tools/tests/test_pipelined.py` holds the cycles to the RTL.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple


class Start(NamedTuple):
    """A slot that enters the chain: a digit, or a component of the special residue on its way down."""

    cycle: int
    down: bool
    switch: int
    part: int


@dataclass(frozen=True)
class Engine:
    """A build of `rm_pipelined_key_switch`, at a degree of 2^log_n."""

    limbs: int
    log_p: int
    log_n: int
    multiplier_latency: int
    log_n_max: int | None = None

    @property
    def rows(self) -> int:
        """Rows of a polynomial, also the cycles between two slots."""
        return 1 << (self.log_n - self.log_p)

    @property
    def lead(self) -> int:
        """From a start to the first row in."""
        return self.multiplier_latency + 4

    @property
    def transform(self) -> int:
        """Row in to row out of a transform."""
        skipped = (self.log_n if self.log_n_max is None else self.log_n_max) - self.log_n
        return self.rows - 1 + self.log_n * self.lead + skipped

    @property
    def chain(self) -> int:
        """Row into the inverse transform to row out of a forward one, with the lift between them."""
        return 2 * self.transform + self.multiplier_latency + 2

    @property
    def pending(self) -> int:
        """From the start of a last digit until the special residue may start."""
        return self.lead + self.chain + 3

    @property
    def result(self) -> int:
        """From a start to the first row of the result."""
        return self.lead + self.chain + self.multiplier_latency + 4

    def starts(self, level: int, switches: int, apart: int = 0) -> list[Start]:
        """Every start of some key switches; the operand of number k is there from cycle k * apart on."""
        if not 1 <= level <= self.limbs:
            raise ValueError(f"level {level} of an engine for 1 to {self.limbs} limbs")
        found: list[Start] = []
        now = digits = downs = pending = 0
        is_open = False
        while downs < 2 * switches:
            switch, part = divmod(digits, level)
            times = []
            if is_open:
                times.append((max(now, pending), 0))
            if switch < switches and not (part == level - 1 and is_open):
                times.append((max(now, switch * apart), 1))
            cycle, kind = min(times)
            if kind == 0:
                found.append(Start(cycle, True, *divmod(downs, 2)))
                downs += 1
                is_open = downs % 2 == 1
            else:
                found.append(Start(cycle, False, switch, part))
                digits += 1
                if part == level - 1:
                    is_open, pending = True, cycle + self.pending
            now = cycle + self.rows
        return found

    def ends(self, starts: list[Start]) -> list[int]:
        """The cycle after the last row of each result."""
        return [s.cycle + self.result + self.rows for s in starts if s.down and s.part == 1]

    def interval(self, level: int) -> int:
        """Cycles from result to result when operands wait, once the schedule repeats itself."""
        ends = self.ends(self.starts(level, 12))[4:-1]  # after the last one no digits take their turns
        steps = {b - a for a, b in pairwise(ends)}
        if len(steps) != 1:
            raise AssertionError(f"the schedule does not repeat itself: {sorted(steps)}")
        return steps.pop()

    def latency(self, level: int, *, alone: bool) -> int:
        """First start to last row: of one key switch, or of one in a row of many."""
        number = 1 if alone else 12
        starts = self.starts(level, number)
        first = next(s.cycle for s in starts if not s.down and s.switch == number // 2)
        return self.ends(starts)[number // 2] - first

    def bound(self, level: int) -> int:
        """Cycles that the butterflies need at least: (level + 2) * (level + 1) transforms on all units."""
        transforms = (level + 2) * (level + 1)
        butterflies = transforms * (1 << (self.log_n - 1)) * self.log_n
        return -(-butterflies // self.butterflies)

    @property
    def butterflies(self) -> int:
        """Of all transforms."""
        return (self.limbs + 1) * (self.log_n << (self.log_p - 1))

    @property
    def multipliers(self) -> dict[str, int]:
        """Where the modular multipliers are."""
        p = 1 << self.log_p
        return {
            "butterflies": self.butterflies,
            "twiddle factors": (self.limbs + 1) * (p + 1),
            "lifts": self.limbs * p,
            "sums": (self.limbs + 1) * 2 * p,
        }

    @property
    def memory_words(self) -> dict[str, int]:
        """Where words wait: limbs of sums, operands on the side way, delays of the transforms."""
        n, p = 1 << self.log_n, 1 << self.log_p
        return {
            "sums": 4 * (self.limbs + 1) * n,
            "operands": (self.chain + 2) * p,
            "transforms": (self.limbs + 1) * (n - p),
        }


def key_words(level: int, log_n: int) -> int:
    """Words of keys that a key switch reads."""
    return 2 * level * (level + 1) << log_n


#: Duong and Lee 2023, Table 5 and the text: cycles, multipliers' DSP blocks, megabytes on chip.
PAPER = {"interval": 67168, "latency": 134336, "dsp": 6534, "megabytes": 16.5}
#: The multiplier for NTT primes of 60 bits by words of 17: latency (`rm_modmul_pkg`), DSPs (synthesised).
NTT_60 = 12
DSP_BLOCKS = 6


def table() -> list[str]:
    """Lines of the comparison at N = 2^16, eight words a cycle."""
    lines = [f"{'limbs':>5} {'bound':>7} {'interval':>8} {'latency':>8} {'alone':>7} {'DSP':>6} {'MB':>6}"]
    for limbs in range(1, 9):
        engine = Engine(limbs, 3, 16, NTT_60)
        dsp = DSP_BLOCKS * sum(engine.multipliers.values())
        megabytes = sum(engine.memory_words.values()) * 60 / 8 / 1e6
        lines.append(
            f"{limbs:>5} {engine.bound(limbs):>7} {engine.interval(limbs):>8} "
            f"{engine.latency(limbs, alone=False):>8} {engine.latency(limbs, alone=True):>7} {dsp:>6} "
            f"{megabytes:>6.2f}"
        )
    lines.append(
        f"Duong and Lee, 4 limbs: interval {PAPER['interval']}, latency {PAPER['latency']}, "
        f"{PAPER['dsp']} DSP, {PAPER['megabytes']} MB"
    )
    return lines


if __name__ == "__main__":
    print(*table(), sep="\n")
