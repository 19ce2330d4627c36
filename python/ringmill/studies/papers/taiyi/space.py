"""Machines of our own: lanes, arrays and memory within an area, on our bootstrapping.

Machines and their areas are those of `ringmill.explorer.large`, with the words that our bootstrapping takes.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ringmill.explorer.large import AREA, Machine, work_of
from ringmill.studies.papers.taiyi import programs
from ringmill.studies.papers.taiyi.machines import reported

Row = dict[str, Any]

LANES = (256, 320, 384, 448, 512, 640, 768)
MULTIPLIERS = (1024, 2048, 4096)
CONVERSIONS = (3072, 4096, 6144)
ELEMENTS = (512, 768, 1024, 1536)
MEBIBYTES = (96, 112, 128, 144, 160, 176, 192, 208, 224)
#: Off chip: 1 TB/s at 10^9 cycles a second.
BYTES_PER_CYCLE = 1000.0
#: The smallest machines that are simulated, in mm²: less memory or fewer lanes only take longer.
LEAST = 130.0


def machines(most: float = AREA, least: float = LEAST) -> Iterator[Machine]:
    """Return the machines of the space that take from ``least`` to ``most`` square millimetres."""
    for shape in itertools.product(
        programs.OUR_WORDS.values(), LANES, MULTIPLIERS, CONVERSIONS, ELEMENTS, MEBIBYTES
    ):
        machine = Machine(*shape)
        if least <= machine.area <= most:
            yield machine


def searched(show: Callable[[Row], None]) -> list[Row]:
    """Simulate our bootstrappings on each machine; return those that no smaller machine is faster than.

    A bootstrapping is left out where its bound is no less than what this machine, or a smaller one, takes.
    """
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "machine.toml"

        def simulated(machine: Machine, transforms: int) -> Row:
            file.write_text(machine.text(), encoding="utf-8")
            precision = next(p for p, word in programs.OUR_WORDS.items() if word == machine.word)
            program = programs.ours(transforms, precision, machine.mebibytes)
            facts = program.estimate(f"file:{file}")
            row = {**asdict(machine), "precision_bits": precision, "transforms": transforms}
            return {
                **row,
                "area_mm2": round(machine.area, 1),
                "counters": facts["counters"],
                **reported(facts),
            }

        most = [max(axis) for axis in (LANES, MULTIPLIERS, CONVERSIONS, ELEMENTS, MEBIBYTES)]
        work = {
            (word, t): work_of(simulated(Machine(word, *most), t)["counters"], BYTES_PER_CYCLE)
            for word in programs.OUR_WORDS.values()
            for t in programs.TRANSFORMS
        }
        # The greatest machines are the fastest, and show early what others must beat.
        for machine in sorted(machines(), key=lambda m: m.bound(work[m.word, programs.TRANSFORMS[0]])):
            bounds = {t: machine.bound(work[machine.word, t]) for t in programs.TRANSFORMS}
            for transforms in sorted(bounds, key=lambda t: bounds[t]):
                if _beaten(found, machine, bounds[transforms]):
                    break
                row = simulated(machine, transforms)
                del row["counters"]
                found.append(row)
                show(row)
    return [
        row for word in programs.OUR_WORDS.values() for row in front([r for r in found if r["word"] == word])
    ]


def _beaten(rows: list[Row], machine: Machine, cycles: float) -> bool:
    area = round(machine.area, 1)
    return any(r["word"] == machine.word and r["area_mm2"] <= area and r["cycles"] <= cycles for r in rows)


def front(rows: list[Row]) -> list[Row]:
    """Return the rows that no other one beats in both area and time, by area."""
    kept: list[Row] = []
    for row in sorted(rows, key=lambda r: (r["area_mm2"], r["ms"])):
        if not kept or row["ms"] < kept[-1]["ms"]:
            kept.append(row)
    return kept
