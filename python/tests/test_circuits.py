"""Polynomials, linear maps, matrix products and convolutions against NumPy: in the clear, and through
encryption."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import interpret

import ringmill as rm
from ringmill.trace.linear import in_blocks

Clear = Callable[..., Any]


def small(depth: int) -> rm.Params:
    """Parameters for tests: no security, N = 2^11."""
    return rm.Params.from_bits(
        11, [56] + [45] * depth, [56, 56], (depth + 2) // 2, scale_bits=45, insecure=True
    )


def encrypted(traced_by: rm.Kernel, *specs: Any, depth: int, **values: Any) -> Any:
    """The kernel's result through encryption, at small parameters."""
    compiled = traced_by.compile(*specs, params=small(depth), algebra=False)
    assert compiled.plan.depth == depth, "as deep as the page says"
    return compiled.run(**values)


# ---- polynomials ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("series", [np.polynomial.Polynomial, np.polynomial.Chebyshev])
@pytest.mark.parametrize("degree", [1, 2, 7, 15, 20, 31])
def test_polynomials_through_encryption(series: Any, degree: int, rng: np.random.Generator) -> None:
    c = rng.normal(size=degree + 1) / (degree + 1)
    x = np.linspace(-1, 1, 64)
    kernel = rm.kernel(lambda x: rm.polynomial(x, series(c)))
    got = encrypted(kernel, rm.vector(64), depth=math.ceil(math.log2(degree + 1)), x=x)
    np.testing.assert_allclose(got, series(c)(x), rtol=0, atol=1e-6)


def test_a_polynomial_is_one_region_of_its_kernel() -> None:
    @rm.kernel
    def k(x: Any) -> Any:
        y = rm.polynomial(x, [0.5, 1, 2, 3])
        with rm.region("second"):
            return rm.polynomial(y, [0.0, 0.25, 0.0, 0.125])

    lines = [line for line in k.trace(rm.vector(4)).text.splitlines() if line.startswith("region")]
    assert lines == ['region "polynomial of degree 3"', 'region "second: polynomial of degree 3"']


@pytest.mark.parametrize(
    ("function", "shape", "title"),
    [
        (lambda x: rm.average_pool(x, 2), (4, 4), "average pooling, 2×2"),
        (lambda x: x @ np.arange(1.0, 5.0), (2, 4), "matrix times vector, 2×4"),
        (lambda x: x @ x[0], (2, 4), "matrix times vector, 2×4"),
        (lambda x: x.sum(axis=1), (2, 4), "sum of 4"),
        (lambda x: x.mean(), (2, 4), "sum of 8"),
        (lambda x: rm.total(x, 0), (2, 4), "total of 2"),
        (lambda x: x.tile(2, 3), (1, 2), "2×3 copies"),
    ],
)
def test_operations_name_a_region_where_the_kernel_names_none(
    function: Any, shape: tuple[int, int], title: str
) -> None:
    def regions(body: Any) -> list[str]:
        text = rm.kernel(body).trace(rm.matrix(*shape)).text
        return [line for line in text.splitlines() if line.startswith("region")]

    assert f'region "{title}"' in regions(function)

    def named(x: Any) -> Any:
        with rm.region("mine"):
            return function(x)

    assert regions(named) == ['region "mine"']


def test_powers_are_shared_between_polynomials_of_one_value() -> None:
    both = rm.kernel(lambda x: (rm.polynomial(x, [0.1] * 8), rm.polynomial(x, [0.3] * 8)))
    one = rm.kernel(lambda x: rm.polynomial(x, [0.1] * 8))
    squares = [k.trace(rm.vector(4)).operations["square"] for k in (both, one)]
    assert squares[0] == squares[1] == 2


def test_bounds_of_chebyshev_polynomials_do_not_grow_with_the_degree() -> None:
    series = np.polynomial.Chebyshev.interpolate(np.tanh, 31, domain=[-4, 4])
    traced = rm.kernel(lambda x: rm.polynomial(x, series)).trace(rm.vector(4))
    # 2·T_a·T_b is the largest on the way.
    assert traced.bound(4.0) <= 4.0 + 1e-9


