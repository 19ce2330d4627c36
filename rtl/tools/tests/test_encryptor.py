"""The cycle model of the encryption engine: against the bars, its page, and the RTL."""

import json
import subprocess

import pytest

from rtl.encryptor.figures import PLACE, figures
from rtl.encryptor.schedule import (
    DECRYPT,
    NTT_15,
    PAPER,
    PUBLIC,
    PUBLIC_KEY,
    SYMMETRIC,
    Engine,
    draw_cycles,
    expected_trit_words,
    table,
    trit_bytes,
)
from rtl.tools import simulate
from rtl.tools.block import ROOT, RTL, load

NGUYEN = Engine(4, 14, NTT_15)


def test_nguyens_set_is_within_the_bars():
    assert NGUYEN.interval() == NGUYEN.rows == 8192 < PAPER["cycles"] / 3
    assert NGUYEN.last_row <= 17_000
    assert NGUYEN.cold <= 33_400
    assert 6 * sum(NGUYEN.multipliers.values()) <= 1_800 < PAPER["dsp"]


@pytest.mark.parametrize("mode", [PUBLIC, SYMMETRIC, PUBLIC_KEY, DECRYPT])
@pytest.mark.parametrize("log_n", [12, 13, 14, 15])
def test_every_mode_keeps_the_pace_of_the_transforms(mode, log_n):
    engine = Engine(4, log_n, NTT_15)
    assert engine.interval(mode) == engine.rows


def test_a_slower_generator_sets_the_interval():
    # Five double rounds give 256 bits a cycle, which is what two Gaussian polynomials alone take.
    engine = Engine(4, 14, NTT_15, doubles=5)
    assert engine.interval() > engine.rows
    assert engine.interval() == engine.draw(PUBLIC)


def test_draws_take_what_their_bits_take():
    # 32 bits or eight samples a cycle, six cycles after 512 samples, 44 before the first, some at the end.
    words = expected_trit_words(14)
    assert trit_bytes(14) == 3277
    assert 862 <= words <= 868
    assert draw_cycles(14, words, 2) == 44 + words + 2 + 2 * 32 * 70 + 2


def test_the_page_has_the_models_figures():
    page = (RTL / "encryptor" / "README.md").read_text("utf-8")
    for log_n in (13, 14, 15):
        engine = Engine(4, log_n, NTT_15)
        row = " | ".join(f"{x:,}" for x in (engine.interval(), engine.last_row, engine.cold))
        assert f"| 2^{log_n} | {row} | {sum(engine.multipliers.values())} |" in page
    assert len(table()) == 7


def test_stored_figures_are_those_of_the_model():
    made = figures()
    assert json.loads(PLACE.read_text("utf-8")) == made, "run python -m rtl.encryptor.figures"
    page = (RTL.parent / "docs" / "papers" / "nguyen.md").read_text("utf-8")
    ours = next(of for of in made["engines"] if (of["n"], of["p"], of["mode"]) == (1 << 14, 2, "engine"))
    for name in ("interval", "latency_ready", "latency_cold", "dsp"):
        assert f" {ours[name]:,} |" in page


@pytest.mark.parametrize("log_n", [6, 7])
def test_every_start_of_the_rtl_is_the_models(log_n):
    test = next(t for t in load("encryptor").tests if t.name == "toy")
    assert simulate.build(test) is None
    run = simulate.BUILD / "encryptor" / "toy" / "tb"
    arguments = ["+trace", "+n=12", f"+logn={log_n}", f"+to={log_n}", "+seed=5"]
    said = subprocess.run([run, *arguments], capture_output=True, text=True, check=True).stdout.splitlines()
    said = said[said.index("promises 256") :]
    jobs = [tuple(map(int, line.split()[1:])) for line in said if line.startswith("job ")]
    starts = [int(line.split()[1]) for line in said if line.startswith("start ")]
    modes = [mode for _, mode, _ in jobs]
    assert len(starts) == len(jobs) == 12
    assert set(modes) == {PUBLIC, SYMMETRIC, PUBLIC_KEY, DECRYPT}
    engine = Engine(
        int(test.params["Limbs"]),
        log_n,
        11,  # KindMontgomery
        doubles=int(test.params["Doubles"]),
        log_n_max=int(test.params["LogNMax"]),
    )
    model = engine.starts([(mode, words) for _, mode, words in jobs])
    assert [start - jobs[0][0] for start in starts] == model


@pytest.mark.long
@pytest.mark.parametrize(("log_n", "seed"), [(10, 7), (12, 9)])
def test_the_residues_are_those_of_the_software_engine(log_n, seed, tmp_path):
    build = ["cargo", "build", "--quiet", "--workspace", "--locked", "--example", "encryption_vectors"]
    subprocess.run(build, check=True, cwd=ROOT)
    made = subprocess.run(
        [ROOT / "target" / "debug" / "examples" / "encryption_vectors", str(log_n), str(seed)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert [line for line in made.splitlines() if line.startswith("job ")] == [
        f"job {mode}" for mode in (PUBLIC, SYMMETRIC, PUBLIC_KEY, DECRYPT)
    ]
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(made)
    test = next(t for t in load("encryptor").tests if t.name == "engine")
    assert simulate.build(test) is None
    run = simulate.BUILD / "encryptor" / "engine" / "tb"
    said = subprocess.run([run, f"+vectors={vectors}"], capture_output=True, text=True, check=False).stdout
    # Two limbs: both parts of an encryption, and one part of each other mode.
    assert f"checked={5 * 2 << log_n}" in said, said
