"""Polynomials of encrypted values; `crates/circuits` plans and writes their evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial
from numpy.typing import NDArray

from ringmill._native import Circuit
from ringmill.trace.base import Encrypted, Tensor, constant_array
from ringmill.trace.circuit import splice
from ringmill.trace.padding import image, keeps, note, padding
from ringmill.trace.prompt import prompted
from ringmill.trace.several import Several
from ringmill.trace.symbol import Symbol
from ringmill.trace.where import refuse

Coefficients = NDArray[np.float64]
Basis = Literal["monomial", "chebyshev"]

Series = Chebyshev | Hermite | HermiteE | Laguerre | Legendre | Polynomial

SERIES = (Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial)

# crates/circuits/src/polynomial: DEGREE_MAX.
HIGHEST_DEGREE = 4095


_GIVE = "Give real numbers [c0, c1, …], a numpy.poly1d or a series of numpy.polynomial"


def _series(given: Any) -> Series:
    """A polynomial by its own convention of coefficients; what follows none that is known here is refused."""
    if type(given) is np.poly1d:  # the highest power first
        return Polynomial(_numbers(given.coef)[::-1])
    if type(given) in SERIES:
        ends = np.array([given.domain, given.window])
        if ends.dtype.kind not in "iuf" or not np.all(np.isfinite(ends)) or np.any(ends[:, 0] == ends[:, 1]):
            refuse("BadPolynomial", f"a series from {given.domain} to {given.window}", "Give two intervals")
        kind: type[Series] = type(given)
        return kind(_numbers(given.coef), domain=given.domain, window=given.window)
    if callable(given):
        refuse("BadPolynomial", f"coefficients that are a {type(given).__name__}", _GIVE)
    return Polynomial(_numbers(given))


def _numbers(coefficients: Any) -> Coefficients:
    values = constant_array(coefficients)
    if values.ndim != 1 or not values.size or np.any(values.imag != 0):
        what = "complex coefficients" if np.any(values.imag != 0) else f"coefficients of shape {values.shape}"
        refuse("BadPolynomial", what, _GIVE)
    return np.ascontiguousarray(values.real)


def _checked(coefficients: Any) -> Coefficients:
    c = np.asarray(coefficients, dtype=np.float64)
    if not np.all(np.isfinite(c)):
        refuse("NotFinite", "a polynomial has coefficients beyond all floats", "Scale its domain")
    degree = max(np.flatnonzero(c), default=0)
    if degree == 0:
        refuse(
            "ConstantPolynomial",
            "a polynomial of degree 0 does not depend on the encrypted value",
            "Use the constant itself",
        )
    if degree > HIGHEST_DEGREE:
        refuse(
            "Degree",
            f"a polynomial of degree {degree}",
            f"The highest degree is {HIGHEST_DEGREE}: divide the interval, or compose polynomials",
        )
    return c


def _each(function: Callable[[Symbol], Symbol], x: object) -> Any:
    if isinstance(x, Several):
        return x.map(function)
    if isinstance(x, Symbol):
        return function(x)
    refuse(
        "NotEncrypted", f"a polynomial of {type(x).__name__}", "Call it on an encrypted value inside a kernel"
    )


def _clear(x: object) -> NDArray[Any]:
    """Numbers that are not encrypted, real ones as such."""
    values = constant_array(x)
    return values if np.any(values.imag != 0) else values.real


def rescaled(x: Any, factor: float, offset: float, bound: float) -> Any:
    """factor·x − offset, promised to be no larger than ``bound``: in the padding too, which may be elsewhere.

    Padding that would leave the bound, or may hold data, becomes zero: the factor and the offset are then
    taken in the elements only. That costs a level where the factor alone costs none and there may be data
    that arguments of the known magnitude, if there is one, could bring beyond the bound.
    """
    if not isinstance(x, Tensor):
        return _clear(x) * factor - offset
    return _each(lambda part: _rescaled(part, factor, offset, bound), x)


def _rescaled(x: Symbol, factor: float, offset: float, bound: float) -> Symbol:
    if keeps(x, factor, offset, bound):
        y = x if factor == 1 else x * factor
        y = y - offset if offset else y
        return y.with_node(y.graph.promise(y.node, bound), clean=y.clean)
    graph, layout = x.graph, x.layout
    if x.clean:
        graph.relied.add(x.node)
    node = graph.mul(x.node, graph.const(factor if x.clean else layout.place(factor)))
    if offset:
        away = graph.const(layout.place(offset))
        graph.relied.add(away)
        node = graph.sub(node, away)
    y = x.with_node(graph.promise(node, bound), clean=True)
    note(y, (0.0, 0.0))
    return y


def _evaluated(x: Symbol, series: Chebyshev | Polynomial, basis: Basis) -> Symbol:
    circuit = Circuit.polynomial(series.coef.tolist(), basis)
    ends = padding(x)
    y = x.with_node(splice(x.graph, circuit, x.node), clean=False)
    if ends is not None:
        note(y, image(series, ends))
    return y


@prompted
def polynomial(x: Any, coefficients: Any) -> Any:
    """The polynomial of an encrypted value, in ⌈log2(degree + 1)⌉ levels.

    Args:
        x: encrypted scalar, vector or matrix in a kernel, or an encrypted vector at the prompt. A plain
            number or array is evaluated by NumPy, so that a kernel can be called on clear data too.
        coefficients: ``[c0, c1, …]`` of powers, a ``numpy.poly1d``, which has the highest power first, or a
            series of ``numpy.polynomial`` with its domain and window. Legendre's become Chebyshev's on
            their domain, Hermite's and Laguerre's powers.
            A Chebyshev series on [a, b] maps x to [−1, 1] first, which costs one level unless the interval
            is [−1, 1]: scale the weights of the step before instead where there is one. On [−1, 1] values
            with data between them, as sums of rows have, take a level to remove these, unless arguments up
            to the magnitude, where it is known, keep them within [−1, 1].

    Raises
    ------
        KernelError: coefficients that are no real numbers, or of an object whose order of coefficients is not
            known here; a constant polynomial, or a degree beyond 4095.
    """
    if isinstance(coefficients, Encrypted):
        refuse(
            "BadPolynomial",
            "coefficients that are encrypted",
            "The encrypted value comes first: rm.polynomial(x, [c0, c1, …])",
        )
    series = _series(coefficients)
    if not isinstance(x, Tensor):
        return series(_clear(x))
    if isinstance(series, Legendre):
        series = series.convert(domain=series.domain, kind=Chebyshev)
    if isinstance(series, (Hermite, HermiteE, Laguerre)):
        # These have no interval outside of which they are meaningless, as a Chebyshev series would.
        series = series.convert(kind=Polynomial)
    if isinstance(series, Chebyshev):
        if list(series.window) != [-1, 1]:
            series = series.convert(domain=series.domain, window=[-1, 1])
        c = _checked(series.coef)
        low, high = (float(v) for v in series.domain)
        x = rescaled(x, 2 / (high - low), (low + high) / (high - low), 1.0)
        return _each(lambda part: _evaluated(part, Chebyshev(c), "chebyshev"), x)
    c = _checked(series.convert(domain=[-1, 1], window=[-1, 1]).coef)
    return _each(lambda part: _evaluated(part, Polynomial(c), "monomial"), x)
