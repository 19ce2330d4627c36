"""coxHE's models against the figures that the paper prints."""

from __future__ import annotations

import math

import pytest

from ringmill.studies.papers.coxhe import model_rows, models, rows
from ringmill.studies.papers.figures import read_figures

FIGURES = read_figures(models.__package__)


def test_a_key_switch_is_k_plus_5_transforms_where_nothing_is_slower() -> None:
    for n, pintra in ((4096, 8), (8192, 16)):
        slot = math.log2(n) * n / 2 / pintra
        assert models.transform_cycles(n, pintra) == slot
        wide = models.Modules(pintra, 64, 64, 64)
        for k in range(2, 9):
            assert models.key_switch_cycles(n, wide, k) == slot * models.key_switch_slots(k)
    # As Fig. 5(b) is set: 16 butterflies and 8 words leave the transform the slowest; half a word does not.
    assert models.Modules(16, 8, 8, 8).slowest(8192) == models.transform_cycles(8192, 16)
    assert models.Modules(16, 0.5, 8, 8).slowest(8192) == models.module_cycles(8192, 0.5) == 16384


def test_ports_feed_less_than_a_balance_needs() -> None:
    reported = {row["row"]: row for row in model_rows.ports()}
    assert list(reported) == [design["row"] for design in FIGURES["design"]]
    for design in FIGURES["design"]:
        model = reported[design["row"]]["model_of_paper"]
        assert model["by_ports"] == design["packnum"] * design["portnum"] / 4
        # Eq. 3 is Eq. 4 for this number of words a cycle.
        n = design["n"]
        transform = models.transform_cycles(n, design["pintra"])
        assert models.module_cycles(n, model["balanced"]) == pytest.approx(transform, rel=0.01)
        assert model["by_ports"] < model["balanced"]
        # Eight designs of one kernel, and its printed time is a like multiple of Eq. 8.
        assert 11 < design["latency_ms"] / model["ms_by_ports"] < 17.5


def test_a_kernel_is_the_sum_of_its_operations() -> None:
    n, modules = 8192, models.Modules(16, 8, 4, 2)
    transform = 13 * 256
    assert models.rescale_cycles(n, modules) == 2 * transform + 2048
    one = [
        models.kernel_cycles(n, modules, 3, models.Calls(*(int(i == j) for j in range(4)))) for i in range(4)
    ]
    assert one == [transform * 8 + (4096 - transform) * 7, 2 * transform + 2048, 1024, 4096]
    assert models.kernel_cycles(n, modules, 3, models.Calls(4, 1, 2, 3)) == sum(
        times * cycles for times, cycles in zip((4, 1, 2, 3), one, strict=True)
    )


def test_drift_doubles_with_each_level() -> None:
    reported = list(model_rows.depths())
    first = reported[0]["model_of_paper"]["error"]
    # At depth 1 Eq. 11 is Eq. 10, which the rows of Table III print.
    printed = {design["bits"]: design["error"] for design in FIGURES["design"]}
    assert first == rows.drift(1 << model_rows.LOG_N, model_rows.BITS)
    assert first == pytest.approx(printed[model_rows.BITS], rel=0.01)
    for row in reported:
        assert row["model_of_paper"]["error"] == pytest.approx(first * (2 ** row["depth"] - 1))
        assert 0 < row["ours"]["error"] < row["model_of_paper"]["error"]


def test_the_infeasible_example_is_72_polynomials() -> None:
    (row,) = model_rows.memory()
    assert row["model_of_paper"]["mbit"] == pytest.approx(row["paper"]["mbit"], abs=0.005)
    assert row["paper"]["mbit"] > row["paper"]["board_mbit"]
