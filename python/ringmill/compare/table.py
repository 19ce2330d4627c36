"""The rows of a comparison as tables on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

Row = dict[str, Any]

#: What holds for every figure of ours.
ORIGIN = (
    "Cycles: the cycle model, which equals the RTL. Areas: {area}; the paper's are Vivado's after placement, "
    "and the two tools count LUTs differently. Times of ours are cycles at the paper's Fmax, "
    "for comparison only. The paper's delays in its Table 3 are twice cycles / Fmax: both are shown."
)


def _number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _shape(row: Row) -> str:
    if row.get("set") is None:
        return "–"
    limbs, special, dnum = row["set"]
    note = " casa's own, does not decrypt" if row["sequence"] == "casa" else ""
    return f"({limbs}, {special}, {dnum}){note}"


def _area(row: Row, name: str) -> str:
    return _number(row["area"][name]) if row and row.get("area") else "–"


def _table(title: str, columns: Iterable[str]) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for at, column in enumerate(columns):
        table.add_column(column, justify="left" if at < 2 else "right")
    return table


def area(rows: list[Row]) -> Table:
    """Table 2: what the core takes."""
    table = _table("Table 2: area (ours / CASA)", ["N, Nbf", "device", "LUT", "FF", "DSP", "BRAM", "overall"])
    seen = set()
    for row in rows:
        key = (row["n"], row["nbf"])
        if row["table"] == 3 and key not in seen:
            seen.add(key)
            both = [
                f"{_area(row, name)} / {_area(row['paper'], name)}"
                for name in ("lut", "ff", "dsp", "bram", "overall")
            ]
            table.add_row(f"2^{row['n'].bit_length() - 1}, {row['nbf']}", "ZCU102", *both)
    return table


def key_switching(rows: list[Row]) -> Table:
    """Table 3: cycles, slots, and area times cycles."""
    table = _table(
        "Table 3: key switching (slot = one transform on one lane)",
        [
            "N, Nbf",
            "(limbs, K, dnum)",
            "cycles",
            "slots",
            "CASA",
            "ratio",
            "area x cycles",
            "us at CASA's Fmax",
            "CASA, us",
        ],
    )
    for row in rows:
        if row["table"] != 3:
            continue
        theirs = row["paper"]
        delay = theirs["delay_us"]
        table.add_row(
            f"2^{row['n'].bit_length() - 1}, {row['nbf']}",
            _shape(row),
            _number(row["cycles"]),
            _number(row["slots"], 2),
            _number(theirs["cycles"]),
            _number(row["ratio_cycles"], 3),
            _number(row.get("ratio_area_cycles"), 3),
            _number(row["us_at_paper_fmax"]),
            f"{_number(delay['cycles_over_fmax'])} (prints {_number(delay['printed'])})",
        )
    return table


def modules(rows: list[Row]) -> Table:
    """Table 4: the Artix-7."""
    table = _table(
        "Table 4: Artix-7 (ours / CASA)", ["N, Nbf", "device", "LUT", "FF", "DSP", "BRAM", "overall"]
    )
    for row in rows:
        if row["table"] == 4:
            both = [
                f"{_area(row, name)} / {_area(row['paper'], name)}"
                for name in ("lut", "ff", "dsp", "bram", "overall")
            ]
            table.add_row(f"2^{row['n'].bit_length() - 1}, {row['nbf']}", "xc7a200t", *both)
    return table


def operations(rows: list[Row]) -> Table:
    """Table 5: operations at the paper's frequency."""
    table = _table(
        "Table 5: operations at CASA's Artix-7 frequency",
        ["N, Nbf", "operation", "(limbs, K, dnum)", "cycles", "us", "CASA, us", "ratio"],
    )
    for row in rows:
        if row["table"] == 5:
            table.add_row(
                f"2^{row['n'].bit_length() - 1}, {row['nbf']}",
                row["operation"],
                _shape(row),
                _number(row["cycles"]),
                _number(row["us_at_paper_fmax"]),
                _number(row["paper"]["us"]),
                _number(row["ratio_cycles"], 3),
            )
    return table


def throughput(rows: list[Row]) -> Table:
    """Table 6: multiplications with key switch a second."""
    table = _table(
        "Table 6: multiplications with key switch a second, N = 2^14",
        ["design", "(limbs, K, dnum)", "a second", "for each 1000 of area", "printed", "printed, area"],
    )
    for row in rows:
        if row["table"] == 6:
            table.add_row(
                row["paper"]["name"],
                _shape(row),
                _number(row.get("per_second"), 1),
                _number(row.get("per_area"), 2),
                _number(row["paper"]["per_second"], 1),
                _number(row["paper"].get("per_area"), 2),
            )
    return table


def merged(rows: list[Row]) -> Table:
    """Rescaling merged into the key switch."""
    table = _table(
        "Beyond the paper: multiply, relinearise and rescale, the rescaling merged into ModDown",
        ["N, Nbf", "(limbs, K, dnum)", "merged, cycles", "apart, cycles", "ratio"],
    )
    for row in rows:
        if row["table"] == 7:
            table.add_row(
                f"2^{row['n'].bit_length() - 1}, {row['nbf']}",
                _shape(row),
                _number(row["cycles"]),
                _number(row["cycles_apart"]),
                _number(row["ratio_merged"], 3),
            )
    return table


def show(rows: list[Row], area_origin: str) -> None:
    """Print all tables."""
    from rich.console import Console

    console = Console() if sys.stdout.isatty() else Console(width=140)
    for table in (area, key_switching, modules, operations, throughput, merged):
        console.print(table(rows))
    console.print(ORIGIN.format(area=area_origin), soft_wrap=True)
