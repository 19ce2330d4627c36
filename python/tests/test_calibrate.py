"""`ringmill calibrate`: a cost file that the engine reads, and refusals that say what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ringmill import cli


def test_costs_are_written_where_the_engine_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RINGMILL_COSTS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cli.main(["calibrate", "--log-n", "10", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    path = tmp_path / "cache" / "ringmill" / "costs.txt"
    assert facts["file"] == str(path)
    assert path.read_text() == facts["costs"]
    assert facts["costs"].startswith("ringmill costs 2\n")
    assert "log_n 10 transform " in facts["costs"]
    assert all(row["ms"] > 0 and row["by_costs_ms"] > 0 for row in facts["timed"])


def test_costs_go_to_a_named_file_and_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Methods are chosen by it only if the engine looks there, which a variable of the environment says."""
    path = tmp_path / "my costs.txt"
    monkeypatch.delenv("RINGMILL_COSTS", raising=False)
    command = ["calibrate", "--log-n", "10", "--out", str(path)]
    assert cli.main(command) == 0
    printed = capsys.readouterr().out
    assert path.read_text() in printed
    last = f"written to {path}; methods of key switching are chosen by it"
    assert printed.endswith(f"{last} where RINGMILL_COSTS='{path}' is set\n")
    monkeypatch.setenv("RINGMILL_COSTS", str(path))
    assert cli.main(command) == 0
    assert capsys.readouterr().out.endswith(f"{last} from now on\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--log-n", "9"], "whole number from 10 to 17"), (["--out", "nowhere/costs.txt"], "Make it first")],
)
def test_what_cannot_be_measured_or_written_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["calibrate", *arguments]) == 1
    assert message in capsys.readouterr().err
