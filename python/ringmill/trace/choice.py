"""Which polynomials stand for a function on an interval: of the forms that keep to an error, the cheapest.

Levels count first, since a level is a prime of the chain; then products. Choices are remembered: a kernel is
traced anew for more slots and for closer errors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ringmill.errors import ApproximationError
from ringmill.trace.approximate import HIGHEST, Approximation, approximate
from ringmill.trace.found import POINTS, steepness
from ringmill.trace.where import refuse

#: Half width of the band around a jump, in units of the largest argument.
BAND = 2.0**-6

# A degree so close above a power of two may be brought below it by the best polynomial.
NEAR = 4

# Where functions are defined, ends that belong to it or not, and what to declare.
DOMAINS: dict[str, tuple[float, float, bool]] = {
    "numpy.log": (0, math.inf, False),
    "numpy.log2": (0, math.inf, False),
    "numpy.log10": (0, math.inf, False),
    "numpy.log1p": (-1, math.inf, False),
    "numpy.sqrt": (0, math.inf, True),
    "numpy.arcsin": (-1, 1, True),
    "numpy.arccos": (-1, 1, True),
    "numpy.arctanh": (-1, 1, False),
    "numpy.arccosh": (1, math.inf, True),
}


@dataclass(frozen=True)
class Power:
    """t**exponent."""

    exponent: float

    def __call__(self, t: Any) -> Any:
        """The power."""
        return np.power(t, self.exponent)


@dataclass(frozen=True)
class Exponential:
    """base**t."""

    base: float

    def __call__(self, t: Any) -> Any:
        """The power."""
        return np.power(self.base, t)


@dataclass(frozen=True)
class Form:
    """What stands for a function, how far it is from it, and where its values lie."""

    evaluate: Callable[[Any], Any]
    error: float
    slope: float
    how: str
    depth: int
    products: int
    range: tuple[float, float]
    band: float = 0.0

    def __call__(self, x: Any) -> Any:
        """What stands for the function of ``x``."""
        return self.evaluate(x)


def _shown(low: float, high: float) -> str:
    return f"[{low:.6g}, {high:.6g}]"


@functools.lru_cache(maxsize=256)
def smooth(name: str, function: Callable[[Any], Any], low: float, high: float, error: float) -> Form:
    """A function without jumps on [low, high]."""
    from ringmill.kernels.functions import Inverse, SquareRoot

    _inside(name, function, low, high)
    if high - low < 2.0**-20 * max(abs(low), abs(high), 1e-30):
        low, high = low - 2.0**-20 * max(abs(low), 2.0**-20), high + 2.0**-20 * max(abs(high), 2.0**-20)
    slope = steepness(function, low, high)
    ends = _range(function, low, high, slope)
    forms, refused = [], None
    try:
        forms.append(_of_polynomial(_least(function, (low, high), error), slope, ends))
    except ApproximationError as why:
        refused = why
    composed: list[Callable[[], Any]] = []
    if function is np.reciprocal:
        composed.append(lambda: Inverse((low, high), error, iterate=True))
    if function is np.sqrt and low < 2.0**-10 * high:
        composed.append(lambda: SquareRoot(high, error, iterate=True))
    for make in composed:
        try:
            made = make()
        except ApproximationError as why:
            refused = refused or why
            continue
        count = made.factors + 1 if hasattr(made, "factors") else 3 * made.iterations
        how, wider = f"an iteration, {repr(made)[1:-1]}", (ends[0] - made.error, ends[1] + made.error)
        forms.append(Form(made, made.error, slope, how, made.depth, count, wider))
    if not forms:
        _none(name, function, (low, high), error, refused)
    return min(forms, key=lambda form: (form.depth, form.products))


def _range(function: Callable[[Any], Any], low: float, high: float, slope: float) -> tuple[float, float]:
    """Ends of a function's values: those on a grid, and what the slope allows between two of its points."""
    values = np.asarray(function(np.linspace(low, high, POINTS)), dtype=float)
    # At the ends nothing is beyond the grid; monotonic functions are exact.
    step = np.diff(values)
    slack = 0.0 if np.all(step >= 0) or np.all(step <= 0) else slope * (high - low) / (POINTS - 1) / 2
    return float(np.min(values)) - slack, float(np.max(values)) + slack


def _of_polynomial(found: Approximation, slope: float, ends: tuple[float, float]) -> Form:
    how = f"a polynomial of degree {found.degree} on {_shown(*found.interval)}, {found.depth} levels"
    wider = (ends[0] - found.error, ends[1] + found.error)
    return Form(found, found.error, slope, how, found.depth, found.products, wider)


def _least(function: Callable[[Any], Any], ends: tuple[float, float], error: float) -> Approximation:
    """The least degree, and the best polynomial where that saves a level."""
    found = approximate(function, ends, error=error)
    below = (1 << found.degree.bit_length() - 1) - 1
    if 1 <= below < found.degree <= below + NEAR:
        try:
            best = approximate(function, ends, degree=below, method="minimax")
        except ApproximationError:  # the package is not installed, or no polynomial was found
            return found
        return best if best.error <= error else found
    return found


