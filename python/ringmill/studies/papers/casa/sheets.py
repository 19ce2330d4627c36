"""CASA's tables as sheets of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ringmill.studies.papers.casa import energy
from ringmill.studies.papers.sheets import Sheet, listed, number, percent

Row = dict[str, Any]
Cells = dict[str, Callable[[Row], str]]

#: What holds for every figure of ours.
ORIGIN = (
    "Cycles: the cycle model, which equals the RTL, of a program run again, which finds the roots of its "
    "first transforms. Plans are searched for; the column of half the search says what its second half "
    "still gained. Areas: {area}; the paper's are Vivado's after placement, "
    "and the two tools count LUTs differently. Times of ours are cycles at the paper's Fmax, "
    "for comparison only: no clock of ours was measured there. The paper's delays in its Table 3 are twice "
    "cycles / Fmax: both are shown."
)

#: Counts by their headings.
_COUNTS = {"LUT": "lut", "FF": "ff", "DSP": "dsp", "BRAM": "bram", "overall": "overall"}


def _size(row: Row) -> str:
    name = (row["paper"] or {}).get("name")
    if row["nbf"] is None and name:
        return str(name)
    return f"2^{row['n'].bit_length() - 1}, {row['nbf']}"


def _shape(row: Row) -> str:
    if row.get("set") is None:
        return "–"
    limbs, special, dnum = row["set"]
    return f"({limbs}, {special}, {dnum})"


def _ours(row: Row, name: str, digits: int = 0) -> str:
    return number(row.get(name), digits)


def _theirs(row: Row, name: str, digits: int = 0) -> str:
    return number(row["paper"].get(name), digits)


def _watts(row: Row) -> str:
    power = row.get("power")
    return f"{power['watts']:.2f} ({power['least']:.2f} to {power['most']:.2f})" if power else "–"


def _tiled(row: Row, name: str, tiling: str, digits: int, kind: str | None = None) -> str:
    """A figure of ours by a tiling, and of two denominators by one."""
    found = (row.get(name) or {}).get(tiling)
    return number(found if kind is None or found is None else found[kind], digits)


def _figure(row: Row, name: str) -> str:
    return number(row["area"][name]) if row and row.get("area") else "–"


def _areas(title: str, rows: list[Row], table: int, device: str) -> Sheet:
    def both(name: str) -> Callable[[Row], str]:
        return lambda row: f"{_figure(row, name)} / {_figure(row['paper'], name)}"

    cells: Cells = {
        "N, Nbf": _part,
        "multipliers": lambda row: {"dsp": "DSP blocks", "lut": "LUTs"}.get(row.get("tiling", ""), "–"),
        "device": lambda row: "–" if row["nbf"] is None else device,
        **{heading: both(name) for heading, name in _COUNTS.items()},
        "of the printed": lambda row: number((row.get("ratio_area") or {}).get("printed"), 3),
        "of the formula": lambda row: number((row.get("ratio_area") or {}).get("formula"), 3),
    }
    return listed(title, rows, table, cells)


def _part(row: Row) -> str:
    return f"{_size(row)}: {row['module']}" if "module" in row else _size(row)


def _area(rows: list[Row]) -> Sheet:
    return _areas("Table 2: area (ours / CASA)", rows, 2, "ZCU102")


def _delay(row: Row) -> str:
    delay = row["paper"]["delay_us"]
    if not isinstance(delay, dict):
        return number(delay)
    return number(delay["cycles_over_fmax"])


def _printed(row: Row) -> float | None:
    delay = row["paper"]["delay_us"]
    return delay["printed"] if isinstance(delay, dict) else None


def _row(row: Row, name: str, digits: int = 0) -> str:
    return number((row.get("in_a_row") or {}).get(name), digits)


def _key_switching(rows: list[Row]) -> Sheet:
    cells: Cells = {
        "N, Nbf": _size,
        "(limbs, K, dnum)": _shape,
        "cycles, alone": lambda row: _ours(row, "cycles"),
        "half search": lambda row: percent(None if row.get("noise") is None else 100 * row["noise"]),
        "slots, alone": lambda row: _ours(row, "slots", 2),
        "slots, in a row": lambda row: _row(row, "slots", 2),
        "CASA": lambda row: _theirs(row, "cycles"),
        "ratio": lambda row: _ours(row, "ratio_cycles", 3),
        "area x cycles, DSP": lambda row: _tiled(row, "ratio_area_cycles", "dsp", 3, "printed"),
        "by formula": lambda row: _tiled(row, "ratio_area_cycles", "dsp", 3, "formula"),
        "LUTs": lambda row: _tiled(row, "ratio_area_cycles", "lut", 3, "printed"),
        "us at CASA's Fmax": lambda row: _ours(row, "us_at_paper_fmax"),
        "in a row, a second": lambda row: _row(row, "per_second_at_paper_fmax"),
        "CASA's cycles / Fmax": _delay,
        "printed, us": lambda row: number(_printed(row)),
        "ADP, DSP": lambda row: _tiled(row, "adp", "dsp", 2),
        "printed, ADP": lambda row: _theirs(row, "adp", 2),
        "CPU machine, us": lambda row: number((row.get("cpu") or {}).get("us")),
    }
    title = "Table 3: key switching, one alone and each of four in a row (slot = one transform on one lane)"
    return listed(title, rows, 3, cells)


def _modules(rows: list[Row]) -> Sheet:
    return _areas("Table 4: Artix-7 (ours / CASA)", rows, 4, "xc7a200t")


def _operations(rows: list[Row]) -> Sheet:
    cells: Cells = {
        "N, Nbf, operation": lambda row: f"{_size(row)}, {row['operation']}",
        "(limbs, K, dnum)": _shape,
        "cycles": lambda row: _ours(row, "cycles"),
        "on chip": lambda row: number((row.get("bound") or {}).get("sums")),
        "us": lambda row: _ours(row, "us_at_paper_fmax"),
        "printed, us": lambda row: _theirs(row, "us", 2 if row["paper"]["us"] < 1 else 0),
        "ratio": lambda row: _ours(row, "ratio_cycles", 3),
        "W, estimate": _watts,
        "printed, W": lambda row: _theirs(row, "power_w", 1),
        "W x ms": lambda row: _ours(row, "pdp", 3),
        "printed, W x ms": lambda row: _theirs(row, "pdp", 2),
    }
    return listed("Table 5: operations at CASA's Artix-7 frequency", rows, 5, cells)


def _throughput(rows: list[Row]) -> Sheet:
    cells: Cells = {
        "design": lambda row: str(row["paper"]["name"]),
        "(limbs, K, dnum)": _shape,
        "a second": lambda row: _ours(row, "per_second", 1),
        "for each 1000 of area, DSP": lambda row: _tiled(row, "per_area", "dsp", 2),
        "LUTs": lambda row: _tiled(row, "per_area", "lut", 2),
        "W, estimate": _watts,
        "printed, a second": lambda row: _theirs(row, "per_second", 1),
        "printed, area": lambda row: _theirs(row, "per_area", 2),
        "printed, a watt": lambda row: _theirs(row, "per_watt", 2),
    }
    return listed("Table 6: multiplications with key switch a second, N = 2^14", rows, 6, cells)


def _merged(rows: list[Row]) -> Sheet:
    cells: Cells = {
        "N, Nbf": _size,
        "(limbs, K, dnum)": _shape,
        "merged, cycles": lambda row: number(row["cycles"]),
        "apart, cycles": lambda row: number(row["cycles_apart"]),
        "ratio": lambda row: number(row["ratio_merged"], 3),
    }
    title = "Beyond the paper: multiply, relinearise and rescale, the rescaling merged into ModDown"
    return listed(title, rows, 7, cells)


def _narrow(rows: list[Row]) -> Sheet:
    chosen = [row for row in rows if row["table"] == 8]
    latencies = sorted({row["latency"] for row in chosen})
    found: dict[int, list[str]] = {}
    for row in chosen:
        start = [f"{row['bus_bits']} bits a cycle", f"{_size(row)}, {_shape(row)}"]
        found.setdefault(row["bus_bits"], start).append(number(row["slots"], 2))
    columns = ["memory", "N, Nbf, (limbs, K, dnum)", *(f"slots, latency {cycles}" for cycles in latencies)]
    return Sheet(
        "Beyond the paper: key switching over narrower and slower memories", columns, list(found.values())
    )


def _policies(rows: list[Row]) -> Sheet:
    cells: Cells = {
        "N, Nbf": _size,
        "(limbs, K, dnum), policy": lambda row: f"{_shape(row)}, {row['policy']}",
        "cycles": lambda row: number(row["cycles"]),
        "slots": lambda row: number(row["slots"], 2),
        "first output after": lambda row: number(row["first_output"]),
        "outputs, on average": lambda row: number(row["mean_output"]),
    }
    return listed("Beyond the paper: plans for the whole, and for early outputs", rows, 9, cells)


def sheets(rows: list[Row]) -> list[Sheet]:
    """Return every table that has rows."""
    made = (_area, _key_switching, _modules, _operations, _throughput, _merged, _narrow, _policies)
    return [sheet for sheet in (make(rows) for make in made) if sheet.rows]


def origin(rows: list[Row], area_origin: str) -> str:
    """Return what holds for the figures of all sheets."""
    timed = [row["cpu"] for row in rows if row.get("cpu")]
    text = f"{ORIGIN.format(area=area_origin)} {energy.note()}"
    return (
        f"{text} CPU machine: {timed[0]['what']}, measured now on {timed[0]['processor']}." if timed else text
    )
