"""Designs out of a results file: the chosen one, and others spread over the front."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from ringmill._native import check_design
from ringmill.errors import ExploreError, fail
from ringmill.project.design import SCHEMA

#: How SQLite files begin.
_MAGIC = b"SQLite format 3\0"
#: What `crates/explore/src/store.rs` writes into the file: `application_id` and `user_version`.
_APPLICATION, _VERSION = 0x524D6578, 3
#: Schema of the designs in a file of each version that is read.
_SCHEMAS = {1: 2, 2: SCHEMA, _VERSION: SCHEMA}


def is_results(path: str | Path) -> bool:
    """Whether a file is a database, and so no design file."""
    file = Path(path)
    if not file.is_file():
        return False
    with file.open("rb") as start:
        return start.read(len(_MAGIC)) == _MAGIC


def spread(count: int, wanted: int) -> list[int]:
    """Return evenly spaced places in a row: at most `wanted`, its ends first."""
    if wanted >= count:
        return list(range(count))
    if wanted <= 1:
        return [0][:wanted]
    return [round(at * (count - 1) / (wanted - 1)) for at in range(wanted)]


def designs(path: str | Path, points: int) -> list[dict[str, Any]]:
    """The chosen design of an exploration, and `points - 1` of its front from the fastest to the slowest."""
    if points < 1:
        fail(ExploreError, "Points", f"{points} points of a front are none; give 1 or more.", points=points)
    connection = sqlite3.connect(f"file:{Path(path).resolve()}?mode=ro", uri=True)
    try:
        return _designs(connection, str(path), points)
    except sqlite3.DatabaseError as error:
        fail(ExploreError, "Store", f"{path} cannot be read: {error}.", path=str(path))
    finally:
        connection.close()


def _designs(connection: sqlite3.Connection, path: str, points: int) -> list[dict[str, Any]]:
    def one(query: str) -> Any:
        row = connection.execute(query).fetchone()
        return None if row is None else row[0]

    if one("PRAGMA application_id") != _APPLICATION:
        fail(
            ExploreError,
            "Store",
            f"{path} is a database, but no results of an exploration. Give a file of explore --results.",
            path=path,
        )
    schema = _SCHEMAS.get(one("PRAGMA user_version"))
    if schema is None:
        fail(
            ExploreError,
            "Schema",
            f"{path} holds results of another version. Explore again, or use the version that wrote it.",
            path=path,
        )
    rows = connection.execute("SELECT rank, found FROM front ORDER BY rank").fetchall()
    if not rows:
        fail(
            ExploreError,
            "Unfinished",
            f"{path} holds no front: its exploration was stopped. Explore again with it to go on.",
            path=path,
        )
    asked = json.loads(one("SELECT value FROM meta WHERE key = 'request'"))
    found = [json.loads(text) for _, text in rows]
    best, front = found[0], [design for design in found[1:] if not _same(design, found[0])]
    chosen = [best, *(front[at] for at in spread(len(front), points - 1))]
    written = [
        {
            "schema": schema,
            "ringmill": asked["ringmill"],
            "kernel": asked["kernels"][design["variant"]],
            "device": asked["device"]["name"],
            # Files of before the families of cores say that of the device alone.
            "hardware": {"family": asked["device"]["family"], **design["hardware"]},
            **{name: design[name] for name in ("parameters", "machine", "predicted") if name in design},
        }
        for design in chosen
    ]
    return [json.loads(check_design(json.dumps(design))) for design in written]


def _same(design: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether they are one design, planned with another effort perhaps."""

    def of(one: dict[str, Any]) -> Any:
        machine = one.get("machine", "").partition(",effort=")[0]
        return one["parameters"], machine, {k: v for k, v in one["hardware"].items() if k != "effort"}

    return bool(of(design) == of(other))
