"""What bootstrapping moves over the edge of a chip, and what each way to move less is worth.

``ringmill compare capacity`` counts the rows anew; ``docs/measured/capacity.json`` stores them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ringmill._native import Params
from ringmill.compiled import Compiled, compile_traced
from ringmill.progress import Show, steps
from ringmill.studies.papers.sheets import Sheet
from ringmill.studies.workloads.programs import refresh
from ringmill.trace import kernel, vector

Facts = dict[str, Any]

#: The chip that bars are for: as large as Taiyi's, memory of 1 TB/s.
MEBIBYTES, TERABYTES = 128, 1.0
#: What is left after a bootstrapping: levels, and bits of their scale.
LEVELS, SCALE_BITS = 9, 40
#: Bits of the sine's scale and of the result: primes of 55 bits.
WIDE_BITS, BITS = 52, 18
#: Maps each way that are looked at.
MAPS = (3, 4, 5, 6)
#: The maps whose program moves least, for the rows of other capacities.
BEST = 5
#: Other capacities, in MiB.
OTHERS = (96, 192, 256)

#: What has to hold of one row for `MEBIBYTES`: bytes spilled and refilled, bytes off chip, transforms.
BARS = {"spilled_and_refilled": 0.4e9, "off_chip": 2.4e9, "transforms": 12_500}


@kernel
def _turn(x: Any) -> Any:
    """One key switch."""
    return np.roll(x, 1)


@dataclass(frozen=True, slots=True)
class Way:
    """How a row is counted.

    Attributes
    ----------
        maps: of bootstrapping each way; 0 for one key switch on the best chain.
        mebibytes: of the chip.
        by_cost: whether what is cheap to bring back goes first.
        reorder: whether the program goes prime by prime where that moves less.
    """

    maps: int
    mebibytes: int = MEBIBYTES
    by_cost: bool = False
    reorder: bool = False

    @property
    def program(self) -> str:
        """What rows call the program."""
        return f"bootstrapping, {self.maps} maps each way" if self.maps else "key switch"


def ways() -> Iterator[Way]:
    """All rows: each lever alone, both together, and other capacities."""
    for maps in (0, *MAPS):
        for by_cost in (False, True):
            yield Way(maps, by_cost=by_cost)
            yield Way(maps, by_cost=by_cost, reorder=True)
    for mebibytes in OTHERS:
        yield Way(BEST, mebibytes)
        yield Way(BEST, mebibytes, by_cost=True, reorder=True)


@cache
def _params(maps: int) -> Params:
    return Params.bootstrapping(
        LEVELS, scale_bits=SCALE_BITS, bits=BITS, wide_bits=WIDE_BITS, transforms=maps
    )


@cache
def _compiled(maps: int) -> tuple[Compiled, Facts]:
    params = _params(maps or BEST)
    spec = vector(params.slots, dtype=complex)
    if maps:
        compiled = refresh.compile(spec, params=params)
    else:
        compiled = compile_traced(_turn.trace(x=spec), params=params, output_level=params.max_level)
    return compiled, compiled.work()


def row(way: Way) -> Facts:
    """Count one row."""
    compiled, work = _compiled(way.maps)
    moved = compiled.work(capacity=f"{way.mebibytes}MiB", by_cost=way.by_cost, reorder=way.reorder)["traffic"]
    bytes_ = moved["bytes"]
    return {
        "program": way.program,
        "mebibytes": way.mebibytes,
        "limbs": moved["limbs"],
        "terabytes_a_second": TERABYTES,
        "word_bits": moved["word_bits"],
        "order": "prime by prime" if way.reorder else "as written",
        "first_to_go": "by cost" if way.by_cost else "farthest next use",
        "transforms": work["transforms"],
        "bytes": {name: count for name, count in bytes_.items() if count},
        "spilled_and_refilled": bytes_["spill"] + bytes_["fill"],
        "off_chip": moved["off_chip"],
        "off_chip_ms": round(moved["off_chip"] / (TERABYTES * 1e9), 3),
        "peak_limbs": moved["peak_limbs"],
        "mean_limbs": round(moved["mean_limbs"], 1),
        "precision_bits": round(-max(compiled.predicted_error.values()), 1),
        # Of what is left, the next bootstrapping takes one a map.
        "levels": compiled.plan.output_level - way.maps,
    }


def facts(show: Show = "none") -> Facts:
    """Count all rows."""
    rows = []
    with steps("capacity", len(list(ways())), show) as step:
        for way in ways():
            step(f"{way.program}, {way.mebibytes} MiB")
            rows.append(row(way))
    return {"paper": "capacity", "bars": BARS, "rows": rows}


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.3f}"


def sheet(rows: list[Facts]) -> Sheet:
    """The rows as a table."""
    columns = ["program", "order", "first to go", "MiB", "limbs", "transforms", "keys GB", "spill + fill GB"]
    columns += ["off chip GB", "ms at 1 TB/s", "peak", "mean", "bits", "levels"]
    lines = [
        [
            row["program"],
            row["order"],
            row["first_to_go"],
            str(row["mebibytes"]),
            str(row["limbs"]),
            f"{row['transforms']:,}",
            _gigabytes(row["bytes"].get("key", 0)),
            _gigabytes(row["spilled_and_refilled"]),
            _gigabytes(row["off_chip"]),
            f"{row['off_chip_ms']:.2f}",
            str(row["peak_limbs"]),
            f"{row['mean_limbs']:.0f}",
            f"{row['precision_bits']:.1f}",
            str(row["levels"]),
        ]
        for row in rows
    ]
    return Sheet("Bytes over the edge of a chip, N = 2^16, keys from seeds", columns, lines)


NOTES = (
    "Each order has the same instructions and gives the same bits; the search begins with that as written.",
    "By cost, halves of keys from seeds go first, and limbs with a copy off chip sooner than others.",
)
