"""Encrypted vectors at the prompt: operators against NumPy, within the predicted error."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm


@pytest.fixture(scope="module")
def params() -> rm.Params:
    return rm.Params.from_bits(12, [50, 40, 40, 40], [50], 4, insecure=True)


@pytest.fixture(scope="module")
def keys(params: rm.Params) -> rm.Keys:
    return rm.keygen(params, rotations=[1, 2, 4, 8, 3], conjugation=True)


X = np.array([0.5, -0.25, 1.0, 0.125, -1.0])
Y = np.array([0.75, 0.5, -0.5, 1.0, 0.3])

EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "negate": lambda x, y: -x,
    "multiply": lambda x, y: x * y,
    "number": lambda x, y: 2 * x - 0.5 + x * 0.3,
    "number on the left": lambda x, y: 1 - x,
    "plain vector": lambda x, y: x * np.arange(5) + np.ones(5) - np.arange(5) * y,
    "divide": lambda x, y: x / 4,
    "levels apart": lambda x, y: x * y + x,
    "levels further apart": lambda x, y: (x * y) * x - y,
    "power": lambda x, y: x**3,
    "inner product": lambda x, y: (x @ y) * np.ones(5),
    "sum": lambda x, y: x.sum() * np.ones(5),
    "sum after adding a number": lambda x, y: (x + 1).sum() * np.ones(5),
    "conjugate": lambda x, y: x.conj(),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("machine", ["cpu", "reference"])
def test_operator_equals_numpy(name: str, machine: str, keys: rm.Keys) -> None:
    function = EXPRESSIONS[name]
    x, y = (rm.encrypt(v, keys, machine=machine) for v in (X, Y))
    result = function(x, y)
    got = rm.decrypt(result, keys)
    expected = function(X, Y)
    assert got.dtype == np.float64
    error = np.max(np.abs(got - expected))
    assert error <= 2.0**result.error_log2
    assert error < 2.0**-20


def test_machines_agree_bit_for_bit(keys: rm.Keys) -> None:
    def computed(machine: str) -> bytes:
        x = rm.Ciphertext.from_bytes(data, rm.Evaluator(keys.evaluation, machine))
        return ((x * x).rotate(1) + x).to_bytes()

    data = rm.encrypt(X, keys).to_bytes()
    assert computed("cpu") == computed("reference")


def test_rotation_and_slices(keys: rm.Keys) -> None:
    x = rm.encrypt(np.arange(8.0), keys)
    np.testing.assert_allclose(rm.decrypt(x.rotate(1), keys), np.roll(np.arange(8.0), -1), atol=1e-6)
    np.testing.assert_allclose(rm.decrypt(x[3:6], keys), [3, 4, 5], atol=1e-6)
    np.testing.assert_allclose(rm.decrypt(x[2:5].sum(), keys)[:3], [9, 9, 9], atol=1e-5)


def test_complex_values(keys: rm.Keys) -> None:
    z = np.array([1 + 1j, -0.5j])
    got = rm.decrypt(rm.encrypt(z, keys) * rm.encrypt(z, keys).conj(), keys)
    assert got.dtype == np.complex128
    np.testing.assert_allclose(got, z * z.conj(), atol=1e-6)


def test_operations_share_what_was_lowered(keys: rm.Keys) -> None:
    assert rm.encrypt(X, keys).evaluator is rm.encrypt(Y, keys).evaluator
    assert rm.encrypt(X, keys, machine="reference").evaluator is not rm.encrypt(X, keys).evaluator


def test_repr_informs(keys: rm.Keys) -> None:
    x = rm.encrypt(X, keys)
    text = repr(x * x)
    for fact in ("vector (5)", "8 slots", "level 2", "scale 2^", "predicted error 2^-", "bytes"):
        assert fact in text
    assert "hidden" in repr(keys.secret)
    assert "4 Galois" not in repr(keys.secret)
    assert "6 Galois keys" in repr(keys.evaluation)


@pytest.mark.parametrize("leak", [pickle.dumps, copy.copy, copy.deepcopy])
def test_secret_keys_do_not_leave_by_accident(leak: Callable[[Any], Any], keys: rm.Keys) -> None:
    with pytest.raises(rm.SecretError, match="does not pickle or copy"):
        leak(keys.secret)
    if leak is not copy.copy:  # a copy of the set shares the key
        with pytest.raises(rm.SecretError):
            leak(keys)


def test_keys_through_files(keys: rm.Keys, params: rm.Params, tmp_path: Path) -> None:
    sizes = keys.save(tmp_path / "k")
    assert sizes == {p.name: p.stat().st_size for p in (tmp_path / "k").iterdir()}
    assert (tmp_path / "k" / "secret.key").stat().st_mode & 0o077 == 0
    assert (tmp_path / "k" / "evaluation.keys").read_bytes() == keys.evaluation.to_bytes()
    again = rm.Keys.load(params, tmp_path / "k")
    x = rm.encrypt(X, again)
    np.testing.assert_allclose(rm.decrypt(x * x, again), X * X, atol=1e-6)


@pytest.mark.parametrize("memory", ["seeded", "mapped"])
def test_keys_as_halves_give_the_same_bits(
    memory: str, keys: rm.Keys, params: rm.Params, tmp_path: Path
) -> None:
    keys.save(tmp_path / "k")
    half = rm.Keys.load(params, tmp_path / "k", memory=memory)
    x = rm.encrypt(X, keys)
    for e in (half.evaluator(), rm.Evaluator(keys.evaluation.seeded())):
        assert e.multiply(x.native, x.native).to_bytes() == (x * x).native.to_bytes()
        assert e.rotate(x.native, 1).to_bytes() == x.rotate(1).native.to_bytes()
    assert half.evaluation.nbytes <= keys.evaluation.seeded().nbytes < keys.evaluation.nbytes / 2
    assert half.evaluation.to_bytes() == keys.evaluation.to_bytes()


def test_keys_are_made_as_halves() -> None:
    params = rm.Params.from_bits(12, [50, 40, 40], [50], 3, insecure=True)
    keys = rm.keygen(params, rotations=[1], seeded=True)
    whole = rm.keygen(params, rotations=[1])
    assert keys.evaluation.nbytes < whole.evaluation.nbytes / 2
    x = rm.encrypt(X, keys)
    turned = rm.decrypt((x * x).rotate(1), keys).real
    np.testing.assert_allclose(turned[:4], (X * X)[1:], atol=1e-6)


def test_fresh_secret_key_encryptions_are_half_the_size(keys: rm.Keys) -> None:
    public = rm.encrypt(X, keys).to_bytes()
    secret = rm.encrypt(X, keys, key=keys.secret).to_bytes()
    assert len(secret) < 0.52 * len(public)
    read = rm.Ciphertext.from_bytes(secret, keys, 5)
    np.testing.assert_allclose(rm.decrypt(read, keys).real, X, atol=1e-6)


def test_missing_rotation_key_names_rotation_and_element(keys: rm.Keys) -> None:
    with pytest.raises(rm.KeyMissingError) as caught:
        rm.encrypt(X, keys).rotate(5)
    message = caught.value.message
    assert caught.value.code == "MissingGaloisKey"
    assert f"{pow(5, 5, 8192)}" in message
    assert "5^5" in message
    assert "rotation by 1" in message
    assert "keygen(rotations" in message
