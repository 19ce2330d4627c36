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
FOUR, SOME = rm.plain(np.arange(5), magnitude=4), rm.plain(1.5, magnitude=1.5)

NUMPY: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, c: np.sum(x) + 0 * c,
    "sum along the axis": lambda x, c: np.sum(x, axis=0) + 0 * c,
    "mean": lambda x, c: np.mean(x) + 0 * c,
    "mean as a method": lambda x, c: x.mean() + 0 * c,
    "add": lambda x, c: np.add(c, x) + np.add(x, x),
    "subtract": lambda x, c: np.subtract(c, x),
    "multiply": lambda x, c: np.multiply(np.float64(0.5), x) * np.negative(c),
    "square": lambda x, c: np.square(x) + np.divide(x, 2),
    "dot": lambda x, c: np.dot(c, x) + 0 * c,
    "inner": lambda x, c: np.inner(x, x) + 0 * c,
    "product": lambda x, c: c @ x + 0 * c,
}


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_functions_at_the_prompt(name: str, keys: rm.Keys) -> None:
    x, c = np.array([0.5, -0.25, 1.0, 0.125]), np.array([0.75, 0.5, -0.5, 1.0])
    got = rm.decrypt(NUMPY[name](rm.encrypt(x, keys), c), keys)
    np.testing.assert_allclose(got, NUMPY[name](x, c), rtol=0, atol=1e-6)


def test_numpy_roll_at_the_prompt(keys: rm.Keys) -> None:
    x = np.array([0.5, -0.25, 1.0, 0.125])
    for shift in (-1, -2, 3):  # a vector that fills its slots; 3 to the right is 1 to the left
        got = rm.decrypt(np.roll(rm.encrypt(x, keys), shift), keys)
        np.testing.assert_allclose(got, np.roll(x, shift), rtol=0, atol=1e-6)


def test_vectors_report_shapes_and_keep_them(keys: rm.Keys) -> None:
    x = rm.encrypt(X, keys)
    assert (x.shape, x.ndim, x.size) == (np.shape(x), np.ndim(x), np.size(x)) == ((5,), 1, 5)
    for name in ("length", "real", "clean", "shape"):
        with pytest.raises(AttributeError):
            setattr(x, name, 3)
    assert f"{x}" == repr(x)


EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "negate": lambda x, y: -x,
    "multiply": lambda x, y: x * y,
    "number": lambda x, y: 2 * x - 0.5 + x * 0.3,
    "number on the left": lambda x, y: 1 - x,
    "plain vector": lambda x, y: x * FOUR + np.ones(5) - FOUR * y,
    "plain vector within its default bound": lambda x, y: x * (Y / 2) - Y + np.ones(5),
    "plain number": lambda x, y: x * rm.plain(1.5, magnitude=2) - 0.25 + rm.plain(-3, magnitude=3),
    "divide": lambda x, y: x / 4,
    "levels apart": lambda x, y: x * y + x,
    "levels further apart": lambda x, y: (x * y) * x - y,
    "power": lambda x, y: x**3,
    "products of all kinds at one level": lambda x, y: (
        x * x + SOME * x - x * np.linspace(0, 1, 5) + 2 * (x * y)
    ),
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
    x = rm.encrypt(np.arange(8.0), keys, magnitude=8)
    np.testing.assert_allclose(rm.decrypt(x.rotate(1), keys), np.roll(np.arange(8.0), -1), atol=1e-6)
    np.testing.assert_allclose(rm.decrypt(x[3:6], keys), [3, 4, 5], atol=1e-6)
    np.testing.assert_allclose(rm.decrypt(x[2:5].sum(), keys)[:3], [9, 9, 9], atol=1e-5)


def test_complex_values(keys: rm.Keys) -> None:
    z = np.array([1 + 1j, -0.5j])
    x = rm.encrypt(z, keys, magnitude=2)
    got = rm.decrypt(x * rm.encrypt(z, keys, magnitude=1.5).conj(), keys)
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


