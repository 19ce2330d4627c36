"""What stands in the padding of a value, as far as that is known while a kernel is traced.

Padding of an argument is zero, and what operations on whole ciphertexts make of it follows: 0·w + b, then
p(b), as if it held elements of its own. Polynomials on an interval need that, since a padding slot outside
of it becomes as large as any other. What rotations bring there is data: not known, but bounded where the
arguments are.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from ringmill.trace.bounds import reach, step
from ringmill.trace.graph import Graph, Node, free
from ringmill.trace.symbol import Symbol

Ends = tuple[float, float]
Points = NDArray[np.float64]
Outside = NDArray[np.bool_]

# Extrema of polynomials up to this degree are found as roots of the derivative. Beyond it they are sought on
# a grid of this number of Chebyshev points a degree, which misses them by a factor 1/cos(π/(2·16)) = 1.005 at
# most.
ROOTS = 31
GRID_PER_DEGREE = 16
MISSED = 0.005

# An interval kept up to rounding is kept.
ROUNDING = 2.0**-30

ELEMENTWISE = ("add", "sub", "neg", "mul", "square", "conj", "bootstrap", "lookup")


def padding(x: Symbol) -> Ends | None:
    """Lower and upper end of what is in the padding, whatever the data; ``None`` where data may be."""
    if x.layout.full:
        return 0.0, 0.0  # no interval
    outside, known = _notes(x)
    graph, todo = x.graph, [x.node]
    while todo:
        node = graph.nodes[todo[-1]]
        missing = [a for a in node.args if a not in known] if node.op in ELEMENTWISE else []
        if missing:
            todo += missing
            continue
        index = todo.pop()
        if index not in known:
            ends = _of(graph, index, [_promised(graph, known, a) for a in node.args if a in known], outside)
            known[index] = ends if ends and np.all(np.isfinite(ends)) else None
    return _promised(graph, known, x.node)


def _promised(graph: Graph, known: dict[int, Ends | None], index: int) -> Ends | None:
    """What is known, or else what is promised: of every slot (``rm.within``)."""
    within = graph.nodes[index].within
    ends = known[index]
    return (-within, within) if ends is None and within is not None else ends


def note(x: Symbol, ends: Ends) -> None:
    """Write down what is known otherwise of the padding of ``x``."""
    _notes(x)[1][x.node] = ends if np.all(np.isfinite(ends)) else None


def keeps(x: Symbol, factor: float, offset: float, bound: float) -> bool:
    """Whether factor·x − offset is known to stay within ``bound`` in the padding too."""
    if x.layout.full:
        return True
    # Of a clean value the offset may be subtracted in the elements only (see Graph.relax).
    offsets = (0.0, offset) if x.clean else (offset,)

    def inside(ends: Ends | None) -> bool:
        return ends is not None and all(
            abs(factor * end - away) <= bound * (1 + ROUNDING) for end in ends for away in offsets
        )

    # Data are looked at slot by slot, which takes time: only where the mask would take a level of its own.
    return inside(padding(x)) or (not x.clean and free(complex(factor)) and inside(_reached(x)))


def _reached(x: Symbol) -> Ends | None:
    """Lower and upper end of what arguments up to the magnitude can bring into the padding."""
    ends = reach(x.graph, x.node)
    if ends is None:
        return None
    outside = x.layout.mask() == 0
    return float(ends[0][outside].min()), float(ends[1][outside].max())


def image(series: Chebyshev | Polynomial, ends: Ends) -> Ends:
    """An interval that holds the values of a polynomial on another one."""
    low, high = ends
    # Any point inside may be looked at: so roots that rounding made complex are no harm.
    points, slack = _extrema(series), 0.0
    if points is None:
        count = GRID_PER_DEGREE * series.degree()
        points = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * np.arange(count + 1) / count)
        slack = MISSED
    with np.errstate(all="ignore"):
        values = series(np.concatenate([[low, high], np.clip(points, low, high)]))
        slack *= float(np.max(np.abs(values)))
    return float(np.min(values)) - slack, float(np.max(values)) + slack


def _extrema(series: Chebyshev | Polynomial) -> Points | None:
    """Where the derivative is zero; ``None`` where that is not looked for, or cannot be found."""
    if series.degree() > ROOTS:
        return None
    try:
        with np.errstate(all="ignore"):
            return np.asarray(series.deriv().roots().real)
    except np.linalg.LinAlgError:  # a leading coefficient next to nothing
        return None


def _notes(x: Symbol) -> tuple[Outside, dict[int, Ends | None]]:
    outside = x.layout.mask() == 0
    return outside, x.graph.padding.setdefault(outside.tobytes(), {})


def _of(graph: Graph, index: int, args: list[Ends | None], outside: Outside) -> Ends | None:
    node = graph.nodes[index]
    if node.op == "input":
        layout = graph.layouts.get(index)
        inside = layout is not None and not np.any(layout.mask()[outside])
        return (0.0, 0.0) if inside else None
    if node.op == "const":
        return _of_constant(node, outside)
    if node.op not in ELEMENTWISE:
        return None
    if node.op == "mul" and (0.0, 0.0) in args:
        return 0.0, 0.0
    known = [(np.array(ends[0]), np.array(ends[1])) for ends in args if ends is not None]
    if len(known) < len(args):
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # what becomes infinite is no end (see padding)
        low, high = step(graph, node, known, real=True)
    return float(low), float(high)


def _of_constant(node: Node, outside: Outside) -> Ends | None:
    if node.size is not None:
        sizes = np.atleast_1d(node.size)
        size = float(np.max(sizes if sizes.size == 1 else sizes[outside], initial=0.0))
        return -size, size
    value = np.atleast_1d(np.asarray(node.value))
    values = value if value.size == 1 else value[outside]
    if node.fill is not None:
        values = np.append(values, node.fill)  # relaxing may put it there
    if np.any(values.imag != 0):
        return None
    return float(values.real.min()), float(values.real.max())
