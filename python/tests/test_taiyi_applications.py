"""Taiyi's applications beside ours: counted shares, stored prices and times of the pages."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import ringmill as rm
from ringmill.studies.papers.figures import read_figures
from ringmill.studies.papers.taiyi_parameters import applications, sweep

ROOT = Path(__file__).resolve().parents[2]
FIGURES = read_figures(sweep.__package__)


def test_shares_are_of_all_multiplications() -> None:
    rows = applications.shares(FIGURES)
    assert [row["what"] for row in rows] == ["transforms", "conversions", "products"]
    for name in ("hybrid", "klss36", "klss60"):
        assert sum(row[name] for row in rows) == pytest.approx(100, abs=0.2)
    transforms, _, products = rows
    assert transforms["klss36"] < transforms["hybrid"]
    assert products["klss36"] > products["hybrid"]
    assert transforms["paper"] == {"share": 36.3}


def test_times_are_those_of_the_pages() -> None:
    workloads = (ROOT / "docs" / "workloads.md").read_text(encoding="utf-8")
    notes = " ".join((ROOT / "docs" / "notes" / "programs.md").read_text(encoding="utf-8").split())
    own = {row["work"]: row for row in FIGURES["own_time"]}
    assert f"took 52 seconds, {own['helr']['seconds']} an iteration" in notes
    assert f"{own['resnet']['seconds']} s of processor time with keys and compilation" in notes
    share = {row["work"]: row for row in FIGURES["own_share"]}
    table = dict(re.findall(r"^\| `([\w-]+)` \|.*\| ([\d.]+) \|$", workloads, re.MULTILINE))
    assert share["helr"]["seconds"] == float(table["helr-training"])
    assert share["resnet"]["seconds"] == float(table["resnet-20"])
    assert "`helr-training` | eight iterations, three bootstrappings" in workloads
    assert "`resnet-20` | 19 activations" in workloads
    rows = {row["what"]: row for row in applications.times(FIGURES)}
    assert rows["bootstrapping"]["seconds"] == FIGURES["own"]["boot_seconds"]
    assert rows["HELR1024"]["ratio_cpu"] == pytest.approx(6.5 / 23.3, abs=0.001)
    assert all(row["remarks"] for row in rows.values() if row["seconds"])
    assert rows["bootstrapping"]["paper"]["ms"]["Taiyi, parallel"] == 2.77
    for row in applications.bootstrapping(FIGURES):
        assert row["percent"] == pytest.approx(
            100 * row["bootstrappings"] * FIGURES["own"]["boot_seconds"] / row["seconds"], abs=0.05
        )
        assert 0 < row["percent"] < row["paper"]["percent"]


def test_every_number_of_digits_has_a_price_or_a_reason() -> None:
    rows = applications.digits(FIGURES)
    assert [row["dnum"] for row in rows] == list(sweep.DIGITS)
    for row in rows:
        assert (row["ns"] is None) == ("reason" in row) == bool(row.get("remarks"))
    (chosen,) = [row for row in rows if row["paper"]]
    assert (chosen["level"], chosen["dnum"]) == (38, FIGURES["digits"])
    seconds = chosen["boot_seconds"] + chosen["product_seconds"]
    assert chosen["ns"] == pytest.approx(seconds * 1e9 / chosen["levels_left"] / 2**15, abs=0.01)


@pytest.fixture
def _shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGMILL_COSTS", "/nowhere")


@pytest.mark.usefixtures("_shipped")
def test_squarings_keep_their_scale_on_the_papers_own_chain() -> None:
    stored = next(row for row in sweep.stored()["rows"] if row["dnum"] == 6)
    params = rm.Params.from_bits(16, [36] * 39, [36] * 7, 6)
    assert params.security is not None
    # From the top down to level 1: each deviation doubles with every level.
    drift = Fraction(1)
    for q in reversed(params.q[1:]):
        drift = drift * drift * Fraction(2**36, q)
        drift = Fraction(round(drift * 2**200), 2**200)
        assert abs(math.log2(drift)) < 0.5
    power = rm.kernel(lambda x: x ** (1 << 37))
    assert power.compile(rm.vector(8), params=params).plan.depth == 37
    assert stored["boot_levels"] + stored["levels_left"] == stored["level"] == 38


@pytest.mark.long
@pytest.mark.usefixtures("_shipped")
def test_a_bootstrapping_runs_on_the_papers_own_chain(rng: np.random.Generator) -> None:
    params = rm.Params.from_bits(16, [36] * 39, [36] * 7, 6)
    kernel = rm.kernel(lambda x: rm.bootstrap(x)).compile(rm.vector(params.slots), params=params)
    keys, x = kernel.keygen(), rng.uniform(-1, 1, params.slots)
    found = kernel.decrypt(keys, kernel.evaluate(keys, kernel.encrypt(keys, x=x)))
    error = float(np.log2(np.abs(found - x).max()))
    print(f"error 2^{error:.1f}, predicted 2^{max(kernel.predicted_error.values()):.1f}")
    assert error < max(kernel.predicted_error.values()) < -12


@pytest.mark.long
@pytest.mark.usefixtures("_shipped")
def test_the_stored_prices_are_those_of_the_compiler() -> None:
    stored = next(row for row in sweep.stored()["rows"] if row["dnum"] == 6)
    found = sweep.priced(6)
    for name in ("boot_seconds", "product_seconds"):
        assert found.pop(name) == pytest.approx(stored.pop(name), rel=0.01)
    assert found == stored