@pytest.mark.parametrize("machine", ["cpu", "reference"])
def test_rotations_together_are_those_one_by_one(machine: str, keys: rm.Keys) -> None:
    x = rm.encrypt(X, keys, machine=machine)
    full = np.zeros(x.slots)
    full[: len(X)] = X
    steps = [3, 0, 8, 1, 3, -1 - x.slots + 2]
    turned = x.rotations(np.array(steps))
    assert [y.native.to_bytes() for y in turned] == [x.rotate(k).native.to_bytes() for k in steps]
    for y, k in zip(turned, steps, strict=True):
        assert len(y) == x.slots
        worst = np.abs(rm.decrypt(y, keys) - np.roll(full, -k)).max()
        assert worst < 2.0**y.error_log2 < 2.0**-15
    assert x.rotations(iter([])) == []
    deep = (x * x).rotations([1, 2])
    np.testing.assert_allclose(rm.decrypt(deep[1], keys), np.roll(full**2, -2), atol=1e-6)


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


def test_a_square_gives_the_bits_of_the_product(keys: rm.Keys) -> None:
    x = rm.encrypt(X, keys)
    same = rm.Ciphertext.from_bytes(x.to_bytes(), keys)
    product = keys.evaluator().multiply(x.native, same.native).to_bytes()
    assert (x * x).native.to_bytes() == (x**2).native.to_bytes() == product


def test_fresh_secret_key_encryptions_are_half_the_size(keys: rm.Keys) -> None:
    public = rm.encrypt(X, keys, key=keys.public).to_bytes()
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
    assert "keygen(params, rotations=[5])" in message


def test_sums_of_other_scales_meet_a_level_below(keys: rm.Keys) -> None:
    x, y = rm.encrypt(X, keys), rm.encrypt(Y, keys, level=2)
    for result, expected, level in [
        (x * x + y, X * X + Y, 2),
        (y - x * 0.3, Y - X * 0.3, 2),
        (x * 0.3 + x.drop_level(2), X * 1.3, 1),
        ((x * x) * 0.5 + rm.encrypt(Y, keys, level=1), X * X / 2 + Y, 1),
    ]:
        assert result.level == level
        error = np.max(np.abs(rm.decrypt(result, keys) - expected))
        assert error <= 2.0**result.error_log2 < 2.0**-20


def test_what_may_wrap_around_is_refused(keys: rm.Keys) -> None:
    """The modulus at level 0 has 50 bits, the scale 40: values below 512."""
    x = rm.encrypt([200.0, 1.0], keys, magnitude=256).drop_level(0)
    np.testing.assert_allclose(rm.decrypt(x, keys), [200, 1], atol=1e-6)
    with pytest.raises(rm.LevelError, match="wrapped around") as refused:
        rm.decrypt(x * 4, keys)
    assert (refused.value.code, refused.value.level, refused.value.magnitude) == ("WrapsAround", 0, 1024)
    assert refused.value.bits == pytest.approx(1, abs=0.01)
    for function in [
        lambda: rm.encrypt([1e5], keys, magnitude=1e5).drop_level(0),
        lambda: x + x,
        lambda: x - 300,
        lambda: rm.encrypt([3e4], keys, magnitude=4e4) ** 8,
    ]:
        with pytest.raises(rm.LevelError, match="wrapped around"):
            rm.decrypt(function(), keys)
        with pytest.raises(rm.LevelError, match="wrapped around"):
            function().to_bytes()


def test_a_promise_bounds_what_follows(keys: rm.Keys) -> None:
    x = rm.encrypt([200.0, 1.0], keys, magnitude=256).drop_level(0)
    y = x.within(201.0)
    assert y.native.magnitude == 201.0
    difference = y - x.within(201.0)
    np.testing.assert_allclose(rm.decrypt(difference, keys), [0, 0], atol=1e-6)
    assert x.within(1e9).native.magnitude == x.native.magnitude
    # What was computed may be vouched for, too: 200 − 200 has a bound of 512.
    np.testing.assert_allclose(rm.decrypt((x - x * 1).within(1), keys), [0, 0], atol=1e-6)
    with pytest.raises(rm.EncodingError, match="bound"):
        x.within(-1)


