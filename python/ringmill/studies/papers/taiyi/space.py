"""Machines of our own: lanes, arrays and memory within an area, on our bootstrapping.

Areas follow Fig. 13's shares of 151.6 mm² at 7 nm: multipliers grow with the square of the word, memory with
its size, and two fifths of what the figure calls others with the lanes. The memory interface is left out,
as in the paper. They are a scaling of printed figures, not a synthesis.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ringmill.studies.papers.taiyi import programs
from ringmill.studies.papers.taiyi.machines import reported

Row = dict[str, Any]

#: The area of Taiyi, which ours may take.
AREA = 151.6
#: Square millimetres of Fig. 13, by what they hold: 1,024 lanes of transforms, 24,576 and 12,288
#: multipliers of 36 bits, 128.25 MiB, and the rest.
NTT, IP, BCONV, MEMORY, REST = 28.65, 16.52, 8.34, 54.73, 43.36
#: How much of the rest grows with lanes and words.
GROWS = 0.4

LANES = (256, 320, 384, 448, 512, 640, 768)
MULTIPLIERS = (1024, 2048, 4096)
CONVERSIONS = (3072, 4096, 6144)
ELEMENTS = (512, 768, 1024, 1536)
MEBIBYTES = (96, 112, 128, 144, 160, 176, 192, 208, 224)
#: The smallest machines that are simulated, in mm²: less memory or fewer lanes only take longer.
LEAST = 130.0


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

    def area(self) -> dict[str, float]:
        """Square millimetres at 7 nm by unit."""
        longer = (self.word / 36) ** 2
        return {
            "ntt": NTT * longer * self.lanes / 1024,
            "ip": IP * longer * self.multipliers / 24576,
            "bconv": BCONV * longer * self.conversions / 12288,
            "limbs": MEMORY * self.mebibytes / 128.25,
            "rest": REST * (1 - GROWS + GROWS * longer * max(self.lanes, self.elements) / 1024),
        }

    def text(self) -> str:
        """Return its description (docs/large-machines.md)."""
        chosen = 'source = "assumed: a point of the space"'
        units = {
            "ntt": (self.lanes, f"n/{self.lanes}", "256"),
            "ip": (self.multipliers, f"n*terms/{self.multipliers}", f"n*terms/{self.multipliers}"),
            "bconv": (self.conversions, f"n*terms/{self.conversions}", f"n*terms/{self.conversions}"),
            "ewe": (self.elements, f"n/{self.elements}", "16"),
            "auto": (self.lanes, f"n/{self.lanes}", "32"),
            "prng": (self.lanes, f"n/{self.lanes}", "64"),
        }
        latency = {"ntt": 256, "ip": 32, "bconv": 64, "ewe": 16, "auto": 32, "prng": 64}
        lines = ["[machine]", 'base = "taiyi-60"', 'name = "ours"', 'title = "a machine of our own"']
        lines += [f"word_bits = {self.word}", chosen]
        for name, (width, rows, first) in units.items():
            lines += [f"[unit.{name}]", f'rows = "{rows}"', f'first = "{first}"']
            lines += [f'last = "{rows} + {latency[name]}"', f"width = {width}", chosen]
        lines += ["[runs]", 'dot = "ip"', 'dot_plain = "ip"']
        lines += ["[memory.limbs]", f"bytes = {self.mebibytes << 20}", "bytes_per_cycle = 75000", chosen]
        lines += ["[area]", 'node = "7 nm"', *(f"{k} = {v:.2f}" for k, v in self.area().items())]
        return "\n".join([*lines, 'source = "assumed: shares of Fig. 13, scaled"']) + "\n"


def machines(most: float = AREA, least: float = LEAST) -> Iterator[Machine]:
    """Return the machines of the space that take from ``least`` to ``most`` square millimetres."""
    for shape in itertools.product(
        programs.OUR_WORDS.values(), LANES, MULTIPLIERS, CONVERSIONS, ELEMENTS, MEBIBYTES
    ):
        machine = Machine(*shape)
        if least <= sum(machine.area().values()) <= most:
            yield machine


def searched(show: Callable[[Row], None]) -> list[Row]:
    """Simulate our bootstrappings on each machine; return those that no smaller machine is faster than."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "machine.toml"
        for machine in machines():
            file.write_text(machine.text(), encoding="utf-8")
            precision = next(p for p, word in programs.OUR_WORDS.items() if word == machine.word)
            of = ((t, programs.ours(t, precision).estimate(f"file:{file}")) for t in programs.TRANSFORMS)
            transforms, facts = min(of, key=lambda one: one[1]["cycles"])
            area = round(sum(machine.area().values()), 1)
            row = {**asdict(machine), "precision_bits": precision, "area_mm2": area, "transforms": transforms}
            found.append({**row, **reported(facts)})
            show(found[-1])
    return [
        row for word in programs.OUR_WORDS.values() for row in front([r for r in found if r["word"] == word])
    ]


def front(rows: list[Row]) -> list[Row]:
    """Return the rows that no other one beats in both area and time, by area."""
    kept: list[Row] = []
    for row in sorted(rows, key=lambda r: (r["area_mm2"], r["ms"])):
        if not kept or row["ms"] < kept[-1]["ms"]:
            kept.append(row)
    return kept
