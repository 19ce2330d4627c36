"""A matrix by columns: one ciphertext a column, the batch along the slots (*batch axis packing*).

Column j of a (batch, features) matrix is one ciphertext that holds feature j of every record. Products
with weights are then sums of whole ciphertexts: no rotations, hence no rotation keys. A *vector of
scalars* is the same idea for weights: one ciphertext a number, that number in every slot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NoReturn

import numpy as np

from ringmill.trace.base import Tensor, axes_of, constant_array
from ringmill.trace.layout import Shape
from ringmill.trace.symbol import Symbol, _axis_index
from ringmill.trace.where import refuse


class Stack(Tensor):
    """Several ciphertexts of one shape: columns of a matrix, or the elements of a vector."""

    __slots__ = ("parts",)
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
        if isinstance(other, Symbol):
            if other.shape:
                refuse(
                    "PackingMismatch",
                    f"an encrypted {self.kind} by columns and an encrypted {other.kind} do not go together",
                    "Combine the columns (.columns) with the vector one by one",
                )
            return self.map(lambda part: part._binary(op, other, reverse=reverse))
        if isinstance(other, Stack):
            if other.shape != self.shape:
                refuse(
                    "ShapeMismatch",
                    f"an encrypted {self.kind} and an encrypted {other.kind} do not go together",
                    "Both must have the same shape",
                )
            pairs = zip(self.parts, other.parts, strict=True)
            return Stack([a._binary(op, b, reverse=reverse) for a, b in pairs])
        value = constant_array(other)
        try:
            wide = np.broadcast_to(value, self.shape)
        except ValueError:
            refuse(
                "ShapeMismatch",
                f"an encrypted {self.kind} and a constant of shape {value.shape} do not go together",
                "The constant must broadcast to the shape of the encrypted value",
            )
        parts = []
        for j, part in enumerate(self.parts):
            column = wide[..., j]
            same = column.ndim == 0 or bool(np.all(column == column[0]))
            parts.append(part._binary(op, column.flat[0] if same else column, reverse=reverse))
        return Stack(parts)

    def __neg__(self) -> Stack:
        return self.map(lambda part: -part)

    def bootstrap(self, *, iterations: int | None = None) -> Stack:
        """The same elements with fresh levels: one bootstrapping for each ciphertext."""
        return self.map(lambda part: part.bootstrap(iterations=iterations))

    def conj(self) -> Stack:
        """Complex conjugate of every element."""
        return self.map(lambda part: part.conj())

    def __pow__(self, exponent: object) -> Stack:
        return self.map(lambda part: part**exponent)

    def __getitem__(self, key: object) -> Symbol | Stack:
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != self.ndim or (self.ndim == 2 and keys[0] != slice(None)):
            refuse(
                "BadIndex",
                f"the index {key!r} into an encrypted {self.kind} by columns is not possible",
                "Choose whole columns: x[:, j] or x[:, a:b]",
            )
        start, length, step = _axis_index(self.parts[0], keys[-1], len(self.parts))
        return (
            self.parts[start] if length is None else Stack(self.parts[start : start + length * step : step])
        )

    def sum(self, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False) -> Any:
        """Sum over the columns (axis −1: additions only), over the batch (axis 0), or both."""
        if keepdims:
            refuse(
                "PackingMismatch",
                f"sums of an encrypted {self.kind} in {len(self.parts)} ciphertexts keep no axes",
                "Leave keepdims out: sums over the batch are scalars, which go with every column",
            )
        axes = axes_of(axis, self.ndim, f"an encrypted {self.kind}")
        over_columns = self.ndim - 1 in axes
        total: Any = reduce(lambda a, b: a + b, self.parts) if over_columns else self
        if 0 not in axes or self.ndim == 1:
            return total
        return total.sum() if over_columns else self.map(lambda part: part.sum())

    def mean(self, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False) -> Any:
        """Mean over the same axes as ``sum``; one level more."""
        total = self.sum(axis, keepdims=keepdims)
        return total * (np.prod(total.shape, dtype=float) / np.prod(self.shape, dtype=float))

    def dot(self, other: object) -> Any:
        """The matrix product, as ``@``."""
        return self @ other

    def transpose(self) -> NoReturn:
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
        weights = constant_array(other)
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
        if not terms:
            refuse("ZeroOperand", "a product with a vector of zeros is zero", "Leave it out")
        total: Symbol = reduce(lambda a, b: a + b, terms)
        return total

    def __rmatmul__(self, other: object) -> Any:
        if self.ndim == 1 and isinstance(other, Tensor):
            return self @ other
        if self.ndim == 1:
            weights = constant_array(other)
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
