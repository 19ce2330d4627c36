"""Stored results have one row a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ringmill.studies.stored import text_of

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*ROOT.glob("docs/measured/*.json"), *ROOT.glob("python/ringmill/studies/**/*.json")])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_stored_results_have_one_row_a_line(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text == text_of(json.loads(text))


def test_there_are_stored_results() -> None:
    assert {"bench.json", "error-model.json", "explored.json"} <= {file.name for file in FILES}


def test_rows_have_lines() -> None:
    assert text_of([]) == "[]\n"
    assert text_of([{"a": 1, "b": [1, 2]}, {"a": 2}]) == '[\n{"a": 1, "b": [1, 2]},\n{"a": 2}\n]\n'
    # Numbers of one entry are one row; lists of numbers are rows.
    content = {"origin": "x", "bias": [1.5, 2.0], "weights": [[1], [2]], "none": []}
    expected = '{\n"origin": "x",\n"bias": [1.5, 2.0],\n"weights": [\n[1],\n[2]\n],\n"none": []\n}\n'
    assert text_of(content) == expected
    assert json.loads(text_of(content)) == content
