"""Large accelerators for a kernel: lanes, arrays and memory within an area, at a bandwidth.

The machines are of Taiyi's kind: units for transforms, inner products, base conversions and element-wise work
beside one memory (docs/large-machines.md). Areas follow the shares of Fig. 13 of its paper (arXiv 2403.10188)
at 7 nm. Multipliers grow with the square of the word, memory with its size, and two fifths of the figure's
rest with the lanes. The memory interface is left out, as there. They are a scaling of printed
figures, not a synthesis. Cycles are those of `Compiled.estimate`.
"""

from __future__ import annotations

import itertools
import math
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ringmill import atomic
from ringmill.compiled import Compiled
from ringmill.errors import ExploreError, ParameterError, ProgramError, fail
from ringmill.explorer.result import can_report
from ringmill.progress import Show, Step, steps
from ringmill.trace import Kernel

Row = dict[str, Any]

#: The name of this target.
NAME = "taiyi"
ABOUT = "large accelerators of lanes, arrays and one memory, within an area"

#: Taiyi's area, and square millimetres of its Fig. 13 by what they hold: 1,024 lanes of transforms, 24,576
#: and 12,288 multipliers of 36 bits, 128.25 MiB, and the rest.
AREA = 151.6
NTT, IP, BCONV, MEMORY, REST = 28.65, 16.52, 8.34, 54.73, 43.36
#: How much of the rest grows with lanes and words.
GROWS = 0.4

#: Words of machines, in bits. A kernel is compiled for each of them.
WORDS = (28, 36, 44, 52, 60)
LANES = (64, 128, 256, 320, 384, 448, 512, 640, 768, 1024)
MULTIPLIERS = (512, 1024, 2048, 4096)
CONVERSIONS = (1024, 3072, 4096, 6144)
ELEMENTS = (256, 512, 768, 1024, 1536)
MEBIBYTES = (16, 32, 64, 96, 112, 128, 144, 160, 176, 192, 208, 224)

#: The axes by name, as `ringmill targets` lists them.
AXES = {
    "word": WORDS,
    "lanes": LANES,
    "multipliers": MULTIPLIERS,
    "conversions": CONVERSIONS,
    "elements": ELEMENTS,
    "mebibytes": MEBIBYTES,
}

#: How many multipliers a word meets: in the array for inner products, as both halves of a key switch need,
#: and in that for conversions, as targets need.
_SUMS, _TARGETS = 2, 8

#: By unit: the field that says how wide it is, how many of these a word meets, the cycles of its rows, and
#: those to its first and to its last word out. {w} are words a cycle, {r} the rows, {m} the cycles of a
#: multiplier. Pipelines are at least as long as those of the RTL (rtl/taiyi_ntt, rtl/taiyi_auto,
#: rtl/taiyi_arrays, rtl/taiyi_prng). A transposition waits for a whole limb. A generator refuses one word in
#: sixteen at most.
_UNITS = {
    "ntt": ("lanes", 1, "n/{w}", "{r} + 93 + 19*{m}", "2*n/{w} + 93 + 19*{m}"),
    "auto": ("lanes", 1, "n/{w}", "32", "{r} + 32"),
    "prng": ("lanes", 1, "17*n/16/{w} + 56", "56", "{r}"),
    "ip": ("multipliers", _SUMS, "n*terms/{w}", "{r}", "{r} + 32"),
    "bconv": ("conversions", _TARGETS, "n*terms/{w}", "{r}", "{r} + 64"),
    "ewe": ("elements", 1, "n/{w}", "6 + {m}", "{r} + 6 + {m}"),
}
#: Bits of an NTT prime of N = 2^16 that a word step of the multiplier takes (rtl/modmul).
_STEP = 17

#: Bits of words that the description of 60 bits has its energies for.
_ENERGY_WORD = 60
_ENERGY = {"ntt": (17.8, 2), "ip": (0.75, 2), "bconv": (0.75, 2), "ewe": (2.2, 2), "prng": (1.3, 1)}

