"""The rows of a comparison as tables of text: for a terminal, and for the report."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from string import ascii_lowercase
from typing import Any, NamedTuple

Row = dict[str, Any]
#: The text of each column by its heading.
Cells = dict[str, Callable[[Row], str]]

#: The column of `remarks`.
REMARKS = "remarks"
#: A remark of more rows than these is said once.
FEW = 2


class Sheet(NamedTuple):
    """A table ready to be shown: the first two columns are words, the others figures."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def number(value: float | None, digits: int = 0) -> str:
    """Format a figure with a number of digits behind the point; a dash for no figure."""
    return "–" if value is None else f"{value:,.{digits}f}"


def percent(value: float | None) -> str:
    """A signed percentage; a dash for none."""
    return "–" if value is None else f"{value:+.1f} %"


def paper_figure(name: str, digits: int = 0) -> Callable[[Row], str]:
    """A column of figures that the paper prints."""
    return lambda row: number(row["paper"].get(name), digits)


def our_figure(name: str, scale: float = 1, digits: int = 0) -> Callable[[Row], str]:
    """A column of figures of ours, in units of ``scale``."""

    def text(row: Row) -> str:
        found = row["ours"].get(name)
        return number(None if found is None else found / scale, digits)

    return text


def listed(title: str, rows: Iterable[Row], table: object, cells: Cells) -> Sheet:
    """A sheet with a line for each row of a table; ``cells`` has the text of each column by its heading.

    A last column shows the rows' remarks, if one of them has any. Those of many rows are letters there, and
    stand behind the title.
    """
    mine = [row for row in rows if row["table"] == table]
    often = Counter(remark for row in mine for remark in row.get("remarks", []))
    repeated = [remark for remark, count in often.items() if count > FEW]
    letters = dict(zip(repeated, ascii_lowercase, strict=False))
    if often:
        cells = {**cells, REMARKS: lambda row: "; ".join(letters.get(r, r) for r in row.get("remarks", []))}
    title = "; ".join([title, *(f"{letter}: {remark}" for remark, letter in letters.items())])
    return Sheet(title, list(cells), [[cell(row) for cell in cells.values()] for row in mine])


def excess(used: Row, device: str, resources: Row) -> str | None:
    """Say which resource a design has more of than a device; ``None`` if it fits.

    ``used`` and ``resources`` have counts by the names of device files: lut, ff, dsp, bram36, uram.
    """
    for name, count in used.items():
        most = resources.get(name)
        if count is not None and most is not None and count > most:
            return f"does not fit: {name} {count:,.0f} of {most:,.0f} on {device}"
    return None


def show(shown: list[Sheet], notes: list[str]) -> None:
    """Print sheets, and what holds for all of them."""
    from rich.console import Console
    from rich.table import Table

    console = Console() if sys.stdout.isatty() else Console(width=180)
    for sheet in shown:
        table = Table(title=sheet.title, title_justify="left")
        for at, column in enumerate(sheet.columns):
            words = at < 2 or column == REMARKS
            table.add_column(column, justify="left" if words else "right")
        for row in sheet.rows:
            table.add_row(*row)
        console.print(table)
    for note in notes:
        console.print(note, soft_wrap=True)
