"""Products of matrices and vectors on one ciphertext.

Four forms, by what is encrypted and how it is packed:

- encrypted matrix times vector: multiply by the vector repeated along the rows, then sum each row with
  rotations; element i of the result sits at the first slot of row i, wherever the matrix has it;
- plaintext matrix times encrypted vector: generalised diagonals with baby and giant steps;
- encrypted matrix times encrypted matrix, and plaintext matrix times encrypted matrix: `crates/circuits`;
  encrypted matrix times plaintext matrix is the transpose of the latter;
- vector times vector: product and sum of all slots.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringmill.trace.base import axes_of, clear_array, constant_array
from ringmill.trace.circuit import splice
from ringmill.trace.foreign import is_sparse
from ringmill.trace.layout import Layout, apart, power_of_two
from ringmill.trace.where import MoreSlotsError, refuse

if TYPE_CHECKING:
    from ringmill.trace.symbol import Symbol

Array = NDArray[np.complex128]
Slots = NDArray[np.int64]


def zeros(x: Symbol, shape: tuple[int, ...]) -> Symbol:
    """Encrypted zeros of a shape: no level, no key."""
    from ringmill.trace.symbol import Symbol

    if math.prod(shape) > x.slots:
        raise MoreSlotsError(math.prod(shape))
    node = x.graph.mul(x.node, x.graph.const(0j))
    return Symbol(x.graph, node, Layout.contiguous(shape, x.slots), clean=True)


def factor(other: object) -> Array:
    """A clear operand of ``@``; a sparse matrix is written out, since this product means one thing."""
    sparse: Any = other
    return constant_array(sparse.toarray() if is_sparse(other) else other)


def _mismatch(left: str, right: str) -> None:
    refuse(
        "ShapeMismatch",
        f"{left} cannot be multiplied by {right}",
        "Inner dimensions must agree: (n)@(n), (r,c)@(c), (r,c)@(c,p)",
    )


def matmul(left: Symbol, right: object) -> Any:
    """``left @ right`` with an encrypted left side."""
    from ringmill.trace.symbol import Symbol

    operand: Symbol | Array = right if isinstance(right, Symbol) else factor(right)
    shape = operand.shape
    name = f"an encrypted {left.kind}"
    other = f"an encrypted {operand.kind}" if isinstance(operand, Symbol) else f"a constant of shape {shape}"
    if not left.shape or not shape or left.shape[-1] != shape[0]:
        _mismatch(name, other)
    if isinstance(operand, Symbol) and operand.graph is not left.graph:
        refuse(
            "ForeignValue", "a value of another kernel's trace cannot be used", "Use this kernel's arguments"
        )
    if left.ndim == 1 and len(shape) == 1:
        return (left * operand).sum()
    if left.ndim == 1 and isinstance(operand, Symbol):
        return matmul(operand.transpose(), left) if operand.ndim == 2 else _mismatch(name, other)
    if left.ndim == 1 and isinstance(operand, np.ndarray):
        return matrix_vector(operand.T, left)
    if left.ndim == 2 and len(shape) in (1, 2):
        return matrix_times(left, operand)
    return _mismatch(name, other)


def rmatmul(right: Symbol, left: Array) -> Any:
    """``left @ right`` with a plaintext left side."""
    if right.ndim == 1 and left.ndim == 1 and left.shape == right.shape:
        return (right * left).sum()
    if right.ndim == 1 and left.ndim == 2 and left.shape[1] == right.shape[0]:
        return matrix_vector(left, right)
    if right.ndim == 2 and left.ndim == 1 and left.shape[0] == right.shape[0]:
        return matrix_times(right.transpose(), left)
    if right.ndim == 2 and left.ndim == 2 and left.shape[1] == right.shape[0]:
        return plain_times_matrix(left, right)
    return _mismatch(f"a constant of shape {left.shape}", f"an encrypted {right.kind}")


def matrix_times(matrix: Symbol, operand: Symbol | Array) -> Any:
    """(r, c) times (c,), (c, 1) or a plaintext (c, p)."""
    if not isinstance(operand, np.ndarray) and operand.ndim == 2 and operand.shape[1] != 1:
        from ringmill.trace import products

        return products.product(matrix, operand)
    if isinstance(operand, np.ndarray) and operand.ndim == 2 and operand.shape[1] != 1:
        return plain_times_matrix(operand.T, matrix.transpose()).transpose()
    rows, columns = matrix.shape
    with matrix.graph.part(f"matrix times vector, {rows}×{columns}"):
        return _matrix_times_column(matrix, operand)


def _matrix_times_column(matrix: Symbol, operand: Symbol | Array) -> Symbol:
    if isinstance(operand, np.ndarray):
        return _row_sums(matrix * operand.reshape(-1), operand.ndim)
    vector = operand if operand.ndim == 1 else _as_vector(operand)
    return _row_sums(matrix * _in_every_row(vector, matrix.layout), operand.ndim)


def _in_every_row(vector: Symbol, layout: Layout) -> Symbol:
    """The vector as every row of a matrix that sits as ``layout`` says.

    Key switches only if its elements stand as far apart as those of a row, with zeros around them; else one
    level. Copies meet no other element, since no two of the layout share a slot.
    """
    from ringmill.trace.symbol import Symbol

    (rows, columns), (down, along) = layout.shape, layout.strides
    if columns > 1 and vector.layout.strides[0] != along:
        vector = moved(vector, Layout((columns,), (along,), layout.slots))
    node = vector.graph.sum(vector.cleaned().node, rows, -down) if rows > 1 else vector.node
    return Symbol(vector.graph, node, layout, clean=rows > 1 or vector.clean)


def _row_sums(product: Symbol, ndim: int) -> Symbol:
    """Sum of each row, as a vector (r,) or as a column (r, 1)."""
    sums = product.sum(axis=1)
    return sums if ndim == 1 else _as_column(sums)


def _as_column(vector: Symbol) -> Symbol:
    from ringmill.trace.symbol import Symbol

    layout = Layout((*vector.shape, 1), (*vector.layout.strides, 1), vector.slots)
    return Symbol(vector.graph, vector.node, layout, clean=vector.clean)


def _as_vector(column: Symbol) -> Symbol:
    from ringmill.trace.symbol import Symbol

    layout = Layout(column.shape[:1], column.layout.strides[:1], column.slots)
    return Symbol(column.graph, column.node, layout, clean=column.clean)


def packed(x: Symbol) -> Symbol:
    """The same elements row by row without gaps; one level unless they sit so."""
    from ringmill.trace.symbol import Symbol

    layout = Layout.contiguous(x.shape, x.slots)
    # Axes of one element may have another stride, which convolutions read.
    if x.layout.alike(layout):
        return Symbol(x.graph, x.node, layout, clean=x.clean)
    row_major = moved(x, layout)
    x.graph.moved[row_major.node] = (x.node, x.layout, x.clean)
    return row_major


def moved(x: Symbol, layout: Layout) -> Symbol:
    """The same elements where another layout of that shape has them; one level."""
    return mapped(x, x.layout.index(), layout.index(), np.ones(1, dtype=np.complex128), layout)


def tile(symbol: Symbol, rows: int, columns: int) -> Symbol:
    """``numpy.tile(symbol, (rows, columns))`` in row-major packing.

    A shift by the size of the block copies it; ``sum`` with a negative stride adds all copies. That needs
    zero padding, and space: block (r, c) in a row of C = c·columns slots must be moved there first, which
    is free only where its rows already stand C apart or where it has one row. Gaps within rows are closed
    first, for a level.
    """
    from ringmill.trace.symbol import Symbol

    if symbol.ndim not in (1, 2) or rows < 1 or columns < 1:
        refuse(
            "ShapeMismatch", f"tiling an encrypted {symbol.kind}", "Tile vectors and matrices, at least once"
        )
    height, width = (1, symbol.shape[0]) if symbol.ndim == 1 else symbol.shape
    total = width * columns
    if height * rows * total > symbol.slots:
        raise MoreSlotsError(height * rows * total)
    graph = symbol.graph
    with graph.part(f"{rows}×{columns} copies"):
        if width > 1 and symbol.layout.strides[-1] != 1:
            symbol = packed(symbol)
        clean = symbol.cleaned()
        respace = height > 1 and symbol.layout.strides[0] != total
        node = _respaced(clean, total) if respace else clean.node
        node = graph.sum(node, columns, -width)
        node = graph.sum(node, rows, -height * total)
    layout = Layout.contiguous((height * rows, total), symbol.slots)
    return Symbol(graph, node, layout, clean=height * rows * total == symbol.slots)


def total(x: Any, axis: int, times: float = 1.0) -> Any:
    """Sum of a matrix along one axis, standing in every element along it, and times a factor.

    The result has the shape of ``x``, as ``np.broadcast_to(times * x.sum(axis, keepdims=True), x.shape)``,
    which is what a clear matrix gives. No level where the axis wraps around in the slots (axis 0 of a matrix
    that fills them, sides powers of two) and the factor is one. Otherwise a mask takes the factor along: one.

    Raises
    ------
        KernelError: an axis that the matrix does not have.
    """
    from ringmill.trace.symbol import Symbol

    if not isinstance(x, Symbol):
        clear = clear_array(x)
        along = _total_axis(axis, clear.ndim, f"an array of shape {clear.shape}")
        return np.broadcast_to(times * clear.sum(along, keepdims=True), clear.shape)
    axis = _total_axis(axis, x.ndim, f"an encrypted {x.kind}")
    with x.graph.part(f"total of {x.shape[axis]}"):
        return _total(x, axis, times)


def _total(x: Symbol, axis: int, times: float) -> Symbol:
    graph, count, stride = x.graph, x.shape[axis], x.layout.strides[axis]
    node = graph.sum(x.node, count, stride)
    if count * stride == x.slots:
        result = x.with_node(node, clean=x.layout.full)
        return result if times == 1 else result * times
    chosen = np.zeros(x.shape)
    chosen[(0, slice(None)) if axis == 0 else (slice(None), 0)] = times
    first = graph.mul(node, graph.const(x.layout.place(chosen)))
    return x.with_node(graph.sum(first, count, -stride), clean=True)


def _total_axis(axis: object, ndim: int, what: str) -> int:
    if ndim != 2:
        refuse("ShapeMismatch", f"a total along an axis of {what}", "Give a matrix; x.sum() is in every slot")
    if axis is None or isinstance(axis, tuple):
        refuse("BadAxis", f"axis {axis!r} of {what}", "Give one axis, 0 or 1")
    return axes_of(axis, ndim, what)[0]


def _respaced(symbol: Symbol, stride: int) -> int:
    """Rows moved ``stride`` slots apart: one mask and one rotation a row, one level."""
    graph, total = symbol.graph, None
    old = symbol.layout.strides[0]
    for row in range(symbol.shape[0]):
        mask = np.zeros(symbol.shape)
        mask[row] = 1
        part = graph.mul(symbol.node, graph.const(symbol.layout.place(mask)))
        moved = graph.rotate(part, row * (old - stride))
        total = moved if total is None else graph.add(total, moved)
    assert total is not None  # a matrix has at least one row
    return total


def plain_times_matrix(left: Array, right: Symbol) -> Symbol:
    """Plaintext (p, r) times encrypted (r, c): row i takes left[i, k] of the row k − i away; one level."""
    if not np.any(left):
        return zeros(right, (left.shape[0], right.shape[1]))
    rows, terms = np.nonzero(left)
    source = right.layout.index()[terms]
    layout = _product_layout(left.shape[0], right.layout, rows, source)
    return mapped(right, source, layout.index()[rows], left[rows, terms][:, None], layout)


def _product_layout(height: int, operand: Layout, rows: Slots, source: Slots) -> Layout:
    """Where a product of ``height`` rows stands whose ``rows`` read the slots ``source`` of the operand.

    Strides of the operand need the fewest diagonals, height + r − 1. Where elements would collide (a
    transpose read with more rows than it has) or not fit, one axis moves outside of the other.
    """
    (down, along), columns, slots = operand.strides, operand.shape[1], operand.slots
    shape = (height, columns)
    choices = [(columns * along, along), (down, height * down), (columns, 1)]
    if apart(shape, (down, along)):
        choices.insert(0, (down, along))
    layouts = [Layout(shape, strides, slots) for strides in choices]
    fitting = [layout for layout in layouts if layout.reach <= slots]
    if not fitting:
        raise MoreSlotsError(min(layout.reach for layout in layouts))
    if fitting[0].strides == operand.strides:
        return fitting[0]
    return min(fitting, key=lambda layout: np.unique((source - layout.index()[rows]) % slots).size)


def mapped(x: Symbol, source: Slots, target: Slots, weight: Array, layout: Layout) -> Symbol:
    """Slot target of the result is the sum of weight times slot source of ``x``, elsewhere zero; one level.

    The three broadcast together; no pair of slots appears twice.
    """
    from ringmill._native import Circuit
    from ringmill.trace.symbol import Symbol

    source, target, weight = (part.ravel() for part in np.broadcast_arrays(source, target, weight))
    shifts = (source - target) % x.slots
    order = np.argsort(shifts, kind="stable")
    found, starts = np.unique(shifts[order], return_index=True)
    diagonals: dict[int, Array] = {}
    for shift, chosen in zip(found.tolist(), np.split(order, starts[1:]), strict=True):
        diagonals[shift] = np.zeros(x.slots, dtype=np.complex128)
        diagonals[shift][target[chosen]] = weight[chosen]
    circuit = Circuit.linear(x.slots, diagonals)
    return Symbol(x.graph, splice(x.graph, circuit, x.node), layout, clean=True)


def in_blocks(left: Symbol, right: Symbol) -> Symbol:
    """Encrypted (r, c) times encrypted (c, p), in blocks of d×d slots; three levels."""
    from ringmill._native import Circuit
    from ringmill.trace.symbol import Symbol

    graph, slots = left.graph, left.slots
    side = power_of_two(max(*left.shape, *right.shape))
    if side * side > slots:
        raise MoreSlotsError(side * side)
    packed = [(list(m.shape), list(m.layout.strides)) for m in (left, right)]
    circuit = Circuit.matrix_product(slots, packed[0], packed[1])
    node = splice(graph, circuit, left.node, right.node)
    layout = Layout((left.shape[0], right.shape[1]), (side, 1), slots)
    return Symbol(graph, node, layout, clean=True)


def matrix_vector(matrix: Array, vector: Symbol) -> Symbol:
    """Plaintext (r, c) times encrypted (c,), by diagonals with baby and giant steps (`crates/circuits`).

    A vector with gaps is a column of a matrix, and the result keeps the gaps. Where it does not fit so, and
    where a reshape has just closed gaps, columns of zeros stand for them: the reshape costs nothing then.
    """
    from ringmill._native import Circuit
    from ringmill.trace.symbol import Symbol

    rows, columns = matrix.shape
    slots, graph = vector.slots, vector.graph
    if rows > slots:
        raise MoreSlotsError(rows)
    node, places, clean = vector.node, vector.layout.index(), vector.clean
    if node in graph.moved:
        node, before, was_clean = graph.moved[node]
        places, clean = before.index().ravel()[places], clean and was_clean
    elif columns > 1 and (rows - 1) * vector.layout.strides[0] < slots and vector.layout.strides[0] != 1:
        return _as_vector(plain_times_matrix(matrix, _as_column(vector)))
    if not np.any(matrix):
        return zeros(vector, (rows,))
    reach = int(places.max()) + 1
    entries = np.zeros((rows, reach), dtype=np.complex128)
    entries[:, places] = matrix
    circuit = Circuit.matrix_vector(entries.reshape(-1), reach, slots, clean)
    if clean:
        graph.relied.add(node)
    return Symbol(graph, splice(graph, circuit, node), Layout.contiguous((rows,), slots), clean=circuit.clean)
