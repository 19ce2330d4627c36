"""Where the elements of a logical array sit in the slots of one ciphertext.

Element (i, j, …) sits in slot i·strides[0] + j·strides[1] + …. Slots outside the layout are the
*padding*. A value is *clean* when its padding is known to be zero: sums need that, products keep it.
A scalar (shape ``()``) is replicated: every slot holds it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Shape = tuple[int, ...]

#: Half of the largest ring degree, 2^17.
MOST_SLOTS = 1 << 16


def power_of_two(n: int) -> int:
    """The least power of two that is at least ``n``."""
    return 1 << max(0, n - 1).bit_length()


def floor_power_of_two(n: int) -> int:
    """The greatest power of two that is at most ``n``, which is 1 or more."""
    return 1 << (n.bit_length() - 1)


def apart(shape: Shape, strides: Shape) -> bool:
    """Whether every element has a slot of its own."""
    reach, nested = 0, True
    for stride, count in sorted((s, n) for n, s in zip(shape, strides, strict=True) if n > 1):
        nested &= stride > reach
        reach += (count - 1) * stride
    # Axes that nest need no look at the elements; others may interleave, or collide.
    return nested or np.unique(_places(shape, strides)).size == math.prod(shape)


def _places(shape: Shape, strides: Shape) -> NDArray[np.int64]:
    """Slot of every element, in the shape of the array."""
    grid = np.zeros(shape, dtype=np.int64)
    for axis, (count, stride) in enumerate(zip(shape, strides, strict=True)):
        along = np.arange(count) * stride
        grid = grid + along.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return grid


@dataclass(frozen=True, slots=True)
class Layout:
    """Shape and strides (in slots) of an array inside ``slots`` slots; no two elements share one."""

    shape: Shape
    strides: Shape
    slots: int

    def __post_init__(self) -> None:
        if not apart(self.shape, self.strides):
            raise ValueError(f"elements of shape {self.shape} with strides {self.strides} share slots")

    @classmethod
    def contiguous(cls, shape: Shape, slots: int) -> Layout:
        """Row-major order without gaps, starting at slot 0."""
        strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
        return cls(shape, strides, slots)

    @classmethod
    def scalar(cls, slots: int) -> Layout:
        """One number in every slot."""
        return cls((), (), slots)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def reach(self) -> int:
        """Slots up to the last element."""
        return 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))

    @property
    def full(self) -> bool:
        """No padding: every slot belongs to the value."""
        return not self.shape or self.size == self.slots

    def alike(self, other: Layout) -> bool:
        """Whether both have the same elements in the same slots: axes of one element have any stride."""
        return self.shape == other.shape and all(
            n == 1 or a == b for n, a, b in zip(self.shape, self.strides, other.strides, strict=True)
        )

    def index(self) -> NDArray[np.int64]:
        """Slot of every element, in the shape of the array."""
        return _places(self.shape, self.strides)

    def place(self, values: ArrayLike) -> NDArray[np.complex128]:
        """The slot vector that holds ``values``; padding is zero."""
        return self.put(np.zeros(self.slots, dtype=np.complex128), values)

    def put(self, slots: ArrayLike, values: ArrayLike) -> NDArray[np.complex128]:
        """A slot vector with ``values`` in place of the logical array; its padding stays."""
        array = np.asarray(values, dtype=np.complex128)
        out = np.array(slots, dtype=np.complex128)
        if not self.shape:
            out[:] = array
        else:
            out[self.index()] = np.broadcast_to(array, self.shape)
        return out

    def take(self, slots: ArrayLike) -> NDArray[np.complex128]:
        """The logical array read from a slot vector."""
        vector = np.asarray(slots, dtype=np.complex128)
        if not self.shape:
            return np.asarray(vector[0])
        return np.asarray(vector[self.index()])

    def mask(self) -> NDArray[np.complex128]:
        """One in every slot of the value, zero in its padding."""
        return self.place(1.0)
