"""Polynomials of encrypted values; `crates/circuits` plans and writes their evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from ringmill._native import Circuit
from ringmill.trace.base import Tensor, constant_array
from ringmill.trace.circuit import splice
from ringmill.trace.stack import Stack
from ringmill.trace.symbol import Symbol
from ringmill.trace.where import refuse

Coefficients = NDArray[np.float64]
Basis = Literal["monomial", "chebyshev"]

# crates/circuits/src/polynomial: DEGREE_MAX.
HIGHEST_DEGREE = 4095


def _checked(coefficients: Any) -> Coefficients:
    values = constant_array(coefficients)
    if values.ndim != 1 or np.any(values.imag != 0):
        refuse("BadPolynomial", f"coefficients of shape {values.shape}", "Give real numbers [c0, c1, …]")
    c = np.ascontiguousarray(values.real)
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
    if isinstance(x, Stack):
        return x.map(function)
    if isinstance(x, Symbol):
        return function(x)
    refuse(
        "NotEncrypted", f"a polynomial of {type(x).__name__}", "Call it on an encrypted value inside a kernel"
    )


def evaluate(x: Any, coefficients: Any, basis: Basis) -> Any:
    """Σ c_i·b_i(x) for checked coefficients; x in [−1, 1] for Chebyshev's."""
    circuit = Circuit.polynomial(_checked(coefficients).tolist(), basis)
    if basis == "chebyshev":
        x = _each(lambda part: part.with_node(part.graph.promise(part.node, 1.0), clean=part.clean), x)
    return _each(lambda part: part.with_node(splice(part.graph, circuit, part.node), clean=False), x)


def polynomial(x: Any, coefficients: Any) -> Any:
    """The polynomial of an encrypted value, in ⌈log2(degree + 1)⌉ levels.

    Args:
        x: encrypted scalar, vector or matrix. A plain number or array is evaluated by NumPy, so that a
            kernel can be called on clear data too.
        coefficients: ``[c0, c1, …]`` of powers, or ``numpy.polynomial.Polynomial`` or ``Chebyshev``.
            A Chebyshev series on [a, b] maps x to [−1, 1] first, which costs one level unless the interval
            is [−1, 1]: scale the weights of the step before instead where there is one.
    """
    if not isinstance(x, Tensor):
        ready = isinstance(coefficients, (Chebyshev, Polynomial))
        series = coefficients if ready else Polynomial(coefficients)
        return series(constant_array(x).real)
    if isinstance(coefficients, Chebyshev):
        c = _checked(coefficients.coef)
        low, high = (float(v) for v in coefficients.domain)
        half = (high - low) / 2
        if (low, high) != (-1.0, 1.0):
            x = x * (1 / half)
            if low + high:
                x = x - (low + high) / (high - low)
        return evaluate(x, c, "chebyshev")
    if isinstance(coefficients, Polynomial):
        coefficients = coefficients.convert(domain=[-1, 1], window=[-1, 1]).coef
    return evaluate(x, coefficients, "monomial")