def test_different_plaintexts_leave_different_errors(keys: rm.Keys) -> None:
    """What is added and taken away again must not be thought to cancel."""
    rng = np.random.default_rng(7)
    x = rm.encrypt(rng.uniform(-1, 1, 512), keys, key=keys.secret)
    w, v = rng.uniform(-1, 1, (2, 512))
    result = (x + w) - (x + v)
    error = np.max(np.abs(rm.decrypt(result, keys) - (w - v)))
    assert 2.0 ** (result.error_log2 - 4) < error <= 2.0**result.error_log2


@pytest.mark.parametrize("slots", [1, 4, 512, 2048])
def test_constants_err_in_every_slot_alike(slots: int, keys: rm.Keys) -> None:
    x = rm.encrypt(np.full(slots, 0.5), keys)
    for c in np.random.default_rng(slots).uniform(-1, 1, 40):
        result = x - x + c
        assert np.max(np.abs(rm.decrypt(result, keys) - c)) <= 2.0**result.error_log2


@pytest.mark.parametrize(("exponent", "products"), [(2, 1), (3, 2), (7, 4), (8, 3), (15, 6)])
def test_a_power_makes_each_product_once(exponent: int, products: int) -> None:
    """Halving 15 asks for the powers 8, 7, 4, 3 and 2."""

    class Counted(rm.Ciphertext):
        made = 0

        def __init__(self, power: int) -> None:
            self.power = power

        def __mul__(self, other: Any) -> Counted:
            Counted.made += 1
            return Counted(self.power + other.power)

    Counted.made = 0
    assert (Counted(1) ** np.int64(exponent)).power == exponent
    assert Counted.made == products


@pytest.mark.parametrize(
    ("magnitude", "code"),
    [(0.0, "BadBound"), (-1.0, "BadBound"), (np.nan, "BadBound"), (np.inf, "BadBound"), (0.1, "BeyondBound")],
)
def test_a_declared_magnitude_bounds_the_values(magnitude: float, code: str, keys: rm.Keys) -> None:
    x = rm.encrypt([0.25, 0.25], keys)
    for encrypt in [
        lambda: x * rm.plain(0.5, magnitude),
        lambda: x + rm.plain([0.5, 0.25], magnitude),
        lambda: rm.plain(np.eye(2), magnitude) @ x,
        lambda: keys.evaluator().add_scalar(x.native, 0.5, magnitude),
        lambda: keys.evaluator().multiply_plain(x.native, [0.5, 0.25], magnitude),
        lambda: rm.encrypt([0.5, 0.25], keys, magnitude=magnitude),
        lambda: keys.public.encrypt(np.array([0.5 + 0j]), magnitude=magnitude),
        lambda: keys.secret.encrypt(np.array([0.5 + 0j]), magnitude=magnitude),
    ]:
        with pytest.raises(rm.EncodingError) as refused:
            encrypt()
        assert refused.value.code == code


def test_a_bound_left_out_is_one_and_holds(keys: rm.Keys) -> None:
    """What is beyond it is refused, and nothing of what is within shows."""
    x, above = rm.encrypt([1.0, 0.0], keys), np.nextafter(1.0, 2.0)
    for make in [
        lambda v: keys.public.encrypt(np.array([v, 0], dtype=complex)),
        lambda v: keys.secret.encrypt(np.array([0, 1j * v], dtype=complex)),
        lambda v: rm.encrypt([v], keys).native,
        lambda v: (x * v).native,
        lambda v: (x * np.array([0, v])).native,
        lambda v: (np.array([[0, v], [0, 0]]) @ x).native,
    ]:
        assert make(1.0).magnitude == make(1e-9).magnitude
        with pytest.raises(rm.EncodingError, match="larger than 1") as refused:
            make(above)
        assert refused.value.code == "BeyondBound"
    assert [(x + v).native.magnitude for v in (1.0, -1e-3, np.full(2, 0.5))] == [2.0] * 3
    # A whole number is written in the program, and its own bound.
    assert [(x * 3).native.magnitude, (x + 7).native.magnitude, (x / 4).native.magnitude] == [3, 8, 0.25]
    assert (x * 3).level == x.level == (x * 2.0**-1).level + 1


