"""Logistic regression on encrypted records: a weighted sum and a polynomial sigmoid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.trace import Approximation, approximate, kernel, region


def _sigmoid(t: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-t)))


def sigmoid(degree: int = 7, bound: float = 8.0) -> Approximation:
    """1/(1 + e^−t) on [−bound, bound] as a polynomial: an odd one plus 1/2."""
    return approximate(_sigmoid, (-bound, bound), degree=degree)


@kernel
def logistic_regression(x: Any, weights: Any, bias: Any, activation: Any) -> Any:
    """Probabilities for encrypted records by columns.

    ``activation`` comes from ``sigmoid``; its interval is folded into the plaintext weights, so that
    mapping it to [−1, 1] costs no level.
    """
    low, high = activation.series.domain
    half, middle = (high - low) / 2, (high + low) / 2
    with region("weighted sum of features"):
        unit = x @ (np.asarray(weights) / half) + (bias - middle) / half
    with region("sigmoid"):
        return activation.unit(unit)
