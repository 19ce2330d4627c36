"""Functions replaced by polynomials on an interval, of the least degree that an error allows.

Interpolation in n + 1 Chebyshev points is at most 2 + (2/π)·ln(n + 1) times as far from the function as the
best polynomial of degree n (Trefethen, *Approximation Theory and Approximation Practice*, 2013, theorem
15.2). For the degrees of use here that is rarely one degree more. The best one itself is found by Newton's
method on the equioscillating error (package baryrat), where it is installed.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.polynomial import Chebyshev

from ringmill._native import Circuit
from ringmill.errors import ApproximationError, fail
from ringmill.trace.base import Tensor, parts_of
from ringmill.trace.found import Found, steepness
from ringmill.trace.poly import polynomial
from ringmill.trace.sampled import Function, Sampled
from ringmill.trace.where import here

# Levels of the highest degree that is looked at: 2^10.
HIGHEST = 1023

# Degree of an interpolant that stands for the function itself.
FINE = 255

# Failed searches for a best polynomial, each of seconds, after which a function is taken to have none.
FAILURES = 3

# Coefficients this far below the largest one are rounding of the fit, not part of the polynomial.
NEGLIGIBLE = 2.0**-48


def upwards(error: float) -> str:
    """An error in two digits, rounded up: no less than it is."""
    if not 0 < error < math.inf:
        return f"{error:g}"
    unit = 10.0 ** (math.floor(math.log10(error)) - 1)
    shown = f"{error:.2g}"
    return shown if float(shown) >= error else f"{float(shown) + unit:.2g}"


class Approximation:
    """A function replaced by a polynomial on an interval; call it on encrypted values inside a kernel.

    Attributes
    ----------
        series: ``numpy.polynomial.Chebyshev`` on the interval.
        error: the largest distance from the function that was found on the interval, and 5% more: see
            ``approximate``.
        method: what it was found by, "chebyshev" or "minimax": the former too where the best polynomial was
            asked for and not found, as of functions with kinks.
    """

    def __init__(
        self, series: Chebyshev, error: float, method: Literal["chebyshev", "minimax"] = "chebyshev"
    ) -> None:
        self.series = series
        self.error = error
        self.method = method

    @property
    def interval(self) -> tuple[float, float]:
        """Where the error holds. Outside of it the polynomial is meaningless."""
        low, high = self.series.domain
        return float(low), float(high)

    @property
    def degree(self) -> int:
        """Degree of the polynomial."""
        return int(self.series.degree())

    @property
    def depth(self) -> int:
        """Levels that a call costs; mapping the interval takes one, unless it is 2 or 2/n wide.

        There values with data between their elements, as sums of rows have, take one all the same, unless
        the magnitude of the arguments is known to keep these data in the interval.
        """
        low, high = self.interval
        return self.unit_depth + (not (2 / (high - low)).is_integer())

    @property
    def unit_depth(self) -> int:
        """Levels that ``unit`` costs."""
        return self._facts["depth"]

    @property
    def products(self) -> int:
        """Products of ciphertexts that a call takes."""
        return self._facts["products"]

    @property
    def _facts(self) -> dict[str, int]:
        return Circuit.polynomial(self.series.coef.tolist(), "chebyshev").facts

    def __call__(self, x: Any) -> Any:
        """The polynomial of ``x``."""
        return self._noted(x, polynomial(x, self.series), 1.0)

    def unit(self, u: Any) -> Any:
        """The same with u in [−1, 1] standing for the interval: saves the level of the mapping."""
        low, high = self.interval
        return self._noted(u, polynomial(u, Chebyshev(self.series.coef)), (high - low) / 2)

    def _noted(self, x: Any, y: Any, unit: float) -> Any:
        """Write down in the program that is being traced what the polynomial errs by."""
        if isinstance(x, Tensor) and self.error > 0:
            low, high = self.interval
            how = f"a polynomial of degree {self.degree} on [{low:g}, {high:g}] that the kernel gives"
            steep = unit * steepness(self.series, low, high)
            for before, after in zip(parts_of(x), parts_of(y), strict=True):
                found = Found("a function", (before.node,), after.node, self.error, steep, how, where=here())
                before.graph.found.append(found)
        return y

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"<polynomial of degree {self.degree} on [{low:g}, {high:g}], error {upwards(self.error)}, "
            f"{self.depth} levels>"
        )


def approximate(
    function: Function,
    interval: tuple[float, float] = (-1.0, 1.0),
    *,
    error: float | None = None,
    degree: int | None = None,
    method: Literal["chebyshev", "minimax"] = "chebyshev",
) -> Approximation:
    """Replace a real function by a polynomial on an interval.

    The stated error is measured, not proven: on a dense grid, at random points, and closer and closer around
    the worst of them and wherever the function is not smooth, with 5% added. It holds for functions that
    these points show. A peak so narrow that none of some ten thousand points meets its foot is not seen.

    Args:
        function: takes and returns a NumPy array, or a number: ``math.tanh``, ``lambda t: max(t, 0)``.
        interval: where the encrypted values lie.
        error: the least degree is taken whose distance from the function stays within it.
        degree: or a degree, 1 to 1023: ⌈log2(degree + 1)⌉ levels and one to map the interval.
        method: ``chebyshev`` interpolates; ``minimax`` looks for the best polynomial of each degree, which
            needs the package baryrat and saves a degree or two. Of functions with kinks it is often not
            found; the interpolant stands in for it then, and the result's ``method`` says so.

    Raises
    ------
        ApproximationError: a function whose values are no finite real numbers on the interval; an invalid
            interval; both or neither of ``error`` and ``degree``. An error that no degree up to 1023 keeps
            has code ``NotReached``, whose field ``found`` is one that is kept.
    """
    low, high = _interval(interval)
    if (error is None) == (degree is None):
        fail(
            ApproximationError,
            "ErrorOrDegree",
            "Give either error=, and the least degree that reaches it is taken, or degree=.",
        )
    if method not in ("chebyshev", "minimax"):
        fail(
            ApproximationError,
            "Method",
            f"Method {method!r} is not known here: choose 'chebyshev' or 'minimax'.",
            method=method,
        )
    fit = Fit(function, low, high, method)
    if degree is not None:
        if (
            isinstance(degree, bool)
            or not isinstance(degree, (int, np.integer))
            or not 1 <= degree <= HIGHEST
        ):
            fail(
                ApproximationError,
                "Degree",
                f"A polynomial of degree {degree!r} is not possible: choose 1 to {HIGHEST}.",
                degree=degree,
            )
        return fit.varying(int(degree))
    if isinstance(error, bool) or not isinstance(error, (int, float, np.floating)) or not 0 < error < np.inf:
        fail(ApproximationError, "Error", f"The error is {error!r}; give a positive number.", wanted=error)
    return fit.within(float(error))


def _interval(interval: Any) -> tuple[float, float]:
    try:
        low, high = (float(v) for v in interval)
    except (TypeError, ValueError):
        low = high = np.nan
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        fail(
            ApproximationError,
            "Interval",
            f"{interval!r} is not an interval: give two finite numbers, the smaller one first.",
        )
    if not np.isfinite(abs(low) + abs(high)):
        fail(
            ApproximationError,
            "Interval",
            f"{interval!r} is an interval beyond what floats compute with. "
            "Scale the values, and give the interval that they lie in then.",
        )
    return low, high


class Fit:
    """Polynomials of one function on one interval."""

    def __init__(self, function: Function, low: float, high: float, method: str) -> None:
        self.function = Sampled(function, low, high)
        self.domain = [low, high]
        self._known: dict[int, Approximation] = {}
        # Searches for the best polynomial that may still fail.
        self.patience = FAILURES if method == "minimax" else 0

    def of_degree(self, degree: int) -> Approximation:
        """The polynomial of a degree, with its error: the same one whenever it is asked for.

        Searches that failed meanwhile would otherwise give another one than that whose error was looked at.
        """
        if degree not in self._known:
            best = self._best(degree) if self.patience else None
            series = _trimmed(self._interpolated(degree) if best is None else best)
            found: Literal["chebyshev", "minimax"] = "chebyshev" if best is None else "minimax"
            self._known[degree] = Approximation(series, self.function.error(series), found)
        return self._known[degree]

    def varying(self, degree: int) -> Approximation:
        """The polynomial of a degree, unless it is a constant."""
        fitted = self.of_degree(degree)
        if fitted.degree == 0:
            fail(
                ApproximationError,
                "ConstantFunction",
                f"On {tuple(self.domain)} the polynomial of degree {degree} is the constant "
                f"{fitted.series.coef[0]:g}, which errs by {upwards(fitted.error)}. "
                "Use the constant itself, or ask for another degree.",
            )
        return fitted

    def within(self, error: float) -> Approximation:
        """The least degree within an error: doubled until it is, then all degrees in between."""
        above = 1
        while self.of_degree(above).error > error:
            if above == HIGHEST:
                self._not_reached(error)
            above = min(2 * above + 1, HIGHEST)
        # Errors need not fall with every degree (parity), so look at all of the last doubling.
        for degree in range(above // 2 if above > 1 else 1, above):
            fitted = self.of_degree(max(degree, 1))
            if fitted.error <= error:
                return self._not_constant(fitted)
        return self._not_constant(self.of_degree(above))

    def _not_reached(self, error: float) -> NoReturn:
        """Refuse an error; names the least that a polynomial was found for, rounded up."""
        best = min(self._known.values(), key=lambda fitted: fitted.error)
        fail(
            ApproximationError,
            "NotReached",
            f"No degree up to {HIGHEST} comes within {error:g} on {tuple(self.domain)}; "
            f"{upwards(best.error)} is reached, by degree {best.degree}. Allow that, or choose an interval "
            "without kinks and poles nearby.",
            wanted=error,
            found=float(upwards(best.error)),
        )

    def _not_constant(self, fitted: Approximation) -> Approximation:
        if fitted.degree == 0:
            fail(
                ApproximationError,
                "ConstantFunction",
                f"On {tuple(self.domain)} the function is the constant {fitted.series.coef[0]:g} "
                "within the error. "
                "Use the constant itself.",
            )
        return fitted

    def _interpolated(self, degree: int) -> Chebyshev:
        return Chebyshev.interpolate(self.function, degree, domain=self.domain)

    def _best(self, degree: int) -> Chebyshev | None:
        try:
            from baryrat import bpane
        except ImportError:
            fail(
                ApproximationError,
                "NoMinimax",
                "method='minimax' needs the package baryrat: pip install 'ringmill[minimax]'.",
            )
        # Its derivative only steers Newton's steps; that of a fine interpolant stays inside the interval.
        slope = Chebyshev.interpolate(self.function, FINE, domain=self.domain).deriv()
        # Of an odd function the best polynomials of degrees 2k − 1 and 2k are one, and are found at 2k alone;
        # of an even one at 2k + 1. Where errors are rounding nothing converges, and nothing is to be gained.
        for asked in (degree, degree + 1):
            try:
                with np.errstate(all="ignore"):
                    best = bpane(self.function, slope, tuple(self.domain), asked, tol=1e-6, maxiter=50)
            except (RuntimeError, np.linalg.LinAlgError):
                continue
            series = _trimmed(Chebyshev.interpolate(best, asked, domain=self.domain))
            if series.degree() <= degree:
                return series
        self.patience -= 1
        return None


def _trimmed(series: Chebyshev) -> Chebyshev:
    """Without coefficients that are rounding, which odd and even functions leave where zeros belong."""
    series.coef[np.abs(series.coef) < NEGLIGIBLE * np.max(np.abs(series.coef))] = 0
    return series.trim()
