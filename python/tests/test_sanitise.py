"""Sanitised results: re-randomised and flooded, by the formula; and arguments under the secret key."""

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
from ringmill.flooding import Flooding, sanitised

X = np.random.default_rng(2).uniform(-1, 1, 16)


@pytest.fixture(scope="module")
def compiled() -> rm.Compiled:
    kernel = rm.kernel(lambda x: x * x * 0.5 + 0.25)
    return kernel.compile(rm.vector(16), precision=9, sanitise=20, statistical=20)


@pytest.fixture(scope="module")
def keys(compiled: rm.Compiled) -> rm.Keys:
    return compiled.keygen()


def test_sanitised_results_keep_the_precision_and_hide_the_rest(compiled: rm.Compiled, keys: rm.Keys) -> None:
    arguments = compiled.encrypt(keys, x=X)
    plain = compiled.evaluate(keys, arguments)
    both = [compiled.evaluate(keys, arguments, sanitise=20, statistical=20) for _ in range(2)]
    expected = X * X * 0.5 + 0.25
    for results in both:
        off = np.abs(compiled.decrypt(keys, results) - expected).max()
        assert off < 2.0**results.error_log2 <= 2.0 ** (compiled.sanitised_error(20, 20) + 0.5)
        assert off < 2.0**-9
        assert off > 16 * np.abs(compiled.decrypt(keys, plain) - expected).max(), "the noise is there"
        (data,) = (cipher.to_bytes() for cipher in results.parts.values())
        (before,) = (cipher.to_bytes() for cipher in plain.parts.values())
        size = min(len(data), len(before))
        same = np.frombuffer(data[-size:], np.uint8) == np.frombuffer(before[-size:], np.uint8)
        assert same[-size // 2 :].mean() < 0.02, "the residues are others"
    assert both[0].to_bytes() != both[1].to_bytes(), "each job has a seed of its own"
    assert compiled.sanitised_error(20, 20) <= -9
    assert "20 results of one model" in str(compiled)


def test_the_noise_has_the_deviation_of_the_formula(compiled: rm.Compiled, keys: rm.Keys) -> None:
    """Slots of a sanitised result: a sum of 2n coefficients of deviation σ, in units of 1/scale."""
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=X))
    (cipher,) = results.parts.values()
    one, n = Flooding(20, 20), 1 << compiled.params.log_n
    exact, noise = keys.secret.decrypt(cipher), []
    for seed in range(60):
        (clean,) = sanitised({"out": cipher}, keys.public, one, {"out": 1.0}, job=bytes([seed]) * 32).values()
        noise.append(keys.secret.decrypt(clean) - exact)
    found = np.std([(z.real, z.imag) for z in noise])
    factor = math.sqrt(12 * 20) * 2**10
    # A real and an imaginary part have half the variance each; 1,920 numbers.
    expected = factor * 2.0**cipher.error_log2 * math.sqrt(n) / math.sqrt(2)
    assert found == pytest.approx(expected, rel=6 / math.sqrt(2 * 1920))

    def once(name: str) -> bytes:
        made = sanitised({name: cipher}, keys.public, one, {name: 1.0}, job=bytes(32))
        return made[name].to_bytes()

    again = once("out")
    assert (
        again == sanitised({"out": cipher}, keys.public, one, {"out": 1.0}, job=bytes(32))["out"].to_bytes()
    )
    other = once("other")
    assert again != other, "each result of a job has a seed of its own"


def test_what_sanitising_needs_is_asked_for(compiled: rm.Compiled, keys: rm.Keys, tmp_path: Path) -> None:
    arguments = compiled.encrypt(keys, x=X)
    with pytest.raises(rm.KeyMissingError, match="zero under the client's public key"):
        compiled.evaluate(keys.evaluation, arguments, sanitise=True)
    with pytest.raises(rm.MismatchError, match="different secret keys"):
        compiled.evaluate(keys.evaluation, arguments, sanitise=1, public=compiled.keygen().public)
    with pytest.raises(rm.ParameterError, match="give a whole number from 1"):
        compiled.evaluate(keys, arguments, sanitise=-1)
    small = rm.kernel(lambda x: x * 0.5).compile(rm.vector(4), precision=4)
    owner = small.keygen()
    with pytest.raises(rm.ParameterError, match="Compile with sanitise=1000000, which reserves"):
        small.evaluate(owner, small.encrypt(owner, x=np.zeros(4)), sanitise=10**6, statistical=16)
    (cipher,), zeros = arguments.parts.values(), np.zeros(1 << compiled.params.log_n, np.int64)
    with pytest.raises(rm.MismatchError, match="seed has 3 bytes"):
        keys.public.sanitise(cipher, zeros, 1.0, b"abc")


