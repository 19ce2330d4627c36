"""A function on an interval, known by its values: on a dense grid, finer where it is rough or badly met.

The values between two points are not known. A grid alone misses the height of a peak that is narrower than
its spacing, and takes a pole for a large number. So the neighbourhoods of points where the function is not
smooth, and of the worst errors, are refined until the result settles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import NDArray

from ringmill.errors import ApproximationError, fail

Array = NDArray[np.float64]
Function = Callable[[Any], Any]

# Chebyshev points a degree, GRID_LEAST at least, as many equidistant ones, and GRID_LEAST at random. Between
# the first a polynomial of that degree exceeds its values by a factor 1/cos(π/(2·16)) = 1.005 at most (Ehlich
# and Zeller 1964); the distance from a function is no polynomial, so SAFETY allows ten times that.
GRID_PER_DEGREE = 16
GRID_LEAST = 4096
SAFETY = 1.05

# The number of places whose neighbourhoods are cut into pieces, and the worst two of these again: 16 times
# closer a round. The last one is 2^−32 of the spacing wide, where a pole still grows in binary64.
PLACES = 8

# More where the points around a peak allow a larger one than the largest that they show.
HIDING = 256
PIECES = 32
ROUNDS = 8

# A round that finds less than this more ends the search; rounding of the values is no find.
SETTLED = 0.01
ROUNDING = 2.0**-48


class Sampled:
    """Values of one function on one interval."""

    def __init__(self, function: Function, low: float, high: float) -> None:
        if not callable(function):
            _no_function(f"{function!r} is no function")
        self.low, self.high = low, high
        self.function = function
        self._grids: dict[int, tuple[Array, Array]] = {}
        even = np.linspace(low, high, GRID_LEAST + 1)
        if not _takes_arrays(function, even):
            self.function = np.vectorize(function, otypes=[float])
        drawn = np.random.default_rng(GRID_LEAST).uniform(low, high, GRID_LEAST)
        self.extra = np.concatenate([drawn, self._rough(even)])

    def __call__(self, points: Array) -> Array:
        """The function on points; refuses values that are not finite real numbers."""
        shape = np.shape(points)
        points = np.atleast_1d(points)
        try:
            with np.errstate(all="ignore"):
                values = np.asarray(self.function(points.copy()))  # it may write into its argument
        except Exception as error:  # whatever a user's function raises
            text = str(error).strip().rstrip(".")
            _no_function(
                f"The function raises {type(error).__name__} on ({self.low:g}, {self.high:g})"
                + (f": {text}" if text else "")
            )
        if values.shape != points.shape or values.dtype.kind not in "biuf":
            _no_function(
                f"The function makes {values.dtype} of shape {values.shape} out of {points.size} numbers"
            )
        if not np.all(np.isfinite(values)):
            fail(
                ApproximationError,
                "NotFinite",
                f"The function is not finite everywhere on ({self.low:g}, {self.high:g}). "
                "Choose an interval where it is.",
            )
        return values.astype(float).reshape(shape)

    def error(self, series: Chebyshev) -> float:
        """How far a polynomial is from the function, and 5% more."""
        points, values = self._grid(max(GRID_LEAST, GRID_PER_DEGREE * series.degree()))
        away = np.abs(series(points) - values)
        floor = ROUNDING * float(np.max(np.abs(values)))
        tops = _suspects(points, away)
        places = np.stack([points[np.maximum(tops - 1, 0)], points[np.minimum(tops + 1, len(points) - 1)]], 1)
        return SAFETY * _closer(lambda t: np.abs(series(t) - self(t)), places, away[tops], floor)

    def _grid(self, count: int) -> tuple[Array, Array]:
        if count not in self._grids:
            unit = np.cos(np.pi * np.arange(count + 1) / count)
            chebyshev = (self.low + self.high) / 2 + (self.high - self.low) / 2 * unit
            points = np.clip(chebyshev, self.low, self.high)
            points = np.unique(np.concatenate([points, np.linspace(self.low, self.high, count), self.extra]))
            self._grids[count] = points, self(points)
        return self._grids[count]

    def _rough(self, even: Array) -> Array:
        """Points closer and closer to extrema, where the values are not those of a smooth function."""
        values = self(even)
        # The fourth difference: what a cubic through four neighbours leaves of the point between them.
        left = np.abs(np.convolve(values, [1, -4, 6, -4, 1], mode="valid"))
        tops = _peaks(left)
        places = np.stack([even[tops], even[tops + 4]], 1)
        taken: list[Array] = []
        for sign in (1.0, -1.0):

            def value(t: Array, sign: float = sign) -> Array:
                taken.append(t)
                return sign * self(t)

            nothing = np.full(len(tops), -np.inf)
            _closer(value, places, nothing, SETTLED * float(np.max(np.abs(values))))
        return np.concatenate(taken)


def _closer(value: Function, places: Array, found: Array, floor: float) -> float:
    """The largest value in the places (pairs of ends), each cut around its largest until all settle."""
    for _ in range(ROUNDS):
        points = np.linspace(places[:, 0], places[:, 1], PIECES + 1, axis=1)
        values = value(points.ravel()).reshape(points.shape)
        most = np.argmax(values, axis=1)[:, None]
        ends = np.concatenate([np.maximum(most - 1, 0), np.minimum(most + 1, PIECES)], axis=1)
        places = np.take_along_axis(points, ends, axis=1)
        before, found = found, np.maximum(found, values.max(axis=1))
        largest = float(found.max())
        if np.all(found - before <= SETTLED * abs(largest) + floor):
            return largest
    near = float(places[np.argmax(found - before)].mean())
    fail(
        ApproximationError,
        "NotSettled",
        f"The function does not settle near {near:.6g}: the closer one looks, the more it differs from what "
        "is around. Choose an interval where it has no pole and is not infinitely steep.",
        near=near,
    )


def _takes_arrays(function: Function, points: Array) -> bool:
    """Whether the function takes an array as NumPy's do; those of plain numbers raise, or give one number."""
    try:
        with np.errstate(all="ignore"):
            return np.shape(function(points.copy())) == points.shape
    except Exception:  # whatever a user's function raises: called number by number, it is asked again
        return False


def _suspects(points: Array, values: Array) -> NDArray[np.intp]:
    """Where the largest value may lie: the largest peaks, and all that may hide one as large between points.

    At a kink values rise up to it as steeply as they do between the points before, at most.
    """
    gaps = np.diff(points)
    slopes = np.abs(np.diff(values)) / gaps
    steep = np.convolve(slopes, np.ones(3), mode="same")  # of a neighbour too: the kink may be in this gap
    rise = np.maximum(np.append(steep * gaps, 0), np.append(0, steep * gaps))
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    peak = (values >= padded[:-2]) & (values >= padded[2:])
    hiding = np.flatnonzero(peak & (values + rise >= values.max()))
    hiding = hiding[np.argsort(-(values + rise)[hiding], kind="stable")][:HIDING]
    return np.union1d(_peaks(values), hiding)


def _peaks(values: Array) -> NDArray[np.intp]:
    """Where the largest values are that no neighbour exceeds."""
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    tops = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
    return np.asarray(tops[np.argsort(-values[tops], kind="stable")][:PLACES])


def _no_function(what: str) -> NoReturn:
    fail(
        ApproximationError,
        "NotAFunction",
        f"{what}. It must take a number, or a NumPy array element by element, and return real ones, "
        "everywhere on the interval.",
    )
