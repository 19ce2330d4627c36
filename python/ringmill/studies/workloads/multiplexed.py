"""Convolutions of images whose channels share a grid, with few rotation keys.

The image of one channel stands on a grid of ``base`` × ``base`` slots. After a stride of two its elements
are two slots apart, and four channels interleave in the gaps: the multiplexed packing of Lee et al. (ICML
2022). ``base``² slots make a group; groups follow each other.

A convolution is a sum over distances d of a mask times the image rotated by d, one level deep. Distances are
k·base² + i·base + j. Rotations by j come first and are hoisted; Horner's rule takes those by i·base and
k·base² from rotations by ``base`` and by ``base``² alone. So the keys are those of 1, 2, … as far as the
kernel reaches, which bootstrapping has anyway, and two more, where every distance for itself would need a
hundred megabytes of key. Negative distances would need others; instead each convolution leaves its result a
little further on (``shift``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.trace.marks import within_everywhere as within

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Bound on sums on the way, in units of the bound on the result: weights are normalised with a margin for it.
PARTIAL = 4.0


@dataclass(frozen=True)
class Grid:
    """Where an image of several channels stands in the slots.

    Attributes
    ----------
        base: side of the grid, a power of two.
        gap: slots between neighbouring elements; ``gap``² channels share a group.
        channels: a multiple of ``gap``².
        shift: the rows that the image has moved up, and the columns to the left, cyclically.
    """

    base: int
    gap: int
    channels: int
    shift: int = 0

    @property
    def side(self) -> int:
        """Rows, and columns, of the image."""
        return self.base // self.gap

    @property
    def groups(self) -> int:
        """Groups of channels."""
        return self.channels // self.gap**2

    @property
    def period(self) -> int:
        """Slots that hold everything."""
        return self.groups * self.base**2

    @property
    def origin(self) -> int:
        """Slot s holds what stands at slot s + origin without a shift."""
        return self.shift * (self.base + 1)

    def place(self, channel: Any, y: Any, x: Any) -> tuple[Indices, Indices, Indices]:
        """Group, row and column of elements, without a shift."""
        group, inside = np.divmod(np.asarray(channel), self.gap**2)
        a, b = np.divmod(inside, self.gap)
        return np.asarray(group), np.asarray(self.gap * y + a), np.asarray(self.gap * x + b)

    def slots(self) -> Indices:
        """Slot of every element, (channels, side, side)."""
        c, y, x = np.ogrid[: self.channels, : self.side, : self.side]
        group, row, column = self.place(c, y, x)
        slots: Indices = (group * self.base**2 + row * self.base + column - self.origin) % self.period
        return slots

    def pack(self, image: Array) -> Array:
        """The slots of an image (channels, side, side), fewer channels being filled up with zeros."""
        slots = np.zeros(self.period)
        slots[self.slots()[: len(image)]] = image
        return slots

    def unpack(self, slots: Array) -> Array:
        """The image in the slots."""
        return slots[self.slots()]


@dataclass(frozen=True)
class Input:
    """What a convolution reads: where it stands, and weights (outputs, channels, rows, columns) of odd sides.

    The image is padded by half of the weights' sides.
    """

    grid: Grid
    weights: Array
    stride: int = 1


Offset = tuple[int, int, int]


def masks(source: Input, target: Grid, slots: int) -> dict[Offset, Array]:
    """By distance (groups, rows, columns) what an input is multiplied by; shifts aside.

    Images that have fewer slots than there are repeat in them.
    """
    grid, stride = source.grid, source.stride
    height, width = source.weights.shape[2:]
    found: dict[Offset, Array] = {}
    y, x = np.mgrid[: target.side, : target.side]
    for (o, c, u, v), weight in np.ndenumerate(source.weights):
        yi, xi = stride * y + u - height // 2, stride * x + v - width // 2
        inside = (yi >= 0) & (yi < grid.side) & (xi >= 0) & (xi < grid.side)
        if weight == 0 or not inside.any():
            continue
        to = target.place(o, y[inside], x[inside])
        at = grid.place(c, yi[inside], xi[inside])
        # Elements of one channel and tap are equally far from where they go, in rows and columns.
        i, j = int((at[1] - to[1])[0]), int((at[2] - to[2])[0])
        for group in range(int(to[0]), slots // target.base**2, target.groups):
            k = (int(at[0]) - group) % grid.groups
            mask = found.setdefault((k, i, j), np.zeros(slots))
            mask[group * target.base**2 + to[1] * target.base + to[2]] = weight
    return found


@dataclass(frozen=True)
class Plan:
    """A convolution ready to be traced.

    Attributes
    ----------
        target: where the result stands.
        slots: of the ciphertexts, those of the largest input.
        masks: by groups, then rows, the (input, columns, mask) of each product.
    """

    target: Grid
    slots: int
    masks: dict[int, dict[int, list[tuple[int, int, Array]]]]


def plan(inputs: Sequence[Input], gap: int) -> Plan:
    """Plan the sum of convolutions; the result has ``gap`` slots between its elements."""
    base, slots = inputs[0].grid.base, max(source.grid.period for source in inputs)
    target = Grid(base, gap, inputs[0].weights.shape[0])
    found = [masks(source, target, slots) for source in inputs]
    # The shift that leaves no distance negative.
    shift = max(
        source.grid.shift - min(min(i, j) for _, i, j in distances)
        for source, distances in zip(inputs, found, strict=True)
    )
    target = replace(target, shift=shift)
    arranged: dict[int, dict[int, list[tuple[int, int, Array]]]] = {}
    for which, (source, distances) in enumerate(zip(inputs, found, strict=True)):
        for (k, i, j), mask in sorted(distances.items()):
            rows, columns = (step + shift - source.grid.shift for step in (i, j))
            # A product is rotated afterwards, so it is multiplied where it stands before.
            moved = np.roll(mask, k * base**2 + rows * base - target.origin)
            arranged.setdefault(k, {}).setdefault(rows, []).append((which, columns, moved))
    return Plan(target, slots, arranged)


def turn(x: Any, distance: int) -> Any:
    """``x`` rotated, a NumPy array too."""
    if not distance:
        return x
    return x.rotate(distance) if hasattr(x, "rotate") else np.roll(x, -distance)


def horner(parts: dict[int, Any], distance: int) -> Any:
    """Σ of parts, part n rotated n times, by one key."""
    total = None
    for n in range(max(parts), -1, -1):
        total = None if total is None else turn(total, distance)
        if n in parts:
            total = parts[n] if total is None else within(total + parts[n], PARTIAL)
    return total


def repeated(values: Array, x: Any) -> Array:
    """The values again and again, in as many slots as ``x`` has."""
    return np.tile(values, len(x) // len(values))


def convolve(inputs: Sequence[Any], plan: Plan) -> Any:
    """The sum of convolutions of encrypted vectors of ``plan.slots`` slots, or of NumPy arrays of as many.

    In more slots images repeat.
    """
    base = plan.target.base

    def row(products: list[tuple[int, int, Array]]) -> Any:
        total = None
        for which, columns, mask in products:
            term = turn(inputs[which], columns) * repeated(mask, inputs[which])
            total = term if total is None else total + term
        return within(total, PARTIAL)

    groups = {
        k: horner({i: row(products) for i, products in rows.items()}, base) for k, rows in plan.masks.items()
    }
    return horner(groups, base**2)
