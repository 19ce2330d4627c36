"""Operands of the operators: numbers and arrays in the clear, with the bound that everybody may know."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill.errors import EncodingError, fail
from ringmill.trace.base import Encrypted
from ringmill.trace.plain import Plain, is_public
from ringmill.trace.spec import finite_array


def vector_of(name: str, values: ArrayLike) -> NDArray[np.complex128]:
    """The values that an argument gives as a vector, one dimension and finite; refused otherwise."""
    array = finite_array(name, values)
    if array.ndim != 1 or array.size == 0:
        fail(
            EncodingError,
            "NotAVector",
            f"{name} has shape {array.shape}, but one ciphertext holds a vector. "
            "Give one dimension, or use a kernel for matrices.",
            shape=array.shape,
        )
    return np.ascontiguousarray(array)


def transposed(matrix: Any) -> Any:
    """A clear matrix, rows and columns exchanged."""
    return matrix.transposed if isinstance(matrix, Plain) else np.transpose(matrix)


def is_matrix(operand: Any) -> bool:
    """Whether an operand is a clear matrix."""
    if isinstance(operand, Plain):
        return operand.values.ndim == 2
    try:
        return not isinstance(operand, Encrypted) and np.ndim(operand) == 2
    except ValueError:  # rows of different lengths, which are refused as numbers
        return False


def public_number(value: Any) -> Plain:
    """A number that everybody may know: its size is its bound."""
    return Plain(
        np.asarray(value, dtype=np.complex128), max(float(np.abs(value)), float(np.finfo(float).tiny))
    )


def with_bound(other: Any) -> Any:
    """An operand, with its size as the bound of a whole number."""
    return public_number(float(other)) if is_public(other) else other
