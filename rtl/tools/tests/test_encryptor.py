"""The cycle model of the encryption engine: against the bars, its page, and the RTL."""

import json
import subprocess
from dataclasses import replace
from itertools import pairwise

import pytest

from ringmill.encryptor_schedule import (
    DECRYPT,
    DIVIDED,
    PUBLIC,
    PUBLIC_KEY,
    SEAL,
    SYMMETRIC,
    Engine,
    draw_cycles,
    expected_trit_words,
    trit_bytes,
)
from rtl.encryptor.figures import EXPLORED, PLACE, explored, figures
from rtl.encryptor.schedule import NTT_15, PAPER, table
from rtl.tools import simulate
from rtl.tools.block import ROOT, RTL, load

NGUYEN = Engine(4, 14, NTT_15)
DIVIDING = replace(NGUYEN, extra=True)


def test_nguyens_set_is_within_the_bars():
    assert NGUYEN.interval() == NGUYEN.rows == 8192 < PAPER["cycles"] / 3
    assert NGUYEN.last_row <= 17_000
    assert NGUYEN.cold() <= 33_400
    assert 6 * sum(NGUYEN.multipliers.values()) <= 1_800 < PAPER["dsp"]


def test_the_division_is_within_the_bars():
    assert DIVIDING.interval(DIVIDED) == DIVIDING.rows == 8192
    assert DIVIDING.last_row - DIVIDING.message_row <= 17_000
    assert DIVIDING.cold(DIVIDED) <= 33_400
    assert sum(DIVIDING.multipliers.values()) <= 300
    assert 6 * sum(DIVIDING.multipliers.values()) <= 1_800 < PAPER["dsp"]
    assert DIVIDING.interval(SEAL) == DIVIDING.rows
    assert DIVIDING.cold(SEAL) <= 33_400


@pytest.mark.parametrize("log_n", [12, 13, 14, 15])
def test_the_division_keeps_the_pace_of_the_transforms(log_n):
    engine = Engine(4, log_n, NTT_15, extra=True)
    assert engine.early
    assert engine.early_seal
    for mode in (PUBLIC, SYMMETRIC, PUBLIC_KEY, DECRYPT, DIVIDED, SEAL):
        assert engine.interval(mode) == engine.rows


def test_errors_are_drawn_ahead_where_the_lane_of_the_extra_prime_is_too_short():
    assert not Engine(4, 14, NTT_15, doubles=2, extra=True).early
    assert not Engine(4, 14, NTT_15, log_p=3, extra=True).early


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
    names = {PUBLIC: "Public", DIVIDED: "Divided", SEAL: "Seal"}
    for mode, name in names.items():
        for log_n in (13, 14, 15):
            engine = Engine(4, log_n, NTT_15, extra=mode != PUBLIC)
            message = engine.last_row - engine.message_row
            figures = (engine.interval(mode), message, engine.ready(mode), engine.cold(mode))
            row = " | ".join(f"{x:,}" for x in figures)
            assert f"| `{name}` | 2^{log_n} | {row} | {sum(engine.multipliers.values())} |" in page
    assert len(table()) == 12


def test_units_work_by_turns_and_as_the_page_says():
    spans = DIVIDING.spans([DIVIDED] * 4)
    of = {unit: [s for s in spans if s[0] == unit] for unit, *_ in spans}
    assert all(a[3] <= b[2] for own in of.values() for a, b in pairwise(own))
    # The page: cold 30,317 to the last word; an interval of 8,192; 16,624 from the message.
    results, limbs = of["result"], of["limbs: transforms"]
    assert [end for *_, end in results] == [30_317 + 1 + 8_192 * job for job in range(4)]
    assert all(last[3] - 1 - (first[2] - 3) == 16_624 for last, first in zip(results, limbs, strict=True))
    halves = {"extra prime: transform": 4_096}
    for unit, own in of.items():
        if unit != "sampler":
            assert {end - first for _, _, first, end in own} == {halves.get(unit, 8_192)}
    # Nothing is drawn for a decryption, and no lane of the extra prime works for it.
    assert {unit for unit, *_ in DIVIDING.spans([DECRYPT])} == {"limbs: transforms", "limbs: sums", "result"}
    assert {s[0] for s in NGUYEN.spans([PUBLIC])} == {"sampler", "limbs: transforms", "limbs: sums", "result"}


