"""The kernel library against NumPy, on the independent interpreter of HE programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.kernels import NINE, PaperKernel, logistic_regression, sigmoid


@pytest.mark.parametrize("row", NINE, ids=lambda row: row.letter)
def test_table_two_kernel_equals_numpy(row: PaperKernel, in_the_clear: Callable[..., Any]) -> None:
    traced = row.trace()
    got = in_the_clear(traced, **row.encrypted())
    expected = row.reference(*row.data())
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("row", NINE, ids=lambda row: row.letter)
def test_table_two_kernel_runs_on_clear_arrays(row: PaperKernel) -> None:
    np.testing.assert_allclose(row.function(*row.data()), row.reference(*row.data()), rtol=0, atol=1e-11)


def test_table_two_sizes_and_depths() -> None:
    assert [row.letter for row in NINE] == list("abcdefghi")
    assert all(row.trace().depth == 1 for row in NINE)
    ciphertexts = {row.letter: len(row.trace().signature.input_parts) for row in NINE}
    assert ciphertexts == {"a": 10, "b": 20, "c": 1, "d": 1, "e": 2, "f": 2, "g": 1, "h": 2, "i": 2}
    # Batch packing is chosen because it needs no rotations at all.
    assert not {"rotate", "sum"} & (set(NINE[0].trace().operations) | set(NINE[1].trace().operations))


def test_logistic_regression_equals_numpy(in_the_clear: Callable[..., Any], rng: np.random.Generator) -> None:
    x, w, bias = rng.normal(size=(57, 6)), rng.normal(size=6), 0.3
    activation = sigmoid(degree=15, bound=12.0)
    traced = logistic_regression.trace(rm.matrix(57, 6, packing="columns"), w, bias, activation)
    got = in_the_clear(traced, x=x)
    z = x @ w + bias
    assert np.max(np.abs(z)) < 12
    np.testing.assert_allclose(got, activation.series(z), rtol=0, atol=1e-10)
    assert np.max(np.abs(got - 1 / (1 + np.exp(-z)))) <= activation.error + 1e-10
    assert traced.depth == 5
