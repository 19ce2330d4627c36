"""Products of matrices and vectors on one ciphertext.

Three forms, by what is encrypted and how it is packed:

- encrypted matrix (row by row) times vector: multiply by the vector repeated along the rows, then sum
  each row with rotations; element i of the result sits at the first slot of row i;
- plaintext matrix times encrypted vector: generalised diagonals with baby and giant steps
  (Halevi and Shoup, *Algorithms in HElib*, CRYPTO 2014, §4.3);
- vector times vector: product and sum of all slots.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringmill.trace.base import constant_array
from ringmill.trace.layout import Layout
from ringmill.trace.where import MoreSlotsError, refuse

if TYPE_CHECKING:
    from ringmill.trace.symbol import Symbol

Array = NDArray[np.complex128]


def _mismatch(left: str, right: str) -> None:
    refuse(
        "ShapeMismatch",
        f"{left} cannot be multiplied by {right}",
        "Inner dimensions must agree: (n)@(n), (r,c)@(c), (r,c)@(c,1), (r,c)@(c,p) with a plaintext right",
    )


def matmul(left: Symbol, right: object) -> Any:
    """``left @ right`` with an encrypted left side."""
    from ringmill.trace.symbol import Symbol

    operand: Symbol | Array = right if isinstance(right, Symbol) else constant_array(right)
    shape = operand.shape
    name = f"an encrypted {left.kind}"
    other = f"an encrypted {operand.kind}" if isinstance(operand, Symbol) else f"a constant of shape {shape}"
    if not left.shape or not shape or left.shape[-1] != shape[0]:
        _mismatch(name, other)
    if left.ndim == 1 and len(shape) == 1:
        return (left * operand).sum()
    if left.ndim == 1 and isinstance(operand, Symbol):
        return matmul(operand.transpose(), left) if operand.ndim == 2 else _mismatch(name, other)
    if left.ndim == 1 and isinstance(operand, np.ndarray):
        return matrix_vector(operand.T, left)
    if left.ndim == 2 and len(shape) in (1, 2):
        return _matrix_times(left, operand)
    return _mismatch(name, other)


def rmatmul(right: Symbol, left: Array) -> Any:
    """``left @ right`` with a plaintext left side."""
    if right.ndim == 1 and left.ndim == 1 and left.shape == right.shape:
        return (right * left).sum()
    if right.ndim == 1 and left.ndim == 2 and left.shape[1] == right.shape[0]:
        return matrix_vector(left, right)
    if right.ndim == 2 and left.ndim == 1 and left.shape[0] == right.shape[0]:
        return _matrix_times(right.transpose(), left)
    return _mismatch(f"a constant of shape {left.shape}", f"an encrypted {right.kind}")


def _matrix_times(matrix: Symbol, operand: Symbol | Array) -> Any:
    """(r, c) times (c,), (c, 1) or a plaintext (c, p)."""
    from ringmill.trace.stack import Stack
    from ringmill.trace.symbol import Symbol

    if isinstance(operand, np.ndarray):
        if operand.ndim == 2 and operand.shape[1] != 1:
            return Stack(tuple(_row_sums(matrix * column, 1) for column in operand.T))
        return _row_sums(matrix * operand.reshape(-1), operand.ndim)
    if operand.ndim == 2 and operand.shape[1] != 1:
        refuse(
            "ShapeMismatch",
            f"an encrypted {matrix.kind} times an encrypted {operand.kind}",
            "Multiply by the columns of the right matrix one by one",
        )
    column = Symbol(
        operand.graph,
        operand.node,
        Layout(operand.shape[:1], operand.layout.strides[:1], operand.slots),
        clean=operand.clean,
    )
    rows = tile(column, matrix.shape[0], 1) if matrix.shape[0] > 1 else column.reshape(1, -1)
    return _row_sums(matrix * rows, operand.ndim)


def _row_sums(product: Symbol, ndim: int) -> Symbol:
    """Sum of each row, as a vector (r,) or as a column (r, 1)."""
    from ringmill.trace.symbol import Symbol

    sums = product.sum(axis=1)
    if ndim == 1:
        return sums
    layout = Layout((sums.shape[0], 1), (sums.layout.strides[0], 1), sums.slots)
    return Symbol(sums.graph, sums.node, layout, clean=sums.clean)


def tile(symbol: Symbol, rows: int, columns: int) -> Symbol:
    """``numpy.tile(symbol, (rows, columns))`` in row-major packing.

    A shift by the size of the block copies it; ``sum`` with a negative stride adds all copies. That needs
    zero padding, and room: block (r, c) in a row of C = c·columns slots must be moved there first, which
    is free only where its rows already stand C apart or where it has one row.
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
    clean = symbol.cleaned()
    graph, node = symbol.graph, clean.node
    if symbol.layout.strides[-1] != 1:
        refuse("PackingMismatch", f"tiling an encrypted {symbol.kind} that has gaps", "Tile the input itself")
    if height > 1 and symbol.layout.strides[0] != total:
        node = _respaced(clean, total)
    node = graph.sum(node, columns, -width)
    node = graph.sum(node, rows, -height * total)
    layout = Layout.contiguous((height * rows, total), symbol.slots)
    return Symbol(graph, node, layout, clean=height * rows * total == symbol.slots)


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


def matrix_vector(matrix: Array, vector: Symbol) -> Symbol:
    """Plaintext (r, c) times encrypted (c,): Σ_d diag_d · rotate(x, d), by baby and giant steps.

    With d = g·B + b:  Σ_g rotate( Σ_b rotate(diag_{gB+b}, −gB) · rotate(x, b), gB ), so that about 2√D
    rotations serve D diagonals. The result is clean: diagonals are zero outside the matrix.
    """
    from ringmill.trace.symbol import Symbol

    rows, _columns = matrix.shape
    slots, graph = vector.slots, vector.graph
    if rows > slots:
        raise MoreSlotsError(rows)
    if vector.layout.strides[0] != 1:
        refuse("PackingMismatch", "a matrix product with a vector that has gaps", "Multiply before slicing")
    diagonals = _diagonals(matrix, slots)
    if not diagonals:
        refuse("ZeroOperand", "a product with a matrix of zeros is zero", "Leave it out")
    baby = 1 << (max(1, math.isqrt(len(diagonals))).bit_length() - 1)
    total: int | None = None
    for giant in sorted({d // baby for d in diagonals}):
        inner: int | None = None
        for step in range(baby):
            diagonal = diagonals.get(giant * baby + step)
            if diagonal is None:
                continue
            shifted = np.roll(diagonal, giant * baby)
            term = graph.mul(graph.rotate(vector.node, step), graph.const(shifted))
            inner = term if inner is None else graph.add(inner, term)
        assert inner is not None  # the giant step was chosen because it holds a diagonal
        moved = graph.rotate(inner, giant * baby)
        total = moved if total is None else graph.add(total, moved)
    assert total is not None  # there is at least one diagonal
    return Symbol(graph, total, Layout.contiguous((rows,), slots), clean=True)


def _diagonals(matrix: Array, slots: int) -> dict[int, Array]:
    """Non-zero generalised diagonals: diag_d[i] = matrix[i, (i + d) mod slots]."""
    out: dict[int, Array] = {}
    for row, column in np.argwhere(matrix != 0):
        d = int(column - row) % slots
        out.setdefault(d, np.zeros(slots, dtype=np.complex128))[row] = matrix[row, column]
    return out
