"""Operations across elements: rotations, slices, sums, inner products."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmill._checks.integers import rotation, rotations
from ringmill.ciphertext.arithmetic import Arithmetic
from ringmill.ciphertext.operands import is_matrix, public_number, vector_of
from ringmill.errors import EncodingError, fail
from ringmill.trace.plain import Plain, operand
from ringmill.trace.prompt import product

if TYPE_CHECKING:
    from typing_extensions import Self


class Elements(Arithmetic):
    """What moves elements, or puts several into one; each needs keys of rotations."""

    def rotate(self, k: int) -> Self:
        """Element i of the result is element i + k, cyclically over all slots: needs the key of k.

        Any whole number; a negative one rotates to the right.

        Raises
        ------
            EncodingError: a step that is no whole number.
            KeyMissingError: no key for it.
        """
        k = rotation(EncodingError, "The rotation", k)
        return self._with(self.evaluator.rotate(self.native, k), length=self.slots)

    def rotations(self, steps: Iterable[int]) -> list[Self]:
        """What `rotate` gives for each of several steps, in less time: needs the key of each.

        The vector is decomposed once for all of them (hoisting), which is half of the work of a rotation.

        Raises
        ------
            EncodingError: steps that are no whole numbers.
            KeyMissingError: a key that is missing.
        """
        turned = self.evaluator.rotate_hoisted(self.native, rotations(EncodingError, steps))
        return [self._with(native, length=self.slots) for native in turned]

    def sum(self, axis: int | None = None) -> Self:
        """Sum of all elements, in every slot: needs keys of rotations by the powers of two below the slots.

        After a slice the slots beyond the length are masked first, which costs a level.

        Raises
        ------
            EncodingError: another axis than 0.
            KeyMissingError: keys that are missing.
            LevelError: no level for the mask.
        """
        if axis is not None and not (isinstance(axis, (int, np.integer)) and axis in (0, -1)):
            fail(EncodingError, "Axis", f"An encrypted vector has no axis {axis!r}. Its only axis is 0.")
        whole = self if self.clean else self * np.ones(self.length)
        return self._with(self.evaluator.sum(whole.native, self.slots), clean=False)

    def mean(self, axis: int | None = None) -> Self:
        """Mean of all elements, in every slot; a level more than the sum.

        Raises
        ------
            KeyMissingError: keys that are missing.
            EncodingError: another axis than 0.
            LevelError: too few levels left.
        """
        return self.sum(axis) * public_number(1.0 / self.length)

    def conj(self) -> Self:
        """Complex conjugate of every element: needs the conjugation key.

        Raises
        ------
            KeyMissingError: no conjugation key.
        """
        return self._with(self.evaluator.conjugate(self.native))

    def __getitem__(self, key: object) -> Self:
        if not isinstance(key, slice) or key.step not in (None, 1):
            fail(
                EncodingError,
                "Index",
                f"The index {key!r} of an encrypted vector is not possible: elements share a ciphertext. "
                "Take a slice x[a:b], which is a rotation.",
            )
        try:
            start, stop, _ = key.indices(self.length)
        except TypeError:
            fail(
                EncodingError,
                "Index",
                f"The slice [{key.start}:{key.stop}] has bounds that are no whole numbers. "
                "Give whole numbers: x[a:b].",
            )
        if stop <= start:
            fail(EncodingError, "Index", f"The slice [{key.start}:{key.stop}] is empty. Choose a < b.")
        moved = self.evaluator.rotate(self.native, start) if start else self.native
        return self._with(moved, length=stop - start, clean=False)

    def __matmul__(self, other: Any) -> Self:
        """The inner product with a vector, which every slot holds; or the product with a clear matrix."""
        return product(self, operand(other)) if is_matrix(other) else self._inner(other)

    def __rmatmul__(self, other: Any) -> Self:
        return product(operand(other), self) if is_matrix(other) else self._inner(other)

    def _inner(self, other: Any) -> Self:
        if not isinstance(other, (type(self), Plain)):
            other = vector_of("the plaintext operand of @", other)
        return self.__mul__(other).sum()
