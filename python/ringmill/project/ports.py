"""The ports of a module as a page: read from its source, whose comments say what groups of them are."""

from __future__ import annotations

import re

_PORT = re.compile(r"^\s*(input|output)\s+(\w[\w:]*)\s*((?:\[[^]]*\])*)\s*(\w+)\s*,?\s*(?://\s*(.*))?$")


def ports(source: str) -> list[tuple[str, str, str, str]]:
    """Of each port its way, type with ranges and name, and the comment beside or above it."""
    head = source[source.index(") (") : source.index("\n);")]
    found, group = [], ""
    for line in head.splitlines()[1:]:
        if line.strip().startswith("//"):
            group = line.strip().lstrip("/ ")
        elif match := _PORT.match(line):
            way, kind, ranges, name, beside = match.groups()
            found.append((way, f"{kind} {ranges}".strip(), name, beside or group))
            group = ""
    return found


def table(source: str) -> str:
    """The same as a table of Markdown."""
    rows = (f"| `{name}` | {way} | `{kind}` | {said} |\n" for way, kind, name, said in ports(source))
    return "| port | | width | |\n|---|---|---|---|\n" + "".join(rows)
