"""Noise of published results: its distribution, its size by the formula, and the precision that remains."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill import flooding
from ringmill.cli import main
from ringmill.flooding import Flooding, flood, gaussian

SEED = bytes(range(32))


def below(x: float) -> float:
    """The distribution function of a normal number, by the error function of the standard library."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


@pytest.mark.parametrize("deviation", [1.0, 3.2, 2.0**20, 2.0**48])
def test_the_noise_has_the_distribution_of_rounded_normal_numbers(deviation: float) -> None:
    """The largest distance of distribution functions (Kolmogorov–Smirnov) at a level of 10^−4."""
    count = 100_000
    found = np.sort(gaussian(count, deviation, SEED))
    # Whole numbers: the exact function steps at halves, so it is compared at its steps alone.
    values = np.unique(np.quantile(found, np.linspace(0, 1, 2001), method="nearest"))
    exact = np.array([below((float(v) + 0.5) / deviation) for v in values])
    seen = np.searchsorted(found, values, side="right") / count
    assert np.abs(exact - seen).max() < 2.23 / math.sqrt(count)


def test_small_noise_has_the_probability_of_each_number() -> None:
    """χ² over −8 to 8 at deviation 2: 16 degrees of freedom, 46.0 at a level of 10^−4."""
    count, deviation = 200_000, 2.0
    found = gaussian(count, deviation, SEED)
    total = 0.0
    for number in range(-8, 9):
        low = -math.inf if number == -8 else number - 0.5
        high = math.inf if number == 8 else number + 0.5
        expected = count * (below(high / deviation) - below(low / deviation))
        seen = np.count_nonzero((found > low) & (found < high))
        total += (seen - expected) ** 2 / expected
    assert total < 46.0


def test_numbers_of_the_noise_are_independent() -> None:
    count = 1 << 16
    x = gaussian(count, 1e6, SEED) / 1e6
    for shift in (1, 2, count // 2, count // 2 - 1):
        for a, b in ((x, np.roll(x, shift)), (x**2 - 1, np.roll(x, shift) ** 2 - 1)):
            assert abs(np.mean(a * b)) < 6 * np.std(a) * np.std(b) / math.sqrt(count), shift
    other = gaussian(count, 1e6, bytes(32)) / 1e6
    assert abs(np.mean(x * other)) < 6 / math.sqrt(count)
    assert np.array_equal(gaussian(count, 1e6, SEED), gaussian(count, 1e6, SEED))


@pytest.mark.parametrize(("decryptions", "statistical"), [(1, 30), (1000, 30), (1 << 20, 64)])
def test_the_deviation_is_that_of_the_formula(decryptions: int, statistical: int) -> None:
    """σ = √(12·τ)·2^(λ/2)·‖e‖, here with the norm of n errors t of Li et al., recomputed in full."""
    one, n, t = Flooding(decryptions, statistical), 64, 2.0**-25
    rarer = math.sqrt(math.log(2 * n * 2.0**statistical) / math.log(2 * n * 2.0**20))
    norm = math.sqrt(n) * t * max(rarer, 1)
    assert one.norm({"out": t}, {"out": n}) == pytest.approx(norm)
    assert one.deviation(norm) == pytest.approx(
        math.sqrt(12 * decryptions) * 2 ** (statistical / 2) * norm, rel=0.07
    )
    assert one.deviation(norm) >= math.sqrt(12 * decryptions) * 2 ** (statistical / 2) * norm


def test_the_divergence_of_two_worlds_is_what_the_bits_say() -> None:
    """τ times the divergence of normal distributions that are ‖e‖ apart, ‖e‖²/2σ², is below 2^−λ/24."""
    for decryptions, bits in ((1, 30), (12345, 40)):
        deviation = Flooding(decryptions, bits).deviation(1.0)
        assert decryptions / (2 * deviation**2) <= 2.0**-bits / 24


@pytest.fixture(scope="module")
def compiled() -> rm.Compiled:
    return rm.kernel(lambda x: x * x * 0.5 + 0.25).compile(rm.vector(256), precision=10, publish=100)


def test_published_results_have_the_noise_and_the_precision(compiled: rm.Compiled) -> None:
    keys, x = compiled.keygen(), np.random.default_rng(4).uniform(-1, 1, 256)
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=x))
    exact, plain = x * x * 0.5 + 0.25, compiled.decrypt(keys, results)
    client = compiled.client()
    for side in (compiled, client):
        noise = np.array([side.decrypt(keys, results, publish=100) - plain for _ in range(40)])
        stated = 2.0 ** results.parts["out"].error_log2
        one = Flooding(100)
        deviation = one.deviation(
            one.norm({"out": max(stated, 2.0 ** side.terms.noise["out"])}, {"out": 256})
        )
        # 10,240 numbers: their deviation is known to 1/√20,480.
        assert np.std(noise) == pytest.approx(deviation, rel=6 / math.sqrt(2 * noise.size))
        assert abs(np.mean(noise)) < 6 * deviation / math.sqrt(noise.size)
        worst = np.abs(plain + noise - exact).max()
        assert worst < 2.0 ** side.published_error(100)
        assert worst > 2.0 ** (side.published_error(100) - 3), "not too little noise either"
    assert compiled.published_error(100) <= -10
    assert "for 100 decryptions with 30 bits" in str(compiled)


