"""What was measured, kept from run to run: one result a row and processor, one figure a limit.

A run measures some rows; the others keep the figures of the runs before it. A row is known by its work and
its peer, settings included but not the peer's version, so that a newer wheel takes the place of an older one.
Figures of different processors stand side by side.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benches.limits import OF_RESULTS, limits_of
from benches.rows import ROWS, Row

Result = dict[str, Any]


def row_of(result: Result) -> Row | None:
    """Return the row that a result was measured for, if there is such a row still."""
    return next((r for r in ROWS if r.work == result["work"] and _is(r.peer, result["peer"])), None)


def _is(key: str, printed: str) -> bool:
    name = printed.lower().replace(" wheel", "")
    own = {
        "single": "ringmill, one by one",
        "fixed": "ringmill, one method",
        "nine": "ringmill, nine levels",
    }
    if key in own:
        return name == own[key]
    # A peer with settings of its own: openfhe-3-3 prints as "OpenFHE wheel 1.6, 3-3".
    peer, _, settings = key.partition("-") if key.startswith("openfhe") else (key, "", "")
    printed_settings = name.partition(", ")[2]
    return name.startswith(peer) and printed_settings == settings


def merged(older: Iterable[Result], newer: Iterable[Result]) -> list[Result]:
    """Return one result a row and processor, the newer one; rows that are gone have none.

    Processors are in the order in which they came, and rows in their own.
    """
    last = {(result.get("cpu"), row_of(result)): result for result in (*older, *newer)}
    processors = dict.fromkeys(cpu for cpu, _ in last)
    return [last[cpu, row] for cpu in processors for row in ROWS if (cpu, row) in last]


def of_processors(results: Iterable[Result]) -> list[list[Result]]:
    """Return the results of each processor."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result["cpu"], []).append(result)
    return list(found.values())


def merged_limits(older: Iterable[Result], newer: Iterable[Result], results: list[Result]) -> list[Result]:
    """Return one figure a limit, the newer one, and after them what the results say of our side."""
    last = {limit["what"]: limit for limit in (*older, *newer)}
    kept = [limit for limit in last.values() if not limit["what"].startswith(OF_RESULTS)]
    return kept + [limit.row() for limit in limits_of(results)]


def read(path: Path) -> list[Result]:
    """Return the results or limits in a file, none if there is no such file."""
    return list(json.loads(path.read_text())) if path.exists() else []
