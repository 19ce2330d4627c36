"""The rows of a comparison as sheets of text: for a terminal, and for the report."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

Row = dict[str, Any]

#: What holds for every figure of ours.
ORIGIN = (
    "Cycles: the cycle model, which equals the RTL, of a program run again, which finds the roots of its "
    "first transforms. Areas: {area}; the paper's are Vivado's after placement, "
    "and the two tools count LUTs differently. Times of ours are cycles at the paper's Fmax, "
    "for comparison only. The paper's delays in its Table 3 are twice cycles / Fmax: both are shown."
)

_COUNTS = ("lut", "ff", "dsp", "bram", "overall")
_AREA = ["N, Nbf", "device", "LUT", "FF", "DSP", "BRAM", "overall", "ratio"]


class Sheet(NamedTuple):
    """A table ready to be shown: the first two columns are words, the others figures."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def _number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _size(row: Row) -> str:
    return f"2^{row['n'].bit_length() - 1}, {row['nbf']}"


def _shape(row: Row) -> str:
    if row.get("set") is None:
        return "–"
    limbs, special, dnum = row["set"]
    note = " casa's own, does not decrypt" if row["sequence"] == "casa" else ""
    return f"({limbs}, {special}, {dnum}){note}"


def _figure(row: Row, name: str) -> str:
    return _number(row["area"][name]) if row and row.get("area") else "–"


def _areas(rows: list[Row], table: int, device: str) -> list[list[str]]:
    return [
        [
            _size(row),
            device,
            *(f"{_figure(row, name)} / {_figure(row['paper'], name)}" for name in _COUNTS),
            _number(row.get("ratio_area"), 3),
        ]
        for row in rows
        if row["table"] == table
    ]


def _area(rows: list[Row]) -> Sheet:
    return Sheet("Table 2: area (ours / CASA)", _AREA, _areas(rows, 2, "ZCU102"))


def _key_switching(rows: list[Row]) -> Sheet:
    columns = ["N, Nbf", "(limbs, K, dnum)", "cycles", "slots", "CASA", "ratio", "area x cycles"]
    columns += ["us at CASA's Fmax", "a second", "CASA, us", "CPU machine, us"]
    found = []
    for row in rows:
        if row["table"] != 3:
            continue
        delay = row["paper"]["delay_us"]
        found.append(
            [
                _size(row),
                _shape(row),
                _number(row["cycles"]),
                _number(row["slots"], 2),
                _number(row["paper"]["cycles"]),
                _number(row["ratio_cycles"], 3),
                _number(row.get("ratio_area_cycles"), 3),
                _number(row["us_at_paper_fmax"]),
                _number(row["per_second_at_paper_fmax"]),
                f"{_number(delay['cycles_over_fmax'])} (prints {_number(delay['printed'])})",
                _number((row.get("cpu") or {}).get("us")),
            ]
        )
    return Sheet("Table 3: key switching (slot = one transform on one lane)", columns, found)


def _modules(rows: list[Row]) -> Sheet:
    return Sheet("Table 4: Artix-7 (ours / CASA)", _AREA, _areas(rows, 4, "xc7a200t"))


def _operations(rows: list[Row]) -> Sheet:
    columns = ["N, Nbf, operation", "(limbs, K, dnum)", "cycles", "us", "CASA, us", "ratio"]
    found = [
        [
            f"{_size(row)}, {row['operation']}",
            _shape(row),
            _number(row["cycles"]),
            _number(row["us_at_paper_fmax"]),
            _number(row["paper"]["us"]),
            _number(row["ratio_cycles"], 3),
        ]
        for row in rows
        if row["table"] == 5
    ]
    return Sheet("Table 5: operations at CASA's Artix-7 frequency", columns, found)


def _throughput(rows: list[Row]) -> Sheet:
    columns = ["design", "(limbs, K, dnum)", "a second", "for each 1000 of area", "printed", "printed, area"]
    found = [
        [
            row["paper"]["name"],
            _shape(row),
            _number(row.get("per_second"), 1),
            _number(row.get("per_area"), 2),
            _number(row["paper"]["per_second"], 1),
            _number(row["paper"].get("per_area"), 2),
        ]
        for row in rows
        if row["table"] == 6
    ]
    return Sheet("Table 6: multiplications with key switch a second, N = 2^14", columns, found)


def _merged(rows: list[Row]) -> Sheet:
    title = "Beyond the paper: multiply, relinearise and rescale, the rescaling merged into ModDown"
    columns = ["N, Nbf", "(limbs, K, dnum)", "merged, cycles", "apart, cycles", "ratio"]
    found = [
        [
            _size(row),
            _shape(row),
            _number(row["cycles"]),
            _number(row["cycles_apart"]),
            _number(row["ratio_merged"], 3),
        ]
        for row in rows
        if row["table"] == 7
    ]
    return Sheet(title, columns, found)


def _narrow(rows: list[Row]) -> Sheet:
    chosen = [row for row in rows if row["table"] == 8]
    latencies = sorted({row["latency"] for row in chosen})
    found: dict[int, list[str]] = {}
    for row in chosen:
        start = [f"{row['bus_bits']} bits a cycle", f"{_size(row)}, {_shape(row)}"]
        found.setdefault(row["bus_bits"], start).append(_number(row["slots"], 2))
    columns = ["memory", "N, Nbf, (limbs, K, dnum)", *(f"slots, latency {cycles}" for cycles in latencies)]
    return Sheet(
        "Beyond the paper: key switching over narrower and slower memories", columns, list(found.values())
    )


def _policies(rows: list[Row]) -> Sheet:
    columns = [
        "N, Nbf",
        "(limbs, K, dnum), policy",
        "cycles",
        "slots",
        "first output after",
        "outputs, on average",
    ]
    found = [
        [
            _size(row),
            f"{_shape(row)}, {row['policy']}",
            _number(row["cycles"]),
            _number(row["slots"], 2),
            _number(row["first_output"]),
            _number(row["mean_output"]),
        ]
        for row in rows
        if row["table"] == 9
    ]
    return Sheet("Beyond the paper: plans for the whole, and for early outputs", columns, found)


def sheets(rows: list[Row]) -> list[Sheet]:
    """Return every table that has rows."""
    made = (_area, _key_switching, _modules, _operations, _throughput, _merged, _narrow, _policies)
    return [sheet for sheet in (make(rows) for make in made) if sheet.rows]


def origin(rows: list[Row], area_origin: str) -> str:
    """Return what holds for the figures of all sheets."""
    timed = [row["cpu"] for row in rows if row.get("cpu")]
    text = ORIGIN.format(area=area_origin)
    return (
        f"{text} CPU machine: {timed[0]['what']}, measured now on {timed[0]['processor']}." if timed else text
    )


def show(shown: list[Sheet], note: str) -> None:
    """Print sheets, and what holds for all of them."""
    from rich.console import Console
    from rich.table import Table

    console = Console() if sys.stdout.isatty() else Console(width=160)
    for sheet in shown:
        table = Table(title=sheet.title, title_justify="left")
        for at, column in enumerate(sheet.columns):
            table.add_column(column, justify="left" if at < 2 else "right")
        for row in sheet.rows:
            table.add_row(*row)
        console.print(table)
    console.print(note, soft_wrap=True)
