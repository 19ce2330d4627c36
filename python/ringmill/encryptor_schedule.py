"""The cycles of the encryption engine, and what it is made of.

A job's samples are drawn into one of two sets, or four in a build with the division. Then it starts, N/P
cycles after the one before at the earliest. A job that is divided starts in the lane of the extra prime, and
begins in the limbs two transforms later. `rtl/tools/tests/test_encryptor.py` holds the cycles to the RTL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

PUBLIC, SYMMETRIC, PUBLIC_KEY, DECRYPT, DIVIDED, SEAL = range(6)
#: Modes under the public key, which draw v and two errors.
TWO_PARTS = (PUBLIC, DIVIDED, SEAL)
#: Those that are divided by the extra prime.
BY_EXTRA = (DIVIDED, SEAL)

#: Samples of a Gaussian polynomial that are drawn together, and bytes of a ternary one.
GAUSSIAN_BLOCK, TRIT_BATCH = 512, 4096
#: Below this degree, expansions of seeds start these cycles farther apart.
SEEDED_APART, SEEDED_LOG_N = 64, 12


def trit_bytes(log_n: int) -> int:
    """Bytes of five digits that make a ternary polynomial."""
    return ((1 << log_n) + 4) // 5


def expected_trit_words(log_n: int) -> int:
    """Words of 32 bits that a ternary polynomial takes when 13 bytes of 256 are refused."""
    missing, words = float(trit_bytes(log_n)), 0
    while missing >= 0.5:
        drawn = min(TRIT_BATCH, round(missing))
        words += -(-drawn // 4)
        missing -= drawn * 243 / 256
    return words


class _Window:
    """Blocks that wait and the two that are read: `rm_xof_buffer`, `rm_word_window`."""

    def __init__(self) -> None:
        self.buffered, self.first, self.second, self.place = 0, False, False, 0

    @property
    def ready(self) -> bool:
        return self.first and self.second

    def read(self, take: int, leaves: bool) -> None:
        """A cycle in which `take` words are taken, and a block leaves its generator or not."""
        self.place += take
        shift = self.place >= 16 or not self.first
        self.place %= 16
        pops = self.buffered > 0 and (shift or not self.second)
        if shift:
            self.first, self.second = self.second, False
        self.second = self.second or pops
        self.buffered += leaves - pops


class _Blocks(_Window):
    """Blocks of ChaCha20: `rm_xof_ring`."""

    def __init__(self, doubles: int) -> None:
        super().__init__()
        self.stages, self.phase, self.primed = 4 * doubles, 0, False

    def step(self, take: int) -> None:
        """Go on by a cycle in which `take` words are taken."""
        moves = self.buffered < 2
        self.read(take, moves and self.primed and self.phase < self.stages)
        if moves:
            self.phase += 1
            if self.phase == 40:
                self.phase, self.primed = 0, True


def draw_cycles(log_n: int, trit_words: int, gaussians: int, doubles: int = 10) -> int:
    """From the handshake of a job to its first possible start; no words for no ternary polynomial."""
    return _draw(log_n, trit_words, gaussians, doubles)[1]


@cache
def _draw(log_n: int, trit_words: int, gaussians: int, doubles: int) -> tuple[int, int]:
    """From the handshake to where the first Gaussian samples are seen, and to where all samples are."""
    blocks, cycle, first = _Blocks(doubles), 1, 0
    while trit_words:
        taken = blocks.ready
        blocks.step(int(taken))
        trit_words, cycle = trit_words - taken, cycle + 1
        if not trit_words:
            # The last bytes are written, where there are less than four; then the Gaussian polynomials.
            for _ in range(1 + (trit_bytes(log_n) % 4 != 0)):
                blocks.step(0)
                cycle += 1
    for _ in range(gaussians * max(1, (1 << log_n) // GAUSSIAN_BLOCK)):
        groups = GAUSSIAN_BLOCK // 8
        while groups:
            taken = blocks.ready
            blocks.step(16 * taken)
            if taken and not first:
                first = cycle + 5  # four cycles until it is written
            groups, cycle = groups - taken, cycle + 1
        for _ in range(6):  # until it is known that no sample needs more bits
            blocks.step(0)
            cycle += 1
    return first, cycle + 2  # the seed is wiped, the set is full


#: A unit, what it does, its first cycle and the cycle after its last.
Span = tuple[str, str, int, int]

_KEY, _ROOT, _NODE = range(3)


class _SealBlocks(_Window):
    """Blocks of SEAL's generator: the control of `rm_blake2xb_core`."""

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self.passes = 12 // rounds
        # What each stage holds: kind, bank, number of the block, pass.
        self.stages: list[tuple[int, int, int, int] | None] = [None] * (4 * rounds)
        self.key_sent = self.keyed = self.root_sent = self.waits = False
        self.fill = self.take = self.index = 0
        self.held, self.open = [False, False], [False, False]

    def step(self, take: int) -> None:
        """Go on by a cycle in which `take` words are taken."""
        fills = self.waits and not self.held[self.fill]
        leaves = None
        if self.buffered < 2:
            leaves = self._move()
        self.read(take, leaves is not None and leaves[0] == _NODE)
        if leaves is not None and leaves[0] == _KEY:
            self.keyed = True
        if leaves is not None and leaves[0] == _ROOT:
            self.root_sent, self.waits = False, True
        if leaves is not None and leaves[0] == _NODE and leaves[2] == 63:
            self.held[leaves[1]] = False
        if fills:
            self.waits = False
            self.held[self.fill] = self.open[self.fill] = True
            self.fill ^= 1

    def _move(self) -> tuple[int, int, int, int] | None:
        """All stages move on; what leaves the last one."""
        last = self.stages[-1]
        if last is not None and last[3] != self.passes - 1:
            self.stages = [(last[0], last[1], last[2], last[3] + 1), *self.stages[:-1]]
            return None
        goes: tuple[int, int, int, int] | None = None
        if not self.key_sent:
            goes, self.key_sent = (_KEY, 0, 0, 0), True
        elif self.keyed and not self.root_sent and not self.waits:
            goes, self.root_sent = (_ROOT, 0, 0, 0), True
        elif self.open[self.take]:
            goes = (_NODE, self.take, self.index, 0)
            self.index += 1
            if self.index == 64:
                self.index, self.open[self.take] = 0, False
                self.take ^= 1
        self.stages = [goes, *self.stages[:-1]]
        return last


