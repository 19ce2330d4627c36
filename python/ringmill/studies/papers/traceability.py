"""What became of each item of a paper: ``traceability.toml`` in its folder.

Each table ``[[item]]`` has ``item`` (what the paper has), ``status``, ``because`` (unless it works) and
``see`` (commands, files, or tests as ``file::name``). It names the printed figures that it answers for:
``figures`` are paths in ``figures.toml`` without positions in lists, and ``table`` the tables of rows that
have them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from ringmill.errors import CommandError, fail

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: What can be said of an item. Only the first needs no reason.
STATUSES = ("works", "differs", "not reproducible")
FILE = "traceability.toml"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a paper and its status; the module says what each field is."""

    item: str
    status: str
    because: str = ""
    see: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    table: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            self._refuse(f"has the status {self.status!r}; there are {', '.join(STATUSES)}")
        if self.status == "works":
            if not self.see:
                self._refuse("works, so `see` must say where")
        elif not self.because:
            self._refuse(f"is said to be {self.status!r}, so `because` must say why")

    def _refuse(self, what: str) -> None:
        fail(CommandError, "BadItem", f"The item {self.item!r} of {FILE} {what}.", item=self.item)

    def row(self) -> Row:
        """Return the fields by name, as JSON has them."""
        return asdict(self)

    def words(self) -> str:
        """Say the status in a line."""
        seen = "; ".join(_shown(place) for place in self.see)
        if self.status == "works":
            return f"works, see {seen}" + (f". {self.because}" if self.because else "")
        return f"{self.status}, because {self.because}" + (f"; see {seen}" if seen else "")


def _shown(place: str) -> str:
    """A place as a page of ``docs/papers`` shows it: pages as links, all else as code."""
    path, _, anchor = place.partition("#")
    if path.startswith("docs/") and path.endswith(".md"):
        inside = path.removeprefix("docs/")
        relative = inside.removeprefix("papers/") if inside.startswith("papers/") else f"../{inside}"
        return f"[{inside}]({relative}{'#' + anchor if anchor else ''})"
    return f"`{place}`"


def read_items(package: str) -> list[Item]:
    """Return the items of the paper whose folder is the package ``package``.

    Raises
    ------
        CommandError: the folder has no such file, or an item has no status or no reason.
    """
    file = resources.files(package).joinpath(FILE)
    if not file.is_file():
        fail(
            CommandError,
            "NoItems",
            f"The folder {package} has no {FILE}: nothing says what became of the paper's items. "
            "docs/how-to/add-a-paper.md says what it holds.",
            package=package,
        )
    tables: list[Row] = tomllib.loads(file.read_text(encoding="utf-8"))["item"]
    lists = ("see", "figures", "table")
    found: list[Row] = [{k: tuple(v) if k in lists else v for k, v in table.items()} for table in tables]
    return [Item(**fields) for fields in found]


def asked(items: list[Item], text: str) -> list[Item]:
    """Return the items whose name has ``text`` in it, whatever the case; all of them for an empty one.

    Raises
    ------
        CommandError: none has.
    """
    found = [item for item in items if text.casefold() in item.item.casefold()]
    if not found:
        fail(
            CommandError,
            "NoItem",
            f"No item of this paper has {text!r} in its name; an empty --item lists all of them.",
            item=text,
        )
    return found


def page(items: list[Item]) -> str:
    """Return the table that ``docs/papers`` has of them."""
    lines = ["| of the paper | here |", "|---|---|"]
    lines += [f"| {item.item} | {item.words()} |".replace("\n", " ") for item in items]
    return "\n".join(lines) + "\n"


def numbers(value: object, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield every number of a nested value with its path; lists add nothing to it."""
    if isinstance(value, bool):
        return
    if isinstance(value, (int, float)):
        yield path, float(value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from numbers(inner, path)


def unanswered(items: list[Item], figures: Row, rows: Iterable[Row]) -> list[str]:
    """Say of every printed figure that has neither a row nor a reason what is missing, a sentence each.

    A figure is answered by an item that names its path. An item with ``table`` promises that rows of these
    tables have the figure in ``paper``; one without gives its reason, or a place in ``see``.
    """
    printed: dict[object, set[float]] = {}
    for row in rows:
        values = printed.setdefault(row["table"], set())
        values |= {value for _, value in numbers(row.get("paper"))}
    said = []
    for path, value in numbers(figures):
        of = [i for i in items if any(path == name or path.startswith(f"{name}.") for name in i.figures)]
        if not of:
            said.append(f"{path} = {value:g} is printed, and no item of {FILE} has it.")
        for item in of:
            if item.table and not any(value in printed.get(table, ()) for table in item.table):
                said.append(f"{path} = {value:g}: no row of {list(item.table)} has it ({item.item}).")
    return said