def test_nothing_may_follow_a_key_or_parameters(keys: rm.Keys, params: rm.Params) -> None:
    for read, data in [
        (rm.Params.from_bytes, params.to_bytes()),
        (lambda data: rm.SecretKey.from_bytes(params, data), keys.secret.export_secret()),
    ]:
        read(data)
        with pytest.raises(rm.FileFormatError):
            read(data + b"junk")


def test_keys_of_another_secret_are_refused(params: rm.Params, keys: rm.Keys) -> None:
    """Even at level 0, where what decrypts to noise stays below every bound."""
    other = rm.keygen(params, rotations=[1])
    ours, theirs = rm.encrypt(X, keys), rm.encrypt(X, other)
    again = rm.Evaluator(rm.EvaluationKeys.from_bytes(params, keys.evaluation.to_bytes()))
    for function in [
        lambda: ours + theirs,
        lambda: ours * theirs,
        lambda: rm.decrypt(theirs.drop_level(0), keys),
        lambda: rm.decrypt(theirs.drop_level(0), keys.secret),
        lambda: rm.encrypt(X, keys, key=other.public),
        lambda: rm.encrypt(X, keys, key=other.secret),
    ]:
        with pytest.raises(rm.MismatchError) as refused:
            function()
        reported = refused.value
        assert reported.code in ("KeysMismatch", "OtherSecret")
        assert {keys.identity, other.identity} <= set(reported.fields.values())
        assert all(str(k.identity) in reported.message for k in (keys, other))
    np.testing.assert_allclose(
        rm.decrypt(rm.encrypt(X, keys, key=keys.secret) + ours, keys), 2 * X, atol=1e-6
    )
    read = rm.Ciphertext.from_bytes(ours.to_bytes(), again, len(X))
    np.testing.assert_allclose(rm.decrypt(read + ours, keys), 2 * X, atol=1e-6)


def test_a_public_key_alone_takes_numbers_of_any_kind(keys: rm.Keys) -> None:
    """The client that sends data has no evaluation keys; the server that computes binds the data to them."""
    for values in ([0.5, 1], np.array([0.5, 1], dtype=np.float32), np.array([2, 3]), (0.5 + 1j, 2)):
        for key in (keys.public, keys.secret):
            sent = key.encrypt(values, magnitude=4).to_bytes()
            received = rm.Ciphertext.from_bytes(sent, keys, length=2)
            np.testing.assert_allclose(rm.decrypt(received, keys), np.asarray(values), atol=1e-6)
    for length in (0, -1, 3):
        with pytest.raises(rm.EncodingError, match="from 1 to 2"):
            rm.Ciphertext.from_bytes(keys.public.encrypt([1.0, 0.5]).to_bytes(), keys, length=length)


def test_vectors_of_one_length_mix_whatever_slots_they_have(keys: rm.Keys) -> None:
    """A slice stays in the slots that it came from, and what is beside it there must not get into sums."""
    a, b = rm.encrypt(np.arange(5) / 5, keys), rm.encrypt(np.arange(3) / 3, keys)
    x, y = np.arange(5)[1:4] / 5, np.arange(3) / 3
    for result, expected in [(a[1:4] + b, x + y), (b - a[1:4], y - x), (b * a[1:4], x * y)]:
        np.testing.assert_allclose(rm.decrypt(result, keys), expected, atol=1e-6)
        np.testing.assert_allclose(rm.decrypt(result.sum(), keys), np.full(3, expected.sum()), atol=1e-5)


def test_scales_that_cannot_meet_are_reported(keys: rm.Keys) -> None:
    x = rm.encrypt(X, keys)
    with pytest.raises(rm.LevelError) as refused:
        (x * x).drop_level(0) + x.drop_level(0)
    assert refused.value.code == "ScalesApart"


