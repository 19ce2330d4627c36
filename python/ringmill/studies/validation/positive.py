"""Kernels that repeat positive maps: errors that add with equal signs show in them.

Weights have random signs in few models after training on positive features, and none in averages. Then
copies of one error meet again with equal signs, and add linearly where errors of random signs add in squares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.kernels import PaperKernel
from ringmill.trace import Kernel, Spec, kernel, vector

Array = NDArray[np.float64]

#: Length of the vectors, and of a box.
LENGTH, BOX = 32, 8


def layers(depth: int) -> Callable[..., Any]:
    """The product with one matrix, ``depth`` times."""

    def layers(x: Any, w: Any) -> Any:
        for _ in range(depth):
            x = w @ x
        return x

    return layers


def boxes(x: Any, box: Any) -> Any:
    """Sums over a cyclic window, twice: the value beside its rotated copies."""
    for _ in range(2):
        x = sum(np.roll(x, -k) for k in range(1, BOX)) + x
        x = x * box
    return x


def copies(x: Any, weight: Any) -> Any:
    """One product, added up with rotated copies of itself as one value after the other."""
    y = x * x * weight
    for k in (1, 2, 4):
        y = y + np.roll(y, -k)
    return y + y


def _weights(rng: np.random.Generator) -> tuple[Array, ...]:
    return rng.uniform(0.0, 1.0, LENGTH), np.full((LENGTH, LENGTH), 1 / LENGTH)


def _factor(by: float) -> Callable[[np.random.Generator], tuple[Array, ...]]:
    return lambda rng: (rng.uniform(0.0, 1.0, LENGTH), np.full(LENGTH, by))


def _row(letter: str, title: str, written: Callable[..., Any], make: Any, size: str) -> PaperKernel:
    specs: tuple[Spec | None, ...] = (vector(LENGTH), None)
    made: Kernel = kernel(written)
    return PaperKernel(letter, title, "plain–cipher", size, made, specs, make, written)


#: Rows of the sweep beside the nine kernels.
POSITIVE: tuple[PaperKernel, ...] = (
    _row("p", "two positive layers", layers(2), _weights, f"{LENGTH}×{LENGTH}, twice"),
    _row("q", "four positive layers", layers(4), _weights, f"{LENGTH}×{LENGTH}, four times"),
    _row("r", "box sums", boxes, _factor(1 / BOX), f"{LENGTH}, windows of {BOX}, twice"),
    _row("s", "rotated copies", copies, _factor(1 / 16), f"{LENGTH}"),
)
