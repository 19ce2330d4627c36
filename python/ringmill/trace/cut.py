"""An array that is larger than a ciphertext, cut along one axis.

Part j holds a run of indices along the *cut axis*, and all of the other axes. Elementwise operations go part
by part. A sum along the cut axis adds parts before it adds slots, so that it takes the key switches of one or
two ciphertexts. A product that contracts the cut axis is a sum of products of parts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ringmill.trace.base import (
    Tensor,
    axes_of,
    constant_array,
    no_iteration,
    order_of,
    plain_sum,
    reshaped,
)
from ringmill.trace.broadcast import common_shape
from ringmill.trace.gather import Numbers, gathered, numbers, rolled
from ringmill.trace.graph import Graph
from ringmill.trace.index import index_of
from ringmill.trace.layout import Layout, Shape, floor_power_of_two
from ringmill.trace.linear import factor, mapped
from ringmill.trace.several import Several
from ringmill.trace.stack import Stack
from ringmill.trace.symbol import Symbol
from ringmill.trace.where import MissingError, MoreSlotsError, refuse

_SERVED = (
    "Sums, means, elementwise functions and products along the long axis work on as many elements as there "
    "are; give fewer to other operations"
)


class Cut(Several):
    """An array in several ciphertexts, cut along an axis.

    Attributes
    ----------
        axis: the cut axis.
    """

    __slots__ = ("axis",)
    offers = "T, bootstrap, conj, dot, mean, ndim, reshape, rotate, shape, size, sum and transpose"

    def __init__(self, parts: Sequence[Symbol], axis: int) -> None:
        self.parts = tuple(parts)
        self.axis = axis

    @property
    def lengths(self) -> tuple[int, ...]:
        """Indices along the cut axis that each part has."""
        return tuple(part.shape[self.axis] for part in self.parts)

    @property
    def shape(self) -> Shape:
        """Of the whole array."""
        first = self.parts[0].shape
        return (*first[: self.axis], sum(self.lengths), *first[self.axis + 1 :])

    @property
    def _runs(self) -> list[slice]:
        """The indices along the cut axis of each part."""
        ends = list(itertools.accumulate(self.lengths))
        return [slice(end - length, end) for end, length in zip(ends, self.lengths, strict=True)]

    def map(self, function: Callable[[Symbol], Symbol]) -> Cut:
        """The function applied to every part; it keeps the cut axis."""
        return Cut([function(part) for part in self.parts], self.axis)

    # ---- element by element -------------------------------------------------------------------

    def _binary(self, op: str, other: object, *, reverse: bool) -> Any:
        value: Any = other if isinstance(other, Tensor) else constant_array(other)
        shape = common_shape(self, value)
        # Axes are counted from the last, as shapes broadcast.
        fromlast = self.ndim - self.axis
        others = self._along(value, fromlast)
        parts = [a._binary(op, b, reverse=reverse) for a, b in zip(self.parts, others, strict=True)]
        return Cut(parts, len(shape) - fromlast)

    def _along(self, value: Any, fromlast: int) -> list[Any]:
        """What of another operand goes with each part, an axis of it beside the cut one."""
        if isinstance(value, Stack):
            self._stays("joined with one by columns")
        at = value.ndim - fromlast
        if isinstance(value, Cut) and value.axis != at:
            self._stays(f"joined with an encrypted {value.kind} that is cut along another axis")
        if at < 0 or value.shape[at] == 1:
            return [value] * len(self.parts)
        return self._sliced(value, at)

    def _sliced(self, value: Any, axis: int) -> list[Any]:
        """An array in runs along an axis that are as long as those of the parts."""
        if isinstance(value, Cut) and value.lengths == self.lengths:
            return list(value.parts)
        return [value[(slice(None),) * axis + (run,)] for run in self._runs]

    # ---- moving elements ----------------------------------------------------------------------

    def __getitem__(self, key: object) -> Any:
        keys = self._spelled(key)
        if keys is not None:
            at, before = keys
            return Cut([part[at] for part in self.parts], before)
        return self.gathered(index_of(self, key))

    def _spelled(self, key: object) -> tuple[tuple[Any, ...], int] | None:
        """An index that leaves the cut axis whole, and the number of that axis in the result."""
        keys = key if isinstance(key, tuple) else (key,)
        if any(not (k is None or k is Ellipsis or isinstance(k, (int, np.integer, slice))) for k in keys):
            return None
        if any(isinstance(k, (bool, np.bool_)) for k in keys):
            return None
        named = sum(k is not None and k is not Ellipsis for k in keys)
        if named > self.ndim or sum(k is Ellipsis for k in keys) > 1:
            return None
        at = next((i for i, k in enumerate(keys) if k is Ellipsis), len(keys))
        keys = (*keys[:at], *(slice(None),) * (self.ndim - named), *keys[at + 1 :])
        axis = before = 0
        for k in keys:
            if k is None:
                before += 1
                continue
            if axis == self.axis:
                return (keys, before) if k == slice(None) else None
            axis, before = axis + 1, before + isinstance(k, slice)
        return None

    def gathered(self, index: Numbers) -> Any:
        """The elements that have these numbers (`trace/gather.py`): in one ciphertext, or cut."""
        return in_pieces(index, self.parts[0].graph, self.one)

    def one(self, index: Numbers) -> Symbol:
        """The same in one ciphertext."""
        flat = index.ravel() - 1
        where = np.unravel_index(np.maximum(flat, 0), self.shape)
        starts = np.array([run.start for run in self._runs])
        part = np.where(flat >= 0, np.searchsorted(starts, where[self.axis], side="right") - 1, -1)
        terms = []
        for j in np.unique(part[part >= 0]):
            own = self.parts[int(j)]
            mine = part == j
            inside = [w[mine] - (starts[j] if axis == self.axis else 0) for axis, w in enumerate(where)]
            found = np.zeros(flat.size, dtype=np.int64)
            found[mine] = np.ravel_multi_index(inside, own.shape) + 1
            taken = found.reshape(index.shape)
            terms.append(own if np.array_equal(taken, numbers(own)) else gathered(own, taken))
        whole: Symbol = reduce(lambda a, b: a + b, terms or [gathered(self.parts[0], np.zeros_like(index))])
        return whole

    def rotate(self, k: int) -> Any:
        """Element i of the result is element i + k of this vector, cyclically: ``numpy.roll(x, -k)``."""
        if self.ndim != 1:
            refuse("ShapeMismatch", f"an encrypted {self.kind} does not rotate", "Only vectors do")
        return rolled(self, -k if isinstance(k, (int, np.integer)) else k)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim < 2:
            no_iteration(self)
        return iter([self[row] for row in range(self.shape[0])])

    def transpose(self, *axes: Any) -> Cut:
        """Axes in reverse order, or in the order given."""
        order = order_of(axes, self.ndim, f"an encrypted {self.kind}")
        return Cut([part.transpose(order) for part in self.parts], order.index(self.axis))

    @property
    def T(self) -> Cut:  # noqa: N802 (NumPy's name)
        """Transpose, as in NumPy."""
        return self.transpose()

    def reshape(self, *shape: Any) -> Any:
        """The same elements in row-major order under another shape: free where each part keeps whole rows."""
        new = reshaped(self, shape)
        row = math.prod(new[1:])
        if self.axis or not new or any(part.size % row for part in self.parts):
            return self.gathered(numbers(self).reshape(new))
        return Cut([part.reshape((part.size // row, *new[1:])) for part in self.parts], 0)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in ("graph", "layout", "node"):  # what one ciphertext has
                raise MissingError(
                    f"an encrypted {self.kind}, which {len(self.parts)} ciphertexts hold, is too large here",
                    _SERVED,
                )
            return super().__getattr__(name)

    def _stays(self, done: str) -> NoReturn:
        refuse(
            "PackingMismatch",
            f"an encrypted {self.kind}, which {len(self.parts)} ciphertexts hold, cannot be {done}",
            _SERVED,
        )

    # ---- sums and products --------------------------------------------------------------------

    def joined(self, combine: Callable[[Any, Any], Any]) -> list[Symbol]:
        """The parts combined element by element, two by two; one result for each length of parts."""
        found = []
        for length in dict.fromkeys(self.lengths):
            level = [part for part in self.parts if part.shape[self.axis] == length]
            while len(level) > 1:
                odd = level[-1:] if len(level) % 2 else []
                level = [combine(a, b) for a, b in zip(level[::2], level[1::2], strict=False)] + odd
            found += level
        return found

    def sum(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: object = None,
        out: object = None,
        *,
        keepdims: bool = False,
    ) -> Any:
        """Sum of all elements (a scalar in every slot), or along one axis or several."""
        plain_sum(dtype, out)
        axes = axes_of(axis, self.ndim, f"an encrypted {self.kind}")
        if self.axis not in axes:
            found = [part.sum(axes, keepdims=keepdims) for part in self.parts]
            return Cut(found, self.axis if keepdims else self.axis - sum(a < self.axis for a in axes))
        added = self.joined(lambda a, b: a + b)
        if len(axes) == self.ndim or all(part.clean for part in added):
            added = _in_one(added)
        return reduce(lambda a, b: a + b, [part.sum(axes, keepdims=keepdims) for part in added])

    def cumsum(self) -> Cut:
        """``numpy.cumsum`` along the cut axis: that of every part, and what stands before it."""
        from ringmill.trace import statistics

        parts: list[Symbol] = []
        before: Any = None
        for part in self.parts:
            own = statistics.cumsum(part, self.axis)
            parts.append(own if before is None else own + before)
            total = part.sum(self.axis, keepdims=True) if self.ndim > 1 else part.sum()
            before = total if before is None else before + total
        return Cut(parts, self.axis)

    def mapped(self, rows: Numbers, columns: Numbers, weights: Any, length: int) -> Any:
        """A sparse clear matrix times a vector, in one level.

        Element rows[k] gets weights[k] times element columns[k]. No pair of a row and a column appears twice.
        """

        def piece(index: Numbers) -> Symbol:
            first = int(index[0])
            layout = Layout.contiguous(index.shape, self.parts[0].slots)
            inside = (rows >= first) & (rows < first + index.size)
            terms = []
            for run, part in zip(self._runs, self.parts, strict=True):
                chosen = inside & (columns >= run.start) & (columns < run.stop)
                if np.any(chosen):
                    source = part.layout.index()[columns[chosen] - run.start]
                    terms.append(mapped(part, source, rows[chosen] - first, weights[chosen], layout))
            found: Symbol = reduce(lambda a, b: a + b, terms or [gathered(self.parts[0], 0 * index)])
            return found

        return in_pieces(np.arange(length), self.parts[0].graph, piece)

    def __matmul__(self, other: object) -> Any:
        value: Any = other if isinstance(other, Tensor) else factor(other)
        contracted = max(value.ndim - 2, 0)
        if self.ndim > 2 or value.ndim not in (1, 2) or self.shape[-1] != value.shape[contracted]:
            self._no_product(value)
        if isinstance(value, Stack):
            self._stays("multiplied by one by columns")
        if self.axis == self.ndim - 1:
            return _contracted(self.parts, self._sliced(value, contracted))
        if isinstance(value, Cut):
            self._stays("multiplied by another that is cut")
        return self.map(lambda part: part @ value)

    def __rmatmul__(self, other: object) -> Any:
        value: Any = other if isinstance(other, Tensor) else factor(other)
        contracted = max(self.ndim - 2, 0)
        if self.ndim > 2 or value.ndim not in (1, 2) or self.shape[contracted] != value.shape[-1]:
            self._no_product(value)
        if isinstance(value, Stack):
            self._stays("multiplied by one by columns")
        if self.axis == contracted:
            return _contracted(self._sliced(value, value.ndim - 1), self.parts)
        return Cut([value @ part for part in self.parts], value.ndim - 1)

    def _no_product(self, value: Any) -> NoReturn:
        what = f"an encrypted {value.kind}" if isinstance(value, Tensor) else f"a constant {value.shape}"
        refuse(
            "ShapeMismatch",
            f"an encrypted {self.kind} and {what} have no product",
            "Vectors and matrices are multiplied, with as many columns on the left as rows on the right",
        )


def _contracted(left: Sequence[Any], right: Sequence[Any]) -> Any:
    """The sum of the products left[k] @ right[k], with one sum along the contracted axis where that goes."""
    pairs = list(zip(left, right, strict=True))
    ndims = left[0].ndim, right[0].ndim
    if ndims == (1, 1):
        return _summed([a * b for a, b in pairs], 0)
    if ndims == (2, 1) and isinstance(left[0], Symbol):
        return _summed([a * b for a, b in pairs], 1)
    if ndims == (1, 2) and isinstance(right[0], Symbol):
        return _summed([b * a[:, None] for a, b in pairs], 0)
    both = all(isinstance(part, Symbol) and part.ndim == 2 for part in (*left, *right))
    together = _by_diagonals(left, right) if both else None
    if together is not None:
        return together
    return reduce(lambda a, b: a + b, [a @ b for a, b in pairs])


def _summed(products: Sequence[Symbol], axis: int) -> Any:
    """The sum of all parts along an axis."""
    return Cut(products, axis).sum(axis)


def _by_diagonals(left: Sequence[Symbol], right: Sequence[Symbol]) -> Symbol | None:
    """The same of matrices whose rows stand ``step`` slots apart and repeat: a product for each diagonal.

    Slot i of a row of the left has column i. With the right one rotated by d it meets column i + d. Sums over
    the rows are in every row, so that masks alone put the product's column j into row j. ``None`` where rows
    do not stand so.
    """
    graph, (p, _), (_, q) = left[0].graph, left[0].shape, right[0].shape
    layouts = {part.layout.strides for part in left}, {part.layout.strides for part in right}
    if [len(each) for each in layouts] != [1, 1]:
        return None
    (across, step), (other, down) = (next(iter(each)) for each in layouts)
    rows = graph.slots // step
    wide = (p - 1) * across >= step or (q - 1) * down >= step
    if other != step or wide or rows & (rows - 1) or rows * step != graph.slots or q > rows:
        return None
    offsets: dict[int, list[tuple[int, int]]] = {}
    for i in range(p):
        for j in range(q):
            offsets.setdefault(j * down - i * across, []).append((i, j))
    layout = Layout((p, q), (across, step), graph.slots)
    total: Any = None
    for offset, pairs in offsets.items():
        node: Any = None
        for a, b in zip(left, right, strict=True):
            whole = a.shape[1] * step == graph.slots
            product = graph.mul((a if whole else a.cleaned()).node, graph.rotate(b.node, offset))
            node = product if node is None else graph.add(node, product)
        mask = np.zeros(graph.slots, dtype=np.complex128)
        mask[[i * across + j * step for i, j in pairs]] = 1
        term = graph.mul(graph.sum(node, rows, step), graph.const(mask))
        total = term if total is None else graph.add(total, term)
    return Symbol(graph, total, layout, clean=True)


def in_pieces(index: Numbers, graph: Graph, one: Callable[[Numbers], Symbol]) -> Any:
    """What ``one`` makes of pieces as large as parts are cut, along the first axis that can be cut so.

    Slots beyond that are for what a kernel makes of the pieces.
    """
    slots = graph.held
    if index.size <= slots or not index.ndim:
        return one(index)
    for axis in (0, int(np.argmax(index.shape))):
        rest = index.size // index.shape[axis]
        if rest <= graph.slots:
            length = floor_power_of_two(max(slots // rest, 1))
            cuts = range(length, index.shape[axis], length)
            return Cut([one(piece) for piece in np.split(index, cuts, axis)], axis)
    raise MoreSlotsError(rest)


def _in_one(parts: list[Symbol]) -> list[Symbol]:
    """Ciphertexts of several lengths added up in the slots of the longest, where elements stand alike."""
    longest = max(parts, key=lambda part: part.size)
    if any(part.layout.strides != longest.layout.strides for part in parts):
        return parts
    layout: Layout = longest.layout
    wide = [Symbol(part.graph, part.cleaned().node, layout, clean=True) for part in parts]
    return [reduce(lambda a, b: a + b, wide)]
