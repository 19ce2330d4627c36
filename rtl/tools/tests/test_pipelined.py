"""The cycle models of pipelined key switches: against their bounds, their pages, and the RTL."""

import json
import subprocess
from itertools import pairwise

import pytest

from rtl.pipelined.figures import PLACE, figures
from rtl.pipelined.schedule import NTT_60, PAPER, Engine, Start, key_words, table
from rtl.tools import simulate
from rtl.tools.block import RTL, load


@pytest.mark.parametrize("limbs", range(3, 9))
def test_from_three_limbs_on_the_interval_is_the_bound(limbs):
    engine = Engine(limbs, 3, 16, NTT_60)
    assert engine.interval(limbs) == engine.bound(limbs) == (limbs + 2) * 8192


def test_duong_and_lees_set_beats_their_figures():
    engine = Engine(4, 3, 16, NTT_60)
    assert engine.butterflies == 320
    assert engine.interval(4) == 49152 < PAPER["interval"]
    assert engine.latency(4, alone=False) <= 110_000 < PAPER["latency"]
    assert 6 * sum(engine.multipliers.values()) <= PAPER["dsp"] / 2
    assert sum(engine.memory_words.values()) * 60 / 8e6 <= 0.9 * PAPER["megabytes"]
    # 8,736 KB for half of the keys, the paper's own counting of 60 and 51 bits apart.
    assert key_words(4, 16) == 40 << 16


def test_operands_that_come_late_set_the_interval():
    engine = Engine(4, 3, 16, NTT_60)
    ends = engine.ends(engine.starts(4, 6, apart=60_000))
    assert {b - a for a, b in pairwise(ends[1:])} == {60_000}


def test_a_level_outside_of_the_engine_is_refused():
    with pytest.raises(ValueError, match="level 5 of an engine for 1 to 4 limbs"):
        Engine(4, 3, 16, NTT_60).starts(5, 1)


def test_the_page_has_the_models_figures():
    page = (RTL / "pipelined" / "README.md").read_text("utf-8")
    for limbs in (3, 4, 7):
        engine = Engine(limbs, 3, 16, NTT_60)
        figures = (engine.bound(limbs), engine.interval(limbs))
        figures += (engine.latency(limbs, alone=False), engine.latency(limbs, alone=True))
        row = " | ".join(f"{figure:,}" for figure in figures)
        assert f"| {limbs} limbs | {row} | {sum(engine.multipliers.values())} |" in page
    assert len(table()) == 10


@pytest.mark.parametrize("level", [1, 2, 3])
def test_every_start_of_the_rtl_is_the_models(level):
    test = next(t for t in load("pipelined").tests if t.name == "toy")
    assert simulate.build(test) is None
    switches, log_n, top = 6, int(test.params["LogNMin"]), int(test.params["LogNMax"])
    run = simulate.BUILD / "pipelined" / "toy" / "tb"
    arguments = ["+trace", f"+n={switches}", f"+logn={log_n}", f"+to={log_n}", f"+level={level}"]
    said = subprocess.run([run, *arguments], capture_output=True, text=True, check=True).stdout.splitlines()
    # Levels from the greatest down to this one: the last starts are this level's.
    starts = [line.split()[1:] for line in said if line.startswith("start ")][-switches * (level + 2) :]
    first = int(starts[0][3])
    seen = [Start(int(s[3]) - first, s[0] == "down", int(s[1]), int(s[2])) for s in starts]
    # KindP2: eight cycles a product.
    engine = Engine(int(test.params["Limbs"]), int(test.params["LogP"]), log_n, 8, top)
    assert seen == engine.starts(level, switches)


def test_stored_figures_are_those_of_the_models():
    made = figures()
    assert json.loads(PLACE.read_text("utf-8")) == made, "run python -m rtl.pipelined.figures"
    page = (RTL.parent / "docs" / "papers" / "duong-lee.md").read_text("utf-8")
    for found in made["pool"]["sets"]:
        above = found["interval"] / found["bound"] - 1
        assert 0 <= above <= (0.01 if found["set"] != [4, 2, 2] else 0.09)
        row = [", ".join(map(str, found["set"])), *(f"{found[name]:,}" for name in ("bound", "interval"))]
        row += [f"{above:.2%}".replace("%", " %"), *(f"{found[name]:,}" for name in ("latency", "dsp"))]
        assert f"| {' | '.join(row)} | {found['ram_bytes'] / 1e6:.1f} |" in page
    first, chain = made["pool"]["sets"][0], made["streams"]
    assert first["interval"] <= 49_600
    assert first["latency"] <= PAPER["latency"]
    assert made["pool"]["butterflies"] == chain["butterflies"]
    for name in ("interval", "latency", "latency_alone"):
        assert f"| {chain[name]:,} | {first[name]:,} |" in page
    assert f"| {chain['dsp']:,} | {first['dsp']:,} |" in page