def test_scales_are_reported_exactly(keys: rm.Keys) -> None:
    """What an attribute gives, encryption takes: so do two scales that differ by a factor 1 - 1.4e-14."""
    p, q = 1099511590913, 1152921504606830593  # 2^40 - 36863 and 2^60 - 16383
    x = rm.encrypt(X, keys)
    for product in (x * x, x * 0.3, x * Y):
        beside = keys.public.encrypt(Y, slots=8, level=product.level, scale=product.scale)
        assert beside.scale == product.scale
        total = product.evaluator.add(product.native, beside)
        assert total.scale == product.scale
    close = [f"2^80*{p}^-1", f"2^20*{p}^-1*{q}"]
    a, b = (
        rm.Ciphertext(keys.public.encrypt(v, scale=s), keys.evaluator(), 5, real=True)
        for v, s in zip((X, Y), close, strict=True)
    )
    assert [a.scale, b.scale] == close
    np.testing.assert_allclose(rm.decrypt(a + b, keys), X + Y, atol=1e-6)
    with pytest.raises(rm.MismatchError) as refused:
        keys.evaluator().add(a.native, b.native)
    assert all(scale in refused.value.message for scale in close)


def test_an_evaluator_takes_numbers_of_any_kind(keys: rm.Keys) -> None:
    x = rm.encrypt(X, keys)
    for values in (Y, Y.astype(np.float32), list(Y), Y[::-1][::-1], Y + 0j, np.arange(5)):
        for operation, expected in [("add_plain", X + values), ("multiply_plain", X * values)]:
            result = getattr(keys.evaluator(), operation)(x.native, values, magnitude=4)
            np.testing.assert_allclose(keys.secret.decrypt(result)[:5], expected, atol=1e-6)


def test_a_vector_is_read_as_real_where_it_is_said_to_be(keys: rm.Keys) -> None:
    data = (rm.encrypt(X, keys) * 2).to_bytes()
    for real, kind in ((False, np.complex128), (True, np.float64)):
        read = rm.Ciphertext.from_bytes(data, keys, len(X), real=real)
        found = rm.decrypt(read + 1, keys)
        assert (read.real, found.dtype) == (real, kind)
        np.testing.assert_allclose(found, 2 * X + 1, atol=1e-6)
    assert not rm.Ciphertext.from_bytes(data, keys).real


def test_errors_are_compared_with_their_prediction(keys: rm.Keys) -> None:
    x, y = rm.encrypt(X, keys), rm.encrypt(Y, keys)
    for result, expected in [(x * y, X * Y), (x[1:4], X[1:4]), (x * 1j, X * 1j)]:
        errors = np.abs(rm.decrypt(result, keys) - expected)
        reported = rm.measure_error(result, keys, expected)
        assert (reported.slot, reported.predicted_log2) == (np.argmax(errors), result.error_log2)
        assert reported.measured_log2 == pytest.approx(np.log2(errors.max()))
        assert reported.holds
        assert f"error 2^{reported.measured_log2:.1f} (slot {reported.slot}), predicted 2^" in repr(reported)
        wrong = expected + np.eye(len(expected))[2] / 2
        reported = rm.measure_error(result, keys.secret, wrong)
        assert (reported.slot, round(reported.measured_log2, 3), reported.holds) == (2, -1, False)


def test_functions_of_declared_numbers_do_not_drop_the_bound() -> None:
    weights = rm.plain([1.0, -2.0, 3.0], magnitude=4)
    for kept in (np.negative(weights), -weights, np.conjugate(weights)):
        assert kept.magnitude == 4
    for function in (np.sqrt, np.abs, lambda w: np.multiply(w, 0.5), lambda w: np.add.reduce(w)):
        with pytest.raises(
            rm.EncodingError, match=r"would drop the bound that is declared for them \(4\)"
        ) as it:
            function(weights)
        assert it.value.code == "DropsDeclared"
    # A kernel that runs in the clear takes the numbers.
    np.testing.assert_array_equal(np.ones(3) * weights, [1, -2, 3])
