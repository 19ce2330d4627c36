"""Traced programs against NumPy: the tracer's text, run by the independent interpreter."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial
from oracle import interpret

import ringmill as rm

Clear = Callable[..., Any]

VECTORS: dict[str, Callable[..., Any]] = {
    "arithmetic": lambda x, y: (x + y) * (x - y) - 2 * x + 0.5 - y / 4,
    "constant on the left": lambda x, y: 1.5 - x + np.arange(len(x)) * y - (np.ones(len(x)) - y),
    "powers": lambda x, y: x**5 + y**2 - x**1,
    "negation": lambda x, y: -(0.5 * -x) + -y,
    "sum": lambda x, y: x.sum() * y + (x * y).sum(),
    "mean after adding": lambda x, y: (x + 1).mean() * y,
    "dot": lambda x, y: x @ y + np.dot(x, np.arange(len(x))) + np.arange(len(x)) @ y,
    "sum of a sum": lambda x, y: ((x.sum() + y).sum() + y).sum() * x,
    "slices": lambda x, y: x[1:] * y[:-1] + 0,
    "strided slice": lambda x, y: x[::2] + 0 * y[::2],
    "numpy functions": lambda x, y: (
        np.sum(x) + np.mean(y) + np.multiply(x, y) + np.square(x) - np.negative(y)
    ),
    "shared work": lambda x, y: (x * y + x) * (x * y - x),
}


@pytest.mark.parametrize("length", [1, 2, 5, 8, 13])
@pytest.mark.parametrize("name", VECTORS)
def test_vector_expression_equals_numpy(
    name: str, length: int, in_the_clear: Clear, rng: np.random.Generator
) -> None:
    function = VECTORS[name]
    if length == 1 and "slice" in name:
        pytest.skip("a slice of one element is empty")
    x, y = rng.uniform(-1, 1, (2, length))
    traced = rm.kernel(lambda x, y: function(x, y)).trace(rm.vector(length), rm.vector(length))
    got = in_the_clear(traced, x=x, y=y)
    np.testing.assert_allclose(got, function(x, y), rtol=0, atol=1e-11)


@pytest.mark.parametrize("length", [2, 3, 5, 8, 11, 16])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("dirty", [False, True])
def test_rotation_is_cyclic_over_the_vector(
    length: int, padded: bool, dirty: bool, in_the_clear: Clear
) -> None:
    """Whatever lies in the padding, and whether or not the vector fills less than half of the slots."""
    x = np.arange(1.0, length + 1)
    filler = rm.vector(40 if padded else length)
    for k in range(-length - 1, 2 * length):

        @rm.kernel
        def turned(x: Any, filler: Any, k: int = k) -> Any:
            return (x + filler.sum() if dirty else x).rotate(k)

        traced = turned.trace(rm.vector(length), filler)
        got = in_the_clear(traced, x=x, filler=np.zeros(filler.shape))
        np.testing.assert_allclose(got, np.roll(x, -k), atol=1e-12)


@pytest.mark.parametrize("length", [4, 5, 8])
@pytest.mark.parametrize("shift", [-9, -1, 0, 1, 3, 8])
def test_numpy_roll_is_written_alike_in_kernels_and_on_clear_data(
    length: int, shift: int, in_the_clear: Clear
) -> None:
    x = np.arange(1.0, length + 1)
    for kernel in (lambda x: np.roll(x, shift), lambda x: np.roll(x, np.int64(shift), axis=-1)):
        got = in_the_clear(rm.kernel(kernel).trace(rm.vector(length)), x=x)
        np.testing.assert_allclose(got, kernel(x), rtol=0, atol=1e-12)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), ()], ids=str)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (4, 8)])
def test_sums_keep_their_axes(
    axis: Any, shape: tuple[int, ...], in_the_clear: Clear, rng: np.random.Generator
) -> None:
    if len(shape) == 1 and axis in (1, (0, 1)):
        return
    x, n = rng.normal(size=shape), len(shape)
    for function in (np.sum, np.mean):
        kernel = rm.kernel(lambda x, f=function: 2 * f(x.reshape(shape), axis=axis, keepdims=True))
        got = in_the_clear(kernel.trace(rm.vector(x.size)), x=x.reshape(-1))
        assert got.ndim == n
        np.testing.assert_allclose(got, kernel(x), rtol=0, atol=1e-12)


@pytest.mark.parametrize("spec", [rm.matrix(3, 4), rm.matrix(3, 4, packing="columns")])
def test_numpy_reports_shapes_of_encrypted_values(spec: rm.Spec) -> None:
    reported = []

    @rm.kernel
    def k(x: Any) -> Any:
        reported.append((np.shape(x), np.ndim(x), np.size(x), x.size))
        return x

    k.trace(spec)
    assert reported == [((3, 4), 2, 12, 12)]


def test_what_encrypted_values_lack_can_be_asked_for(in_the_clear: Clear) -> None:
    @rm.kernel
    def k(x: Any) -> Any:
        assert not hasattr(x, "toarray")
        return getattr(copy.copy(x), "real", x) + 1

    np.testing.assert_allclose(in_the_clear(k.trace(rm.vector(2)), x=[1.0, 2.0]), [2, 3])


@pytest.mark.parametrize("number", [10**30, Fraction(1, 3), Decimal("0.1"), True], ids=str)
def test_numbers_of_any_kind_are_constants(number: Any, in_the_clear: Clear) -> None:
    x = np.array([1.0, -2.0])
    for kernel in (lambda x, c: c * x, lambda x, c: x + c, lambda x, c: c - x, lambda x, c: x / c):
        got = in_the_clear(rm.kernel(lambda x, f=kernel: f(x, number)).trace(rm.vector(2)), x=x)
        np.testing.assert_allclose(got, kernel(x, float(number)), rtol=1e-14)


def test_numpy_inner_sums_over_the_last_axes(in_the_clear: Clear, rng: np.random.Generator) -> None:
    a, b, v = rng.normal(size=(3, 4)), rng.normal(size=(2, 4)), rng.normal(size=4)
    inner = rm.kernel(lambda a, b: np.inner(a, b))
    cases: list[tuple[Any, dict[str, Any], Any]] = [
        (inner.trace(rm.vector(4), v), {"a": v}, v @ v),
        (inner.trace(rm.vector(4), rm.vector(4)), {"a": v, "b": v}, v @ v),
        (inner.trace(rm.matrix(3, 4), v), {"a": a}, np.inner(a, v)),
        (inner.trace(rm.matrix(3, 4), b), {"a": a}, np.inner(a, b)),
        (inner.trace(a, rm.matrix(2, 4)), {"b": b}, np.inner(a, b)),
        (inner.trace(v.tolist(), rm.matrix(2, 4)), {"b": b}, np.inner(v, b)),
        (inner.trace(rm.matrix(3, 4), rm.matrix(2, 4)), {"a": a, "b": b}, np.inner(a, b)),
    ]
    for traced, arguments, expected in cases:
        np.testing.assert_allclose(in_the_clear(traced, **arguments), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize(("rows", "inner"), [(1, 1), (1, 7), (3, 5), (8, 8), (10, 3), (6, 16)])
def test_matrix_products_equal_numpy(
    rows: int, inner: int, in_the_clear: Clear, rng: np.random.Generator
) -> None:
    a, v, m = rng.normal(size=(rows, inner)), rng.normal(size=inner), rng.normal(size=(inner, 3))
    packed, column = rm.matrix(rows, inner), rm.matrix(inner, 1)
    by_columns = rm.matrix(rows, inner, packing="columns")
    product = rm.kernel(lambda a, b: a @ b)
    cases: list[tuple[Any, dict[str, Any], Any]] = [
        (product.trace(packed, v), {"a": a}, a @ v),
        (product.trace(packed, rm.vector(inner)), {"a": a, "b": v}, a @ v),
        (product.trace(packed, column), {"a": a, "b": v[:, None]}, a @ v[:, None]),
        (product.trace(packed, m), {"a": a}, a @ m),
        (product.trace(a, rm.vector(inner)), {"b": v}, a @ v),
        (product.trace(rm.vector(inner), m), {"a": v}, v @ m),
        (product.trace(by_columns, v), {"a": a}, a @ v),
        (product.trace(by_columns, m), {"a": a}, a @ m),
        (product.trace(by_columns, rm.vector(inner, packing="scalars")), {"a": a, "b": v}, a @ v),
    ]
    for traced, arguments, expected in cases:
        np.testing.assert_allclose(in_the_clear(traced, **arguments), expected, rtol=0, atol=1e-11)


VIEWS: dict[str, Callable[..., Any]] = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.T,
    "slices": lambda x: x[1::2, 1:],
    "transposed slices": lambda x: x[1:, ::3].T,
    "reshaped": lambda x: x.reshape(x.shape[1], x.shape[0]),
    "product": lambda x: np.ones((3, x.shape[0])) @ x,
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shape", [(2, 4), (5, 3), (4, 8), (7, 7), (3, 16)])
@pytest.mark.parametrize("wide", [2, 3, 9, 20])
def test_a_packed_matrix_times_a_clear_one_is_one_ciphertext(
    view: str, shape: tuple[int, int], wide: int, in_the_clear: Clear, rng: np.random.Generator
) -> None:
    x = rng.normal(size=shape)
    seen = VIEWS[view]
    w = rng.normal(size=(seen(x).shape[1], wide))
    traced = rm.kernel(lambda x: seen(x) @ w).trace(rm.matrix(*shape))
    reference = rm.kernel(lambda x: seen(x) @ w[:, 0]).trace(rm.matrix(*shape))
    assert traced.signature.output_parts == ["out"]
    assert traced.depth == reference.depth, "as deep as with a vector"
    np.testing.assert_allclose(in_the_clear(traced, x=x), seen(x) @ w, rtol=0, atol=1e-11)


def test_products_with_clear_matrices_go_on(in_the_clear: Clear, rng: np.random.Generator) -> None:
    x, v = rng.normal(size=(6, 8)), rng.normal(size=(3, 6))
    q, k, u = rng.normal(size=(8, 4)), rng.normal(size=(8, 4)), rng.normal(size=(8, 8))
    kernels: dict[str, Clear] = {
        "attention": lambda x: ((x @ q) @ (x @ k).T) @ (x @ u),
        "from the left": lambda x: v @ (x @ q),
        "flat": lambda x: (x @ q).reshape(-1) * np.arange(24),
        "skipped": lambda x: x + x @ u,
        "image": lambda x: rm.convolve(x @ q, np.array([[1.0, -1.0], [0.5, 2.0]])),
    }
    for name, kernel in kernels.items():
        got = in_the_clear(rm.kernel(kernel).trace(rm.matrix(6, 8)), x=x)
        np.testing.assert_allclose(got, kernel(x), rtol=0, atol=1e-10, err_msg=name)


def test_numpy_dot_takes_the_encrypted_value_on_either_side(
    in_the_clear: Clear, rng: np.random.Generator
) -> None:
    a, v, m = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=(4, 2))
    dot = rm.kernel(lambda a, b: np.dot(a, b))
    cases: list[tuple[Any, dict[str, Any], Any]] = [
        (dot.trace(a, rm.vector(4)), {"b": v}, a @ v),
        (dot.trace(v.tolist(), rm.vector(4)), {"b": v}, v @ v),
        (dot.trace(a, rm.matrix(4, 2)), {"b": m}, a @ m),
        (dot.trace(rm.vector(4), m), {"a": v}, v @ m),
        (dot.trace(rm.matrix(3, 4), rm.vector(4)), {"a": a, "b": v}, a @ v),
        (dot.trace(rm.matrix(3, 4, packing="columns"), v), {"a": a}, a @ v),
    ]
    for traced, arguments, expected in cases:
        np.testing.assert_allclose(in_the_clear(traced, **arguments), expected, rtol=0, atol=1e-11)


def test_unmasked_masked_arrays_are_arrays(in_the_clear: Clear) -> None:
    x = np.ma.array([1.0, 2.0, 3.0])
    got = in_the_clear(rm.kernel(lambda y: y + x).trace(rm.vector(3)), y=x)
    np.testing.assert_allclose(got, [2, 4, 6], rtol=0, atol=1e-12)


def test_matrix_vector_product_uses_baby_and_giant_steps(rng: np.random.Generator) -> None:
    traced = rm.kernel(lambda w, x: w @ x).trace(rng.normal(size=(64, 64)), rm.vector(64))
    assert traced.operations["mul"] == 64
    # 64 diagonals: 12 hoisted rotations cost less than half of as many single ones.
    assert traced.operations["rotate"] == 12 + 4
    assert traced.depth == 1


MATRICES: dict[str, Callable[..., Any]] = {
    "sum of everything": lambda a: a.sum() * a,
    "row sums": lambda a: a.sum(axis=1),
    "column sums": lambda a: a.sum(axis=0),
    "means": lambda a: a.mean(axis=-1) + 1,
    "transpose": lambda a: a.T + np.arange(24).reshape(6, 4),
    "transposed product": lambda a: np.arange(4) @ a,
    "row": lambda a: a[2] * 2,
    "column": lambda a: a[:, -1] * 2,
    "block": lambda a: a[1:3, ::2] + 1,
    "flattened": lambda a: a.reshape(-1) * np.arange(24),
    "row constant": lambda a: a * np.arange(6) + np.arange(4)[:, None],
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrix_expression_equals_numpy(name: str, in_the_clear: Clear, rng: np.random.Generator) -> None:
    a = rng.uniform(-1, 1, (4, 6))
    function = MATRICES[name]
    got = in_the_clear(rm.kernel(lambda a: function(a)).trace(rm.matrix(4, 6)), a=a)
    np.testing.assert_allclose(got, function(a), rtol=0, atol=1e-11)


AXES = [None, (), 0, 1, 2, 3, -1, -2, -4, (0, 2), (1, 3), (-1, 1), (3, 0, 1), (0, 1, 2, 3), np.int64(2)]


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("shape", [(6,), (3, 4), (2, 3, 4), (2, 3, 2, 5)], ids=str)
def test_sums_and_means_along_any_axes(
    shape: tuple[int, ...], axis: Any, in_the_clear: Clear, rng: np.random.Generator
) -> None:
    x = rng.uniform(-1, 1, shape)
    for method in ("sum", "mean"):
        function = getattr(np, method)
        kernel = rm.kernel(lambda x, f=function: f(x.reshape(shape), axis=axis))
        try:
            expected = function(x, axis=axis)
        except ValueError:
            with pytest.raises(rm.KernelError) as refused:
                kernel.trace(rm.vector(x.size))
            assert refused.value.code == "BadAxis"
            continue
        got = in_the_clear(kernel.trace(rm.vector(x.size)), x=x.reshape(-1))
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("axis", [(0, 0), (1, -1), True, 0.0, "0", [0]], ids=str)
def test_what_is_no_axis_is_refused(axis: Any) -> None:
    for kernel in (lambda x: x.sum(axis), lambda x: x.mean(axis), lambda x: rm.total(x, axis)):
        with pytest.raises(rm.KernelError) as refused:
            rm.kernel(kernel).trace(rm.matrix(2, 3))
        assert refused.value.code == "BadAxis"


COLUMNS: dict[str, Callable[..., Any]] = {
    "elementwise": lambda a: (a - 1) * np.arange(6) + a * a,
    "column constant": lambda a: a + np.arange(4)[:, None],
    "sum over columns": lambda a: a.sum(axis=1),
    "sum over the batch": lambda a: a.sum(axis=0),
    "mean of everything": lambda a: a.mean(),
    "one column": lambda a: a[:, 2] * a[:, -1],
    "some columns": lambda a: a[:, 1:5:2] ** 3,
    "negation": lambda a: -a,
}


@pytest.mark.parametrize("name", COLUMNS)
def test_matrix_by_columns_equals_numpy(name: str, in_the_clear: Clear, rng: np.random.Generator) -> None:
    a = rng.uniform(-1, 1, (4, 6))
    function = COLUMNS[name]
    got = in_the_clear(rm.kernel(lambda a: function(a)).trace(rm.matrix(4, 6, packing="columns")), a=a)
    np.testing.assert_allclose(got, function(a), rtol=0, atol=1e-11)


def test_tiles_and_windows(in_the_clear: Clear, rng: np.random.Generator) -> None:
    image, window = rng.normal(size=(6, 8)), rng.normal(size=(3, 2))
    convolve = rm.kernel(lambda x, w: (x * w.tile(2, 4)).window_sum(3, 2))
    got = in_the_clear(convolve.trace(rm.matrix(6, 8), rm.matrix(3, 2)), x=image, w=window)
    expected = (image * np.tile(window, (2, 4))).reshape(2, 3, 4, 2).sum(axis=(1, 3))
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


def test_complex_values(in_the_clear: Clear, rng: np.random.Generator) -> None:
    z = rng.normal(size=6) + 1j * rng.normal(size=6)
    traced = rm.kernel(lambda z: z * z.conj() + 1j * z).trace(rm.vector(6, dtype=complex))
    got = in_the_clear(traced, z=z)
    assert got.dtype == complex
    np.testing.assert_allclose(got, z * z.conj() + 1j * z, atol=1e-12)


def test_reference_calls_keep_imaginary_parts(in_the_clear: Clear, rng: np.random.Generator) -> None:
    z = rng.normal(size=(5, 6)) + 1j * rng.normal(size=(5, 6))
    w = rng.normal(size=(2, 3))
    windows = np.lib.stride_tricks.sliding_window_view(z, w.shape)
    wanted = {"convolve": (windows * w).sum(axis=(2, 3)), "total": np.tile(z.sum(0), (5, 1)) * 0.5}
    kernels = {"convolve": lambda z: rm.convolve(z, w), "total": lambda z: rm.total(z, 0, times=0.5)}
    for name, function in kernels.items():
        got = in_the_clear(rm.kernel(function).trace(rm.matrix(5, 6, dtype=complex)), z=z)
        np.testing.assert_allclose(got, wanted[name], rtol=0, atol=1e-12)
        np.testing.assert_allclose(function(z), wanted[name], rtol=0, atol=1e-12)
        np.testing.assert_allclose(function(z.real), wanted[name].real, rtol=0, atol=1e-12)
        assert np.isrealobj(function(z.real))


def test_results_by_name_and_position(in_the_clear: Clear) -> None:
    x = np.array([1.0, 2.0, 3.0])
    both = in_the_clear(rm.kernel(lambda x: (x + 1, x * 2)).trace(rm.vector(3)), x=x)
    np.testing.assert_allclose(both[0], x + 1)
    np.testing.assert_allclose(both[1], x * 2)
    named = in_the_clear(rm.kernel(lambda x: {"up": x + 1}).trace(rm.vector(3)), x=x)
    np.testing.assert_allclose(named["up"], x + 1)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.floats(-2, 2).map(lambda c: round(c, 3)), min_size=2, max_size=40),
    st.booleans(),
    st.sampled_from(["all", "odd", "even"]),
)
def test_polynomial_is_right_and_depth_optimal(coefficients: list[float], series: bool, parity: str) -> None:
    c = np.array(coefficients)
    if parity != "all":
        c[np.arange(len(c)) % 2 == (parity == "odd")] = 0
        c[0] = 0.25
    while len(c) > 1 and c[-1] == 0:
        c = c[:-1]
    if len(c) == 1:
        return
    function = Chebyshev(c) if series else Polynomial(c)
    x = np.linspace(-1, 1, 16)
    traced = rm.kernel(lambda x: rm.polynomial(x, function)).trace(rm.vector(16))
    got = traced.signature.unpack(interpret(traced.text, {"x": x}))
    scale = float(np.abs(c).sum())
    np.testing.assert_allclose(got, function(x), rtol=0, atol=1e-12 * max(1.0, scale))
    assert traced.depth <= math.ceil(math.log2(len(c)))


@pytest.mark.parametrize("kind", [Chebyshev, Polynomial])
@pytest.mark.parametrize(
    ("domain", "window"), [([-1, 1], [0, 1]), ([0, 2], [-0.5, 0.25]), ([1, 3], [-2, 2]), ([-1, 1], [-1, 1])]
)
def test_series_keep_domain_and_window(kind: Any, domain: Any, window: Any) -> None:
    c = [0.25, 1.0, 0.5, -0.125]
    x = np.linspace(*domain, 11)
    # The definition: c in powers or cosines of what the domain's map to the window makes of x.
    u = window[0] + (x - domain[0]) * (window[1] - window[0]) / (domain[1] - domain[0])
    doubled = [np.ones_like(u), u, 2 * u**2 - 1, 4 * u**3 - 3 * u]
    terms = doubled if kind is Chebyshev else [u**i for i in range(4)]
    want = sum(a * term for a, term in zip(c, terms, strict=True))
    series = kind(c, domain=domain, window=window)
    traced = rm.kernel(lambda x: rm.polynomial(x, series)).trace(rm.vector(11))
    got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rm.polynomial(x, series), want, rtol=0, atol=1e-12)


def _legendre(u: Any) -> list[Any]:
    return [u**0, u, (3 * u**2 - 1) / 2, (5 * u**3 - 3 * u) / 2]


OTHER_SERIES: list[tuple[Any, Any]] = [
    (Legendre, _legendre),
    (Hermite, lambda u: [u**0, 2 * u, 4 * u**2 - 2, 8 * u**3 - 12 * u]),
    (HermiteE, lambda u: [u**0, u, u**2 - 1, u**3 - 3 * u]),
    (Laguerre, lambda u: [u**0, 1 - u, u**2 / 2 - 2 * u + 1, 1 - 3 * u + 1.5 * u**2 - u**3 / 6]),
]


@pytest.mark.parametrize(("kind", "terms"), OTHER_SERIES, ids=[kind.__name__ for kind, _ in OTHER_SERIES])
@pytest.mark.parametrize("domain", [None, [0, 2], [1, 3]])
def test_series_of_other_kinds(kind: Any, terms: Any, domain: Any) -> None:
    c = [0.25, 1.0, 0.5, -0.125]
    series = kind(c, domain=domain)
    # Where the domain is no interval of validity, values beyond it are as good.
    low, high = series.domain if kind is Legendre else (-2, 2)
    x = np.linspace(low, high, 11)
    (a, b), (left, right) = series.domain, series.window
    u = left + (x - a) * (right - left) / (b - a)
    want = sum(factor * term for factor, term in zip(c, terms(u), strict=True))
    traced = rm.kernel(lambda x: rm.polynomial(x, series)).trace(rm.vector(11))
    got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-11)
    np.testing.assert_allclose(rm.polynomial(x, series), want, rtol=0, atol=1e-11)


def test_polynomials_of_clear_data_keep_imaginary_parts() -> None:
    z = np.array([1 + 2j, 0.5j, -3])
    np.testing.assert_allclose(rm.polynomial(z, [1, 2, 3]), 1 + 2 * z + 3 * z * z, rtol=1e-14)
    np.testing.assert_allclose(rm.polynomial(z, Chebyshev([0, 0, 1])), 2 * z * z - 1, rtol=1e-14)
    assert rm.polynomial(z.real, [1, 2, 3]).dtype == float


def test_approximation_reports_its_error() -> None:
    exp = rm.approximate(np.exp, (-1, 1), degree=7)
    t = np.linspace(-1, 1, 777)
    assert np.max(np.abs(exp(t) - np.exp(t))) <= exp.error < 1e-6
    traced = rm.kernel(lambda x: exp(x)).trace(rm.vector(4))
    assert traced.depth == 3


def test_same_value_is_computed_once() -> None:
    traced = rm.kernel(lambda x: (x * x).sum() + (x * x).sum() * 2).trace(rm.vector(8))
    assert traced.operations["square"] == 1
    assert traced.operations["sum"] == 1


def test_padding_costs_a_level_only_where_it_matters() -> None:
    free = rm.kernel(lambda x: (x + 1).sum()).trace(rm.vector(5))
    masked = rm.kernel(lambda x: (x + x.sum()).sum()).trace(rm.vector(5))
    filling = rm.kernel(lambda x: (x + x.sum()).sum()).trace(rm.vector(8))
    assert (free.depth, masked.depth, filling.depth) == (0, 1, 0)
    # Without a sum nothing relies on the padding, so the constant is one number.
    assert "data" not in rm.kernel(lambda x: x + 1).trace(rm.vector(5)).text
    assert "data" in free.text


def test_a_table_that_looks_like_a_number_and_padding_stays_a_table(in_the_clear: Clear) -> None:
    table = np.r_[np.ones(100), np.zeros(28)]
    traced = rm.kernel(lambda x, b: (x + 1.0, b + table)).trace(rm.vector(100), rm.vector(128))
    x, b = np.linspace(-1, 1, 100), np.linspace(0, 1, 128)
    got = in_the_clear(traced, x=x, b=b)
    np.testing.assert_allclose(got[0], x + 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(got[1], b + table, rtol=0, atol=1e-12)
    # The number is still one number, the table is the only one of the program.
    assert traced.text.count("data @") == 1


@pytest.mark.parametrize("exponent", [7, 100, 10**9 + 7])
def test_powers_take_few_products(exponent: int, in_the_clear: Clear) -> None:
    traced = rm.kernel(lambda x: x**exponent).trace(rm.vector(4))
    levels = math.ceil(math.log2(exponent))
    assert traced.depth == levels
    # At each level there are two halves at most, n // 2 and n - n // 2.
    products = sum(traced.operations.get(op, 0) for op in ("mul", "square"))
    assert products <= 2 * levels
    x = np.array([1.0, -1.0, 1 - 1e-10, 1 - 1e-9])
    np.testing.assert_allclose(in_the_clear(traced, x=x), x**exponent, rtol=1e-6)


def test_kernels_compose_and_carry_regions() -> None:
    @rm.kernel
    def inner(x: Any) -> Any:
        with rm.region("inner"):
            return x * x

    @rm.kernel
    def outer(x: Any) -> Any:
        with rm.region("outer"):
            return inner(x) + 1

    text = outer.trace(rm.vector(4)).text
    assert (
        text.index('region "inner"') < text.index("square") < text.index('region "outer"') < text.index("add")
    )


def test_program_names_the_lines_of_the_kernel() -> None:
    @rm.kernel
    def two_lines(x: Any) -> Any:
        y = x * x
        return y + 1

    first = two_lines.function.__code__.co_firstlineno
    text = two_lines.trace(rm.vector(4)).text
    assert f'square %0 @ "test_trace.py":{first + 2}' in text
    assert f'@ "test_trace.py":{first + 3}' in text


def test_a_kernel_in_a_folder_called_numpy_has_lines_too() -> None:
    source = "def k(x):\n    y = np.sum(x)\n    return y + np.exp(x)\n"
    found: dict[str, Any] = {"np": np}
    exec(compile(source, "/course/numpy/lesson.py", "exec"), found)
    with pytest.raises(rm.KernelError, match=r"^lesson.py:3: numpy.exp of") as refused:
        rm.kernel(found["k"]).trace(rm.vector(4))
    assert (refused.value.fields["file"], refused.value.fields["line"]) == ("/course/numpy/lesson.py", 3)
    exec(compile(source.replace(" + np.exp(x)", ""), "/course/numpy/lesson.py", "exec"), found)
    # NumPy's own frames, which stand between the kernel and the tracer, are not the user's.
    assert '= sum %0, 4 @ "lesson.py":2' in rm.kernel(found["k"]).trace(rm.vector(4)).text


def test_signature_round_trip() -> None:
    traced = rm.kernel(lambda a, w: {"y": a @ w, "z": w * 2}).trace(
        rm.matrix(5, 3, packing="columns"), rm.vector(3, packing="scalars")
    )
    again = rm.Signature.from_json(traced.signature.to_json())
    assert again == traced.signature
