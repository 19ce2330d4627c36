"""Steps from 0 to 1 at a threshold, as polynomials: what a split of a tree is evaluated by.

A step is (1 + s)/2 for a polynomial s near ±1 beyond a band around its threshold, and nowhere beyond ±1. s is
one polynomial that is fitted beside the band alone, or such a one and after it `FLAT` or `SHORT`, which bring
±1 ± e nearer to ±1. The chain of fewest levels that keeps to an error is taken.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import NDArray

from ringmill.kernels.functions import FLAT, SHORT
from ringmill.trace import polynomial

Array = NDArray[np.float64]

#: Share of the calibration rows that may lie in the band of a split, and the least width of a band.
SHARE, LEAST = 0.005, 0.04
#: Degrees of the fitted polynomial: a level more each.
DEGREES = (3, 7, 15, 31, 63)
#: What may follow it, and the levels that it takes.
TAILS = (((), 0), ((SHORT,), 2), ((FLAT,), 3), ((SHORT, FLAT), 5), ((FLAT, FLAT), 6))
#: All chains by levels: (levels, degree of the first polynomial, what follows it).
CHAINS: list[tuple[int, int, tuple[Chebyshev, ...]]] = sorted(
    [
        (at + 2 + levels, degree, tuple(stage.convert(kind=Chebyshev) for stage in stages))
        for at, degree in enumerate(DEGREES)
        for stages, levels in TAILS
    ],
    key=lambda chain: chain[:2],
)
#: What is made in any case: the highest degree alone.
LAST = (len(DEGREES) + 1, DEGREES[-1])
#: The largest error that a tail is given: beyond it values may leave the place where stages converge.
ROUGH = 0.35
#: Angles that a polynomial is fitted at, and those that its error is measured at.
POINTS, DENSE = 256, 1025
#: Errors between two points of the dense grid exceed those at them by far less.
SAFETY = 1.05


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """0 below a threshold and 1 above it, on [−1, 1]; between 0 and 1 everywhere there.

    Attributes
    ----------
        threshold: where it rises.
        band: half the width of the band, in angles arccos(u): narrower in u towards ±1.
        stages: polynomials, one after the other.
        error: distance from 0 or 1 beyond the band, at most.
        depth: levels.
    """

    threshold: float
    band: float
    stages: tuple[Chebyshev, ...]
    error: float
    depth: int

    def __call__(self, u: Any) -> Any:
        """The step of a value between −1 and 1."""
        for stage in self.stages:
            u = stage(u) if isinstance(u, (float, np.ndarray)) else polynomial(u, stage)
        return u


def step(threshold: float, band: float, error: float) -> Step:
    """The cheapest chain for a threshold, with a band that is no wider than asked for."""
    # Rounded, so that splits that lie closely share a search.
    width = 2.0 ** (math.floor(8 * math.log2(band)) / 8)
    return _step(round(threshold, 12), width, error)


@functools.lru_cache(maxsize=8192)
def _step(threshold: float, band: float, error: float) -> Step:
    best: Step | None = None
    for depth, degree, stages in CHAINS:
        # No polynomial rises within 1/degree of an angle; one alone needs ln(1/error)/2 times that.
        if degree * band < (0.5 * math.log(1 / error) if not stages else 0.5) and (depth, degree) != LAST:
            continue
        made = _measured(threshold, band, (_fitted(threshold, band, degree), *stages), depth)
        if made is not None and (best is None or made.error < best.error):
            best = made
        if best is not None and best.error <= error:
            return best
    assert best is not None, "the highest degree alone is a chain"
    return best


def _outside(threshold: float, band: float, points: int) -> tuple[Array, Array]:
    """Angles beside the band, and their cosines; denser at its edges, where errors are largest."""
    centre = math.acos(threshold)
    low, high = max(centre - band, 0.0), min(centre + band, math.pi)
    # Squares of an even grid crowd at the edge of the band.
    t = np.linspace(0, 1, points // 2) ** 1.5
    angles = np.concatenate(
        [low * (1 - t) if low > 0 else [], high + (math.pi - high) * t if high < math.pi else []]
    )
    return angles, np.cos(angles)


@functools.lru_cache(maxsize=8192)
def _fitted(threshold: float, band: float, degree: int) -> Chebyshev:
    """Least squares beside the band, in angles."""
    angles, u = _outside(threshold, band, POINTS)
    basis = np.cos(np.outer(angles, np.arange(degree + 1)))
    found, *_ = np.linalg.lstsq(basis, np.where(u > threshold, 1.0, -1.0), rcond=1e-12)
    return Chebyshev(found)


def _measured(threshold: float, band: float, stages: tuple[Chebyshev, ...], depth: int) -> Step | None:
    """A chain with its error; none if a tail gets values that are too far from ±1."""
    _, outside = _outside(threshold, band, DENSE)
    everywhere = np.cos(np.linspace(0, math.pi, DENSE))
    wanted = np.where(outside > threshold, 1.0, -1.0)
    for at, stage in enumerate(stages):
        if at and (np.max(np.abs(outside - wanted)) > ROUGH or np.max(np.abs(everywhere)) > 1 + ROUGH):
            return None
        outside, everywhere = stage(outside), stage(everywhere)
    # Over its largest value it is within ±1; half of that and 1/2 is within 0 and 1.
    over = SAFETY * max(float(np.max(np.abs(everywhere))) - 1, 0.0)
    error = SAFETY * float(np.max(np.abs(outside - wanted))) + over
    rises = np.asarray(stages[-1].coef, dtype=np.float64) / (2 * (1 + over))
    rises[0] += 0.5
    return Step(threshold, band, (*stages[:-1], Chebyshev(rises)), error / 2, depth)
