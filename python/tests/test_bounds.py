"""Bounds on values: they hold for any data, and are tight where they matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Chebyshev
from oracle import interpret

import ringmill as rm
from ringmill.kernels import NINE, PaperKernel, Sign, logistic_regression, sigmoid


def test_linear_layers_and_chebyshev_polynomials_are_tight() -> None:
    w = np.array([0.5, -2.0, 0.25])
    dot = rm.kernel(lambda x: x @ w)
    assert dot.trace(rm.vector(3)).bound(2.0) == pytest.approx(2 * 2.75)
    t8 = rm.kernel(lambda x: rm.polynomial(x, Chebyshev([0] * 8 + [1.0])))
    # 2u² is the largest value on the way.
    assert t8.trace(rm.vector(4)).bound(1.0) == pytest.approx(2.0)


def test_padding_counts_for_nothing() -> None:
    total = rm.kernel(lambda x: x.sum())
    assert total.trace(rm.vector(5)).bound(1.0) == pytest.approx(5.0)


def test_complex_values_have_no_sign() -> None:
    square = rm.kernel(lambda x: x * x - 1)
    assert square.trace(rm.vector(4)).bound(1.0) == pytest.approx(1.0)
    assert square.trace(rm.vector(4, dtype=complex)).bound(1.0) == pytest.approx(2.0)


@pytest.mark.parametrize("row", NINE, ids=lambda row: row.letter)
def test_bounds_hold(row: PaperKernel, rng: np.random.Generator) -> None:
    traced = row.trace()
    bound = traced.bound(1.0)
    for _ in range(5):
        arguments = {n: np.sign(rng.normal(size=v.shape)) for n, v in row.encrypted().items()}
        slots = interpret(traced.text, traced.signature.pack(arguments))
        assert max(np.max(np.abs(v)) for v in slots.values()) <= bound * (1 + 1e-12)


def test_the_clinics_model_stays_small(rng: np.random.Generator) -> None:
    w = rng.normal(size=30)
    activation = sigmoid(15, float(np.abs(w).sum()) + 0.5)
    traced = logistic_regression.trace(rm.matrix(16, 30, packing="columns"), w, 0.5, activation)
    assert traced.bound(1.0) < 8


def test_results_of_given_parameters_do_not_wrap_around() -> None:
    """Outputs end at a level that holds their bound, or compilation says that none does."""
    params = rm.Params.from_bits(12, [50, 40, 40, 40], [50], 4, scale_bits=40, insecure=True)
    x = np.linspace(0.5, 1, 2048)

    @rm.kernel
    def much(x: Any) -> Any:
        return (x * x).sum() * 100

    compiled = much.compile(rm.vector(2048), params=params)
    assert compiled.plan.output_level == 1
    assert compiled.run(x=x) == pytest.approx((x * x).sum() * 100, rel=1e-4)
    # Where no level is left to end at, the reason says what the level is for.
    short = rm.Params.from_bits(12, [50, 40], [50], 2, scale_bits=40, insecure=True)
    with pytest.raises(rm.ProgramError, match=r"outputs as large as 2\.048e5 end at level 1 or above"):
        much.compile(rm.vector(2048), params=short)
    shortest = rm.Params.from_bits(12, [50], [50], 1, scale_bits=40, insecure=True)
    with pytest.raises(rm.ProgramError, match=r"may be as large as 2\.048e3, which wraps around") as refused:
        rm.kernel(lambda x: x.sum()).compile(rm.vector(2048), params=shortest)
    assert refused.value.code == "WrapsAround"


ROOMY = rm.Params.from_bits(11, [60] + [45] * 16, [60, 60, 60, 60], 5, insecure=True)


def _transposed(x: Any) -> Any:
    for _ in range(4):
        x = x.T.reshape(16, 16)
    return x


ABSOLUTE, SIGN = rm.approximate(np.abs, degree=100), Sign(0.05, 1e-2)


@pytest.mark.parametrize(
    ("function", "shape", "most"),
    [
        (_transposed, (16, 16), 6),
        (lambda x: np.eye(64)[::-1] @ (np.eye(64)[::-1] @ x) + x, (64,), 6),
        (lambda x: ABSOLUTE(x), (256,), 4.5),
        (lambda x: SIGN(x), (256,), 6),
    ],
    ids=["transposes", "permutations", "absolute", "sign"],
)
def test_predictions_of_maps_and_polynomials_are_close(
    function: Any, shape: tuple[int, ...], most: float, rng: np.random.Generator
) -> None:
    # Many elements near zero, where a sign is steep: with few it is chance how close the worst one comes.
    x = rng.uniform(-1, 1, shape) ** 5
    compiled = rm.kernel(function).compile(rm.Spec(shape), params=ROOMY)
    keys = compiled.keygen()
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=x))
    # Against the polynomials themselves: what they err by has no part in it.
    compiled.functions = type(compiled.functions)()
    (found,) = compiled.measure_error(keys, results, function(x)).values()
    assert found.holds, found
    assert found.predicted_log2 - found.measured_log2 < most, found
    # Before anything runs: errors have other names then, and others of them are distinguished.
    assert compiled.predicted_error["out"] == pytest.approx(found.predicted_log2, abs=4)


@pytest.mark.parametrize(
    ("function", "most"),
    [(lambda a, b: a @ b, 7.5), (lambda a, b: (a @ b @ b) * (1 / 16), 9.5)],
    ids=["one", "two"],
)
def test_predictions_of_encrypted_matrix_products_are_close(
    function: Any, most: float, rng: np.random.Generator
) -> None:
    """Each factor is a sum of masked rotations, no larger than the matrix: 5.6 and 6.9 ± 0.4 bits apart."""
    a, b = rng.uniform(-1, 1, (2, 16, 16))
    compiled = rm.kernel(function).compile(rm.matrix(16, 16), rm.matrix(16, 16), params=ROOMY)
    keys = compiled.keygen()
    results = compiled.evaluate(keys, compiled.encrypt(keys, a=a, b=b))
    (found,) = compiled.measure_error(keys, results, function(a, b)).values()
    assert found.holds, found
    assert found.predicted_log2 - found.measured_log2 < most, found
