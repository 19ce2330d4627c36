"""Columns of records under a model: affine parts fold in the clear, the rest is evaluated.

A column is an affine function of *base* columns, each between −1 and 1: encrypted vectors, or NumPy arrays. A
scaler, a projection and the weights that follow it so become one sum, and take one level. Only a product or a
function makes new base columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, hstack, issparse, sparray, vstack

from ringmill.errors import ApproximationError, ModelError, fail
from ringmill.models.features import Features
from ringmill.models.steps import LEAST, SHARE, Step, step
from ringmill.trace import Approximation, approximate, within

Array = NDArray[np.float64]

#: The highest degree of a polynomial: six levels.
HIGHEST = 63
#: How far a polynomial may be from its function at most, of the largest value of the function.
FARTHEST = 0.05


@dataclass(frozen=True, slots=True)
class Columns:
    """``weights.T @ base + offset``, a column each.

    Attributes
    ----------
        base: B columns between −1 and 1.
        weights: (B, k), sparse: columns of weights are contiguous.
        offset: (k,).
    """

    base: tuple[Any, ...]
    weights: csc_array
    offset: Array

    @classmethod
    def of(cls, base: Sequence[Any], scale: ArrayLike = 1.0, offset: ArrayLike = 0.0) -> Columns:
        """Base columns, each times its scale and shifted."""
        count = len(base)
        scales, offsets = (np.broadcast_to(np.asarray(v, float), (count,)) for v in (scale, offset))
        return cls(tuple(base), diagonal(scales), offsets.copy())

    @classmethod
    def of_features(cls, features: Features, base: Sequence[Any]) -> Columns:
        """All features as functions of the varying ones between −1 and 1."""
        v = features.varying
        half = (features.high[v] - features.low[v]) / 2
        weights = csc_array((half, (np.arange(len(v)), v)), shape=(len(v), features.count))
        return cls(tuple(base), weights, (features.high + features.low) / 2)

    @classmethod
    def constant(cls, numbers: Array) -> Columns:
        """Columns that are numbers."""
        return cls((), csc_array((0, len(numbers))), np.asarray(numbers, float))

    @property
    def count(self) -> int:
        """k, the number of columns."""
        return len(self.offset)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """The least and the greatest value that each column can have."""
        reach = np.asarray(abs(self.weights).sum(axis=0))
        return self.offset - reach, self.offset + reach

    def affine(self, weights: ArrayLike | sparray, offset: ArrayLike = 0.0) -> Columns:
        """Return ``columns @ weights + offset``; weights are (k, m), dense or sparse."""
        w: Any = weights if issparse(weights) else np.asarray(weights, float)
        return Columns(
            self.base, csc_array(self.weights @ w), np.asarray(self.offset @ w) + np.asarray(offset, float)
        )

    def scaled(self, factor: ArrayLike, offset: ArrayLike = 0.0) -> Columns:
        """Return each column times its factor, and shifted."""
        factors = np.broadcast_to(np.asarray(factor, float), (self.count,))
        weights = csc_array(self.weights @ diagonal(factors))
        return Columns(self.base, weights, self.offset * factors + np.asarray(offset, float))

    def chosen(self, which: ArrayLike) -> Columns:
        """Return some columns."""
        index = np.asarray(which, int)
        return Columns(self.base, self.weights[:, index], self.offset[index])

    @staticmethod
    def joined(parts: Sequence[Columns]) -> Columns:
        """Return the columns of all parts side by side; what they are made of is shared."""
        base: list[Any] = []
        place: dict[int, int] = {}
        for column in (column for part in parts for column in part.base):
            if id(column) not in place:
                place[id(column)] = len(base)
                base.append(column)
        blocks = []
        for part in parts:
            rows = np.array([place[id(column)] for column in part.base], int)
            own = part.weights.tocoo()
            # A base column may stand in a part twice: its weights are added.
            blocks.append(
                csc_array((own.data, (rows[own.row], own.col)), shape=(len(base), part.count), dtype=float)
            )
        weights = csc_array(hstack(blocks)) if blocks else csc_array((0, 0))
        return Columns(tuple(base), weights, np.concatenate([part.offset for part in parts]))

    @staticmethod
    def added(parts: Sequence[Columns], factors: Sequence[ArrayLike]) -> Columns:
        """Return the sum of groups of equally many columns, each times its factors."""
        scaled = [part.scaled(factor) for part, factor in zip(parts, factors, strict=True)]
        both = Columns.joined(scaled)
        return both.affine(vstack([diagonal(np.ones(scaled[0].count))] * len(scaled)))

    def reads(self, k: int) -> NDArray[np.int64]:
        """The base columns that are in column k."""
        first, last = self.weights.indptr[k], self.weights.indptr[k + 1]
        return np.sort(self.weights.indices[first:last][self.weights.data[first:last] != 0])

    def single(self, k: int) -> Columns:
        """Return column k, of the base columns that are in it alone."""
        inside = self.reads(k)
        return Columns(
            tuple(self.base[i] for i in inside), self.weights[inside][:, [k]], self.offset[k : k + 1]
        )

    def evaluated(self, k: int) -> Any:
        """Return column k as a value; a number if no base column is in it."""
        total: Any = None
        inside = self.reads(k)
        for at, weight in zip(inside, self.weights[inside][:, [k]].toarray()[:, 0], strict=True):
            term = self.base[at] if weight == 1 else self.base[at] * float(weight)
            total = term if total is None else total + term
        if total is None:
            return float(self.offset[k])
        return total + float(self.offset[k]) if self.offset[k] else total

    def all_evaluated(self) -> list[Any]:
        """Return every column as a value; arrays in one product."""
        if self.base and all(isinstance(column, np.ndarray) for column in self.base):
            rows = max(column.size for column in self.base)
            stacked = np.stack([np.broadcast_to(column, rows) for column in self.base])
            found = self.weights.T @ stacked + self.offset[:, None]
            used = np.diff(self.weights.indptr) > 0
            return [row if used[k] else float(self.offset[k]) for k, row in enumerate(found)]
        return [self.evaluated(k) for k in range(self.count)]


def diagonal(numbers: ArrayLike) -> csc_array:
    """A sparse matrix with these numbers on its diagonal."""
    values = np.asarray(numbers, float)
    return csc_array((values, np.arange(len(values)), np.arange(len(values) + 1)), shape=(len(values),) * 2)


@dataclass(slots=True)
class Site:
    """A place of a model where values are bounded or a function is applied."""

    name: str
    low: Array
    high: Array
    function: Approximation | None = None
    unit: float = 1.0
    steps: tuple[Step | float, ...] = ()
    thresholds: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def error(self) -> float:
        """The distance of the polynomial from its function; 0 without a polynomial.

        Of steps from 0 to 1 it is that beyond their bands.
        """
        if self.steps:
            return max((s.error for s in self.steps if isinstance(s, Step)), default=0.0)
        return self.function.error * self.unit if self.function else 0.0


class Carrier(Protocol):
    """How columns are held: each by itself, or all of them in one vector (`ringmill.models.records`)."""

    def values(self, groups: Sequence[Columns], name: str) -> list[list[Any]]:
        """For each group its columns as what functions are applied to; groups may be multiplied."""

    def columns(self, values: list[Any], scale: Array) -> Columns:
        """Results of that as base columns, each times its scale."""


class Rows:
    """A column by itself: an encrypted vector of many rows, or a NumPy array."""

    def values(self, groups: Sequence[Columns], name: str) -> list[list[Any]]:
        """For each group a value a column."""
        return [columns.all_evaluated() for columns in groups]

    def columns(self, values: list[Any], scale: Array) -> Columns:
        """Values that are numbers become offsets."""
        return _with_numbers(values, scale)


class Context:
    """How a model is evaluated.

    While it *learns*, columns are arrays of calibration data, functions are exact, and every site notes the
    range of its values. Afterwards functions are polynomials on these ranges, and columns may be encrypted.

    Args:
        margin: by which fraction of its width a range is extended on both sides.
        error: the distance that a polynomial may have from its function, where its degree allows.
    """

    def __init__(self, margin: float, error: float) -> None:
        self.margin, self.error = margin, error
        self.sites: list[Site] = []
        self.learns, self.exact = True, True
        self._next = 0
        self._carrier: Carrier = Rows()

    @property
    def _worst(self) -> float:
        """The largest error of a function so far, of its largest value; no less than what is asked for."""
        return max([self.error, *(site.function.error for site in self.sites if site.function)])

    def begin(self, *, exact: bool = False, carrier: Carrier | None = None) -> None:
        """End learning, or begin another evaluation: with polynomials, or with the functions."""
        self.learns, self.exact, self._next = False, exact, 0
        self._carrier = carrier or Rows()

    def _site(self, name: str, columns: Columns) -> Site:
        low, high = columns.bounds
        if not self.learns:
            site = self.sites[self._next]
            self._next += 1
            return site
        seen = columns.all_evaluated()
        least, most = (np.array([f(v) for v in seen]) for f in (np.min, np.max))
        slack = self.margin * np.maximum(most - least, 1e-3 * np.maximum(np.abs(least), np.abs(most)))
        # A bound that follows from the inputs' is kept if it is nearly as close: it cannot be broken.
        close = high - low <= 1.5 * (most - least + 2 * slack)
        low, high = np.where(close, low, least - slack), np.where(close, high, most + slack)
        self.sites.append(Site(name, low, high))
        return self.sites[-1]

    def _unit(self, columns: Columns, site: Site) -> list[Any]:
        """Columns mapped from their ranges to [−1, 1]."""
        half, middle = (site.high - site.low) / 2, (site.high + site.low) / 2
        half = np.where(half > 0, half, 1.0)
        mapped = columns.scaled(1 / half, -middle / half)
        reach = np.maximum(*(np.abs(bound) for bound in mapped.bounds))
        (values,) = self._carrier.values([mapped], site.name)
        return self._promised(values, reach)

    def _within(self, groups: Sequence[Columns], name: str) -> list[tuple[list[Any], Array]]:
        """For each group its columns over their bounds, and the bounds."""
        made, reaches, bounds = [], [], []
        for columns in groups:
            site = self._site(name, columns)
            bound = np.maximum(np.maximum(np.abs(site.low), np.abs(site.high)), 1e-300)
            reach = np.maximum(*(np.abs(side) for side in columns.bounds))
            # A column that is zero for all rows is off by the errors of the polynomials that it is made of.
            bound = np.maximum(bound, self._worst * reach)
            bounds.append(np.minimum(bound, np.maximum(reach, 1e-300)))
            reaches.append(reach / bounds[-1])
            made.append(columns.scaled(1 / bounds[-1]))
        found = zip(self._carrier.values(made, name), reaches, bounds, strict=True)
        return [(self._promised(values, reach), bound) for values, reach, bound in found]

    def _promised(self, values: list[Any], reach: Array) -> list[Any]:
        """Values that their data keep within 1, where what they are made of does not show it."""
        each = reach if len(values) == len(reach) else [float(np.max(reach, initial=0.0))] * len(values)
        # Slots without rows hold the middle of every range; those beside a record may hold anything.
        everywhere = isinstance(self._carrier, Rows)
        return [
            v
            if self.learns or isinstance(v, (float, np.ndarray)) or bound <= 1
            else within(v, 1.0, everywhere=everywhere)
            for v, bound in zip(values, each, strict=True)
        ]

    def range(self, columns: Columns, name: str) -> tuple[float, float]:
        """The least and the greatest value of columns, by the calibration rows."""
        site = self._site(name, columns)
        return float(site.low.min()), float(site.high.max())

    def product(self, a: Columns, b: Columns, name: str) -> Columns:
        """Products of columns of two groups, one by one; of a group with itself, squares."""
        found = self._within([a] if a is b else [a, b], name)
        (left, left_bound), (right, right_bound) = found[0], found[-1]
        made = [x * y for x, y in zip(left, right, strict=True)]
        return self._carrier.columns(made, left_bound * right_bound)

    def power(self, columns: Columns, exponent: int, name: str) -> Columns:
        """Columns to a whole power from 1 on, by squares."""
        if exponent == 1:
            return columns
        half = self.power(columns, exponent // 2, name)
        even = self.product(half, half, name)
        return self.product(even, columns, name) if exponent % 2 else even

    def function(self, columns: Columns, function: Callable[[Any], Any], name: str) -> Columns:
        """A function of every column: exact while learning, one polynomial for all columns afterwards."""
        site = self._site(name, columns)
        if self.learns:
            low, high = float(site.low.min()), float(site.high.max())
            site.low, site.high = np.full(columns.count, low), np.full(columns.count, high)
            half, middle = (high - low) / 2 or 1.0, (high + low) / 2
            values = np.asarray(function(np.linspace(low, high, 2001)), float)
            # The largest value of the polynomial, whose error is that of the function.
            site.unit = float(np.max(np.abs(values))) + self.error
            try:
                site.function = _polynomial(
                    lambda t: function(middle + half * t) / site.unit, self.error / site.unit
                )
            except (ApproximationError, ModelError) as refused:
                fail(
                    ModelError,
                    "Function",
                    f"No polynomial for {name}, on values from {low:g} to {high:g}: {refused}",
                    low=low,
                    high=high,
                )
        made: list[Any]
        if self.exact:
            made = [np.asarray(function(value)) / site.unit for value in columns.all_evaluated()]
        else:
            mapped = self._unit(columns, site)
            polynomial = site.function
            assert polynomial is not None, "a function was learnt here"
            made = _applied(polynomial, mapped)
        return self._carrier.columns(made, np.full(columns.count, site.unit))

    def above(self, columns: Columns, thresholds: Array, name: str) -> Columns:
        """1 where a column is above its threshold and 0 elsewhere: exact while learning, steps afterwards."""
        if not isinstance(self._carrier, Rows):
            fail(
                ModelError,
                "Layout",
                "Steps of trees differ from column to column, so a record does not go into one ciphertext. "
                "Leave layout= out, or give layout='rows'.",
            )
        site = self._site(name, columns)
        if self.learns:
            seen = [np.atleast_1d(columns.evaluated(k)) for k in range(columns.count)]
            site.thresholds = np.array([_apart(v, float(t)) for v, t in zip(seen, thresholds, strict=True)])
            site.steps = tuple(
                self._step(v, *(float(end[k]) for end in (site.thresholds, site.low, site.high)))
                for k, v in enumerate(seen)
            )
        made: list[Any] = []
        mapped = [] if self.exact else self._unit(columns, site)
        for k, rises in enumerate(site.steps):
            if not isinstance(rises, Step):
                made.append(rises)
            elif self.exact:
                made.append((np.asarray(columns.evaluated(k)) > site.thresholds[k]).astype(float))
            else:
                made.append(rises(mapped[k]))
        return _with_numbers(made, np.ones(columns.count))

    def both(self, a: Columns, b: Columns) -> Columns:
        """The product of two columns that lie between 0 and 1 for all rows, as those of `above` do."""
        values = self._promised([one.evaluated(0) for one in (a, b)], np.full(2, 2.0))
        return _with_numbers([values[0] * values[1]], np.ones(1))

    def _step(self, values: Array, threshold: float, low: float, high: float) -> Step | float:
        """The step of a column at its threshold, or 0 or 1 where all of the range is on one side."""
        half, middle = (high - low) / 2, (high + low) / 2
        if not low < threshold < high:
            return 0.0 if threshold >= high else 1.0
        at = (threshold - middle) / half
        centre = np.arccos(at)
        apart = np.abs(np.arccos(np.clip((values - middle) / half, -1, 1)) - centre)
        # Splits stand in the middle between rows: most of them have space on both sides.
        space = max(float(np.quantile(apart, SHARE)), LEAST)
        return step(at, min(space, 0.9 * centre, 0.9 * (np.pi - centre)), self.error)


def _apart(values: Array, threshold: float) -> float:
    """A threshold; where a value is nearly it, the middle between the values on both sides."""
    close = np.abs(values - threshold) <= 1e-6 * max(1e-3, float(np.abs(values).max()))
    below, above = values[values <= threshold], values[values > threshold]
    if not (close.any() and len(below) and len(above)):
        return threshold
    return (float(below.max()) + float(above.min())) / 2


def _polynomial(function: Callable[[Any], Any], error: float) -> Approximation:
    """The least degree that keeps to an error, or `HIGHEST`: kinks need far higher ones for little."""
    highest = approximate(function, (-1.0, 1.0), degree=HIGHEST)
    if highest.error > FARTHEST:
        fail(
            ModelError,
            "Function",
            f"every one of degree {HIGHEST} is {highest.error:.2g} of the largest value away from it. "
            "Scale the values, or take a smoother function.",
            found=highest.error,
        )
    return highest if highest.error > error else approximate(function, (-1.0, 1.0), error=error)


def _applied(polynomial: Approximation, values: list[Any]) -> list[Any]:
    """A polynomial of every value: of arrays at once, of a number as a number."""
    if values and all(isinstance(value, np.ndarray) for value in values):
        return list(polynomial(np.stack(np.broadcast_arrays(*values))))
    return [float(polynomial(np.array(v))) if isinstance(v, float) else polynomial(v) for v in values]


def _with_numbers(values: list[Any], scale: Array) -> Columns:
    """Base columns times their scales; values that are numbers become offsets."""
    given = np.array([not isinstance(v, float) for v in values], bool)
    base = tuple(v for v, one in zip(values, given, strict=True) if one)
    offset = np.array([0.0 if one else v for v, one in zip(values, given, strict=True)]) * scale
    at = np.flatnonzero(given)
    weights = csc_array((scale[at], (np.arange(len(at)), at)), shape=(len(at), len(values)))
    return Columns(base, weights, offset)
