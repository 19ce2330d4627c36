"""Two encrypted arrays brought into one shape and one layout, as NumPy broadcasts arrays.

An axis of one element is stretched by copies: a sum with a negative stride writes them, in log2 key switches,
as long as slots without elements are zero. Where every slot repeats what stands a stride before (a sum along
an axis that wraps around), copies are there already.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ringmill.trace.graph import Graph
from ringmill.trace.layout import Layout, Shape, apart
from ringmill.trace.linear import moved
from ringmill.trace.where import MoreSlotsError, refuse

ELEMENTWISE = ("add", "sub", "neg", "mul", "square", "conj", "bootstrap", "lookup", "rotate", "sum")


def common_shape(left: Any, right: Any) -> Shape:
    """The shape of an encrypted array and another, or a clear one; refuses what NumPy does not broadcast."""
    try:
        return np.broadcast_shapes(left.shape, right.shape)
    except ValueError:
        if isinstance(right, np.ndarray):
            refuse(
                "ShapeMismatch",
                f"an encrypted {left.kind} and a constant of shape {right.shape} do not go together",
                "Shapes must broadcast as NumPy's do",
            )
        rows = sorted((left, right), key=lambda x: x.ndim)
        a, b = rows[0].shape, rows[1].shape
        column = len(a) == 1 and len(b) == 2 and a[0] == b[0]
        refuse(
            "ShapeMismatch",
            f"an encrypted {left.kind} and an encrypted {right.kind} do not go together",
            "Shapes must broadcast as NumPy's do"
            + (": x[:, None] makes a column of a vector, as keepdims=True does of sums" if column else ""),
        )


def together(left: Any, right: Any) -> tuple[Any, Any]:
    """The same elements in one shape and one layout: that which takes the fewest moves."""
    shape = common_shape(left, right)
    layouts = _choices(left, right, shape)
    fitting = [layout for layout in layouts if layout.reach <= left.slots]
    if not fitting:
        raise MoreSlotsError(min(layout.reach for layout in layouts))
    best = min(fitting, key=lambda layout: sum(_moves(x, layout) for x in (left, right)))
    return spread(left, best), spread(right, best)


def widened(x: Any, shape: Shape) -> Any:
    """``x`` in a larger shape, to which it broadcasts."""
    if not x.shape:
        return spread(x, Layout.contiguous(shape, x.slots))
    layouts = _choices(x, x, shape)
    fitting = [layout for layout in layouts if layout.reach <= x.slots]
    if not fitting:
        raise MoreSlotsError(min(layout.reach for layout in layouts))
    return spread(x, min(fitting, key=lambda layout: _moves(x, layout)))


def _choices(left: Any, right: Any, shape: Shape) -> list[Layout]:
    """Layouts in which one operand stays where it is, and row by row."""
    found = [Layout.contiguous(shape, left.slots)]
    for x in (left, right):
        widened = _widened(x, len(shape))
        strides, reach = list(widened.strides), x.layout.reach
        # Axes that are stretched stand outside of those that there are, the last one next to them.
        for axis in reversed(range(len(shape))):
            if widened.shape[axis] != shape[axis] or shape[axis] == 1:
                strides[axis] = reach
                reach *= shape[axis]
        if apart(shape, tuple(strides)):
            found.insert(0, Layout(shape, tuple(strides), x.slots))
    return found


def _widened(x: Any, ndim: int) -> Layout:
    """The layout of ``x`` with leading axes of one element."""
    more = ndim - x.ndim
    return Layout((1,) * more + x.shape, (1,) * more + x.layout.strides, x.slots)


def _moves(x: Any, layout: Layout) -> float:
    """Key switches that bring ``x`` there, about; a level counts as four."""
    old, copies = _at(x, layout)
    turns = sum(math.log2(layout.shape[axis]) for axis in copies)
    masks = 0.0 if x.clean or not copies else 4.0
    if old.alike(base := _base(old.shape, layout)):
        return turns + masks
    distances = np.unique((old.index() - base.index()) % x.slots).size
    return turns + 2 * math.sqrt(distances) + 4.0


def _at(x: Any, layout: Layout) -> tuple[Layout, list[int]]:
    """Where elements of ``x`` stand, its axes as many as those of ``layout``, and the axes to stretch."""
    old = _widened(x, len(layout.shape))
    return old, [axis for axis, n in enumerate(layout.shape) if old.shape[axis] == 1 < n]


def _base(shape: Shape, layout: Layout) -> Layout:
    """The first copy."""
    return Layout(shape, layout.strides, layout.slots)


def spread(x: Any, layout: Layout) -> Any:
    """``x`` in the shape and the layout given, to which it broadcasts.

    A level where elements have to be moved, or copied while there may be data between them.
    """
    found = _spread(x, layout)
    if x.node in x.graph.extremes:
        x.graph.extremes[found.node] = x.graph.extremes[x.node]
    return found


def _spread(x: Any, layout: Layout) -> Any:
    from ringmill.trace.symbol import Symbol

    if layout.reach > layout.slots:
        raise MoreSlotsError(layout.reach)
    if not x.shape:  # in every slot
        return Symbol(x.graph, x.node, layout, clean=False)
    if x.layout.alike(layout):
        return Symbol(x.graph, x.node, layout, clean=x.clean)
    old, copies = _at(x, layout)
    x = Symbol(x.graph, x.node, old, clean=x.clean)
    base = _base(old.shape, layout)
    x = Symbol(x.graph, x.node, base, clean=x.clean) if old.alike(base) else moved(x, base)
    graph = x.graph
    free = [axis for axis in copies if repeats(graph, x.node, layout.strides[axis])]
    shape = tuple(layout.shape[a] if a in free else n for a, n in enumerate(old.shape))
    x = Symbol(graph, x.node, Layout(shape, layout.strides, x.slots), clean=x.clean and not free)
    rest = [axis for axis in copies if axis not in free]
    if not rest:
        return x
    node = x.cleaned().node
    for axis in rest:
        node = graph.sum(node, layout.shape[axis], -layout.strides[axis])
    return Symbol(graph, node, layout, clean=True)


def repeats(graph: Graph, index: int, step: int) -> bool:
    """Whether every slot of a value is known to equal that which stands ``step`` slots on, cyclically."""
    known: dict[int, bool] = {}
    todo = [index]
    while todo:
        node = graph.nodes[todo[-1]]
        own = _own(graph, todo[-1], step)
        missing = [a for a in node.args if a not in known] if own is None else []
        if missing:
            todo += missing
            continue
        at = todo.pop()
        known[at] = all(known[a] for a in node.args) if own is None else own
    return known[index]


def _own(graph: Graph, index: int, step: int) -> bool | None:
    """The same where a value itself shows it; ``None`` where its operands do."""
    node = graph.nodes[index]
    if node.op == "const":
        value = np.atleast_1d(np.asarray(node.value))
        # A filled table may become one number: nothing relies on it then but the elements.
        return value.size == 1 or bool(np.array_equal(np.roll(value, -step), value))
    if node.op == "input":
        return not graph.layouts[index].shape
    if node.op == "sum" and abs(node.count * node.step) == graph.slots and step % node.step == 0:
        return True
    return None if node.op in ELEMENTWISE else False