#: Bytes a cycle at 10^9 cycles a second.
_BANDWIDTHS = {"GB/s": 1.0, "TB/s": 1000.0}
_BANDWIDTH_MOST = 100_000.0


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine of the space.

    Attributes
    ----------
        word: bits of a word.
        lanes, elements: words a cycle of transforms, and of element-wise work.
        multipliers, conversions: of the arrays for inner products and for base conversions.
        mebibytes: on chip.
    """

    word: int
    lanes: int
    multipliers: int
    conversions: int
    elements: int
    mebibytes: int

    def areas(self) -> dict[str, float]:
        """Square millimetres at 7 nm by unit."""
        longer = (self.word / 36) ** 2
        return {
            "ntt": NTT * longer * self.lanes / 1024,
            "ip": IP * longer * self.multipliers / 24576,
            "bconv": BCONV * longer * self.conversions / 12288,
            "limbs": MEMORY * self.mebibytes / 128.25,
            "rest": REST * (1 - GROWS + GROWS * longer * max(self.lanes, self.elements) / 1024),
        }

    @property
    def area(self) -> float:
        """Square millimetres at 7 nm."""
        return sum(self.areas().values())

    def bound(self, work: Row) -> float:
        """Cycles at least, for what ``work`` says: the busiest unit, bytes off chip, the longest path."""
        widths = ((unit, getattr(self, of)) for unit, (of, *_) in _UNITS.items())
        return float(max(work["off_chip"], work["path"], *(work[unit] / width for unit, width in widths)))

    def text(self, bytes_per_cycle: float = 1000.0) -> str:
        """Its description (docs/large-machines.md), for ``machine="file:…"``."""
        chosen = 'source = "assumed: a point of the space"'
        lines = ["[machine]", 'base = "taiyi-60"', 'name = "ours"', 'title = "a machine of our own"']
        lines += [f"word_bits = {self.word}", chosen]
        for unit, (of, met, rows, first, last) in _UNITS.items():
            width = getattr(self, of)
            words = width // met
            times = {"w": words, "r": rows.format(w=words), "m": 4 + 2 * -(-self.word // _STEP)}
            lines += [f"[unit.{unit}]", f'rows = "{times["r"]}"', f'first = "{first.format(**times)}"']
            lines += [f'last = "{last.format(**times)}"', f"width = {width}", f"together = {met}", chosen]
            # One reduction serves the sums of a word, so that each result has cycles of its own.
            lines += [f"writes = {words}"] if met > 1 else []
        lines += ["[runs]", 'dot = "ip"', 'dot_plain = "ip"']
        lines += ["[memory.limbs]", f"bytes = {self.mebibytes << 20}", "bytes_per_cycle = 75000", chosen]
        lines += ["[offchip.hbm]", f"bytes_per_cycle = {bytes_per_cycle:g}", chosen]
        lines += ["[area]", 'node = "7 nm"', *(f"{k} = {v:.2f}" for k, v in self.areas().items())]
        lines += ['source = "assumed: shares of Fig. 13, scaled"', "[energy]", 'node = "7 nm"']
        shorter = self.word / _ENERGY_WORD
        lines += [f"{unit} = {joules * shorter**power:.4g}" for unit, (joules, power) in _ENERGY.items()]
        lines += ['source = "assumed: that of words of 60 bits, multipliers by the square of the word"']
        return "\n".join(lines) + "\n"


@dataclass
class Large:
    """What a search for large accelerators found.

    Attributes
    ----------
        kernel: its name.
        area, bandwidth: the constraints, in mm² and in GB/s.
        front: rows of machines of which no smaller one is faster, by area.
        refused: by bits of a word, why the kernel has no parameters there.
        machines, simulated: how many there are within the area, and how many of them were simulated.
        proven: whether no machine is faster by more than a hundredth than one of the front that is no larger:
            each other one was simulated, or has a bound that says so.
    """

    kernel: str
    area: float
    bandwidth: float
    front: list[Row]
    refused: dict[int, str]
    machines: int
    simulated: int
    proven: bool
    seconds: float

    @property
    def best(self) -> Row:
        """The fastest row."""
        return min(self.front, key=lambda row: float(row["ms"]))

    def save(self, path: str | Path, row: Row | None = None) -> None:
        """Write the description of a machine of the front, the fastest if none is named: ``file:PATH``."""
        chosen = self.best if row is None else row
        atomic.write_text(Path(path), _machine(chosen).text(self.bandwidth))

    def completeness(self) -> str:
        """What is known of the machines that were not simulated, as a sentence."""
        if self.proven:
            part = f"{100 * GAP:.0f} %"
            return f"No other one is faster by more than {part} than one of these that is no larger."
        return (
            f"After {self.seconds:.0f} s some were left open, so faster ones may exist: allow more seconds."
        )

    def report(self, path: str | Path) -> int:
        """Write a page of the front: time by area, what limits each machine, words that were refused.

        Needs Matplotlib and Jinja2, which are the extra ``report``. Returns its bytes.
        """
        can_report()
        from ringmill import __version__
        from ringmill.report.page import render_large

        text = render_large(self.to_json(), self.completeness(), __version__)
        atomic.write_text(Path(path), text)
        return len(text.encode())

    def to_json(self) -> Row:
        """Everything, for JSON."""
        refused = {str(word): why for word, why in self.refused.items()}
        return {**asdict(self), "refused": refused, "best": self.best}


#: A machine that could be faster by this part at most is not simulated.
GAP = 0.01
#: Parts of a search that progress is shown by.
PARTS = 20


def _machine(row: Row) -> Machine:
    return Machine(**{name: row[name] for name in AXES})


def machines(most: float, least: float = 0.0, words: tuple[int, ...] = WORDS) -> Iterator[Machine]:
    """The machines of the space that take from ``least`` to ``most`` square millimetres."""
    for shape in itertools.product(words, LANES, MULTIPLIERS, CONVERSIONS, ELEMENTS, MEBIBYTES):
        machine = Machine(*shape)
        if least <= machine.area <= most:
            yield machine


def square_millimetres(text: str | float) -> float:
    """An area of text as "150mm2", or of a number."""
    return _quantity("area", text, {"mm2": 1.0, "mm²": 1.0}, "150mm2", 2000.0)


def bytes_a_cycle(text: str | float) -> float:
    """A bandwidth of text as "1TB/s", or of a number of GB/s: bytes a cycle at 10^9 cycles a second."""
    return _quantity("bandwidth", text, _BANDWIDTHS, "1TB/s", _BANDWIDTH_MOST)


def _quantity(name: str, given: str | float, units: dict[str, float], example: str, most: float) -> float:
    value = math.nan
    if isinstance(given, str):
        found = re.fullmatch(r"\s*([0-9.]+)\s*(\S*)\s*", given)
        unit = found and (found[2] or next(iter(units)))
        if found and unit in units:
            try:
                value = float(found[1]) * units[str(unit)]
            except ValueError:
                value = math.nan
    elif isinstance(given, (int, float)) and not isinstance(given, bool):
        value = float(given)
    if not 0 < value <= most:
        fail(
            ExploreError,
            "Constraint",
            f"{name} is {given!r}; it must be like {example!r}: above 0, and at most {most:,.0f} "
            f"{next(iter(units))}.",
            constraint=name,
        )
    return value


def accelerators(
    kernel: Kernel | Compiled,
    /,
    *arguments: Any,
    area: str | float = AREA,
    bandwidth: str | float = "1TB/s",
    max_error: float = 1e-3,
    security: int = 128,
    magnitude: float = 1.0,
    seconds: float = 60.0,
    progress: Show = "none",
) -> Large:
    """Search large accelerators for a kernel: the fastest one of each area.

    A kernel is compiled for every word of the space, with levels of as many primes as they take; a compiled
    one keeps its parameters. Of each machine a bound on its cycles follows from one simulation. Machines are
    simulated while their bounds may beat what was found.

    Args:
        kernel: a kernel with its arguments, or a compiled one.
        area: of the chip, at most: "150mm2" or square millimetres, at 7 nm.
        bandwidth: of its memory off chip: "1TB/s", "400GB/s" or GB/s.
        max_error: the error of the worst slot, at most, where parameters are chosen.
        security: bits, where parameters are chosen.
        magnitude: bound on the arguments.
        seconds: no simulation begins after that. What is left open is said in ``proven``.
        progress: "auto" shows how far it is.

    Raises
    ------
        ExploreError: ``Constraint`` for an area or a bandwidth that is not valid. ``Infeasible`` if no
            machine is so small, or no word has parameters for the kernel.
    """
    start = time.monotonic()
    most, rate = square_millimetres(area), bytes_a_cycle(bandwidth)
    options = {"precision": _bits(max_error), "security": security, "magnitude": magnitude}
    programs, refused = _programs(kernel, arguments, options)
    candidates = list(machines(most, words=tuple(programs)))
    if not candidates:
        smallest = min(
            (machine.area for machine in machines(math.inf, words=tuple(programs))), default=math.inf
        )
        why = "; ".join(f"{word} bits: {reason}" for word, reason in refused.items())
        text = f"No machine has {most:g} mm² or less: the smallest has {smallest:.1f}." if programs else why
        fail(ExploreError, "Infeasible", text)
    with tempfile.TemporaryDirectory() as folder, steps("machines", PARTS, progress) as step:
        search = _Search(programs, rate, Path(folder) / "machine.toml")
        open_ = search.through(candidates, start + seconds, step)
    front = sorted(search.front, key=lambda row: float(row["area_mm2"]))
    name = next(iter(programs.values())).name
    took = round(time.monotonic() - start, 2)
    return Large(name, most, rate, front, refused, len(candidates), search.simulated, not open_, took)


def _bits(max_error: float) -> int:
    if isinstance(max_error, bool) or not isinstance(max_error, (int, float)) or not 0 < max_error < 1:
        fail(
            ExploreError,
            "Constraint",
            f"max_error is {max_error!r}; it must be between 0 and 1.",
            constraint="max_error",
        )
    return max(1, math.ceil(-math.log2(max_error)))


def _programs(
    kernel: Kernel | Compiled, arguments: tuple[Any, ...], options: Row
) -> tuple[dict[int, Compiled], dict[int, str]]:
    """By bits of a word what runs there, and why nothing does."""
    if isinstance(kernel, Compiled):
        widest = max(q.bit_length() for q in (*kernel.params.q, *kernel.params.p))
        holds = [word for word in WORDS if word >= widest]
        return dict.fromkeys(holds[:1], kernel), {
            word: f"a prime of {widest} bits" for word in WORDS if word < widest
        }
    if not isinstance(kernel, Kernel):
        fail(
            ExploreError,
            "NoKernel",
            f"{kernel!r} cannot be explored for large accelerators. Give a @ringmill.kernel or what its "
            "compile() gives.",
        )
    programs: dict[int, Compiled] = {}
    refused: dict[int, str] = {}
    for word in WORDS:
        try:
            programs[word] = kernel.compile(*arguments, word=word, **options)
        except (ParameterError, ProgramError) as error:
            refused[word] = error.message
    return programs, refused


def work_of(count: Row, rate: float) -> Row:
    """What no machine leaves out, by the counters of the widest: words of units, bytes off chip, the path."""
    distinct = sum(n for name, n in count.items() if name.startswith("bytes_") and name.endswith("_distinct"))
    # Neither what a generator makes nor what is spilled has to pass.
    distinct -= sum(count[f"bytes_{name}_distinct"] for name in ("expanded", "fill", "spill"))
    path = count["bound_critical_path"]
    return {"off_chip": distinct / rate, "path": path, **{unit: count[f"{unit}_used"] for unit in _UNITS}}


class _Search:
    """Simulations, and the front that they make."""

    def __init__(self, programs: dict[int, Compiled], rate: float, file: Path) -> None:
        self.programs, self.rate, self.file = programs, rate, file
        self.front: list[Row] = []
        self.simulated = 0
        # Of the widest machine the longest path is a bound for all.
        widest = [max(values) for values in list(AXES.values())[1:]]
        self.work = {word: self._work(Machine(word, *widest)) for word in programs}

    def _facts(self, machine: Machine) -> Row:
        self.file.write_text(machine.text(self.rate), encoding="utf-8")
        return self.programs[machine.word].estimate(f"file:{self.file}")

    def _work(self, machine: Machine) -> Row:
        """What no machine of this word leaves out."""
        return work_of(self._facts(machine)["counters"], self.rate)

    def through(self, candidates: list[Machine], end: float, step: Step) -> int:
        """Simulate what may belong to the front; return how many are left open."""
        bounds = {machine: machine.bound(self.work[machine.word]) for machine in candidates}
        by_area = sorted(candidates, key=lambda machine: machine.area)
        # First those that the front would consist of if bounds were met, so that many others need no
        # simulation.
        first, least = [], math.inf
        for machine in by_area:
            if bounds[machine] < least:
                least = bounds[machine]
                first.append(machine)
        open_, part = 0, -1
        for at, machine in enumerate(dict.fromkeys([*first, *by_area])):
            if at * PARTS // len(candidates) > part:
                part += 1
                step(f"{at:,} of {len(candidates):,} looked at, {self.simulated:,} simulated")
            if self._beaten(machine.area, (1 + GAP) * bounds[machine]):
                continue
            if time.monotonic() > end and self.front:
                open_ += 1
                continue
            self._keep(machine)
        return open_

    def _beaten(self, area: float, cycles: float) -> bool:
        return any(row["area_mm2"] <= area and row["cycles"] <= cycles for row in self.front)

    def _keep(self, machine: Machine) -> None:
        facts = self._facts(machine)
        self.simulated += 1
        area, cycles = machine.area, facts["cycles"]
        if self._beaten(area, cycles):
            return
        count, compiled = facts["counters"], self.programs[machine.word]
        row = {
            **asdict(machine),
            "area_mm2": area,
            "ms": 1e3 * facts["seconds"],
            "cycles": cycles,
            "energy_mj": 1e3 * sum(joules for _, joules in facts["energy"] or []),
            "bytes_keys": count["bytes_key"] + count["bytes_seeded_key"],
            "bytes_spilled": count["bytes_fill"] + count["bytes_spill"],
            "bounds": {name: count[f"bound_{name}"] for name in ("work", "off_chip", "critical_path")},
            "log_n": compiled.params.log_n,
            "q_bits": [q.bit_length() for q in compiled.params.q],
            "p_bits": [p.bit_length() for p in compiled.params.p],
            "security_bits": compiled.params.security,
            "error": 2.0 ** max(compiled.predicted_error.values()),
        }
        kept = [one for one in self.front if one["area_mm2"] < area or one["cycles"] < cycles]
        self.front = [*kept, row]