# ---- matrices in the clear
# ----------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 24), st.integers(1, 24), st.integers(0, 2), st.booleans(), st.integers(0, 99))
def test_matrix_times_vector(rows: int, columns: int, log: int, dirty: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, x, y = rng.normal(size=(rows, columns)), rng.normal(size=columns), rng.normal(size=columns << log)

    def k(x: Any, y: Any) -> Any:
        # A sum of two vectors and a number has padding that is not zero.
        return a @ (x + 0.5 if not dirty else x + y[:columns])

    traced = rm.kernel(k).trace(rm.vector(columns), rm.vector(columns << log))
    got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x, "y": y})))
    np.testing.assert_allclose(got, k(x, y), rtol=0, atol=1e-11)


@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (4, 256), (256, 4), (10, 7), (1, 9)])
def test_matrix_times_vector_through_encryption(rows: int, columns: int, rng: np.random.Generator) -> None:
    a, x = rng.normal(size=(rows, columns)) / columns, rng.uniform(-1, 1, columns)
    got = encrypted(rm.kernel(lambda x: a @ x), rm.vector(columns), depth=1, x=x)
    np.testing.assert_allclose(got, a @ x, rtol=0, atol=1e-7)


def test_wide_and_tall_matrices_need_few_keys(rng: np.random.Generator) -> None:
    def switches(rows: int, columns: int) -> tuple[int, int]:
        a = rng.normal(size=(rows, columns))
        plan = rm.kernel(lambda x: a @ x).compile(rm.vector(columns), params=small(1)).plan
        return plan.counts["rotate"], len(plan.rotations)

    # 8 diagonals by 4 × 2 steps, and 7 doublings.
    assert switches(8, 1024) <= (3 + 1 + 7, 3 + 1 + 7)
    assert switches(1024, 8) <= (3 + 1 + 7, 3 + 1 + 7)
    # 256 diagonals: 2·16 − 2 rotations would be least without hoisting; giant steps share one key.
    rotations, keys = switches(256, 256)
    assert rotations <= 38
    assert keys <= 32


def test_layers_follow_one_another(in_the_clear: Clear, rng: np.random.Generator) -> None:
    """What a folded product leaves beside its rows is not read by what comes next."""
    a, b, x = rng.normal(size=(3, 64)), rng.normal(size=(5, 3)), rng.normal(size=64)
    chained = rm.kernel(lambda x: b @ (a @ x))
    np.testing.assert_allclose(in_the_clear(chained.trace(rm.vector(64)), x=x), b @ (a @ x), atol=1e-11)
    total = rm.kernel(lambda x: (a @ x).sum())
    np.testing.assert_allclose(in_the_clear(total.trace(rm.vector(64)), x=x), (a @ x).sum(), atol=1e-11)


@pytest.mark.parametrize(("p", "r", "c"), [(4, 4, 4), (2, 8, 3), (6, 3, 5)])
def test_plaintext_times_encrypted_matrix(
    p: int, r: int, c: int, in_the_clear: Clear, rng: np.random.Generator
) -> None:
    a, x = rng.normal(size=(p, r)), rng.normal(size=(r, c))
    traced = rm.kernel(lambda x: a @ x).trace(rm.matrix(r, c))
    np.testing.assert_allclose(in_the_clear(traced, x=x), a @ x, rtol=0, atol=1e-11)
    turned = rm.kernel(lambda x: x.T @ a.T).trace(rm.matrix(r, c))
    np.testing.assert_allclose(in_the_clear(turned, x=x), (a @ x).T, rtol=0, atol=1e-11)


# ---- encrypted matrices
# -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("r", "c", "p"), [(4, 4, 4), (2, 3, 4), (5, 2, 3), (8, 8, 8), (1, 4, 2)])
def test_product_of_encrypted_matrices(
    r: int, c: int, p: int, in_the_clear: Clear, rng: np.random.Generator
) -> None:
    a, b = rng.normal(size=(r, c)), rng.normal(size=(c, p))
    traced = rm.kernel(lambda a, b: a @ b).trace(rm.matrix(r, c), rm.matrix(c, p))
    np.testing.assert_allclose(in_the_clear(traced, a=a, b=b), a @ b, rtol=0, atol=1e-11)
    turned = rm.kernel(lambda a, b: b.T @ a.T).trace(rm.matrix(r, c), rm.matrix(c, p))
    np.testing.assert_allclose(in_the_clear(turned, a=a, b=b), (a @ b).T, rtol=0, atol=1e-11)


