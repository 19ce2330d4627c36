"""One ciphertext while a kernel is traced: a scalar, a vector, or a matrix packed row by row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.trace import broadcast, gather, linear
from ringmill.trace.base import (
    Tensor,
    axes_of,
    constant_array,
    no_iteration,
    order_of,
    plain_sum,
    reshaped,
)
from ringmill.trace.graph import Graph, Total
from ringmill.trace.index import index_of, whole_exponent
from ringmill.trace.layout import Layout, Shape
from ringmill.trace.where import MoreSlotsError, refuse


class Symbol(Tensor):
    """An encrypted array whose elements sit in the slots of one ciphertext.

    ``clean`` says that slots outside the layout are known to be zero (see ``layout``).
    """

    __slots__ = ("clean", "graph", "layout", "node")
    offers = "T, bootstrap, conj, dot, mean, ndim, reshape, rotate, shape, size, sum, tile and transpose"

    def __init__(self, graph: Graph, node: int, layout: Layout, *, clean: bool) -> None:
        self.graph = graph
        self.node = node
        self.layout = layout
        self.clean = clean or layout.full

    @property
    def shape(self) -> Shape:
        """Logical shape; ``()`` for a scalar."""
        return self.layout.shape

    @property
    def slots(self) -> int:
        """Slots of the ciphertext."""
        return self.layout.slots

    def with_node(self, node: int, *, clean: bool) -> Symbol:
        """The same layout, another value."""
        return Symbol(self.graph, node, self.layout, clean=clean)

    # ---- element by element -------------------------------------------------------------------

    def _binary(self, op: str, other: object, *, reverse: bool) -> Any:
        if isinstance(other, Symbol):
            left, right = (other, self) if reverse else (self, other)
            return _combine(op, left, right)
        if isinstance(other, Tensor):
            return other._binary(op, self, reverse=not reverse)
        return self._with_constant(op, constant_array(other), reverse=reverse)

    def _with_constant(self, op: str, value: NDArray[np.complex128], *, reverse: bool) -> Symbol:
        target = self._grown_to(value)
        clean = target.clean
        if value.ndim == 0 and (op == "mul" or not clean or target.layout.full):
            constant = self.graph.const(complex(value))
        else:
            # Adding a number to a clean vector touches its elements only, so that it stays clean.
            fill = complex(value) if value.ndim == 0 else None
            constant = self.graph.const(target.layout.place(value), fill)
            clean = clean or op == "mul"
        if op == "mul":
            return target.with_node(self.graph.mul(target.node, constant), clean=clean)
        if op == "add":
            return target.with_node(self.graph.add(target.node, constant), clean=clean)
        if reverse:  # constant − x
            return target.with_node(self.graph.add(self.graph.neg(target.node), constant), clean=clean)
        return target.with_node(self.graph.sub(target.node, constant), clean=clean)

    def _grown_to(self, value: NDArray[np.complex128]) -> Symbol:
        """The value seen in the shape that a constant operand asks for."""
        shape = broadcast.common_shape(self, value)
        if shape == self.shape:
            return self
        if math.prod(shape) > self.slots:
            raise MoreSlotsError(math.prod(shape))
        grown: Symbol = broadcast.widened(self, shape)
        return grown

    def __neg__(self) -> Symbol:
        return self.with_node(self.graph.neg(self.node), clean=self.clean)

    def conj(self) -> Symbol:
        """Complex conjugate of every element."""
        return self.with_node(self.graph.conj(self.node), clean=self.clean)

    def bootstrap(self, *, iterations: int | None = None) -> Symbol:
        """The same elements with fresh levels."""
        if isinstance(iterations, bool) or iterations not in (None, 1, 2):
            refuse(
                "Iterations",
                f"a bootstrapping in {iterations!r} iterations is not possible",
                "Take 1 or 2, or leave it to the parameters",
            )
        return self.with_node(self.graph.bootstrap(self.node, iterations), clean=self.clean)

    def __pow__(self, exponent: object) -> Any:
        whole = whole_exponent(self, exponent)
        if whole is None:
            from ringmill.trace import elementary

            return elementary.power(self, exponent)
        if whole == 0:
            return self * 0 + 1
        powers = {1: self}

        def power(n: int) -> Symbol:
            # Halving keeps the depth at ⌈log2 n⌉; equal halves are one product.
            if n not in powers:
                powers[n] = _combine("mul", power(n - n // 2), power(n // 2))
            return powers[n]

        return power(whole)

    # ---- moving elements ----------------------------------------------------------------------

    def cleaned(self) -> Symbol:
        """The same elements with zero padding; costs a level when the padding is not known to be zero."""
        if self.clean:
            self.graph.relied.add(self.node)
            return self
        return self.with_node(self.graph.mul(self.node, self.graph.const(self.layout.mask())), clean=True)

    def rotate(self, k: int) -> Symbol:
        """Element i of the result is element i + k of this vector, cyclically: ``numpy.roll(x, -k)``.

        The latter can be written too, and works on clear data.
        One key switch when the vector fills the slots. A shorter vector needs two and, unless it fills
        less than half of the slots with zero padding, a mask (one level).
        """
        if self.ndim != 1:
            refuse(
                "ShapeMismatch",
                f"an encrypted {self.kind} does not rotate",
                "Only vectors do; use reshape(-1)",
            )
        if not isinstance(k, (int, np.integer)) or isinstance(k, bool):
            refuse(
                "BadRotation", f"rotation by {k!r} is not possible", "Rotate by a whole number of elements"
            )
        count, stride = self.shape[0], self.layout.strides[0]
        k = int(k) % count
        if k == 0:
            return self
        near = self.graph.rotate(self.node, k * stride)
        if count * stride == self.slots:
            return self.with_node(near, clean=self.clean)
        far = self.graph.rotate(self.node, (k - count) * stride)
        if self.clean and 2 * count * stride <= self.slots:
            self.graph.relied.add(self.node)
            return self.with_node(self.graph.add(near, far), clean=False)
        first = (np.arange(count) < count - k).astype(np.complex128)
        near = self.graph.mul(near, self.graph.const(self.layout.place(first)))
        far = self.graph.mul(far, self.graph.const(self.layout.place(1 - first)))
        return self.with_node(self.graph.add(near, far), clean=True)

    def _rolled(self, shift: object, axis: object = None) -> Symbol:
        """What ``numpy.roll`` gives."""
        axes_of(axis, self.ndim, f"an encrypted {self.kind}")
        if isinstance(shift, (int, np.integer)) and not isinstance(shift, bool):
            return self.rotate(-int(shift))
        refuse("BadRotation", f"a roll by {shift!r} is not possible", "Roll by a whole number of elements")

    def __getitem__(self, key: object) -> Symbol:
        found: Symbol = gather.gathered(self, index_of(self, key))
        return self if found.layout == self.layout and found.node == self.node else found

    def __iter__(self) -> Iterator[Symbol]:
        if self.ndim < 2:
            no_iteration(self)
        return iter([self[row] for row in range(self.shape[0])])

    def reshape(self, *shape: int | Sequence[int]) -> Symbol:
        """The same elements in row-major order under another shape.

        Costs nothing where elements stand in that order without gaps. Others (slices, transposes, results
        of convolution, pooling and products) are brought there by a linear map: one level, rotations for
        as many diagonals as there are distances. It and a plaintext matrix times the vector that comes of it
        are one map, in one level. One element in the shape ``()`` is a scalar, which stands
        in every slot: a sum.
        """
        new = reshaped(self, shape)
        if not new:
            return self.sum()
        layout = Layout.contiguous(new, self.slots)
        if not self.shape:
            return Symbol(self.graph, self.node, layout, clean=False)
        row_major = linear.packed(self)
        return Symbol(self.graph, row_major.node, layout, clean=row_major.clean)

    def transpose(self, *axes: int | Sequence[int] | None) -> Symbol:
        """Axes in reverse order, or in the order given; costs nothing, only the reading order changes."""
        order = order_of(axes, self.ndim, f"an encrypted {self.kind}")
        shape, strides = (tuple(of[a] for a in order) for of in (self.shape, self.layout.strides))
        layout = Layout(shape, strides, self.slots)
        return Symbol(self.graph, self.node, layout, clean=self.clean)

    @property
    def T(self) -> Symbol:  # noqa: N802 (NumPy's name)
        """Transpose, as in NumPy."""
        return self.transpose()

    # ---- sums and products --------------------------------------------------------------------

    def sum(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: object = None,
        out: object = None,
        *,
        keepdims: bool = False,
    ) -> Symbol:
        """Sum of all elements (a scalar in every slot), or along one axis or several.

        ``keepdims`` leaves the summed axes with one element; ``rm.total`` with as many as they had.
        """
        plain_sum(dtype, out)
        axes = axes_of(axis, self.ndim, f"an encrypted {self.kind}")
        if not axes or not self.shape:
            return self
        with self.graph.part(f"sum of {math.prod(self.shape[a] for a in axes)}"):
            summed = self._summed(axes)
        self.graph.totals[summed.node] = Total(self.node, axes, keepdims)
        if not keepdims:
            return summed
        shape = tuple(1 if a in axes else n for a, n in enumerate(self.shape))
        layout = Layout(shape, self.layout.strides, self.slots)
        return Symbol(self.graph, summed.node, layout, clean=False)

    def _summed(self, axes: tuple[int, ...]) -> Symbol:
        if len(axes) == self.ndim:
            total = self.graph.sum(self.cleaned().node, self.slots, 1)
            return Symbol(self.graph, total, Layout.scalar(self.slots), clean=True)
        # Only slots of the summed rows or columns are read, so padding does not matter.
        node = self.node
        for a in axes:
            node = self.graph.sum(node, self.shape[a], self.layout.strides[a])
        kept = [a for a in range(self.ndim) if a not in axes]
        shape, strides = (tuple(of[a] for a in kept) for of in (self.shape, self.layout.strides))
        return Symbol(self.graph, node, Layout(shape, strides, self.slots), clean=False)

    def window_sum(self, height: int, width: int) -> Symbol:
        """Sums over the windows that tile a matrix: (…, r, c) becomes (…, r/height, c/width)."""
        if self.ndim not in (2, 3) or self.shape[-2] % height or self.shape[-1] % width:
            refuse(
                "ShapeMismatch",
                f"windows of {height}×{width} do not tile an encrypted {self.kind}",
                "Both sides of the matrix must be whole multiples of the window",
            )
        *channels, rows, columns = self.layout.strides
        node = self.graph.sum(self.graph.sum(self.node, width, columns), height, rows)
        shape = (*self.shape[:-2], self.shape[-2] // height, self.shape[-1] // width)
        layout = Layout(shape, (*channels, rows * height, columns * width), self.slots)
        return Symbol(self.graph, node, layout, clean=False)

    def tile(self, rows: int, columns: int) -> Symbol:
        """Copies of a small matrix or a row vector side by side, as ``numpy.tile``; key switches only."""
        return linear.tile(self, rows, columns)

    def __matmul__(self, other: object) -> Any:
        if isinstance(other, Tensor) and not isinstance(other, Symbol):
            return other.__rmatmul__(self)
        return linear.matmul(self, other)

    def __rmatmul__(self, other: object) -> Any:
        return linear.rmatmul(self, linear.factor(other))


def _combine(op: str, left: Symbol, right: Symbol) -> Symbol:
    """Element-wise operation of two encrypted values; scalars go with everything."""
    if left.graph is not right.graph:
        refuse(
            "ForeignValue",
            "a value of another kernel's trace cannot be used",
            "Use only this kernel's arguments",
        )
    whole = left.node, right.node
    if left.shape and right.shape and not left.layout.alike(right.layout):
        left, right = broadcast.together(left, right)
    layout = right.layout if not left.shape else left.layout
    node = getattr(left.graph, op)(left.node, right.node)
    if op == "sub":
        # No element is above the greatest one, which intervals of both do not show.
        extremes, mask = left.graph.extremes, layout.mask().real != 0
        if (found := extremes.get(right.node)) and found.of.node == whole[0]:
            left.graph.promise_ends(node, *found.ends, mask)
            left.graph.shifted[node] = found
        if (found := extremes.get(left.node)) and found.of.node == whole[1]:
            low, high = found.ends
            left.graph.promise_ends(node, -high, -low, mask)
    # A scalar fills the padding too; a product is zero where either side is.
    sides = [s.clean for s in (left, right) if s.shape or not layout.shape]
    clean = any(sides) if op == "mul" else all(sides) and bool(left.shape) == bool(right.shape)
    return Symbol(left.graph, node, layout, clean=clean)
