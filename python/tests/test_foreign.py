"""Objects of other packages: polynomials mean what they mean themselves, what follows no known convention is
refused wherever numbers are taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import interpret

import ringmill as rm

SERIES = [
    np.polynomial.Polynomial,
    np.polynomial.Chebyshev,
    np.polynomial.Legendre,
    np.polynomial.Hermite,
    np.polynomial.HermiteE,
    np.polynomial.Laguerre,
]

numbers = st.floats(-2, 2).map(lambda c: round(c, 3))
ends = st.tuples(st.floats(-3, 3), st.floats(0.5, 4)).map(lambda e: [round(e[0], 3), round(e[0] + e[1], 3)])
turned = st.tuples(ends, st.booleans()).map(lambda e: e[0][::-1] if e[1] else e[0])


@st.composite
def polynomials(draw: st.DrawFn) -> Any:
    """A polynomial object of any class that is known, with domain and window where it has them."""
    c = draw(st.lists(numbers, min_size=2, max_size=8).filter(lambda c: any(c[1:])))
    kind = draw(st.sampled_from([np.poly1d, *SERIES]))
    if kind is np.poly1d:
        return np.poly1d(c, r=draw(st.booleans()) and len(c) < 6)
    given_ends = {}
    if draw(st.booleans()):
        given_ends["domain"] = draw(turned)
    if draw(st.booleans()):
        given_ends["window"] = draw(turned)
    return kind(c, **given_ends)


def inside(p: Any) -> np.ndarray[Any, Any]:
    """Where a Chebyshev or Legendre series may be evaluated: beyond its domain it is meaningless."""
    low, high = sorted(getattr(p, "domain", [-1, 1]))
    return np.linspace(low, high, 8)


@settings(max_examples=300, deadline=None)
@given(p=polynomials())
def test_a_polynomial_is_what_it_evaluates_to_itself(p: Any) -> None:
    x = inside(p)
    wanted = p(x)
    if np.ptp(wanted) == 0:
        return
    close = 1e-9 * max(1, float(np.max(np.abs(wanted))))
    np.testing.assert_allclose(rm.polynomial(x, p), wanted, rtol=0, atol=close)
    traced = rm.kernel(lambda x: rm.polynomial(x, p)).trace(rm.vector(8))
    got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
    # A narrow domain far from its window makes powers that cancel.
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * max(1, float(np.max(np.abs(wanted)))))


def test_polynomials_of_every_class_through_encryption() -> None:
    c = [0.25, -0.5, 0.125, 0.75]
    everyone = {kind.__name__: kind(c, domain=[-1, 1], window=[-1, 0.5]) for kind in SERIES}
    everyone |= {"poly1d": np.poly1d(c), "roots": np.poly1d([0.5, -0.25], r=True), "list": c}
    x = np.linspace(-1, 1, 16)
    results = rm.kernel(lambda x: {name: rm.polynomial(x, p) for name, p in everyone.items()}).run(x=x)
    everyone["list"] = np.polynomial.Polynomial(c)
    for name, p in everyone.items():
        np.testing.assert_allclose(results[name], p(x), rtol=0, atol=1e-4, err_msg=name)


class Series(np.polynomial.Chebyshev):
    """A series that means something else by its coefficients."""

    def __call__(self, arg: Any) -> Any:
        return 2 * super().__call__(arg)


@pytest.mark.parametrize(
    ("coefficients", "code"),
    [
        (Series([1, 2, 3]), "BadPolynomial"),
        (lambda t: t**2, "BadPolynomial"),
        (np.poly1d([1, 2j]), "BadPolynomial"),
        (np.polynomial.Chebyshev([1, 2], domain=[1, 1]), "BadPolynomial"),
        (np.polynomial.Legendre([1, 2], window=[0, np.inf]), "BadPolynomial"),
        (np.polynomial.Hermite([1, 2], domain=[0, 1j]), "BadPolynomial"),
        (type("poly1d", (np.poly1d,), {"__call__": lambda p, t: -t})([1, 2]), "BadPolynomial"),
        (np.polynomial.Polynomial([1, 2, np.nan]), "NotFinite"),
        (np.array([[1.0, 2.0]]), "BadPolynomial"),
        ([], "BadPolynomial"),
        ([1, [2, 3]], "NotANumber"),
        ({0: 1.0, 1: 2.0}, "NotANumber"),
    ],
)
def test_coefficients_without_a_known_order_are_refused(coefficients: Any, code: str) -> None:
    kernel = rm.kernel(lambda x: rm.polynomial(x, coefficients))
    with pytest.raises(rm.errors.KernelError) as traced:
        kernel.trace(rm.vector(4))
    with pytest.raises(rm.errors.KernelError) as clear:
        kernel(np.linspace(-1, 1, 4))
    assert traced.value.code == clear.value.code == code


# ---- arrays -----------------------------------------------------------------------------------------------

FOUR = np.array([0.5, -0.25, 1.0, 0.125])


class Labelled:
    """As tables of pandas, polars and xarray give their values to NumPy."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(FOUR, dtype=dtype)

    def to_numpy(self) -> Any:
        return FOUR


