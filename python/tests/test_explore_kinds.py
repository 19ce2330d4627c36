"""Kinds of machines against each other: the ranking is that of searches of one kind each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_explore_pipelined import SPACE, doubled, turned

import ringmill as rm
from ringmill import cli
from ringmill.explorer import compare, kinds

CORES = {name: SPACE[name] for name in SPACE if name not in ("builds", "lanes", "units", "feeds", "special")}
NARROW = {
    "compact": {**CORES, "butterflies": [4, 16], "buses": [512]},
    "pipelined": {**SPACE, "keys": ["whole"]},
}
ASKED: dict[str, Any] = {"max_error": 1e-3, "seconds": 0, "progress": "none"}


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "KINDS", NARROW)


@pytest.mark.parametrize(("minimise", "figure"), [("latency", "latency_ms"), ("area", "area")])
def test_the_ranking_is_that_of_searches_of_one_kind_each(minimise: str, figure: str) -> None:
    compared = compare(turned, "alveo-u250", minimise=minimise, **ASKED)
    alone = {
        kind: rm.explore(turned, "alveo-u250", target=kind, space=space, minimise=minimise, **ASKED)
        for kind, space in NARROW.items()
    }
    values = {kind: found.best["predicted"][figure]["value"] for kind, found in alone.items()}
    assert compared.ranked() == sorted(values, key=values.__getitem__)
    assert compared.best.best["machine"] == alone[compared.ranked()[0]].best["machine"]
    reason = compared.reason()
    assert reason.startswith(f"By {minimise} {min(values, key=values.__getitem__)} is best on alveo-u250.")
    assert "the link over which operands and results come and go" in reason
    # Clocks of no routed engine are assumed, and rows say so.
    assert [row["clock_kind"] for row in compared.rows() if row["target"] == "pipelined"] == ["assumed"]


def test_what_has_no_figure_for_the_objective_comes_last() -> None:
    compared = compare(turned, "alveo-u250", minimise="latency", **ASKED)
    by_energy = kinds.Compared(compared.found, {}, "energy", "alveo-u250")
    assert by_energy.ranked() == ["compact", "pipelined"]
    assert "Nothing is known of the energy of pipelined, so it comes last." in by_energy.reason()


@pytest.mark.parametrize(
    ("kernel", "device", "says"),
    [(doubled, "alveo-u250", "serves a key switch of it"), (turned, "kintex7-325t", "an UltraScale")],
)
def test_a_kind_without_a_design_says_why(kernel: Any, device: str, says: str) -> None:
    compared = compare(kernel, device, **ASKED)
    assert compared.ranked() == ["compact"]
    assert says in compared.reason()


def test_no_kind_with_a_design_is_an_error_with_the_reasons_of_each() -> None:
    with pytest.raises(rm.ExploreError, match=r"compact: .* pipelined: ") as refused:
        compare(turned, "alveo-u250", **{**ASKED, "max_error": 1e-30})
    assert refused.value.code == "Infeasible"


def test_the_command_prints_both_and_writes_the_best(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text(
        "import ringmill as rm\n@rm.kernel\ndef f(x=rm.vector(64)):\n    return x.sum() + x.rotate(3)\n"
    )
    words = ["explore", f"{kernel}:f", "--device", "alveo-u250", "--target", "all", "--seconds", "0"]
    design = tmp_path / "design.json"
    assert cli.main([*words, "--out", str(design)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    best = json.loads(design.read_text("utf-8"))["machine"].partition(":")[0]
    assert f"By latency {best} is best on alveo-u250." in said
    assert "Kinds of machines, the best first" in said
    assert cli.main([*words, "--results", str(tmp_path / "found.sqlite")]) == 1
    assert "--results is for one kind of machines" in capsys.readouterr().err
