"""What bootstrapping moves over the edge of a chip: stored figures hold the bars, and are counted again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ringmill.studies import capacity
from ringmill.studies.stored import text_of

STORED = Path(__file__).resolve().parents[2] / "docs" / "measured" / "capacity.json"


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return facts


def _row(facts: dict[str, Any], way: capacity.Way) -> dict[str, Any]:
    order = "prime by prime" if way.reorder else "as written"
    first = "by cost" if way.by_cost else "farthest next use"
    keys = {"program": way.program, "mebibytes": way.mebibytes, "order": order, "first_to_go": first}
    (row,) = (row for row in facts["rows"] if keys.items() <= row.items())
    assert isinstance(row, dict)
    return row


def test_bars_hold_with_all_levers(stored: dict[str, Any]) -> None:
    best = _row(stored, capacity.Way(capacity.BEST, by_cost=True, reorder=True))
    for name, bar in capacity.BARS.items():
        assert best[name] <= bar, name
    assert best["levels"] == capacity.LEVELS
    assert best["word_bits"] <= 55
    # As written no program holds them.
    written = [row for row in stored["rows"] if row["order"] == "as written" and row["mebibytes"] == 128]
    large = [row for row in written if row["program"].startswith("bootstrapping")]
    assert all(any(row[name] > bar for name, bar in capacity.BARS.items()) for row in large)


def test_no_order_moves_more_than_the_program_as_written(stored: dict[str, Any]) -> None:
    for way in capacity.ways():
        if way.reorder:
            plain = capacity.Way(way.maps, way.mebibytes, by_cost=way.by_cost)
            if plain in capacity.ways():
                assert _row(stored, way)["off_chip"] <= _row(stored, plain)["off_chip"]


def test_a_stored_row_is_what_is_counted_now(stored: dict[str, Any]) -> None:
    way = capacity.Way(capacity.BEST)
    assert capacity.row(way) == _row(stored, way)
    assert capacity.sheet(stored["rows"]).rows


@pytest.mark.long
def test_all_stored_rows_are_what_is_counted_now(stored: dict[str, Any]) -> None:
    assert text_of(capacity.facts()) == text_of(stored)
