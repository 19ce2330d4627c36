"""Polynomials of encrypted values in the least depth.

p = r + b_k·q with k a power of two, b_k = x^k or T_k(x), degrees of q and r below k, applied again to q
and r down to blocks of fewer than m terms, which are weighted sums of powers. A polynomial of degree d takes
⌈log2(d + 1)⌉ levels with m = 2; larger blocks need fewer products of ciphertexts and sometimes a level
more. All m are planned and the best by (levels, products) is taken. Division by x^k or T_k keeps odd
polynomials odd and even ones even, so terms that are zero never cost anything.
(Paterson and Stockmeyer 1973; Chebyshev form after Han and Ki, CT-RSA 2020, §3.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.polynomial import chebyshev as cheb
from numpy.typing import NDArray

from ringmill.errors import ApproximationError, fail
from ringmill.trace.base import Tensor, constant_array
from ringmill.trace.stack import Stack
from ringmill.trace.symbol import Symbol
from ringmill.trace.where import refuse

Coefficients = NDArray[np.float64]

# Coefficients this far below the largest one are rounding of the fit, not part of the polynomial.
_NEGLIGIBLE = 2.0**-48


@dataclass
class _Evaluator:
    """Evaluates coefficients in one basis on one value; ``symbol`` None only counts."""

    basis: str
    block: int
    symbol: Symbol | None
    powers: dict[int, tuple[int, Any]]
    products: int = 0

    def power(self, k: int) -> tuple[int, Any]:
        """(levels, value) of x^k or T_k(x)."""
        if k not in self.powers:
            low, high = k // 2, k - k // 2
            depth_a, a = self.power(high)
            depth_b, b = self.power(low)
            self.products += 1
            value = None
            if a is not None:
                value = a * b
                if self.basis == "chebyshev":
                    # T_{a+b} = 2 T_a T_b − T_{a−b}, a − b being 0 or 1. An integer factor costs no level.
                    value = value * 2 - (1.0 if high == low else self.power(1)[1])
            self.powers[k] = (max(depth_a, depth_b) + 1, value)
        return self.powers[k]

    def split(self, c: Coefficients, k: int) -> tuple[Coefficients, Coefficients]:
        """(q, r) with c = q·b_k + r."""
        if self.basis == "power":
            return c[k:], c[:k]
        unit = np.zeros(k + 1)
        unit[k] = 1
        q, r = cheb.chebdiv(c, unit)
        return np.asarray(q, dtype=float), np.asarray(r, dtype=float)

    def evaluate(self, c: Coefficients) -> tuple[int, Any]:
        """(levels, value); the value of a constant is a number."""
        c = _trimmed(c)
        if len(c) <= self.block:
            return self.weighted(c)
        k = 1 << ((len(c) - 1).bit_length() - 1)
        q, r = self.split(c, k)
        depth_k, b_k = self.power(k)
        if len(_trimmed(q)) == 1:
            levels, value = depth_k + 1, None if b_k is None else b_k * float(q[0])
        else:
            depth_q, value_q = self.evaluate(q)
            self.products += 1
            levels = max(depth_q, depth_k) + 1
            value = None if b_k is None else value_q * b_k
        if np.any(r != 0):
            depth_r, value_r = self.evaluate(r)
            levels = max(levels, depth_r)
            value = None if value is None else value + value_r
        return levels, value

    def weighted(self, c: Coefficients) -> tuple[int, Any]:
        """Σ c_i b_i without splitting."""
        levels = 0
        value: Any = float(c[0]) if self.symbol is not None else None
        for i in range(1, len(c)):
            if c[i] == 0:
                continue
            depth, b_i = self.power(i)
            levels = max(levels, depth + int(c[i] != 1))
            if b_i is not None:
                term = b_i * float(c[i])
                value = term + value if not isinstance(value, float) or value != 0 else term
        return levels, value


def _trimmed(c: Coefficients) -> Coefficients:
    """Without leading zeros, negligible coefficients set to zero; at least one entry stays."""
    limit = _NEGLIGIBLE * float(np.max(np.abs(c), initial=0.0))
    c = np.where(np.abs(c) <= limit, 0.0, c)
    nonzero = np.flatnonzero(c)
    return c[: nonzero[-1] + 1] if len(nonzero) else c[:1]


def plan(c: Coefficients, basis: str) -> tuple[int, int, int]:
    """(levels, products of ciphertexts, block size) of the best evaluation."""
    best: tuple[int, int, int] | None = None
    block = 2
    while True:
        counter = _Evaluator(basis, block, None, {1: (0, None)})
        levels, _ = counter.evaluate(c)
        choice = (levels, counter.products, block)
        best = choice if best is None else min(best, choice)
        if block >= len(c):
            return best
        block *= 2


def _on_symbol(c: Coefficients, basis: str, x: Symbol) -> Symbol:
    c = _trimmed(c)
    if len(c) == 1:
        refuse(
            "ConstantPolynomial",
            "a polynomial of degree 0 does not depend on the encrypted value",
            "Use the constant itself",
        )
    _, _, block = plan(c, basis)
    _, value = _Evaluator(basis, block, x, {1: (0, x)}).evaluate(c)
    return value  # type: ignore[no-any-return]


def _each(function: Callable[[Symbol], Symbol], x: object) -> Any:
    if isinstance(x, Stack):
        return x.map(function)
    if isinstance(x, Symbol):
        return function(x)
    refuse(
        "NotEncrypted", f"a polynomial of {type(x).__name__}", "Call it on an encrypted value inside a kernel"
    )


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
        low, high = (float(v) for v in coefficients.domain)
        c = np.asarray(coefficients.coef, dtype=float)
        half = (high - low) / 2
        if (low, high) != (-1.0, 1.0):
            x = x * (1 / half)
            if low + high:
                x = x - (low + high) / (high - low)
        return _each(lambda part: _on_symbol(c, "chebyshev", part), x)
    if isinstance(coefficients, Polynomial):
        coefficients = coefficients.convert(domain=[-1, 1], window=[-1, 1]).coef
    values = constant_array(coefficients)
    if values.ndim != 1 or np.any(values.imag != 0):
        refuse("BadPolynomial", f"coefficients of shape {values.shape}", "Give real numbers [c0, c1, …]")
    c = np.ascontiguousarray(values.real)
    return _each(lambda part: _on_symbol(c, "power", part), x)


class Approximation:
    """A function replaced by its Chebyshev interpolant on an interval; call it on encrypted values.

    Attributes
    ----------
        series: ``numpy.polynomial.Chebyshev`` on the interval.
        error: largest distance from the function on 4,001 points of the interval.
    """

    def __init__(self, series: Chebyshev, error: float) -> None:
        self.series = series
        self.error = error

    def __call__(self, x: Any) -> Any:
        """The polynomial of ``x``."""
        return polynomial(x, self.series)

    def unit(self, u: Any) -> Any:
        """The same with u in [−1, 1] standing for the interval: saves the level of the mapping."""
        return polynomial(u, Chebyshev(self.series.coef))

    def __repr__(self) -> str:
        low, high = self.series.domain
        return f"<polynomial of degree {self.series.degree()} on [{low:g}, {high:g}], error {self.error:.2g}>"


def approximate(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    degree: int,
    interval: tuple[float, float] = (-1.0, 1.0),
) -> Approximation:
    """Replace a real function by a polynomial on an interval.

    Args:
        function: takes and returns a NumPy array.
        degree: 1 to 255; the polynomial costs ⌈log2(degree + 1)⌉ levels and one to map the interval.
        interval: where the encrypted values lie. Outside of it the polynomial is meaningless.
    """
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        fail(
            ApproximationError,
            "Interval",
            f"({low}, {high}) is not an interval: give two finite numbers, the smaller one first.",
        )
    if not 1 <= degree <= 255:
        fail(
            ApproximationError, "Degree", f"A polynomial of degree {degree} is not possible: choose 1 to 255."
        )
    points = np.linspace(low, high, 4001)
    with np.errstate(all="ignore"):
        exact = np.asarray(function(points), dtype=float)
    if not np.all(np.isfinite(exact)):
        fail(
            ApproximationError,
            "NotFinite",
            f"The function is not finite everywhere on ({low}, {high}). Choose an interval where it is.",
        )
    series = Chebyshev.interpolate(function, degree, domain=[low, high])
    # Interpolating an odd or even function leaves rounding where coefficients are zero.
    series.coef[np.abs(series.coef) < _NEGLIGIBLE * np.max(np.abs(series.coef))] = 0
    return Approximation(series, float(np.max(np.abs(series(points) - exact))))
