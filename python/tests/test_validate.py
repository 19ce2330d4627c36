"""Predictions against what happens: the error model, and whole designs."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sample_designs import design_of, small_kernel

import ringmill as rm
from ringmill import cli
from ringmill.explorer import machine_fields
from ringmill.project.design import SCHEMA, of
from ringmill.project.simulator import verilator
from ringmill.studies.validation import error, plot
from ringmill.validate import design as held
from ringmill.validate import plot as drawn_designs
from ringmill.validate import stored

STORED = Path(__file__).resolve().parents[2] / "docs" / "measured" / "error-model.json"


def _held(rows: list[dict[str, Any]]) -> None:
    reported = error.summary(rows)
    assert reported["all"]["median_deviation"] <= error.MEDIAN, reported
    for letter, spread in reported["kernels"].items():
        assert spread["median_deviation"] <= error.KERNEL_MEDIAN, (letter, spread)
    assert reported["all"]["most_optimistic"] <= error.OPTIMISTIC, reported


def test_the_model_holds_at_a_sample_of_sets() -> None:
    chosen = error.sets()[::17]
    rows = list(error.sweep(error.KERNELS, chosen))
    assert len(rows) == len(error.KERNELS) * len(chosen)
    _held(rows)


@pytest.mark.long
def test_the_model_holds_at_every_set() -> None:
    _held(list(error.sweep(error.KERNELS, error.sets())))


def test_the_stored_sweep_is_whole_and_holds() -> None:
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    points = {(r["kernel"], r["scale_bits"], r["log_n"], r["special"], r["secret"]) for r in stored["rows"]}
    assert points == {
        (row.letter, s.scale_bits, s.log_n, s.special, s.secret)
        for row in error.KERNELS
        for s in error.sets()
    }
    assert len(error.sets()) >= 40
    assert stored["summary"] == error.summary(stored["rows"])
    _held(stored["rows"])


def test_the_stored_plot_of_the_area_model_is_that_of_its_data() -> None:
    area = STORED.parents[2] / "crates" / "explore" / "data" / "area.json"
    held_out = json.loads(area.read_text(encoding="utf-8"))["held_out"]
    assert plot.area_svg(held_out) == STORED.with_name("area-model.svg").read_text(encoding="utf-8")
    assert max(abs(row["error"]) for row in held_out) <= plot.AREA_BAR


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
    # Every point is drawn, whatever the number of kernels.
    assert drawn.count("<use ") >= len(rows)


def test_a_design_is_held_to_decryptions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "design.json"
    file.write_text(json.dumps(design_of(small_kernel())))
    out = tmp_path / "rows.json"
    assert cli.main(["validate", str(file), "--no-rtl", "--json", "--out", str(out)]) == 0
    rows = {row["what"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert set(rows) == {"error", "lut", "dsp"}
    assert rows["error"]["predicted"] - 5 < rows["error"]["measured"] < rows["error"]["predicted"]
    assert list(rows.values()) == json.loads(out.read_text())
    assert cli.main(["validate", str(file), "--no-rtl"]) == 0
    assert "bits" in capsys.readouterr().out


def test_a_synthesis_counts_only_for_the_core_that_it_is_of() -> None:
    design = of(design_of(small_kernel()))
    params = {"W": 54, "NBF": 1, "LOGN_MAX": 10, "KIND": 3, "TILE": 1, "D": 64}
    row = {
        "flow": "ecp5",
        "params": params,
        "lut": 8000,
        "srl": 500,
        "lutram": 100,
        "dsp": 40,
        "status": "made up",
    }
    reported = {r["what"]: r for r in held.resources(design, held.of_core(design, [row]))}
    assert (reported["lut"]["measured"], reported["dsp"]["measured"]) == (8600, 40)
    assert held.deviation(reported["lut"]) == "+4.65 %"
    for other in ({**row, "flow": "xc7"}, {**row, "params": {**params, "NBF": 2}}):
        assert held.of_core(design, [other]) is None
    assert all(r["measured"] is None for r in held.resources(design, None))


# Of yosys, what the folder of a core asks of it: its version, and cells of the top in stat.json.
_YOSYS = """#!/bin/sh
[ "$1" = -V ] && echo "Yosys 0.99 (made up)" && exit
grep -q "synth_ecp5 -abc9 -top rm_compact_core" "$3" || exit 1
grep -q " -G NBF=1 " "$3" || exit 1
echo '{"modules": {"rm_compact_core": {"num_cells_by_type": {"LUT4": 7000, "CCU2C": 400,
 "TRELLIS_DPR16X4": 50, "TRELLIS_FF": 9000, "MULT18X18D": 40,
 "DP16KD": 30, "PDPW16KD": 2, "PFUMX": 7}}}}' > stat.json