def test_the_command_line_sanitises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.py").write_text(
        "import ringmill as rm\n@rm.kernel\ndef square(x=rm.vector(4)):\n    return x * x\n"
    )
    at = f"{tmp_path}/"
    source = ["compile", at + "k.py:square", "--out", str(tmp_path), "--precision", "9", "--sanitise", "5"]
    assert main([*source, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sanitised_error_log2"] <= -9
    (tmp_path / "x.json").write_text('{"x": [0.5, -1, 0.25, 1]}')
    client, server = ["--kernel", at + "client.rm"], ["--kernel", at + "server.rm"]
    assert main(["keygen", *client, "--out", at + "keys", "--quiet"]) == 0
    encrypt = ["--key", at + "keys/public.key", "--input", at + "x.json", "--out", at + "a", "--quiet"]
    assert main(["encrypt", *client, *encrypt]) == 0
    evaluate = ["evaluate", *server, "--keys", at + "keys/evaluation.keys", "--input", at + "a"]
    evaluate += ["--out", at + "r", "--quiet", "--sanitise", "5"]
    assert main(evaluate) == 1
    assert "Give public=" in capsys.readouterr().err
    assert main([*evaluate, "--public", at + "keys/public.key"]) == 0
    decrypt = ["--key", at + "keys/secret.key", "--input", at + "r", "--out", at + "y.json"]
    assert main(["decrypt", *client, *decrypt]) == 0
    found = json.loads((tmp_path / "y.json").read_text())["out"]
    np.testing.assert_allclose(found, [0.25, 1, 0.0625, 1], atol=2.0**-9)


def test_parameters_for_the_secret_key_are_smaller_and_keep_the_precision() -> None:
    kernel = rm.kernel(lambda x: (x * x).sum())
    kinds = ("public", "secret", "undivided")
    by = {key: kernel.compile(rm.vector(64), precision=20, encryption=key) for key in kinds}
    scales = {key: max(one.params.q).bit_length() for key, one in by.items()}
    assert scales["secret"] < scales["public"] < scales["undivided"]
    compiled = by["secret"]
    assert max(compiled.predicted_error.values()) <= -20
    keys, x = compiled.keygen(), np.ones(64)
    again = rm.Compiled.from_bytes(compiled.to_bytes())
    client = again.client()
    for side in (compiled, again, client):
        results = again.evaluate(keys, side.encrypt(keys, x=x))
        assert abs(float(side.decrypt(keys, results)) - 64) < 2.0**-20
        with pytest.raises(rm.MismatchError, match="compiled for arguments under the secret key"):
            side.encrypt(keys.public, x=x)
    assert again.predicted_error == compiled.predicted_error


def test_the_prompt_encrypts_under_the_secret_key() -> None:
    params = rm.Params.from_bits(12, [50, 40, 40], [50], 3, scale_bits=40, insecure=True)
    keys, x = rm.keygen(params), np.linspace(-1, 1, 64)
    own, other = rm.encrypt(x, keys), rm.encrypt(x, keys, key=keys.public)
    assert len(own.to_bytes()) < 0.6 * len(other.to_bytes())
    # σ against the rounding of a division, √(N/18).
    assert own.error_log2 < other.error_log2 - 1.5
    assert rm.measure_error(own, keys, x).holds


def test_the_public_key_is_found_in_keys(compiled: rm.Compiled, keys: rm.Keys) -> None:
    arguments: Any = compiled.encrypt(keys, x=X)
    one = compiled.evaluate(keys, arguments, sanitise=True, statistical=20)
    other = compiled.evaluate(keys.evaluation, arguments, sanitise=True, statistical=20, public=keys.public)
    assert one.error_log2 == other.error_log2
    assert flooding.BITS == 30
