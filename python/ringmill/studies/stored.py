"""Stored results: JSON with one row a line, so that a changed row is a changed line."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any


def read_stored(package: str, name: str) -> dict[str, Any]:
    """Return what the file ``name`` in the folder of a package holds."""
    found: dict[str, Any] = json.loads(resources.files(package).joinpath(name).read_text(encoding="utf-8"))
    return found


def text_of(content: list[Any] | dict[str, Any]) -> str:
    """Return JSON text in which each row of a list has a line, with a line break at the end.

    Args:
        content: a list of rows, or a dictionary. Each entry of a dictionary that is a list of lists or of
            dictionaries has one line for each item; other entries have one line.
    """
    if isinstance(content, list):
        return f"[\n{_lines(content)}\n]\n" if content else "[]\n"
    entries = ",\n".join(f"{json.dumps(name)}: {_entry(value)}" for name, value in content.items())
    return f"{{\n{entries}\n}}\n"


def _entry(value: Any) -> str:
    rows = isinstance(value, list) and value and all(isinstance(row, dict | list) for row in value)
    return f"[\n{_lines(value)}\n]" if rows else json.dumps(value)


def _lines(rows: list[Any]) -> str:
    return ",\n".join(json.dumps(row) for row in rows)
