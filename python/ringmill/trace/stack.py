"""A matrix by columns: one ciphertext a column, the batch along the slots (*batch axis packing*).

Column j of a (batch, features) matrix is one ciphertext that holds feature j of every record. Products
with weights are then sums of whole ciphertexts: no rotations, hence no rotation keys. A *vector of
scalars* is the same idea for weights: one ciphertext a number, that number in every slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, NoReturn

import numpy as np

from ringmill.trace.base import Tensor, axes_of, constant_array, no_iteration, plain_sum
from ringmill.trace.broadcast import common_shape
from ringmill.trace.gather import Numbers, gathered, numbers
from ringmill.trace.index import index_of
from ringmill.trace.layout import Shape
from ringmill.trace.linear import factor
from ringmill.trace.several import Several
from ringmill.trace.symbol import Symbol
from ringmill.trace.where import refuse


class Stack(Several):
    """Several ciphertexts of one shape: columns of a matrix, or the elements of a vector."""

    __slots__ = ()
    offers = "bootstrap, columns, conj, dot, mean, ndim, shape, size and sum"

    def __init__(self, parts: Sequence[Symbol]) -> None:
        self.parts = tuple(parts)

    @property
    def shape(self) -> Shape:
        """(batch, columns) for columns, (count,) for scalars."""
        return (*self.parts[0].shape, len(self.parts))

    @property
    def columns(self) -> tuple[Symbol, ...]:
        """The ciphertexts, one a column (or one a scalar)."""
        return self.parts

    def map(self, function: Callable[[Symbol], Symbol]) -> Stack:
        """The function applied to every column."""
        return Stack([function(part) for part in self.parts])

    def _binary(self, op: str, other: object, *, reverse: bool) -> Stack:
        value = other if isinstance(other, Tensor) else constant_array(other)
        shape = common_shape(self, value)
        if len(shape) > 2:
            refuse(
                "PackingMismatch",
                f"an encrypted {self.kind} in {len(self.parts)} ciphertexts has no {len(shape)} axes",
                "Pack the argument in slots",
            )
        parts = self.parts if len(self.parts) == shape[-1] else self.parts * shape[-1]
        others = _parts(value, shape[-1])
        return Stack([a._binary(op, b, reverse=reverse) for a, b in zip(parts, others, strict=True)])

    def __getitem__(self, key: object) -> Symbol | Stack:
        keys = key if isinstance(key, tuple) else (key,)
        whole = len(keys) == self.ndim and all(k == slice(None) for k in keys[:-1] if isinstance(k, slice))
        if whole and all(isinstance(k, slice) for k in keys[:-1]) and isinstance(keys[-1], (slice, int)):
            columns = index_of(self, key) if self.ndim == 1 else index_of(self, key)[0]
            parts = [self.parts[(int(n) - 1) % len(self.parts)] for n in np.atleast_1d(columns)]
            return Stack(parts) if isinstance(keys[-1], slice) else parts[0]
        found: Symbol | Stack = self.gathered(index_of(self, key))
        return found

    def gathered(self, index: Numbers) -> Any:
        """The elements that have these numbers (`trace/gather.py`), by columns of the result.

        A vector that comes from one column is in its slots.
        """
        count = len(self.parts)
        column = np.where(index > 0, (index - 1) % count, -1)
        used = np.unique(column[column >= 0])
        if index.ndim == 0 or (index.ndim == 1 and self.ndim == 2 and used.size == 1):
            return self.one(index)
        if index.ndim > 2:
            refuse(
                "PackingMismatch",
                f"an encrypted {self.kind} in {count} ciphertexts has no {index.ndim} axes",
                "Pack the argument in slots",
            )
        return Stack([self.one(index[..., j]) for j in range(index.shape[-1])])

    def one(self, index: Numbers) -> Any:
        """The same in one ciphertext, as far as its elements stand beside one another."""
        count = len(self.parts)
        column = np.where(index > 0, (index - 1) % count, -1)
        row = np.where(index > 0, (index - 1) // count + 1, 0)
        terms = []
        for j in np.unique(column[column >= 0]):
            part, taken = self.parts[int(j)], np.where(column == j, row, 0)
            terms.append(part if np.array_equal(taken, numbers(part)) else gathered(part, taken))
        return reduce(lambda a, b: a + b, terms or [gathered(self.parts[0], np.zeros_like(index))])

    def __iter__(self) -> Iterator[Any]:
        if self.ndim > 1:
            no_iteration(self, "Write .columns for the columns, or pack the matrix in slots")
        return iter(self.parts)

    def sum(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: object = None,
        out: object = None,
        *,
        keepdims: bool = False,
    ) -> Any:
        """Sum over the columns (axis −1: additions only), over the batch (axis 0), or both."""
        plain_sum(dtype, out)
        axes = axes_of(axis, self.ndim, f"an encrypted {self.kind}")
        over_columns = self.ndim - 1 in axes
        total: Any = reduce(lambda a, b: a + b, self.parts) if over_columns else self
        if 0 in axes and self.ndim > 1:
            total = (
                total.sum(keepdims=keepdims)
                if over_columns
                else total.map(lambda p: p.sum(keepdims=keepdims))
            )
        return Stack([total]) if keepdims and over_columns else total

    def transpose(self, *_: object) -> NoReturn:
        """Refused: records run along the slots of every ciphertext."""
        self._stays("transposed")

    @property
    def T(self) -> NoReturn:  # noqa: N802 (NumPy's name)
        """Refused, as ``transpose``."""
        self._stays("transposed")

    def reshape(self, *_: object) -> NoReturn:
        """Refused: elements are spread over ciphertexts."""
        self._stays("reshaped")

    def _stays(self, done: str) -> NoReturn:
        refuse(
            "PackingMismatch",
            f"an encrypted {self.kind} in {len(self.parts)} ciphertexts cannot be {done}",
            "Work on the ciphertexts one by one (.columns), or pack the argument by rows, in one",
        )

    def __matmul__(self, other: object) -> Any:
        if isinstance(other, Tensor):
            if isinstance(other, Stack) and other.shape == (len(self.parts),):
                return reduce(
                    lambda a, b: a + b, [x * w for x, w in zip(self.parts, other.parts, strict=True)]
                )
            refuse(
                "PackingMismatch",
                f"an encrypted {self.kind} by columns cannot be multiplied by an encrypted {other.kind}",
                'Weights for batch packing are a vector of scalars: ringmill.vector(n, packing="scalars")',
            )
        weights = factor(other)
        if weights.ndim not in (1, 2) or weights.shape[0] != len(self.parts):
            refuse(
                "ShapeMismatch",
                f"an encrypted {self.kind} cannot be multiplied by a constant of shape {weights.shape}",
                f"The constant needs {len(self.parts)} rows",
            )
        if weights.ndim == 1:
            return self._weighted(weights)
        return Stack([self._weighted(column) for column in weights.T])

    def _weighted(self, weights: np.ndarray[Any, np.dtype[np.complex128]]) -> Symbol:
        terms = [x * w for x, w in zip(self.parts, weights, strict=True) if w != 0]
        total: Symbol = reduce(lambda a, b: a + b, terms or [self.parts[0] * 0])
        return total

    def __rmatmul__(self, other: object) -> Any:
        if self.ndim == 1 and isinstance(other, Tensor):
            return self @ other
        if self.ndim == 1:
            weights = factor(other)
            if weights.ndim not in (1, 2) or weights.shape[-1] != len(self.parts):
                refuse(
                    "ShapeMismatch",
                    f"a constant of shape {weights.shape} cannot be multiplied by an encrypted {self.kind}",
                    f"The constant needs {len(self.parts)} columns",
                )
            return self @ weights.T
        refuse(
            "PackingMismatch",
            f"an encrypted {self.kind} by columns cannot be multiplied from the left",
            "Records run along the slots: write x @ w, or pack the matrix by rows",
        )


def _parts(value: Any, count: int) -> list[Any]:
    """What each of `count` ciphertexts goes together with."""
    if isinstance(value, Stack):
        return list(value.parts if len(value.parts) == count else value.parts * count)
    if not value.shape:
        return [value] * count
    if isinstance(value, Symbol):
        own = [value[..., j] for j in range(value.shape[-1])]
        return own if len(own) == count else own * count
    wide = np.broadcast_to(value, (*value.shape[:-1], count))
    columns = [wide[..., j] for j in range(count)]
    # One number needs no table.
    return [c.flat[0] if c.ndim and np.all(c == c[0]) else c for c in columns]
