"""Levels of several primes: parameters within a word, kernels on them, and the machines that run these."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.cli import main


@rm.kernel
def _mixed(x: Any, y: Any) -> Any:
    z = (x * y + 0.25) ** 2
    return np.roll(z, -3) * x + y[0]


def _clear(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.roll((x * y + 0.25) ** 2, -3) * x + y[0]


@pytest.mark.parametrize(("word", "switching"), [(28, "klss"), (36, "hybrid"), (54, "hybrid")])
def test_a_kernel_within_a_word_keeps_its_precision(word: int, switching: str) -> None:
    compiled = _mixed.compile(rm.vector(64), rm.vector(64), precision=30, word=word, switching=switching)
    params = compiled.params
    assert all(q < 2**word for q in params.q + params.p)
    assert len(params.levels) == params.max_level + 1
    assert sum(params.levels) == len(params.q)
    assert max(params.levels) == (1 if word == 54 else 2)
    assert params.limbs(0) == params.levels[0]
    assert params.limbs(params.max_level) == len(params.q)
    keys = compiled.keygen()
    x, y = np.random.default_rng(word).uniform(-1, 1, (2, 64))
    found = compiled.run(keys, x=x, y=y)
    error = math.log2(np.abs(found - _clear(x, y)).max())
    (predicted,) = compiled.predicted_error.values()
    assert error <= predicted <= -30
    assert predicted < error + 12


@pytest.mark.parametrize("word", [32, pytest.param(36, marks=pytest.mark.long)])
def test_machines_of_narrow_words_compute_the_bits_of_the_processor(word: int) -> None:
    compiled = _mixed.compile(rm.vector(64), rm.vector(64), precision=30, word=word)
    keys = compiled.keygen()
    x, y = np.random.default_rng(word).uniform(-1, 1, (2, 64))
    arguments = compiled.encrypt(keys, x=x, y=y)
    expected = compiled.evaluate(keys, arguments).to_bytes()
    for machine in ("reference", f"compact:word={word}", f"compact:word={word},butterflies=2"):
        assert compiled.evaluate(keys, arguments, machine=machine).to_bytes() == expected, machine


@pytest.mark.parametrize(("machine", "word"), [("taiyi", 36), ("sharp", 36), ("craterlake", 28)])
def test_large_machines_take_programs_of_their_word_and_no_others(machine: str, word: int) -> None:
    compiled = _mixed.compile(rm.vector(64), rm.vector(64), precision=24, word=word)
    assert compiled.estimate(f"file:{machine}")["cycles"] > 0
    wide = _mixed.compile(rm.vector(64), rm.vector(64), precision=24)
    with pytest.raises(rm.MachineError, match=f"words have {word}"):
        wide.estimate(f"file:{machine}")


def _factors(scale: str) -> dict[int, int]:
    """A scale such as ``2^100*97^-1`` as exponents of primes."""
    parts = (part.partition("^") for part in scale.split("*"))
    return {int(base): int(exponent or 1) for base, _, exponent in parts}


def test_operations_at_the_prompt_divide_by_all_primes_of_a_level() -> None:
    params = rm.Params.from_bits(
        12, [50, 25, 25, 50, 25, 25], [51, 51], 3, levels=[1, 2, 1, 2], insecure=True
    )
    assert (params.scale_bits, params.max_level, params.levels) == (50, 3, [1, 2, 1, 2])
    keys = rm.keygen(params, relin=True, rotations=[1])
    numbers = np.random.default_rng(3).uniform(-1, 1, 2048)
    x = rm.encrypt(numbers, keys, magnitude=1)
    assert (x.level, (x * x).level, (x * x * x).level) == (3, 2, 1)
    # Scales are what the primes say: 2^100/(q4·q5), and its square over q3.
    q, turned = params.q, np.roll(x * x, -1) * (x * x)
    assert _factors(params.scale_at(2)) == {2: 100, q[4]: -1, q[5]: -1}
    assert _factors(params.scale_at(1)) == {2: 200, q[4]: -2, q[5]: -2, q[3]: -1}
    found = rm.decrypt(turned, keys)
    expected = np.roll(numbers**2, -1) * numbers**2
    assert math.log2(np.abs(found - expected).max()) <= turned.error_log2 < -20


def test_files_carry_the_levels(tmp_path: Path) -> None:
    params = rm.Params.by_need(depth=3, scale_bits=46, word=28)
    (tmp_path / "params").write_bytes(params.to_bytes())
    read = rm.Params.load(tmp_path / "params")
    assert (read, read.levels) == (params, params.levels)
    # By value with the same levels, and without them.
    given = {"scale_bits": params.scale_bits, "insecure": params.insecure}
    assert (
        rm.Params.from_primes(params.log_n, params.q, params.p, params.dnum, levels=params.levels, **given)
        == params
    )
    assert rm.Params.from_primes(params.log_n, params.q, params.p, params.dnum, **given) != params
    compiled = _mixed.compile(rm.vector(8), rm.vector(8), precision=24, word=32)
    compiled.save(tmp_path / "kernel")
    again = rm.Compiled.load(tmp_path / "kernel")
    assert again.params == compiled.params
    assert again.predicted_error == compiled.predicted_error


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"word": 19}, ["The word is 19", "20 to 60"]),
        ({"word": "wide"}, ["The word is 'wide'"]),
        ({"word": 36, "params": rm.Params.named("III")}, ["params="]),
        ({"word": 21, "precision": 50}, ["No parameters", "50 bits"]),
    ],
)
def test_words_that_do_not_do(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(rm.ParameterError) as refused:
        _mixed.compile(rm.vector(8), rm.vector(8), **options)
    assert all(word in str(refused.value) for word in words), refused.value


@pytest.mark.parametrize("levels", [[1, 1], [3, 1], [0, 3], [5], [1, 2, 1], ["a"], 2])
def test_levels_that_do_not_fit_the_chain(levels: Any) -> None:
    with pytest.raises(rm.ParameterError, match=r"[Ll]evels"):
        rm.Params.from_bits(12, [40, 25, 25], [50], 3, levels=levels, insecure=True)


def test_the_command_line_takes_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("import ringmill as rm\n\n\n@rm.kernel\ndef f(x=rm.vector(8)):\n    return x**3\n")
    command = ["compile", f"{source}:f", "--out", str(tmp_path / "out"), "--precision", "30", "--word", "32"]
    assert main(command) == 0
    assert "levels" in capsys.readouterr().out
    assert main([*command[:-1], "61"]) != 0
    assert "20 to 60" in capsys.readouterr().err
    assert main(["params", "--depth", "2", "--word", "36"]) == 0
    assert "[2, 2, 2]" in capsys.readouterr().out


def test_a_bootstrapping_within_a_word_is_as_precise_as_it_says() -> None:
    params = rm.Params.bootstrapping(2, log_n=11, slots=1024, bits=20, word=36, insecure=True)
    assert all(q < 2**36 for q in params.q + params.p)
    assert set(params.levels) == {2}
    # The key under the sparse secret has both primes of level 0.
    base = math.log2(params.q[0] * params.q[1] * params.p[0])
    assert params.bootstraps["sparse_log_q"] == pytest.approx(base, abs=1e-9)
    keys = rm.keygen(params, **rm.bootstrap_keys(params, 1024))
    numbers = np.random.default_rng(5).uniform(-1, 1, 1024)
    low = rm.encrypt(numbers, keys, level=params.bootstraps["start"], magnitude=1)
    high = low.bootstrap()
    assert high.level == params.bootstraps["start"] + params.bootstraps["levels"]
    error = math.log2(np.abs(rm.decrypt(high, keys) - numbers).max())
    assert error <= high.error_log2 < -19
    cube = high * high * high
    assert math.log2(np.abs(rm.decrypt(cube, keys) - numbers**3).max()) <= cube.error_log2 < -15


@pytest.mark.parametrize("word", [32, 36])
def test_words_bootstrap_at_128_bits(word: int) -> None:
    params = rm.Params.bootstrapping(9, word=word)
    assert params.log_n == 16
    assert params.security == 128
    assert params.log_q + params.log_p <= 1747
    assert params.bootstraps["levels"] == 9
    assert params.bootstraps["bits"] >= 20
    assert params.scale_bits >= 46
    assert all(q < 2**word for q in params.q + params.p)


@rm.kernel
def _nine(x: Any) -> Any:
    for _ in range(9):
        x = x * x
    return x


@pytest.mark.parametrize("word", [32, 36, 45, 54])
def test_the_levels_that_a_bootstrapping_leaves_are_those_of_products_in_a_row(word: int) -> None:
    params = rm.Params.bootstrapping(9, word=word)
    compiled = _nine.compile(rm.vector(8), params=params)
    assert compiled.cost["levels"] == 9
    (predicted,) = compiled.predicted_error.values()
    assert predicted < -12


def test_two_iterations_within_a_word_are_asked_for_where_they_are_done() -> None:
    with pytest.raises(rm.ParameterError, match="one iteration"):
        rm.Params.bootstrapping(2, bits=30, iterations=2, word=36)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"integer_bits": 2**32 - 41}, "4 primes hold 144"),
        ({"integer_bits": 200}, "need a base of 242 bits"),
        ({"scale_bits": 91}, "20 to 90"),
    ],
)
def test_needs_that_a_word_does_not_hold(options: dict[str, int], words: str) -> None:
    with pytest.raises(rm.ParameterError, match=words):
        rm.Params.by_need(depth=2, word=36, **options)


def test_a_word_too_narrow_to_bootstrap_is_refused_with_the_reason() -> None:
    with pytest.raises(rm.ParameterError, match="No parameters"):
        rm.Params.bootstrapping(9, word=24)
