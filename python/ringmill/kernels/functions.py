"""Functions of encrypted numbers: sign, comparison, absolute value, inverse, square root, soft-max.

Each is an object made for a range of arguments. It is called on encrypted values inside a kernel, on
vectors of the prompt, or on NumPy arrays; ``error`` states how far it can be from the function, polynomial
by polynomial on a dense grid. Pages: docs/algorithms/functions.md.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from ringmill.errors import ApproximationError, fail
from ringmill.trace import Approximation, approximate, polynomial, region, within
from ringmill.trace.approximate import HIGHEST, upwards
from ringmill.trace.base import Tensor
from ringmill.trace.poly import rescaled
from ringmill.trace.prompt import prompted
from ringmill.trace.stack import Stack
from ringmill.trace.where import Where, refuse

Array = NDArray[np.float64]

# Cheon, Kim and Kim, *Efficient homomorphic comparison methods with optimal complexity* (ASIACRYPT 2020):
# STEEP (their g_3) leaves zero fast; FLAT (f_3, three levels) and SHORT (f_1, two) come to ±1 with three and
# one derivatives zero there.
STEEP = Polynomial(np.array([0, 4589, 0, -16577, 0, 25614, 0, -12860]) / 1024)
FLAT = Polynomial(np.array([0, 35, 0, -35, 0, 21, 0, -5]) / 16)
SHORT = Polynomial(np.array([0, 3, 0, -1]) / 2)
MOST_LEVELS = 36

# Gaps that are tried for |x|, in units of its error.
WIDER = (16, 12, 8, 6, 4, 3, 2, 1)

# As for approximations: errors between two points of a grid exceed those at them by far less.
SAFETY = 1.05
GRID = 20_001


def _refuse(code: str, message: str, **fields: object) -> NoReturn:
    fail(ApproximationError, code, message, **fields)


def _positive(name: str, value: object, most: float = math.inf) -> float:
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not 0 < float(value) < most:  # type: ignore[arg-type]
        limit = "" if math.isinf(most) else f" and less than {most:g}"
        _refuse("Argument", f"The {name} is {value!r}; it must be more than 0{limit}.", name=name)
    return float(value)  # type: ignore[arg-type]


class Sign:
    """−1 or 1, by the sign of x/bound for gap ≤ |x|/bound ≤ 1; something between inside the gap.

    A chain of polynomials of degree 7 and 3: the steep one until the gap is wide, then flat ones.

    Attributes
    ----------
        gap: the least |x|/bound that is distinguished from 0.
        error: bound on the distance from the sign beyond the gap.
        bound: the largest |x|; other than 1 costs a level.
    """

    def __init__(self, gap: float = 2.0**-6, error: float = 1e-4, bound: float = 1.0) -> None:
        self.gap, self.bound = _positive("gap", gap, 1), _positive("bound", bound)
        wanted = _positive("error", error, 1)
        self.stages, self.error = _stages(self.gap, wanted)

    @property
    def depth(self) -> int:
        """Levels."""
        stages = sum(3 if stage.degree() == 7 else 2 for stage in self.stages)
        return stages + (self.bound != 1)

    @prompted
    def __call__(self, x: Any) -> Any:
        """The sign of ``x``."""
        with region("sign"):
            y = rescaled(x, 1 / self.bound, 0.0, 1.0)
            for stage in self.stages:
                y = polynomial(y, stage)
            return y

    def __repr__(self) -> str:
        return (
            f"<sign beyond {self.gap:g} of {self.bound:g}, error {upwards(self.error)}, {self.depth} levels>"
        )


def _stages(gap: float, wanted: float) -> tuple[list[Chebyshev], float]:
    """The chain of fewest levels that brings [gap, 1] within ``wanted`` of 1; steep stages first."""
    steep, flat, short = (p.convert(kind=Chebyshev) for p in (STEEP, FLAT, SHORT))
    grid = np.geomspace(gap, 1, GRID)
    for levels in range(2, MOST_LEVELS + 1):
        best: tuple[float, list[Chebyshev]] | None = None
        for last in range(levels // 2 + 1):
            count, odd = divmod(levels - 2 * last, 3)
            for sharp in range(count + 1) if odd == 0 else ():
                chain, y = [steep] * sharp + [flat] * (count - sharp) + [short] * last, grid
                for stage in chain:
                    y = stage(y)
                error = SAFETY * float(np.max(np.abs(1 - y)))
                best = (error, chain) if best is None or error < best[0] else best
        if best is not None and best[0] <= wanted:
            return best[1], best[0]
    _refuse(
        "NotReached",
        f"{MOST_LEVELS} levels do not separate {gap:g} from 0 within {wanted:g}. "
        "Widen the gap, or allow a larger error.",
    )


class Compare:
    """1 where a > b, 0 where a < b, for |a − b| between gap·bound and bound; 1/2 where they are equal.

    Attributes
    ----------
        sign: what it is made of.
        error: bound on the distance from 0 and 1.
    """

    def __init__(self, gap: float = 2.0**-6, error: float = 1e-4, bound: float = 1.0) -> None:
        self.sign = Sign(gap, 2 * _positive("error", error, 0.5), bound)
        self.error = self.sign.error / 2

    @property
    def depth(self) -> int:
        """Levels."""
        return self.sign.depth + 1

    @prompted
    def __call__(self, a: Any, b: Any) -> Any:
        """Whether ``a`` is greater than ``b``."""
        with region("compare"):
            return self.sign(a - b) * 0.5 + 0.5

    def __repr__(self) -> str:
        return (
            f"<a > b beyond {self.sign.gap:g} of {self.sign.bound:g}, "
            f"error {upwards(self.error)}, {self.depth} levels>"
        )


class Absolute:
    """|x| up to ``bound``: a polynomial, or x times its sign where that takes fewer levels.

    Attributes
    ----------
        polynomial: the polynomial, or ``None``.
        sign: what x is multiplied by otherwise.
        error: bound on the distance from |x|.
    """

    def __init__(self, error: float = 1e-2, bound: float = 1.0, *, compose: bool = False) -> None:
        wanted, self.bound = _positive("error", error), _positive("bound", bound)
        self.sign = _sign_for(min(wanted / self.bound / SAFETY**2, 0.5), self.bound)
        self.polynomial = None
        if not compose:
            interval = (-self.bound, self.bound)
            self.polynomial = _within_levels(np.abs, interval, wanted, self.sign.depth + 1)
        if self.polynomial:
            self.error = self.polynomial.error
            return
        grid = np.concatenate([[0.0], np.geomspace(self.sign.gap * 1e-3, 1, GRID)]) * self.bound
        self.error = SAFETY * float(np.max(np.abs(grid - self(grid))))

    @property
    def depth(self) -> int:
        """Levels."""
        return self.polynomial.depth if self.polynomial else self.sign.depth + 1

    @prompted
    def __call__(self, x: Any) -> Any:
        """The absolute value of ``x``."""
        with region("absolute value"):
            return self.polynomial(x) if self.polynomial else x * self.sign(x)

    def __repr__(self) -> str:
        return f"<|x| up to {self.bound:g}, error {upwards(self.error)}, {self.depth} levels>"


def _sign_for(part: float, bound: float) -> Sign:
    """The sign that |x| − x·s(x) stays below ``part`` of the bound with, in the fewest levels.

    Inside the gap, where s has the sign of x, that is less than the gap, by far where s leaves zero steeply;
    beyond it is what s errs by. So the widest gap is taken that keeps to it on a grid.
    """
    unit = np.geomspace(part * 1e-3, 1, GRID)
    for wider in WIDER:
        try:
            sign = Sign(min(part * wider, 0.5), part, bound)
        except ApproximationError:
            continue
        y = unit
        for stage in sign.stages:
            y = stage(y)
        if wider == 1 or SAFETY * float(np.max(np.abs(unit - unit * y))) <= part:
            return sign
    return Sign(part, part, bound)


class Inverse:
    """1/x on an interval without zero: a polynomial, or Goldschmidt's iteration for fewer levels.

    With e = 1 − c·x, c = 2/(low + high): 1/x = c·Π_i (1 + e^(2^i)), and |e| ≤ (high − low)/|high + low| < 1.
    Each factor squares what is missing, for one level. A Chebyshev polynomial needs about the root of the
    degree, hence about half the levels, as long as there is one.

    Attributes
    ----------
        polynomial: the polynomial, or ``None`` for the iteration.
        factors: of the iteration.
        error: bound on the distance from 1/x; for the iteration (ratio^(2^factors) + 2^−48)/nearest, the
            end of the interval next to zero.
    """

    def __init__(self, interval: tuple[float, float], error: float = 1e-4, *, iterate: bool = False) -> None:
        self.interval = _without_zero(interval)
        low, high = self.interval
        wanted = _positive("error", error)
        self.ratio = (high - low) / abs(high + low)
        self.factors = 1
        while self._missing() > wanted:
            self.factors += 1
            if self.factors == MOST_LEVELS:
                _refuse(
                    "NotReached",
                    f"{MOST_LEVELS} levels do not invert down to {low:g} of {high:g} within {wanted:g}. "
                    "Keep the interval further from zero, or allow a larger error.",
                )
        self.error, self.polynomial = self._missing(), None
        if not iterate:
            self.polynomial = _within_levels(np.reciprocal, self.interval, wanted, self.factors + 1)
        if self.polynomial:
            self.error = self.polynomial.error

    def _missing(self) -> float:
        """The error of the iteration, and what binary64 adds to it."""
        return float((self.ratio ** (2**self.factors) + 2.0**-48) * self._largest)

    @property
    def _largest(self) -> float:
        """The largest |1/x|."""
        return 1 / min(map(abs, self.interval))

    @property
    def depth(self) -> int:
        """Levels."""
        return self.polynomial.depth if self.polynomial else self.factors + 1

    @prompted
    def __call__(self, x: Any) -> Any:
        """One over ``x``."""
        low, high = self.interval
        c = 2 / (low + high)
        with region("inverse"):
            if self.polynomial:
                return self.polynomial(x)
            e = rescaled(x, -c, -1.0, self.ratio)
            # The constant joins the first factor, so that it costs no level of its own.
            product = within(c + e * c, self._largest, everywhere=True)
            for i in range(1, self.factors):
                e = within(e * e, self.ratio ** (2**i), everywhere=True)
                product = within(product * (1 + e), self._largest, everywhere=True)
            return product

    def __repr__(self) -> str:
        low, high = self.interval
        return f"<1/x on [{low:g}, {high:g}], error {upwards(self.error)}, {self.depth} levels>"


def _within_levels(
    function: Callable[[Array], Array], interval: tuple[float, float], wanted: float, levels: int
) -> Approximation | None:
    """The polynomial of least degree within an error, if it takes no more levels than that."""
    highest = min(2 ** (levels - 1) - 1, HIGHEST)
    if highest < 1 or approximate(function, interval, degree=highest).error > wanted:
        return None
    return approximate(function, interval, error=wanted)


def _without_zero(interval: Any) -> tuple[float, float]:
    try:
        low, high = (float(v) for v in interval)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (0 < low < high < math.inf or -math.inf < low < high < 0):
        _refuse(
            "Interval", f"{interval!r} is no interval beside zero: give 0 < low < high or low < high < 0."
        )
    return low, high


class SquareRoot:
    """√x on [0, bound]: a polynomial where one of degree up to 1023 will do, otherwise an iteration.

    a ← a·(1 − b/2), b ← b²·(b − 3)/4 from a = x, b = x − 1: a tends to √x, slowly near zero (Wilkes, Wheeler
    and Gill; Cheon et al., ASIACRYPT 2019, §4). Two levels an iteration. Away from zero
    ``approximate(numpy.sqrt, (low, high), error=…)`` is cheaper.

    Attributes
    ----------
        polynomial: the polynomial, or ``None`` for the iteration.
        iterations: how many.
        error: bound on the distance from √x.
    """

    def __init__(self, bound: float = 1.0, error: float = 1e-2, *, iterate: bool = False) -> None:
        self.bound, wanted = _positive("bound", bound), _positive("error", error)
        self.iterations, self.polynomial = 0, None
        if not iterate:
            self.polynomial = _within_levels(np.sqrt, (0.0, self.bound), wanted, MOST_LEVELS)
        if self.polynomial:
            self.error = self.polynomial.error
            return
        grid = np.concatenate([[0.0], np.geomspace(1e-12, 1, GRID)]) * self.bound
        for self.iterations in range(1, MOST_LEVELS // 2 + 1):
            self.error = SAFETY * float(np.max(np.abs(np.sqrt(grid) - self(grid))))
            if self.error <= wanted:
                return
        _refuse(
            "NotReached",
            f"{self.iterations} iterations come within {upwards(self.error)} of the root up to "
            f"{self.bound:g}. Allow a larger error, or keep away from zero and use "
            "approximate(numpy.sqrt, (low, high), error=…).",
        )

    @property
    def depth(self) -> int:
        """Levels."""
        return self.polynomial.depth if self.polynomial else 2 * self.iterations + (self.bound != 1)

    @prompted
    def __call__(self, x: Any) -> Any:
        """The root of ``x``."""
        with region("square root"):
            return self.polynomial(x) if self.polynomial else self._iterated(x)

    def _iterated(self, x: Any) -> Any:
        # In units of the bound: a in [0, 1], b in [−1, 0].
        a = rescaled(x, 1 / self.bound, 0.0, 1.0)
        b = within(a - 1, 1.0, everywhere=True)
        for i in range(self.iterations):
            # The last factor carries the unit back.
            unit = math.sqrt(self.bound) if i == self.iterations - 1 else 1.0
            a = within(a * (unit - b * (unit / 2)), unit, everywhere=True)
            b = within(b * b * (b * 0.25 - 0.75), 1.0, everywhere=True)
        return a

    def __repr__(self) -> str:
        return f"<square root up to {self.bound:g}, error {upwards(self.error)}, {self.depth} levels>"


class Softmax:
    """exp(x_j)/Σ exp(x_k) over the columns of a matrix by columns, or scalars of a vector, for |x| ≤ bound.

    The exponential is a polynomial in least degree, its sum lies in a known interval, and Goldschmidt's
    iteration inverts it.

    Attributes
    ----------
        exp: the exponential.
        inverse: of the sum.
        error: bound on the distance from soft-max, from those of its parts.
    """

    def __init__(self, columns: int, bound: float = 1.0, error: float = 1e-3) -> None:
        if isinstance(columns, bool) or not isinstance(columns, (int, np.integer)) or columns < 2:
            _refuse("Argument", f"The columns are {columns!r}; give a whole number of at least 2.")
        self.columns, self.bound = int(columns), _positive("bound", bound, 16)
        wanted = _positive("error", error, 1)
        # exp(x − bound) ≤ 1: sums stay below the number of columns.
        low, high = self.columns * math.exp(-2 * self.bound), float(self.columns)
        self.exp: Approximation = approximate(
            lambda t: np.exp(t - self.bound),
            (-self.bound, self.bound),
            error=wanted * low / (2 * (self.columns + 1)),
        )
        slack = self.columns * self.exp.error
        self.inverse = Inverse((low - slack, high + slack), wanted / 3)
        # With powers e off by δ, sums s by n·δ: |e′/s′ − e/s| ≤ δ/s′ + (e/s)·n·δ/s′, e/s ≤ 1; and e′ ≤ 1 + δ.
        powers = (self.columns + 1) * self.exp.error / (low - slack)
        self.error = powers + (1 + self.exp.error) * self.inverse.error

    @property
    def depth(self) -> int:
        """Levels."""
        return self.exp.depth + self.inverse.depth + 1

    def __call__(self, x: Any) -> Any:
        """Soft-max of every row of a matrix, or of a vector of scalars."""
        encrypted = isinstance(x, Tensor)
        shape = x.shape if encrypted else np.shape(x)
        caller = sys._getframe(1)
        where = Where(caller.f_code.co_filename, caller.f_lineno)
        if not shape or shape[-1] != self.columns:
            kind = f"encrypted {x.kind}" if encrypted else f"array of shape {shape}"
            refuse(
                "ShapeMismatch",
                f"soft-max over {self.columns} columns of an {kind}",
                f"Give {self.columns} columns, or Softmax the columns that there are",
                where,
            )
        if encrypted and not isinstance(x, Stack):
            refuse(
                "PackingMismatch",
                f"soft-max of an encrypted {x.kind} whose columns share a ciphertext",
                'Declare it with packing="columns" (a vector with packing="scalars")',
                where,
            )
        with region("soft-max"):
            powers = self.exp(x)
            share = self.inverse(powers.sum(axis=-1))
            if isinstance(powers, Stack):
                return powers.map(lambda column: column * share)
            return powers * share[..., None]

    def __repr__(self) -> str:
        return (
            f"<soft-max over {self.columns} columns up to {self.bound:g}, error {upwards(self.error)}, "
            f"{self.depth} levels>"
        )


__all__ = ["Absolute", "Compare", "Inverse", "Sign", "Softmax", "SquareRoot"]
