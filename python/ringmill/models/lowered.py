"""An estimator as what is evaluated encrypted, and what the client does before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.models.columns import Columns, Context

Array = NDArray[Any]
#: What the server evaluates.
Server = Callable[[Context, Columns], Columns]


@dataclass(slots=True)
class Lowered:
    """An estimator in two parts.

    Attributes
    ----------
        server: from the columns of the features to the columns of results.
        methods: what the client makes of the decrypted results (rows, k), by the method of the estimator:
            ``predict``, ``predict_proba``, ``decision_function``, ``transform``.
        client: steps of the estimator that run at the client, before encryption.
        notes: a sentence for each thing that happens at the client.
    """

    server: Server
    methods: dict[str, Callable[[Array], Array]]
    client: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def classes_by_sign(classes: Array) -> Callable[[Array], Array]:
    """The second class where the decision is positive."""
    return lambda d: classes[(d[:, 0] > 0).astype(int)]


def classes_by_largest(classes: Array) -> Callable[[Array], Array]:
    """The class with the largest result."""
    return lambda d: classes[np.argmax(d, axis=1)]


def logistic(x: Array) -> Array:
    """1/(1 + exp(−x))."""
    return np.exp(-np.logaddexp(0.0, -x))


def softmax(x: Array) -> Array:
    """Exponentials, normalised over each row."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def two(p: Array) -> Array:
    """Probabilities of both classes from that of the second."""
    return np.column_stack([1 - p, p])


def flat(results: Array) -> Array:
    """One column as a vector; more as they are."""
    return results[:, 0] if results.shape[1] == 1 else results
