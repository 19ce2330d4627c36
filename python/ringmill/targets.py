"""Kinds of machines that can be explored, and what a design says of its machine."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ringmill import _native
from ringmill._checks.near import near
from ringmill.errors import ExploreError, fail

Row = dict[str, Any]


@cache
def targets() -> dict[str, Row]:
    """Every target by its name; the first is what is explored unless another is named."""
    return {row["name"]: row for row in json.loads(_native.explore_targets())}


#: What is explored unless another is named.
DEFAULT: str = next(iter(targets()))


def target_of(name: Any) -> Row:
    """The target of a name."""
    all_targets = targets()
    if not isinstance(name, str) or name not in all_targets:
        known = tuple(all_targets)
        hint = near(name, known)
        fail(
            ExploreError, "UnknownWord", f"No target {name!r}{hint}; there are {', '.join(known)}.", word=name
        )
    return all_targets[name]


def of_design(design: dict[str, Any]) -> Row:
    """The target of a design: its machine names it."""
    return targets()[design["machine"].partition(":")[0]]


def machine_fields(design: dict[str, Any]) -> dict[str, Any]:
    """What a design says of its machine, by field: options of the machine, and what synthesis needs."""
    return dict(json.loads(_native.machine_fields(design["machine"], json.dumps(design["hardware"]))))


def columns(design: dict[str, Any]) -> dict[str, Any]:
    """Of these what tables show."""
    fields = machine_fields(design)
    return {column["field"]: fields.get(column["field"]) for column in of_design(design)["columns"]}


def summary(design: dict[str, Any]) -> str:
    """The machine of a design in a line."""
    return str(of_design(design)["summary"]).format(**machine_fields(design))
