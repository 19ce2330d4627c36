"""The error model against decryptions, and what is stored of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ringmill.kernels import NINE
from ringmill.validate import error, plot

STORED = Path(__file__).resolve().parents[2] / "docs" / "measured" / "error-model.json"


def _held(rows: list[dict[str, Any]]) -> None:
    told = error.summary(rows)
    assert told["all"]["median_deviation"] <= error.MEDIAN, told
    for letter, spread in told["kernels"].items():
        assert spread["median_deviation"] <= error.KERNEL_MEDIAN, (letter, spread)
    assert told["all"]["most_optimistic"] <= error.OPTIMISTIC, told


def test_the_model_holds_at_a_sample_of_sets() -> None:
    chosen = error.sets()[::17]
    rows = list(error.sweep(NINE, chosen))
    assert len(rows) == len(NINE) * len(chosen)
    _held(rows)


@pytest.mark.long
def test_the_model_holds_at_every_set() -> None:
    _held(list(error.sweep(NINE, error.sets())))


def test_the_stored_sweep_is_whole_and_holds() -> None:
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    points = {(r["kernel"], r["scale_bits"], r["log_n"], r["special"], r["secret"]) for r in stored["rows"]}
    assert points == {
        (row.letter, s.scale_bits, s.log_n, s.special, s.secret) for row in NINE for s in error.sets()
    }
    assert len(error.sets()) >= 40
    assert stored["summary"] == error.summary(stored["rows"])
    _held(stored["rows"])


def test_a_model_that_is_off_is_noticed() -> None:
    rows = json.loads(STORED.read_text(encoding="utf-8"))["rows"]
    lower = [{**row, "predicted_log2": row["predicted_log2"] - 3} for row in rows]
    with pytest.raises(AssertionError):
        _held(lower)
    higher = [{**row, "predicted_log2": row["predicted_log2"] + 3} for row in rows]
    with pytest.raises(AssertionError):
        _held(higher)


def test_the_plot_follows_from_the_rows() -> None:
    rows = json.loads(STORED.read_text(encoding="utf-8"))["rows"]
    drawn = plot.svg(rows)
    assert drawn == plot.svg(rows)
    assert drawn == (STORED.with_suffix(".svg")).read_text(encoding="utf-8")