def _inside(name: str, function: Any, low: float, high: float) -> None:
    """Refuse an interval on which the function is not defined; says what to declare."""
    declare = "Take bounds from sample data with compile(calibrate=…), declare the argument so, as "
    declare += "ringmill.vector(n, low=…, high=…), or promise it: ringmill.within"
    exponent = -1.0 if function is np.reciprocal else getattr(function, "exponent", 1.0)
    if exponent < 0:
        whole = exponent == int(exponent)
        if low <= 0 <= high or (low < 0 and not whole):
            away = max(abs(low), abs(high)) / 64
            refuse(
                "Pole",
                f"{name} has a pole at 0, and the bounds allow values in {_shown(low, high)}",
                f"It works away from 0, as on {_shown(away, max(high, 2 * away))}. {declare}(x, (low, high))",
            )
        return
    least, most, closed = DOMAINS.get(name, (-math.inf, math.inf, True))
    if isinstance(function, Power):
        least = 0.0
    outside = low < least or high > most or (not closed and (low <= least or high >= most))
    if outside:
        edge = max(abs(low), abs(high)) / 64 if not closed else 0.0
        good = max(low, least + edge), min(high, most - edge if math.isfinite(most) else most)
        if not good[0] < good[1]:
            good = (least + edge, least + edge + 1)
        more = (
            f" (up to {good[1]:.6g} from 0 also by ringmill.kernels.SquareRoot({good[1]:.6g}, error=…))"
            if function is np.sqrt
            else ""
        )
        refuse(
            "OutsideDomain",
            f"{name} is not defined on all of {_shown(low, high)}, where the bounds allow values",
            f"It works on {_shown(*good)}{more}. {declare}(x, (low, high))",
        )


def _none(
    name: str, function: Any, ends: tuple[float, float], error: float, why: ApproximationError | None
) -> NoReturn:
    """Refuse what no form reaches; names a precision and an interval for which there is one."""
    low, high = ends
    bits = -math.log2(error)
    found = getattr(why, "found", None)
    if why is not None and getattr(why, "code", "") != "NotReached":
        refuse(
            "NotReached", f"{name} on {_shown(low, high)}: {str(why).rstrip('.')}", "Take another interval"
        )
    reached = f"; {-math.log2(found):.0f} bits are reached there" if found and found < 0.5 else ""
    for factor in (2.0**k for k in range(-14, 0)):
        near = (low + (high - low) * factor, high)
        try:
            if approximate(function, near, degree=HIGHEST).error <= error:
                refuse(
                    "NotReached",
                    f"no polynomial of degree up to {HIGHEST} comes within 2^-{bits:.0f} of {name} on "
                    f"{_shown(low, high)}{reached}",
                    f"On {_shown(*near)} one does: declare it, as ringmill.vector(n, low={near[0]:.6g}, "
                    f"high={near[1]:.6g}), or promise it of the value, ringmill.within(v, ({near[0]:.6g}, "
                    f"{near[1]:.6g})); or ask for less precision",
                )
        except ApproximationError:
            continue
    refuse(
        "NotReached",
        f"no polynomial of degree up to {HIGHEST} comes within 2^-{bits:.0f} of {name} on {_shown(low, high)}"
        f"{reached}",
        "Ask for less precision, or keep away from where the function bends",
    )


@functools.lru_cache(maxsize=64)
def absolute(bound: float, error: float) -> Form:
    """|x| up to a bound."""
    from ringmill.kernels.functions import Absolute

    found = _made(lambda: Absolute(error, bound), "abs()", bound, error)
    how = "a polynomial" if found.polynomial else "x times its sign"
    stages = found.polynomial.products if found.polynomial else 4 * len(found.sign.stages)
    reported = f"{how} up to {bound:.6g}, {found.depth} levels"
    ends = (-found.error, bound + found.error)
    return Form(found, found.error, 1.0, reported, found.depth, stages, ends)


@functools.lru_cache(maxsize=64)
def sign(bound: float, error: float) -> Form:
    """−1 or 1 beyond a band."""
    from ringmill.kernels.functions import Sign

    found = _made(lambda: Sign(BAND, min(error, 0.5), bound), "numpy.sign", bound, error)
    how = f"a chain of {len(found.stages)} polynomials up to {bound:.6g}, {found.depth} levels"
    ends = (-1 - found.error, 1 + found.error)
    # Beyond the band stages are flat; what the argument errs by moves the band.
    return Form(found, found.error, 0.0, how, found.depth, 4 * len(found.stages), ends, BAND * bound)


@functools.lru_cache(maxsize=64)
def step(bound: float, error: float) -> Form:
    """0 or 1 beyond a band."""
    found = sign(bound, 2 * error)

    def evaluate(x: Any) -> Any:
        return found(x) * 0.5 + 0.5

    ends = (-found.error / 2, 1 + found.error / 2)
    how = found.how.replace(f"{found.depth} levels", f"{found.depth + 1} levels")
    return Form(evaluate, found.error / 2, 0.0, how, found.depth + 1, found.products, ends, found.band)


def _made(make: Callable[[], Any], name: str, bound: float, error: float) -> Any:
    try:
        return make()
    except ApproximationError as why:
        refuse(
            "NotReached",
            f"{name} of values up to {bound:.6g} within 2^{math.log2(error):.0f}: {str(why).rstrip('.')}",
            "Declare closer bounds, or take them from sample data with compile(calibrate=…); or ask for less "
            "precision",
        )
