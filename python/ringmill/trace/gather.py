"""Elements in another order, some more than once, some zero: what NumPy does to an array of their numbers.

Whatever only moves elements is done by NumPy to the numbers 1 … n of the elements, 0 standing for a zero. The
result says where each element comes from. Elements at even distances are a view and cost a rotation at most;
others are moved by a linear map, in one level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.trace import linear
from ringmill.trace.broadcast import spread
from ringmill.trace.layout import Layout, apart
from ringmill.trace.where import MoreSlotsError, refuse

Numbers = NDArray[np.int64]

ONE = np.ones(1, dtype=np.complex128)


def numbers(x: Any, first: int = 1) -> Numbers:
    """The numbers of the elements of ``x``, row by row."""
    return np.arange(first, first + x.size, dtype=np.int64).reshape(x.shape)


def gathered(x: Any, index: Numbers) -> Any:
    """The elements of ``x`` that have these numbers, in the shape of ``index``; zero for 0."""
    from ringmill.trace.several import Several
    from ringmill.trace.symbol import Symbol

    if isinstance(x, Several):
        return x.gathered(index)
    if index.size == 0:
        refuse("BadIndex", f"no element of an encrypted {x.kind} is left", "Choose one at least")
    if not np.any(index):
        if index.shape == x.shape or not index.shape:
            return x * 0
        return Symbol(x.graph, (x * 0).node, _fits(Layout.contiguous(index.shape, x.slots)), clean=True)
    if not x.shape:
        mask = (index != 0).astype(float)
        return spread(x, Layout.contiguous(index.shape, x.slots)) * mask if index.shape else x
    if index.shape == ():
        return gathered(x, index.reshape(1)).sum()
    slots = x.layout.index().ravel()[index - 1]
    if np.all(index) and (view := _view(slots, x.slots)):
        offset, strides = view
        layout = Layout(index.shape, strides, x.slots)
        same = offset == 0 and index.size == x.size
        return Symbol(x.graph, x.graph.rotate(x.node, offset), layout, clean=x.clean and same)
    # What is the same along an axis is copied along it.
    constant = [a for a, n in enumerate(index.shape) if n > 1 and np.all(index == index.take([0], a))]
    if constant and np.all(index):
        first = gathered(
            x, index[tuple(slice(1) if a in constant else slice(None) for a in range(index.ndim))]
        )
        return spread(first, _fits(Layout.contiguous(index.shape, x.slots)))
    return placed(x, index, Layout.contiguous(index.shape, x.slots))


def _fits(layout: Layout) -> Layout:
    if layout.reach > layout.slots:
        raise MoreSlotsError(layout.reach)
    return layout


def _view(slots: Numbers, count: int) -> tuple[int, tuple[int, ...]] | None:
    """Offset and strides of elements that stand at even distances, each in a slot of its own."""
    offset, strides = int(slots.flat[0]), []
    for axis, n in enumerate(slots.shape):
        at = [0] * slots.ndim
        at[axis] = 1 if n > 1 else 0
        stride = int(slots[tuple(at)]) - offset if n > 1 else 1
        if stride <= 0:
            return None
        strides.append(stride)
    layout_shape, steps = slots.shape, tuple(strides)
    if not apart(layout_shape, steps):
        return None
    grid = Layout(layout_shape, steps, count).index() + offset
    return (offset, steps) if np.array_equal(grid, slots) else None


def placed(x: Any, index: Numbers, layout: Layout) -> Any:
    """Elements of ``x`` where ``layout`` has those numbers; zeros elsewhere.

    All elements of one that has zeros around it, at one distance, are rotated there. Others take a level.
    """
    from ringmill.trace.symbol import Symbol

    _fits(layout)
    chosen = index != 0
    source = x.layout.index().ravel()[index[chosen] - 1]
    target = layout.index()[chosen]
    distances = np.unique((source - target) % x.slots)
    if x.clean and distances.size == 1 and np.unique(source).size == x.size and x.shape:
        x.graph.relied.add(x.node)
        return Symbol(x.graph, x.graph.rotate(x.node, int(distances[0])), layout, clean=True)
    return linear.mapped(x, source, target, ONE, layout)


def by_numbers(function: Callable[..., Any], x: Any, *args: Any, **options: Any) -> Any:
    """What a NumPy function that only moves elements gives; a list where NumPy gives one."""
    found = _numpy(function, f"an encrypted {x.kind}", numbers(x), *args, **options)
    if isinstance(found, (list, tuple)):
        return [gathered(x, part) for part in found]
    return gathered(x, np.asarray(found))


def _numpy(function: Callable[..., Any], what: str, *args: Any, **options: Any) -> Any:
    try:
        return function(*args, **options)
    except (ValueError, TypeError, IndexError) as error:
        text = str(error).strip().rstrip(".")
        name = getattr(function, "__name__", "the function")
        refuse("BadArguments", f"numpy.{name} of {what}: {text}", "Give what NumPy takes")


def joined(function: Callable[..., Any], parts: Sequence[Any], *args: Any, **options: Any) -> Any:
    """What a NumPy function makes of several arrays, encrypted and clear, that it puts side by side."""
    from ringmill.trace.base import Tensor, constant_array
    from ringmill.trace.cut import Cut
    from ringmill.trace.stack import Stack
    from ringmill.trace.symbol import Symbol

    values = [part if isinstance(part, Tensor) else constant_array(part) for part in parts]
    starts = np.cumsum([1, *(v.size for v in values)])
    ranges = [numbers(v, int(s)) for v, s in zip(values, starts, strict=False)]
    index = np.asarray(_numpy(function, "encrypted values", ranges, *args, **options))
    if any(isinstance(v, Stack) for v in values):
        return _joined_columns(values, starts, index)
    if any(isinstance(v, Cut) for v in values):
        return _joined_cut(values, starts, index)
    found = next(v for v in values if isinstance(v, Symbol))
    layout = _fits(Layout.contiguous(index.shape, found.slots))
    clear, total = np.zeros(index.shape, dtype=np.complex128), None
    for value, start in zip(values, starts, strict=False):
        inside = (index >= start) & (index < start + value.size)
        if isinstance(value, np.ndarray):
            clear[inside] = value.ravel()[index[inside] - start]
            continue
        own = np.where(inside, index - start + 1, 0)
        term = placed(value, own, layout) if value.shape else spread(value, layout) * (own != 0).astype(float)
        total = term if total is None else total + term
    assert total is not None  # NumPy calls us for encrypted values alone
    return total + clear if np.any(clear) else total


def _joined_columns(values: list[Any], starts: Any, index: Numbers) -> Any:
    """The same where values are by columns, and so is the result."""
    from ringmill.trace.stack import Stack

    if index.ndim > 2:
        refuse("PackingMismatch", f"a result by columns of {index.ndim} axes", "Pack the arguments in slots")
    first = next(v for v in values if isinstance(v, Stack)).parts[0]
    return Stack([_sum_of_own(values, starts, index[..., j], first) for j in range(index.shape[-1])])


def _joined_cut(values: list[Any], starts: Any, index: Numbers) -> Any:
    """The same where one does not fit a ciphertext: whole parts side by side, or piece by piece."""
    from ringmill.trace.base import parts_of
    from ringmill.trace.cut import Cut, in_pieces

    first = next(part for v in values if isinstance(v, Cut) for part in v.parts)
    if len(whole := {v.axis for v in values if isinstance(v, Cut)}) == 1:
        axis = whole.pop()
        alike = all(not isinstance(v, np.ndarray) and v.ndim == index.ndim > axis for v in values)
        ranges = [numbers(v, int(s)) for v, s in zip(values, starts, strict=False)] if alike else []
        if alike and np.array_equal(_numpy(np.concatenate, "encrypted values", ranges, axis), index):
            return Cut([part for value in values for part in parts_of(value)], axis)

    def piece(at: Numbers) -> Any:
        return _sum_of_own(values, starts, at, first)

    return in_pieces(index, first.graph, piece)


def _sum_of_own(values: list[Any], starts: Any, index: Numbers, first: Any) -> Any:
    """Elements of several arrays, encrypted and clear, by their numbers."""
    total, clear = None, np.zeros(index.shape, dtype=np.complex128)
    for value, start in zip(values, starts, strict=False):
        own = np.where((index >= start) & (index < start + value.size), index - start + 1, 0)
        if not np.any(own):
            continue
        if isinstance(value, np.ndarray):
            clear += np.where(own > 0, value.ravel()[own - 1], 0)
            continue
        term = value.one(own) if hasattr(value, "one") else gathered(value, own)
        total = term if total is None else total + term
    total = gathered(first, np.zeros(index.shape, dtype=np.int64)) if total is None else total
    return total + clear if np.any(clear) else total


def padded(x: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
    """``numpy.pad``: with zeros, another number, or elements of ``x``."""
    constant = options.pop("constant_values", 0)
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap", "empty"):
        refuse("BadArguments", f"numpy.pad with mode {mode!r}", "Pad with a constant, or with elements")
    result = by_numbers(np.pad, x, pad_width, mode, **options)
    if mode != "constant" or not np.any(constant):
        return result
    return result + np.pad(np.zeros(x.shape), pad_width, constant_values=constant)


def inserted(x: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """``numpy.insert`` of clear values."""
    index = _numpy(np.insert, f"an encrypted {x.kind}", numbers(x), obj, 0, axis)
    clear = np.insert(np.zeros(x.shape, dtype=complex), obj, values, axis)
    return gathered(x, index) + clear


def repeated(x: Any, repeats: Any, axis: Any = None) -> Any:
    """``numpy.repeat``: copies next to one another."""
    if isinstance(repeats, (int, np.integer)) and hasattr(x, "layout") and x.shape and repeats > 0:
        if axis is None:
            x, axis = (x if x.ndim == 1 else x.reshape(-1)), 0
        axis = int(axis) % x.ndim
        shape = (*x.shape[: axis + 1], int(repeats), *x.shape[axis + 1 :])
        key = (slice(None),) * (axis + 1) + (None,)
        wide = spread(x[key], _fits(Layout.contiguous(shape, x.slots)))
        return wide.reshape((*x.shape[:axis], x.shape[axis] * int(repeats), *x.shape[axis + 1 :]))
    return by_numbers(np.repeat, x, repeats, axis)


def tiled(x: Any, reps: Any) -> Any:
    """``numpy.tile``: copies side by side, by key switches alone for vectors and matrices in slots."""
    counts = tuple(int(r) for r in np.atleast_1d(reps))
    if hasattr(x, "layout") and x.ndim in (1, 2) and len(counts) <= 2 and min(counts) > 0:
        rows, columns = (1,) * (2 - len(counts)) + counts
        made = x.tile(rows, columns)
        return made if len(counts) == 2 or x.ndim == 2 else made.reshape(-1)
    return by_numbers(np.tile, x, reps)


def rolled(x: Any, shift: Any, axis: Any = None) -> Any:
    """``numpy.roll``."""
    if hasattr(x, "layout") and x.ndim == 1 and isinstance(shift, (int, np.integer)):
        return x._rolled(shift, axis)
    whole = isinstance(shift, (int, np.integer, tuple, list)) and not isinstance(shift, bool)
    if not whole or any(
        not isinstance(s, (int, np.integer)) for s in np.ravel(np.asarray(shift, dtype=object))
    ):
        refuse("BadRotation", f"a roll by {shift!r} is not possible", "Roll by a whole number of elements")
    return by_numbers(np.roll, x, shift, axis)