@cache
def seal_draw(log_n: int, rounds: int = 12) -> tuple[int, int]:
    """From the handshake of a SEAL job to where its first errors are seen, and to where all samples are.

    No word is refused, which has a probability of 2^-32 a word.
    """
    blocks, cycle, left, first = _SealBlocks(rounds), 1, 1 << log_n, 0
    have = 0
    while left:
        five = blocks.ready and have == 0 and left >= 5
        taken = 5 if five else int(blocks.ready)
        blocks.step(taken)
        left, have, cycle = left - taken, 0 if five else (have + taken) % 5, cycle + 1
    groups = 2 * (1 << log_n) // 8
    while groups:
        taken = blocks.ready
        blocks.step(12 * taken)
        if taken and not first:
            first = cycle + 4  # three cycles until it is written
        groups, cycle = groups - taken, cycle + 1
    return first, cycle + 4 + 2  # the last samples are written, the seed is wiped, the set is full


@dataclass(frozen=True)
class Course:
    """A job: when it is taken, when all its samples are drawn, when it starts, and begins in the limbs."""

    mode: int
    accept: int
    full: int
    start: int
    begin: int


@dataclass(frozen=True)
class Engine:
    """A build of `rm_encryptor`, at a degree of 2^log_n."""

    limbs: int
    log_n: int
    multiplier_latency: int
    log_p: int = 1
    doubles: int = 10
    log_n_max: int | None = None
    extra: bool = False
    log_n_min: int | None = None
    seal_rounds: int = 12

    @property
    def rows(self) -> int:
        """Rows of a polynomial."""
        return 1 << (self.log_n - self.log_p)

    @property
    def sets(self) -> int:
        """Sets of samples."""
        return 4 if self.extra else 2

    @property
    def lead(self) -> int:
        """From a start to the first row in."""
        return self.multiplier_latency + 4

    @property
    def begin_lead(self) -> int:
        """From the begin in the limbs to the start of their transforms: errors are rounded first."""
        return 3 if self.extra else 0

    @property
    def transform(self) -> int:
        """Row in to row out of a transform."""
        skipped = (self.log_n if self.log_n_max is None else self.log_n_max) - self.log_n
        return self.rows - 1 + self.log_n * self.lead + skipped

    @property
    def extra_latency(self) -> int:
        """From a start in the lane of the extra prime to the begin in the limbs.

        A transform of twice as many words a cycle, products, and a transform back.
        """
        return self.lead + self.transform - self.rows // 2 + self.multiplier_latency - 1 + self.transform

    @property
    def first_row(self) -> int:
        """From the begin in the limbs to the first row of the result."""
        return self.begin_lead + self.lead + self.transform + self.multiplier_latency + 3

    @property
    def last_row(self) -> int:
        """From the begin in the limbs to the last row of the result."""
        return self.first_row + self.rows - 1

    @property
    def message_row(self) -> int:
        """From the begin in the limbs to where the first row of the message is asked for."""
        return self.begin_lead + self.lead - 3

    def ready(self, mode: int = PUBLIC) -> int:
        """From a start to the last row of the result."""
        return self.last_row + (self.extra_latency if mode in BY_EXTRA else 0)

    @property
    def early(self) -> bool:
        """Whether a divided job starts with its first errors: all are there by the begin, at every size."""
        return self.extra and all(
            2 * max(1, (1 << n) // GAUSSIAN_BLOCK) * (640 // self.doubles + 6) + 16 < latency
            for n, latency in self._extra_latencies()
        )

    @property
    def early_seal(self) -> bool:
        """The same of a job with SEAL's samples."""
        return self.extra and all(
            (1 << (n - 2)) * (12 // self.seal_rounds) + 64 < latency for n, latency in self._extra_latencies()
        )

    def _extra_latencies(self) -> Iterable[tuple[int, int]]:
        smallest = self.log_n if self.log_n_min is None else self.log_n_min
        largest = self.log_n if self.log_n_max is None else self.log_n_max
        for n in range(smallest, largest + 1):
            yield n, replace(self, log_n=n, log_n_max=largest).extra_latency

    def draw(self, mode: int, trit_words: int | None = None) -> int:
        """From the handshake of a job to where all its samples are drawn."""
        return self._drawn(mode, trit_words)[1]

    def draw_to_start(self, mode: int, trit_words: int | None = None) -> int:
        """From the handshake of a job to its first possible start."""
        first, whole = self._drawn(mode, trit_words)
        early = (mode == DIVIDED and self.early) or (mode == SEAL and self.early_seal)
        return first if early else whole

    def _drawn(self, mode: int, trit_words: int | None) -> tuple[int, int]:
        if mode == DECRYPT:
            return 1, 1
        if mode == SEAL:
            return seal_draw(self.log_n, self.seal_rounds)
        words = expected_trit_words(self.log_n) if trit_words is None else trit_words
        two = mode in TWO_PARTS
        return _draw(self.log_n, words if two else 0, 2 if two else 1, self.doubles)

    def cold(self, mode: int = PUBLIC) -> int:
        """From the handshake of an encryption to its last row, when nothing was drawn ahead."""
        return self.draw_to_start(mode) + self.ready(mode)

    def starts(self, jobs: Iterable[tuple[int, int | None]]) -> list[int]:
        """The starts of jobs (mode, words of the ternary polynomial) that all wait from cycle 0 on."""
        return [course.start for course in self.courses(jobs)]

    def courses(self, jobs: Iterable[tuple[int, int | None]]) -> list[Course]:
        """When each of these jobs does what."""
        courses: list[Course] = []
        found: list[int] = []
        begins: list[int] = []
        accept = gate = extra_gate = 0
        # What an expansion has to wait while the transforms are ready, and since when.
        apart = apart_from = 0
        for mode, trit_words in jobs:
            if len(begins) >= self.sets:  # a set is free when the last row of its samples was read
                accept = max(accept, begins[-self.sets] + self.message_row + self.rows)
            full = accept + self.draw(mode, trit_words)
            first = accept + self.draw_to_start(mode, trit_words)
            seeded = mode in (SYMMETRIC, PUBLIC_KEY)
            # Jobs go in their order, one a cycle; others wait until no divided job is on its way.
            start = max(first, found[-1] + 1 if found else 0)
            if mode in BY_EXTRA:
                start = max(start, extra_gate)
                begin, extra_gate = start + self.extra_latency, start + self.rows
                if begin < full:
                    raise AssertionError("errors are read before they are drawn")
            else:
                start = max(start, gate, begins[-1] + 1 if begins else 0, apart_from + apart if seeded else 0)
                begin = start
            apart = max(0, apart - max(0, begin - apart_from + 1))
            if seeded and self.log_n < SEEDED_LOG_N:
                apart = SEEDED_APART
            found.append(start)
            begins.append(begin)
            courses.append(Course(mode, accept, full, start, begin))
            accept, gate, apart_from = full, begin + self.rows, begin + self.rows
        return courses

    def spans(self, modes: Sequence[int]) -> list[Span]:
        """When each unit works for jobs that all wait from cycle 0 on: (unit, what, first cycle, after it).

        A stage of a pipeline works while rows enter it. Bytes are refused as often as on average.
        """
        found: list[Span] = []
        for number, course in enumerate(self.courses([(mode, None) for mode in modes])):
            job, begin = f"job {number}", course.begin
            if course.mode != DECRYPT:
                found.append(("sampler", f"{job}: draws", course.accept, course.full))
            if course.mode in BY_EXTRA:
                entered = course.start + self.lead
                products = entered + self.transform - self.rows // 2
                back = products + self.multiplier_latency - 1
                found += [
                    (
                        "extra prime: transform",
                        f"{job}: v, twice as many words",
                        entered,
                        entered + self.rows // 2,
                    ),
                    ("extra prime: products", f"{job}: v b, v a", products, products + self.rows),
                    ("extra prime: transforms back", f"{job}: v b, v a", back, back + self.rows),
                    ("rounding", f"{job}: rows modulo the extra prime", begin, begin + self.rows),
                ]
            entered = begin + self.begin_lead + self.lead
            summed = entered + self.transform
            shown = begin + self.first_row
            found += [
                ("limbs: transforms", f"{job}: rows of three polynomials", entered, entered + self.rows),
                ("limbs: sums", f"{job}: products with the key", summed, summed + self.rows),
                ("result", f"{job}: rows", shown, shown + self.rows),
            ]
        return found

    def interval(self, mode: int = PUBLIC) -> int:
        """Cycles from result to result when jobs and operands wait, once the schedule repeats itself."""
        steps = {b - a for a, b in pairwise(self.starts([(mode, None)] * 12)[-4:])}
        if len(steps) != 1:
            raise AssertionError(f"the schedule does not repeat itself: {sorted(steps)}")
        return steps.pop()

    @property
    def multipliers(self) -> dict[str, int]:
        """Where the modular multipliers are; transforms of a limb have their twiddle factors in common."""
        p = 1 << self.log_p
        found = {
            "butterflies": self.limbs * 3 * (self.log_n << (self.log_p - 1)),
            "twiddle factors": self.limbs * (p + 1),
            "sums": self.limbs * 2 * p,
        }
        if self.extra:
            # One forward transform of 2 P words a cycle, two of P words back.
            found["extra prime, butterflies"] = 2 * self.log_n * p
            found["extra prime, twiddle factors"] = (2 * p + 1) + (p + 1)
            found["extra prime, products"] = 2 * p
            found["division"] = self.limbs * 2 * p
        return found

    @property
    def sample_bits(self) -> int:
        """Sets of samples: a copy of the ternary bytes a lane, seven bits a Gaussian sample."""
        copies = (3 if self.extra else 1) << self.log_p
        return self.sets * (copies * 8 * trit_bytes(self.log_n) + 2 * 7 * (1 << self.log_n))

    def memory_bits(self, widths: Sequence[int]) -> int:
        """Samples, the secret key, and the delays of the transforms of limbs of these widths.

        The extra prime is as wide as the first one, and half of the values modulo it wait in a memory.
        """
        n, p = 1 << self.log_n, 1 << self.log_p
        extra = ((n - 2 * p) + 2 * (n - p) + n // 2) * widths[0] if self.extra else 0
        return self.sample_bits + 2 * n + 3 * (n - p) * sum(widths) + extra
