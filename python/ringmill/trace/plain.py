"""Operands in the clear, and the bounds that are declared for them.

What a ciphertext shows without a key follows from declared bounds, never from values. So an operand that is
given at the prompt has a bound: 1 where none is declared, and it is refused beyond that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill._checks.arguments import checked
from ringmill._native import DEFAULT_MAGNITUDE
from ringmill.errors import EncodingError, fail
from ringmill.trace.base import Encrypted
from ringmill.trace.spec import declared_bound, finite_array

#: Functions that change no number's size.
_KEPT = (np.negative, np.positive, np.conjugate)


@dataclass(frozen=True, slots=True, eq=False)
class Plain:
    """Numbers in the clear with a declared bound; `plain` makes it.

    Attributes
    ----------
        values: the numbers, a scalar, a vector or a matrix.
        magnitude: bound on the size of each, which everybody may know.
        real: whether they are of a real type, from which follows what is done with them.
        structured: whether it may show which of them are zero: those of a matrix that declares no bound.
    """

    values: NDArray[np.complex128]
    magnitude: float
    real: bool = True
    structured: bool = False

    @property
    def transposed(self) -> Plain:
        """The matrix with rows and columns exchanged."""
        return replace(self, values=self.values.T)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The numbers alone, for code that runs in the clear too."""
        return np.array(self.values.real if self.real else self.values, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Refuse a function of declared numbers alone, which would drop the bound; with data it runs."""
        others = [each for each in inputs if not isinstance(each, Plain)]
        if any(isinstance(each, Encrypted) for each in others):
            return NotImplemented
        if method == "__call__" and ufunc in _KEPT and not options:
            return replace(self, values=ufunc(self.values))
        if all(np.ndim(each) == 0 for each in others):
            fail(
                EncodingError,
                "DropsDeclared",
                f"numpy.{ufunc.__name__} of numbers in the clear would drop the bound that is declared for "
                f"them ({self.magnitude:g}). Work with the numbers, and declare the outcome: "
                f"rm.plain(np.{ufunc.__name__}(…), magnitude=…).",
                function=ufunc.__name__,
            )
        known = [np.asarray(each) if isinstance(each, Plain) else each for each in inputs]
        return getattr(ufunc, method)(*known, **options)

    def __neg__(self) -> Plain:
        return replace(self, values=-self.values)

    def __repr__(self) -> str:
        return f"<numbers in the clear {self.values.shape}, declared within {self.magnitude:g}>"


@checked
def plain(values: ArrayLike, magnitude: float) -> Plain:
    """Declare a bound for an operand in the clear: ``x * rm.plain(weights, magnitude=4)``.

    Args:
        values: a number, a vector or a matrix; real or complex.
        magnitude: bound on the size of each number. It is public: ciphertexts carry what follows from it.

    Raises
    ------
        EncodingError: numbers that are not finite, or beyond the bound; a bound that is not positive.
    """
    array = finite_array("the operand", values)
    bound = declared_bound("an operand", magnitude)
    hold(array, bound)
    return Plain(array, bound, not np.iscomplexobj(values))


def hold(array: NDArray[Any], bound: float) -> None:
    """Refuse numbers that are larger than their bound."""
    if np.max(np.abs(array), initial=0.0) > bound:
        fail(
            EncodingError,
            "BeyondBound",
            f"The operand in the clear is larger than {bound:g}, the bound that is declared for it "
            f"({DEFAULT_MAGNITUDE:g} where none is). Declare one that holds, as rm.plain(operand, "
            "magnitude=4): it is public, the operand is not. Whole numbers written as int need none.",
            bound=bound,
        )


def operand(other: Any) -> Plain:
    """An operand with its bound; one that declares none has the default."""
    if isinstance(other, Plain):
        return other
    array = finite_array("the plaintext operand", other)
    hold(array, DEFAULT_MAGNITUDE)
    return Plain(array, DEFAULT_MAGNITUDE, not np.iscomplexobj(other), structured=True)


def is_public(other: Any) -> bool:
    """Whether an operand is part of the program that is written: a whole number."""
    return isinstance(other, int) and not isinstance(other, bool)
