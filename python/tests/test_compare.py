"""`ringmill compare casa`: the paper's figures agree with each other, ours come from the model."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from ringmill import cli
from ringmill.compare import area, casa, cpu, table


def _slots(point: casa.Point) -> int:
    """A stand-in for the model: one slot a limb."""
    return casa.slot(point.n, point.nbf) * point.set.limbs


def _area(n: int, nbf: int, device: str) -> casa.Row:
    return {"lut": 1600, "ff": 800, "dsp": 10 * nbf, "bram": n // 1024}


def test_the_papers_overall_area_follows_from_its_formula() -> None:
    figures = casa.paper()
    for design in figures["design"]:
        # Counts in thousands are rounded in print; the sums are not.
        assert casa.overall(design, figures["area"]) == pytest.approx(design["overall"], rel=0.08)


def test_the_papers_cycles_are_whole_slots_and_its_delays_are_doubled() -> None:
    for design in casa.paper()["design"]:
        slots = design["cycles"] / casa.slot(design["n"], design["nbf"])
        assert slots == {3: 12, 7: 24}[design["limbs"]]
        assert design["delay_us"] == pytest.approx(2 * design["cycles"] / design["fmax_mhz"], rel=0.01)
        assert design["adp"] == pytest.approx(design["overall"] * design["delay_us"] / 1e6, rel=0.01)


def test_ratios_are_ours_over_theirs() -> None:
    rows = [row for row in casa.rows(_slots, _area) if row["table"] == 3]
    for row in rows:
        ours, theirs = row["area"], row["paper"]["area"]
        assert row["ratio_cycles"] == pytest.approx(row["cycles"] / row["paper"]["cycles"], abs=1e-4)
        product = row["cycles"] * ours["overall"] / (row["paper"]["cycles"] * theirs["overall"])
        assert row["ratio_area_cycles"] == pytest.approx(product, abs=1e-4)
        assert ours["overall"] == pytest.approx(100 + 100 + 102.4 * ours["dsp"] + 56 * ours["bram"])
    shapes = {(row["n"], tuple(row["set"]), row["sequence"]) for row in rows}
    assert (8192, (3, 1, 1), "casa") in shapes
    assert (16384, (6, 2, 3), "hybrid") in shapes


def test_the_command_prints_rows_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "casa", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    for row in rows:
        assert {"table", "n", "nbf", "set", "sequence", "paper"} <= row.keys()
    switches = [row for row in rows if row["table"] == 3]
    assert len(switches) == 2 * 3 + 2 * 5
    assert {row["table"] for row in rows} == set(range(2, 10))
    for row in switches:
        limbs, special, dnum = row["set"]
        # Two lanes: half the transforms at least.
        transforms = (dnum + 2) * (limbs + special) if row["sequence"] == "hybrid" else 3 * limbs + 3
        assert row["slots"] > transforms / 2
        assert row["slots"] == pytest.approx(row["cycles"] / casa.slot(row["n"], row["nbf"]), abs=1e-3)
        assert (row["cpu"] is None) == (row["sequence"] == "casa")
    _early_outputs_are_no_later_on_average([row for row in rows if row["table"] == 9])
    _wider_and_faster_memories_are_never_slower([row for row in rows if row["table"] == 8])


def _early_outputs_are_no_later_on_average(rows: list[casa.Row]) -> None:
    for whole, early in zip(rows[::2], rows[1::2], strict=True):
        assert (whole["policy"], early["policy"]) == ("throughput", "low-latency")
        assert whole["set"] == early["set"]
        assert early["mean_output"] <= whole["mean_output"]
        assert 0 < early["first_output"] <= early["mean_output"] <= early["cycles"]


def _wider_and_faster_memories_are_never_slower(rows: list[casa.Row]) -> None:
    cycles = {(row["bus_bits"], row["latency"]): row["cycles"] for row in rows}
    widths, latencies = casa.NARROW["bus_bits"], casa.NARROW["latency"]
    assert len(cycles) == len(rows) == len(widths) * len(latencies)
    for latency in latencies:
        for narrower, wider in pairwise(widths):
            # The plan is a search: a little slack where the memory is no longer what bounds.
            assert cycles[wider, latency] <= 1.02 * cycles[narrower, latency]
        # A bus of 64 bits moves every word of the keys and the limbs by itself.
        limbs, special, dnum = casa.NARROW["set"]
        words = (2 * dnum * (limbs + special) + limbs) * casa.NARROW["n"]
        assert cycles[64, latency] > words


def test_the_cpu_machine_is_timed_on_sets_that_decrypt() -> None:
    measured = cpu.timer(word_bits=54)
    told = measured(casa.Point("key_switch", 8192, 4, casa.Set(2, 2, 1), "hybrid"))
    assert told is not None
    assert told["us"] > 0
    assert told["per_second"] == pytest.approx(1e6 / told["us"], rel=0.01)
    assert "rotation" in told["what"]
    assert measured(casa.Point("key_switch", 8192, 4, casa.Set(3, 1, 1), "casa")) is None


def test_areas_are_those_of_the_word_asked_for() -> None:
    counts = {"lut": 1, "ff": 2, "dsp": 3, "bram": 4.0}
    core = {"n": 8192, "nbf": 4, "family": "xcup", **counts, "params": {"W": 52}}
    assert area.lookup({"cores": [core]}, 52)(8192, 4, "zcu102") == counts
    assert area.lookup({"cores": [core]}, 54)(8192, 4, "zcu102") is None


def test_every_table_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    rows = casa.rows(_slots, _area)
    table.show(table.sheets(rows), table.origin(rows, "made up"))
    out = capsys.readouterr().out
    for title in ("Table 2", "Table 3", "Table 4", "Table 5", "Table 6", "does not decrypt", "made up"):
        assert title in out


def test_a_paper_that_nobody_compared_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "heax"]) == 1
    assert "there are casa and taiyi-parameters" in capsys.readouterr().err