def test_stored_figures_are_those_of_the_model():
    made = figures()
    assert json.loads(PLACE.read_text("utf-8")) == made, "run python -m rtl.encryptor.figures"
    assert json.loads(EXPLORED.read_text("utf-8")) == explored(), "run python -m rtl.encryptor.figures"
    page = (RTL.parent / "docs" / "papers" / "nguyen.md").read_text("utf-8")
    for mode in ("engine", "engine+special"):
        ours = next(of for of in made["engines"] if (of["n"], of["p"], of["mode"]) == (1 << 14, 2, mode))
        for name in ("interval", "latency_message", "latency_ready", "latency_cold", "dsp"):
            assert f" {ours[name]:,} |" in page
    # Every size, with the extra prime.
    sizes = [of for of in made["engines"] if of["mode"] == "engine+special"]
    assert len(sizes) == 9
    for of in sizes:
        names = ("interval", "latency_ready", "latency_cold", "multipliers", "dsp")
        cells = " | ".join(f"{of[name]:,}" for name in names)
        assert f"| {of['p']} | 2^{of['n'].bit_length() - 1} | {cells} |" in page
    # Where the cycles of a cold encryption go.
    parts = (
        DIVIDING.draw_to_start(DIVIDED),
        DIVIDING.extra_latency,
        DIVIDING.first_row,
        DIVIDING.rows - 1,
    )
    assert sum(parts) == DIVIDING.cold(DIVIDED)
    assert all(f" | {cycles:,} |\n" in page for cycles in parts)


def _slower(name):
    return [pytest.param(name, log_n, marks=pytest.mark.long) for log_n in (8, 9)]


@pytest.mark.parametrize(
    ("name", "log_n"),
    [
        *((name, log_n) for name in ("toy", "divided", "seal") for log_n in (6, 7)),
        # Four and eight words a cycle.
        *_slower("lanes_logp2"),
        *_slower("lanes_logp3"),
        *_slower("divided_lanes_logp2"),
        *_slower("divided_lanes_logp3"),
    ],
)
def test_every_start_of_the_rtl_is_the_models(name, log_n):
    test = next(t for t in load("encryptor").tests if t.name == name)
    assert simulate.build(test) is None
    run = simulate.BUILD / "encryptor" / name / "tb"
    arguments = ["+trace", "+n=24", f"+logn={log_n}", f"+to={log_n}", "+seed=7"]
    said = subprocess.run([run, *arguments], capture_output=True, text=True, check=True).stdout.splitlines()
    said = said[said.index("promises 256") :]
    jobs = [tuple(map(int, line.split()[1:])) for line in said if line.startswith("job ")]
    starts = [int(line.split()[1]) for line in said if line.startswith("start ")]
    modes = [mode for _, mode, _ in jobs]
    assert len(starts) == len(jobs) == 24
    extra = int(test.params.get("Extra", 0)) == 1
    seeded = {SYMMETRIC, PUBLIC_KEY} if int(test.params["Seeded"]) else set()
    divided = {DIVIDED} if extra else set()
    assert set(modes) == {PUBLIC, DECRYPT} | seeded | divided | ({SEAL} if name == "seal" else set())
    engine = Engine(
        int(test.params["Limbs"]),
        log_n,
        {3: 11, 4: 13}[int(test.params["Kind"])],  # KindMontgomery, KindBarrett
        int(test.params["LogP"]),
        doubles=int(test.params["Doubles"]),
        log_n_max=int(test.params["LogNMax"]),
        extra=extra,
        log_n_min=int(test.params["LogNMin"]),
        seal_rounds=int(test.params.get("SealRounds", 12)),
    )
    model = engine.starts([(mode, words) for _, mode, words in jobs])
    assert [start - jobs[0][0] for start in starts] == model


@pytest.mark.long
@pytest.mark.parametrize(("log_n", "seed"), [(10, 7), (12, 9), (13, 5), (14, 3), (15, 11)])
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
        f"job {mode}" for mode in (PUBLIC, SYMMETRIC, PUBLIC_KEY, DECRYPT, DIVIDED)
    ]
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(made)
    test = next(t for t in load("encryptor").tests if t.name == "engine")
    assert simulate.build(test) is None
    run = simulate.BUILD / "encryptor" / "engine" / "tb"
    said = subprocess.run([run, f"+vectors={vectors}"], capture_output=True, text=True, check=False).stdout
    # Two limbs: both parts of an encryption, with and without the division, and one part of each other mode.
    assert f"checked={7 * 2 << log_n}" in said, said


@pytest.mark.long
def test_the_engine_of_a_client_has_the_bits_of_software_and_the_models_cycles():
    from ringmill import Params
    from ringmill.encryptor import library, parameters

    params = Params.from_bits(10, [49, 39, 38], [49], 3, insecure=True)
    built = parameters(params, 1)
    run = ["cargo", "run", "--quiet", "--workspace", "--locked", "--example", "encryptor_bits", "--"]
    said = subprocess.run(
        [*run, str(library(built)), "7"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    cycles = {name: int(number) for name, number in (line.split() for line in said.splitlines())}
    engine = Engine(built["Limbs"], built["LogNMax"], 11, extra=True)  # KindMontgomery
    # One cycle more, since the last row's counts. The mean number of refused bytes is not that of every seed.
    assert cycles["decrypt"] == engine.draw(DECRYPT) + engine.ready(DECRYPT) + 1
    assert cycles["symmetric"] == engine.draw(SYMMETRIC) + engine.ready(SYMMETRIC) + 1
    for name, mode in (("public", PUBLIC), ("divided", DIVIDED)):
        assert abs(cycles[name] - engine.cold(mode)) <= 10