def test_product_of_encrypted_matrices_through_encryption(rng: np.random.Generator) -> None:
    a, b = rng.uniform(-1, 1, (4, 4)), rng.uniform(-1, 1, (4, 4))
    kernel = rm.kernel(lambda a, b: in_blocks(a, b))
    got = encrypted(kernel, rm.matrix(4, 4), rm.matrix(4, 4), depth=3, a=a, b=b)
    np.testing.assert_allclose(got, a @ b, rtol=0, atol=1e-6)
    counts = kernel.compile(rm.matrix(4, 4), rm.matrix(4, 4), params=small(3), algebra=False).plan.counts
    # The first product is a level above the others, which are relinearised together.
    assert (counts["mul"], counts["relin"]) == (4, 2)


# ---- images
# -------------------------------------------------------------------------------------------------


def direct(x: Any, k: Any, stride: int, padding: int) -> Any:
    """The convolution by its definition."""
    outputs, channels, height, width = k.shape
    rows = (x.shape[1] + 2 * padding - height) // stride + 1
    columns = (x.shape[2] + 2 * padding - width) // stride + 1
    y = np.zeros((outputs, rows, columns))
    for o, i, j in np.ndindex(y.shape):
        for c, u, v in np.ndindex(channels, height, width):
            row, column = stride * i + u - padding, stride * j + v - padding
            if 0 <= row < x.shape[1] and 0 <= column < x.shape[2]:
                y[o, i, j] += k[o, c, u, v] * x[c, row, column]
    return y


@pytest.mark.parametrize(("stride", "padding"), [(1, 0), (1, 1), (2, 1), (3, 0)])
@pytest.mark.parametrize("channels", [(1, 1), (3, 1), (2, 3)])
def test_convolution(
    stride: int, padding: int, channels: tuple[int, int], in_the_clear: Clear, rng: np.random.Generator
) -> None:
    inputs, outputs = channels
    x, k = rng.normal(size=(inputs, 8, 7)), rng.normal(size=(outputs, inputs, 3, 3))
    kernel = rm.kernel(lambda x: rm.convolve(x.reshape(inputs, 8, 7), k, stride=stride, padding=padding))
    traced = kernel.trace(rm.vector(inputs * 56))
    want = direct(x, k, stride, padding)
    np.testing.assert_allclose(in_the_clear(traced, x=x.reshape(-1)), want, rtol=0, atol=1e-11)
    np.testing.assert_allclose(kernel(x.reshape(-1)), want, rtol=0, atol=1e-11)


def test_a_small_network_through_encryption(rng: np.random.Generator) -> None:
    k1, k2 = rng.normal(size=(1, 1, 3, 3)) / 3, rng.normal(size=(3, 3)) / 3

    @rm.kernel
    def net(x: Any) -> Any:
        y = rm.convolve(x, k1[0, 0], padding=1)
        y = rm.average_pool(y * y, 2)
        return rm.convolve(y, k2, stride=2, padding=1)

    x = rng.uniform(-1, 1, (8, 8))
    got = encrypted(net, rm.matrix(8, 8), depth=4, x=x)
    y = direct(x[None], k1, 1, 1)[0] ** 2
    y = y.reshape(4, 2, 4, 2).mean(axis=(1, 3))
    want = direct(y[None], k2[None, None], 2, 1)[0]
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)
    np.testing.assert_allclose(net(x), want, rtol=0, atol=1e-11)


def test_what_follows_a_layer_through_encryption(rng: np.random.Generator) -> None:
    image, m = rng.uniform(-1, 1, (6, 7)), rng.uniform(-1, 1, (9, 5))
    k, w = rng.uniform(-1, 1, (2, 3)) / 6, rng.uniform(-1, 1, (9, 15)) / 15
    layers = rm.kernel(lambda x, m: (w @ rm.convolve(x, k)[:3].reshape(-1)) @ m)
    got = encrypted(layers, rm.matrix(6, 7), rm.matrix(9, 5), depth=4, x=image, m=m)
    windows = np.lib.stride_tricks.sliding_window_view(image, k.shape)
    want = w @ np.einsum("ijuv,uv->ij", windows, k)[:3].reshape(-1) @ m
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)
