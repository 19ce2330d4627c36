"""Power of the compact core beside CASA's: activity of the cycle model times published energies."""

from __future__ import annotations

import math

import pytest

from ringmill.errors import CommandError
from ringmill.studies.papers.casa import cycles, energy
from ringmill.studies.papers.casa import rows as casa
from ringmill.studies.papers.figures import read_figures

IDLE = {"cycles": 1000, "transform_busy": [0, 0], "arithmetic_busy": 0}


def test_a_gate_takes_less_in_a_smaller_node() -> None:
    # Stillmaker and Baas, by hand: 45 nm at 0.9 V, 16 nm at 0.85 V.
    blocks = 1.018 * 0.81 - 0.3107 * 0.9 + 0.1539
    small = 0.2958 * 0.7225 - 0.1241 * 0.85 + 0.03024
    assert energy.scale("zcu102") == pytest.approx(small / blocks)
    # 28 nm is between 32 and 20, at 1.0 V.
    wide, narrow = 0.8367 - 0.4341 + 0.1701, 0.373 - 0.1582 + 0.04104
    assert narrow / blocks < energy.scale("xc7a200t") < wide / blocks
    between = math.log(32 / 28) / math.log(32 / 20)
    assert energy.scale("xc7a200t") == pytest.approx(wide ** (1 - between) * narrow**between / blocks)


def test_energy_is_counted_by_busy_cycles_of_each_unit() -> None:
    assert energy.estimate(IDLE, 8, 54, "zcu102", 100)["microjoules"] == 0
    one = {**IDLE, "transform_busy": [500, 0]}
    assert energy.operations(one, 8) == {"multiplications": 6000, "additions": 8000, "words": 16000}
    both = {**one, "arithmetic_busy": 100}
    assert energy.operations(both, 8) == {"multiplications": 7600, "additions": 9600, "words": 20800}
    # By hand: 2 products of (54/32)² · 3.1 pJ, a sum of 54/32 · 0.1 pJ, 54/64 · 10 pJ a word; logic 14 times.
    logic = 6000 * 2 * (54 / 32) ** 2 * 3.1 + 8000 * 54 / 32 * 0.1
    picojoules = energy.scale("zcu102") * (14 * logic + 16000 * 54 / 64 * 10)
    reported = energy.estimate(one, 8, 54, "zcu102", 200)
    assert reported["microjoules"] == pytest.approx(picojoules * 1e-6, abs=0.005)
    # 1,000 cycles at 200 MHz are 5 µs.
    assert reported["watts"] == pytest.approx(picojoules * 1e-6 / 5, abs=0.0005)
    assert reported["least"] == pytest.approx(reported["watts"] / 3, abs=0.001)
    assert reported["most"] == pytest.approx(reported["watts"] * 3, abs=0.002)


def test_a_device_without_published_energy_is_refused() -> None:
    with pytest.raises(CommandError, match="no energies for 'ecp5-85'; there are for xc7a200t, zcu102"):
        energy.scale("ecp5-85")


def test_every_source_is_named_and_the_note_has_them() -> None:
    reported = energy.figures()
    for name in ("block", "node", "fabric"):
        assert reported[name]["source"] in energy.note()
    assert all(device["source"] for device in reported["device"].values())


def test_rows_of_operations_have_power_that_follows_from_the_model() -> None:
    build = {"word_bits": 54, "bus_bits": 512, "latency": 40, "effort": 100}
    activity, counter = cycles.activity(**build), cycles.counter(**build)
    entry = read_figures(casa.__package__)["operations"][0]
    rows = {
        row["operation"]: row
        for row in casa.operations(counter, lambda *_: None, activity)
        if row["n"] == 8192 and row["sequence"] == "casa"
    }
    for name, row in rows.items():
        assert row["paper"]["power_w"] == entry["power_w"]
        assert row["pdp"] == pytest.approx(row["power"]["watts"] * row["us_at_paper_fmax"] / 1e3, rel=0.02)
        assert any("estimate" in remark for remark in row["remarks"]), name
    # Sums alone: the arithmetic unit once for each pair of operands, and no transform.
    assert rows["add"]["power"]["watts"] < rows["multiply"]["power"]["watts"]
    # What the estimate leaves out makes it less than what the paper's core draws.
    assert rows["multiply"]["power"]["most"] < entry["power_w"]


def test_the_papers_products_are_its_watts_times_milliseconds() -> None:
    off = []
    for entry in read_figures(casa.__package__)["operations"]:
        for reported in (entry, *entry["others"]):
            for name, pdp in reported["pdp"].items():
                if reported["power_w"] * reported[f"{name}_us"] / 1e3 != pytest.approx(pdp, rel=0.03):
                    off.append((reported.get("name", "CASA"), name, reported[f"{name}_us"]))
    assert off == [("GPU [ABHM+20], eight V100", "rescale", 0.14)], "0.14 us there are 0.14 ms"
    others = [r for r in casa.operations(lambda _: 1, lambda *_: None) if r["nbf"] is None]
    assert [row["operation"] for row in others if row.get("remarks")] == ["rescale"]
