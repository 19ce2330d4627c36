"""A product of two encrypted matrices in six forms that a person would write, and what each takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import ringmill as rm

Form = Callable[[Any, Any], Any]


def copies(a: Any, b: Any) -> Any:
    """Both factors copied along the axis that they lack, one product, and a sum."""
    return (a[:, :, None] * b[None, :, :]).sum(axis=1)


def columns(a: Any, b: Any) -> Any:
    """A product with a vector for each column of the right factor."""
    return np.stack([a @ b[:, j] for j in range(b.shape[1])], axis=1)


def rows(a: Any, b: Any) -> Any:
    """A product with a vector for each row of the left factor."""
    return np.stack([a[i] @ b for i in range(a.shape[0])], axis=0)


def outer(a: Any, b: Any) -> Any:
    """A sum of products of a column and a row."""
    return sum(a[:, k : k + 1] * b[k : k + 1, :] for k in range(a.shape[1]))


def diagonals(a: Any, b: Any) -> Any:
    """Wrapped diagonals of a square result: element (i, i + d) for each d."""
    turned = [np.concatenate([b[:, d:], b[:, :d]], axis=1) if d else b for d in range(a.shape[0])]
    return np.stack([(a.T * t).sum(axis=0) for t in turned])


def squares(a: Any, b: Any) -> Any:
    """Both factors in squares of the largest side."""
    side = max(*a.shape, *b.shape)
    wide = [np.pad(m, [(0, side - n) for n in m.shape]) for m in (a, b)]
    return copies(*wide)[: a.shape[0], : b.shape[1]]


FORMS: list[Form] = [copies, columns, rows, outer, diagonals, squares]


def fits(form: Form, shape: tuple[int, int, int]) -> bool:
    """Whether a form is one of this shape: diagonals need a square result, squares 2^16 slots at most."""
    r, c, p = shape
    if form is diagonals:
        return r == p
    return form is not squares or (max(shape) <= 40 and len({r, c, p}) > 1)


@dataclass(frozen=True)
class Cost:
    """Predicted milliseconds of a run on one core, and megabytes of keys."""

    ms: float
    mb: float


def cost(form: Form, shape: tuple[int, int, int]) -> Cost:
    """What a form takes of results of 16 bits."""
    r, c, p = shape
    compiled = rm.kernel(form).compile(rm.matrix(r, c), rm.matrix(c, p), precision=16)
    return Cost(1e3 * compiled.work()["seconds"], compiled.cost["key_bytes"] / 1e6)