def test_published_numbers_lie_on_a_grid(compiled: rm.Compiled) -> None:
    """Digits below the grid would show digits of the error."""
    values = {"out": np.random.default_rng(1).normal(size=512) + 0j}
    one = Flooding(10)
    (found,) = flood(values, one, 2.0**-20, real=True, seed=SEED).values()
    grid = 2.0 ** (math.floor(math.log2(2.0**-20 / math.sqrt(512))) - flooding.GRID)
    assert np.array_equal(found.real / grid, np.rint(found.real / grid))
    assert not np.any(found.imag)
    both = flood({"out": values["out"] * 1j}, one, 2.0**-20, real=False, seed=SEED)["out"]
    assert np.std(both.real) == pytest.approx(one.deviation(2.0**-20), rel=0.15)


def test_what_remains_is_stated_where_nothing_is_asked_for() -> None:
    kernel = rm.kernel(lambda x: x * x)
    some = kernel.compile(rm.vector(4), publish=1)
    many = kernel.compile(rm.vector(4), publish=1 << 20, statistical=40)
    assert some.published_error(1) <= -20
    assert -20 < many.published_error(1 << 20, 40) < -4
    assert some.published_error(1) < some.published_error(4) < some.published_error(4, 40)
    with pytest.raises(rm.ParameterError) as caught:
        kernel.compile(rm.vector(4), precision=20, publish=1 << 20, statistical=50)
    most = caught.value.most
    assert f"at most {most}. Compile with precision={most}" in str(caught.value)
    kept = kernel.compile(rm.vector(4), precision=most, publish=1 << 20, statistical=50)
    assert kept.published_error(1 << 20, 50) <= -most
    with pytest.raises(rm.ParameterError, match="not even one bit is"):
        kernel.compile(rm.vector(4), precision=20, publish=1 << 20, statistical=64)


def test_approximations_are_not_flooded() -> None:
    """Their error is public: noise for it would take all precision."""
    compiled = rm.kernel(lambda x: np.tanh(x)).compile(rm.vector(4), precision=8, publish=10)
    assert compiled.published_error(10) <= -8


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda c, k, r: c.decrypt(k, r, publish=0), "give a whole number from 1"),
        (lambda c, k, r: c.decrypt(k, r, publish=-3), "give a whole number from 1"),
        (lambda c, k, r: c.decrypt(k, r, publish=2.5), "the number of published decryptions, is 2.5"),
        (lambda c, k, r: c.decrypt(k, r, publish=True), "give a whole number"),
        (lambda c, k, r: c.decrypt(k, r, publish=1, statistical=200), "bits of statistical security is 200"),
        (lambda c, k, r: rm.kernel(lambda x: x).compile(rm.vector(2), publish=0), "from 1"),
        (lambda c, k, r: c.published_error(0), "from 1"),
    ],
)
def test_impossible_numbers_are_refused(compiled: rm.Compiled, call: Any, said: str) -> None:
    keys = compiled.keygen()
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=np.zeros(256)))
    with pytest.raises(rm.ParameterError) as caught:
        call(compiled, keys, results)
    assert said in str(caught.value)


def test_the_command_line_publishes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.py").write_text(
        "import ringmill as rm\n@rm.kernel\ndef square(x=rm.vector(4)):\n    return x * x\n"
    )
    at = f"{tmp_path}/"
    words = ["compile", at + "k.py:square", "--out", str(tmp_path), "--precision", "9", "--publish", "50"]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["published_error_log2"] <= -9
    client = ["--kernel", at + "client.rm"]
    (tmp_path / "x.json").write_text('{"x": [0.5, -1, 0.25, 1]}')
    assert main(["keygen", *client, "--out", at + "keys", "--quiet"]) == 0
    encrypt = ["--key", at + "keys/public.key", "--input", at + "x.json", "--out", at + "a", "--quiet"]
    assert main(["encrypt", *client, *encrypt]) == 0
    evaluate = ["--keys", at + "keys/evaluation.keys", "--input", at + "a", "--out", at + "r", "--quiet"]
    assert main(["evaluate", "--kernel", at + "server.rm", *evaluate]) == 0
    decrypt = ["decrypt", *client, "--key", at + "keys/secret.key", "--input", at + "r", "--out"]
    capsys.readouterr()
    assert main([*decrypt, at + "y.json", "--publish", "50", "--statistical", "30", "--json"]) == 0
    error = json.loads(capsys.readouterr().out)["published_error_log2"]
    found = json.loads((tmp_path / "y.json").read_text())["out"]
    off = np.abs(np.array(found) - [0.25, 1, 0.0625, 1]).max()
    assert 2.0 ** (error - 8) < off < 2.0**error
    assert main([*decrypt, at + "z.json", "--publish", "0"]) == 1
    assert "from 1 to" in capsys.readouterr().err


def test_noise_that_nothing_remains_beside_is_refused() -> None:
    kernel = rm.kernel(lambda x: x * x * 0.5)
    for options, publish in (({}, 1000), ({"publish": 10}, 1 << 36)):
        compiled = kernel.compile(rm.vector(4), precision=10, **options)
        keys = compiled.keygen()
        arguments = compiled.encrypt(keys, x=np.ones(4))
        results = compiled.evaluate(keys, arguments)
        with pytest.raises(rm.ParameterError, match=rf"Compile with publish={publish}, which") as refused:
            compiled.decrypt(keys, results, publish=publish)
        assert refused.value.code == "NoReserve"
        with pytest.raises(rm.ParameterError, match="Compile with sanitise=") as refused:
            compiled.evaluate(keys, arguments, sanitise=1 << 36)
        assert refused.value.code == "NoReserve"