class Quantity(np.ndarray[Any, Any]):
    """As packages of units have it: an array whose numbers are not what it is."""


class Interface:
    """Memory that describes itself."""

    __array_interface__ = FOUR.__array_interface__


def _foreign() -> dict[str, Any]:
    from scipy import sparse

    made: dict[str, Any] = {
        "poly1d": np.poly1d(FOUR),
        "matrix": np.matrix(FOUR),
        "square matrix": np.matrix(np.diag(FOUR)),
        "sparse matrix": sparse.csr_matrix(np.diag(FOUR)),
        "sparse array": sparse.coo_array(np.diag(FOUR)),
        "labelled": Labelled(),
        "quantity": FOUR.view(Quantity),
        "interface": Interface(),
        "masked": np.ma.masked_array(FOUR, [0, 1, 0, 0]),
        "records": np.array([(1, 0.5)] * 4, dtype=[("a", int), ("b", float)]),
        "record array": np.array([(1, 0.5)] * 4, dtype=[("a", int), ("b", float)]).view(np.recarray),
        "series": np.polynomial.Chebyshev(FOUR),
        "texts": ["0.5", "1", "2", "3"],
        "dates": np.array(["2026-01-01"] * 4, dtype="M8[D]"),
        "mapping": dict(enumerate(FOUR)),
        "set": set(FOUR),
    }
    try:
        import pandas

        made["pandas series"] = pandas.Series(FOUR, index=[3, 2, 1, 0])
        made["pandas table"] = pandas.DataFrame(np.diag(FOUR))
    except ImportError:
        pass
    return made


FOREIGN = _foreign()

KERNELS: dict[str, Callable[[Any, Any], Any]] = {
    "x + v": lambda x, v: x + v,
    "v + x": lambda x, v: v + x,
    "x - v": lambda x, v: x - v,
    "v - x": lambda x, v: v - x,
    "x * v": lambda x, v: x * v,
    "v * x": lambda x, v: v * x,
    "x / v": lambda x, v: x / v,
    "x @ v": lambda x, v: x @ v,
    "v @ x": lambda x, v: v @ x,
    "dot": lambda x, v: np.dot(x, v),
    "polynomial": lambda x, v: rm.polynomial(x, v),
    "listed": lambda x, v: x + 4 * [v],
}

#: What is right: a polynomial where one is wanted.
# What is written out without a doubt: a matrix product with a sparse matrix is one.
RIGHT = {
    ("polynomial", "poly1d"),
    ("polynomial", "series"),
    *((how, what) for how in ("x @ v", "v @ x") for what in ("sparse matrix", "sparse array")),
}


@pytest.mark.parametrize("what", FOREIGN)
@pytest.mark.parametrize("how", KERNELS)
def test_operands_of_unknown_convention_are_refused(what: str, how: str) -> None:
    kernel = rm.kernel(lambda x: KERNELS[how](x, FOREIGN[what]))
    if (how, what) in RIGHT:
        kernel.trace(rm.vector(4))
        return
    with pytest.raises(rm.errors.RingmillError) as refused:
        kernel.trace(rm.vector(4))
    assert refused.value.message


@pytest.fixture(scope="module")
def keys() -> rm.Keys:
    """Keys that protect nothing."""
    params = rm.Params.from_bits(10, [50, 40], [50], 2, scale_bits=40, insecure=True)
    return rm.keygen(params)


@pytest.mark.parametrize("what", FOREIGN)
def test_values_of_unknown_convention_are_neither_encrypted_nor_computed_with(
    what: str, keys: rm.Keys
) -> None:
    v = FOREIGN[what]
    x = rm.encrypt(FOUR, keys)
    square = rm.kernel(lambda x: x * x)
    takes: dict[str, Callable[[], Any]] = {
        "encrypt": lambda: rm.encrypt(v, keys),
        "run": lambda: square.run(x=v),
        "clear polynomial": lambda: rm.polynomial(v, [0, 1]),
        "convolve": lambda: rm.convolve(np.ones((4, 4)), v),
        "average": lambda: rm.average_pool(v, 1),
        "measure": lambda: rm.measure_error(x, keys, v),
        **{name: lambda f=f: f(x, v) for name, f in KERNELS.items() if (name, what) not in RIGHT},
    }
    for name, take in takes.items():
        with pytest.raises(rm.errors.RingmillError):
            pytest.fail(f"{name} takes {what} for numbers: {take()!r}")


@pytest.mark.parametrize(
    "same",
    [
        list(FOUR),
        tuple(FOUR),
        deque(FOUR),
        np.ma.masked_array(FOUR),
        np.ma.masked_array(FOUR, [0, 0, 0, 0]),
        memoryview(FOUR),
        FOUR.astype(np.float32),
        [np.float64(v) for v in FOUR],
        [np.array(v) for v in FOUR],
        FOUR[::-1][::-1],
    ],
    ids=lambda v: type(v).__name__,
)
def test_arrays_of_plain_numbers_are_taken(same: Any) -> None:
    traced = rm.kernel(lambda x: x * same).trace(rm.vector(4))
    x = np.arange(1.0, 5.0)
    got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
    np.testing.assert_allclose(got, x * FOUR)
