"""Kernels, and functions of kernels, on encrypted vectors at the prompt: against NumPy, as predicted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill import kernels


@pytest.fixture(scope="module")
def params() -> rm.Params:
    return rm.Params.from_bits(12, [50] + [40] * 8, [50], 9, insecure=True)


@pytest.fixture(scope="module")
def keys(params: rm.Params) -> rm.Keys:
    return rm.keygen(params, rotations=range(1, 64), conjugation=True)


def holds(result: rm.Ciphertext, keys: rm.Keys, expected: Any) -> None:
    """The values are right, and so is the prediction."""
    wanted = np.broadcast_to(np.asarray(expected), (result.length,))
    compared = rm.measure_error(result, keys, wanted)
    assert compared.measured_log2 < -16
    assert compared.holds


SERIES = np.polynomial.Chebyshev([0.1, -0.5, 0.25, 0.125, 0.5])
TANH = rm.approximate(np.tanh, (-3, 3), error=1e-3)
SIGN = kernels.Sign(gap=2.0**-2, error=0.05)
ABSOLUTE = kernels.Absolute(error=0.05)
INVERSE = kernels.Inverse((0.25, 2), error=0.01)
ROOT = kernels.SquareRoot(error=0.05)
COMPARE = kernels.Compare(gap=2.0**-2, error=0.05)
WIDE, TALL = np.random.default_rng(3).uniform(-1, 1, (2, 12, 5))

#: What is computed of a vector of 12 elements between −1 and 1, in a kernel or not.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "powers": lambda x: rm.polynomial(x, [0.25, -1, 0, 0.5]),
    "series": lambda x: rm.polynomial(x, SERIES),
    "approximation": lambda x: TANH(x),
    "sign": lambda x: SIGN(x),
    "absolute": lambda x: ABSOLUTE(x),
    "inverse": lambda x: INVERSE(x * 0.5 + 1),
    "root": lambda x: ROOT(rm.within(x * 0.5 + 0.5, 1)),
    "compare": lambda x: COMPARE(x * 0.5, 0.25 * x),
    "row": lambda x: x @ WIDE,
    "column": lambda x: WIDE.T @ x,
    "numpy": lambda x: np.dot(x, WIDE) + np.matmul(TALL.T, x) + np.inner(x, WIDE.T) + np.inner(TALL.T, x),
}


@pytest.mark.parametrize("slots", [16, 32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_a_vector(name: str, slots: int, keys: rm.Keys, rng: np.random.Generator) -> None:
    x, function = rng.uniform(-1, 1, 12), FUNCTIONS[name]
    holds(function(rm.encrypt(x, keys, slots=slots)), keys, function(x))


def test_results_end_as_high_as_the_vector_lets_them(keys: rm.Keys, rng: np.random.Generator) -> None:
    """From the top and from below, at the scale that a product left."""
    x = rng.uniform(-1, 1, 16)
    for vector, values in [
        (rm.encrypt(x, keys), x),
        (rm.encrypt(x, keys, level=5), x),
        (rm.encrypt(x, keys) * x, x * x),
    ]:
        cube = rm.polynomial(vector, [0, 0, 0, 1])
        assert cube.level == vector.level - 2
        holds(cube, keys, values**3)
        holds(cube * cube + vector, keys, values**6 + values)


@rm.kernel
def model(x: Any, y: Any, w: Any = 0.5, b: Any = None) -> Any:
    """Three results of two vectors."""
    z = x * y + (w if b is None else w * b)
    return {"z": z, "norm": (z * z).sum(), "rows": z.reshape(3, 4).sum(axis=1)}


def test_kernels_take_vectors_of_the_prompt(keys: rm.Keys, rng: np.random.Generator) -> None:
    x, y = rng.uniform(-1, 1, (2, 12))
    high, low = rm.encrypt(x, keys), rm.encrypt(y, keys, level=6)
    for b in (None, rng.uniform(-1, 1, 12)):
        found, wanted = model(high, low, w=0.25, b=b), model(x, y, w=0.25, b=b)
        assert list(found) == list(wanted)
        assert [len(result) for result in found.values()] == [12, 12, 3]
        for name, result in found.items():
            holds(result, keys, wanted[name])
    # Levels and scales are brought together whichever comes first.
    holds(model(low, high)["z"], keys, x * y + 0.5)
    holds(model(high * high, low)["z"], keys, x * x * y + 0.5)
    holds(model(high * 0.3, high * high)["z"], keys, 0.3 * x**3 + 0.5)


def test_results_come_in_the_form_that_the_kernel_gives_them(keys: rm.Keys) -> None:
    x = rm.encrypt([0.5, -0.25], keys)
    pair = rm.kernel(lambda x: (x + 1, x - 1))(x)
    assert isinstance(pair, tuple)
    holds(pair[1], keys, [-0.5, -1.25])
    assert isinstance(rm.kernel(lambda x: [x + 1])(x), list)


def test_arguments_that_no_result_needs_are_left_out(keys: rm.Keys) -> None:
    x, y = rm.encrypt([0.5, -0.25], keys), rm.encrypt([1.0, 1.0], keys)
    holds(rm.kernel(lambda x, y: x * 2)(x, y), keys, [1.0, -0.5])
    holds(rm.kernel(lambda x, y: x + y - y)(x, y), keys, [0.5, -0.25])


def test_what_stands_beside_the_elements_stays_out(keys: rm.Keys, rng: np.random.Generator) -> None:
    """A slice and a rotation leave data in the padding; more slots than a vector has repeat it."""
    x = rng.uniform(-1, 1, 16)
    part, turned = rm.encrypt(x, keys)[3:8], rm.encrypt(x, keys).rotate(2)
    holds(rm.kernel(lambda x: x.sum())(part), keys, x[3:8].sum())
    holds(np.ones((2, 5)) @ part, keys, [x[3:8].sum()] * 2)
    holds(TANH(part * 3), keys, TANH(3 * x[3:8]))
    holds(rm.kernel(lambda x, y: x @ y)(part, rm.encrypt(x[:5], keys)), keys, x[3:8] @ x[:5])
    tall = rng.uniform(-1, 1, (50, 16))
    holds(tall @ turned, keys, tall @ np.roll(x, -2))
    holds(tall[:, :5] @ part, keys, tall[:, :5] @ x[3:8])


def test_complex_vectors(keys: rm.Keys) -> None:
    z = np.array([0.5 + 0.25j, -1j, 0.125])
    y = rm.polynomial(rm.encrypt(z, keys), [1, 0, 1])
    assert not y.real
    holds(y, keys, 1 + z * z)


def test_bounds_of_the_vector_are_those_of_the_program(keys: rm.Keys) -> None:
    """The predicted size of a vector holds the interval, and a promise makes it smaller."""
    x = rm.encrypt([0.5, -0.25, 1.0], keys)
    with pytest.raises(rm.ParameterError, match="within") as refused:
        TANH(x * 40)
    assert refused.value.code == "LeavesInterval"
    holds(TANH((x * 40 * 0.05).within(2)), keys, TANH(np.array([1.0, -0.5, 2.0])))


def test_rotations_are_made_of_the_keys_at_hand(params: rm.Params, rng: np.random.Generator) -> None:
    """Powers of two lead everywhere; where no keys do, those that lack are named."""
    w, values = rng.uniform(-1, 1, (16, 16)), rng.uniform(-1, 1, 16)
    few = rm.keygen(params, relin=True, rotations=[1, 2, 4, 8])
    holds(w @ rm.encrypt(values, few, magnitude=1), few, w @ values)
    # 12 + 6 goes round to 2; 6 + 6 needs no key of 12. Odd distances lack.
    even = rm.keygen(params, relin=True, rotations=[6, 12])
    x = rm.encrypt(values, even, magnitude=1)
    turned = rm.kernel(_turned)
    holds(turned(x, k=2), even, np.roll(values, -2))
    with pytest.raises(rm.KeyMissingError, match=r"rotation by 5\b") as missing:
        turned(x, k=5)
    assert "12" not in str(missing.value).split("keygen(")[-1]


def _turned(x: Any, k: int) -> Any:
    return np.roll(x, -k)


def test_programs_are_used_again(keys: rm.Keys) -> None:
    """The same text, level and scale give the bits of one program, and other constants others."""
    values = np.array([0.5, -0.25, 1.0])
    x = rm.encrypt(values, keys)
    once, again = (rm.polynomial(x, [1, 2, 3]).to_bytes() for _ in range(2))
    assert once == again
    for constant in range(12):  # more than are kept
        holds(rm.polynomial(x, [constant, 2, 3]), keys, constant + 2 * values + 3 * values**2)


def test_kernels_at_the_prompt_bootstrap(rng: np.random.Generator) -> None:
    """Asked for, or where levels run out: with the keys of bootstrapping alone."""
    params = rm.Params.bootstrapping(3, log_n=10, slots=64, insecure=True)
    keys = rm.keygen(params, **rm.bootstrap_keys(params, 64))
    x = rng.uniform(-1, 1, 64)
    fresh = rm.encrypt(x, keys)

    @rm.kernel
    def deep(x: Any) -> Any:
        for _ in range(12):
            x = x * x * 0.5 + 0.25
        return x

    found = deep(fresh)
    assert np.abs(rm.decrypt(found, keys) - deep(x)).max() < 2.0**found.error_log2 < 2.0**-12
    asked = rm.kernel(lambda x: rm.bootstrap(x * x))(rm.encrypt(x, keys, level=5))
    assert asked.level > 5
    assert np.abs(rm.decrypt(asked, keys) - x * x).max() < 2.0**asked.error_log2 < 2.0**-12
    with pytest.raises(rm.MismatchError, match="bootstrap it first"):
        deep(rm.encrypt(x, keys, level=4))