"""


def test_a_synthesis_is_made_in_the_folder_of_the_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "yosys"
    tool.write_text(_YOSYS)
    tool.chmod(0o755)
    monkeypatch.setenv("YOSYS", str(tool))
    design = of(design_of(small_kernel()))
    assert design.core.family == "ecp5"
    row = held.synthesis(design)
    assert (row["lut"], row["ff"], row["dsp"], row["ebr"]) == (8000, 9000, 40, 32)
    assert row["tool"] == "Yosys 0.99"
    reported = {r["what"]: r for r in held.validate([design], rtl=False, synthesise=True, runs=1)}
    assert (reported["lut"]["measured"], reported["dsp"]["measured"]) == (8000, 40)
    monkeypatch.setenv("YOSYS", str(tmp_path / "nothing"))
    with pytest.raises(rm.MachineError, match="YOSYS names the command"):
        held.synthesis(design)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("yosys") is None, reason="the hardware tools are not in the environment")
def test_cells_of_a_core_are_those_that_its_blocks_have() -> None:
    row = held.synthesis(of(design_of(small_kernel())))
    # Six of Montgomery's multipliers, each of 9 + 9 + 6 tiles of 18 by 18 bits.
    assert row["dsp"] == 6 * 24
    # Six banks in two halves of 512 words of 54 bits, each in two blocks of 512 words of 36 bits, and FIFOs.
    assert row["ebr"] >= 12 * 2


def _results(tmp_path: Path) -> tuple[Path, Any]:
    from ringmill.explorer import explore

    space = {"log_n": [12], "level_bits": [28], "words": [36], "butterflies": [2, 8], "buses": [256, 512]}
    file = tmp_path / "r.sqlite"
    traced = rm.kernel(lambda x: x * x).trace(rm.vector(16))
    return file, explore(traced, "zcu102", space=space, seconds=1e6, results=file, progress="none")


def test_designs_of_a_results_file_of_version_1_are_read(tmp_path: Path) -> None:
    """Rows that an exploration of that version wrote."""
    written = json.loads((Path(__file__).parent / "older" / "explored-1.json").read_text(encoding="utf-8"))
    file = tmp_path / "explored.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            f"PRAGMA application_id = {written['application_id']}; PRAGMA user_version = 1;"
            "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
            "CREATE TABLE front (rank INTEGER PRIMARY KEY, found TEXT NOT NULL);"
        )
        connection.executemany("INSERT INTO meta VALUES (?, ?)", written["meta"].items())
        front = [(rank, json.dumps(found)) for rank, found in written["front"]]
        connection.executemany("INSERT INTO front VALUES (?, ?)", front)
    read = stored.designs(file, 10)
    assert [design["schema"] for design in read] == [SCHEMA] * len(read)
    # The chosen design stands on the front as well.
    assert len(read) == len(written["front"]) - 1
    best = written["front"][0][1]
    assert read[0]["predicted"] == best["predicted"]
    hardware = dict(best["hardware"])
    assert hardware.pop("lanes") == 2
    # What those of before did not say.
    assert machine_fields(read[0]) == {**hardware, "lut_unit": "none"}
    assert of(read[0]).core.word_bits == hardware["word_bits"]


def test_designs_of_a_results_file_are_those_of_its_front(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, found = _results(tmp_path)
    assert stored.is_results(file)
    assert not stored.is_results(tmp_path / "nowhere")
    every = stored.designs(file, 10_000)
    # As files say it: tuples are lists there.
    best, front = json.loads(json.dumps([found.best, found.front]))
    assert every[0] == best
    rest = [design for design in front if design in every[1:]]
    assert every[1:] == rest, "in the order of the front"
    assert len(found.front) - 1 <= len(rest) <= len(found.front)
    assert stored.designs(file, 1) == [best]
    three = stored.designs(file, 3)
    assert three == [best, rest[0], rest[-1]]
    picture = tmp_path / "held.svg"
    asked = ["validate", str(file), "--points", "2", "--no-rtl", "--runs", "1", "--plot", str(picture)]
    assert cli.main(asked) == 0
    out = capsys.readouterr().out
    assert "r.sqlite #1" in out
    assert "r.sqlite #2" in out
    assert "measured over predicted" in picture.read_text()


def test_points_are_spread_with_both_ends() -> None:
    assert stored.spread(5, 9) == [0, 1, 2, 3, 4]
    assert stored.spread(101, 3) == [0, 50, 100]
    assert stored.spread(7, 1) == [0]
    assert stored.spread(7, 0) == []


def test_ratios_are_measured_over_predicted() -> None:
    rows = [
        {"design": 0, "what": "error", "unit": "log2", "predicted": -10.0, "measured": -12.0},
        {"design": 1, "what": "lut", "unit": "", "predicted": 200.0, "measured": 210.0},
        {"design": 1, "what": "dsp", "unit": "", "predicted": 200.0, "measured": None},
    ]
    assert drawn_designs.ratios(rows) == {"error": [(0, 0.25)], "lut": [(1, 1.05)]}
    assert drawn_designs.held_svg(rows) == drawn_designs.held_svg(rows)


@pytest.mark.long
@pytest.mark.skipif(not verilator(), reason="the hardware tools are not in the environment")
def test_a_design_is_held_to_the_rtl() -> None:
    design = of(design_of(small_kernel()))
    first, again = held.cycles(design)
    assert first["predicted"] == first["measured"]
    assert again["predicted"] == again["measured"] <= first["measured"]
