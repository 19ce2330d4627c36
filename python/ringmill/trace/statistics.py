"""Sums, means, deviations and the like, in terms of sums, products and linear maps."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ringmill.errors import KernelError
from ringmill.trace import bounds, elementary, gather, linear
from ringmill.trace.base import Tensor, axes_of, constant_array, parts_of
from ringmill.trace.cut import Cut
from ringmill.trace.graph import Extreme
from ringmill.trace.where import here, refuse

#: The error of comparisons beyond which no coarser ones are tried.
COARSEST = 2.0**-6


def _count(x: Any, axis: Any) -> int:
    axes = axes_of(axis, x.ndim, f"an encrypted {x.kind}")
    return math.prod(x.shape[a] for a in axes)


def total(x: Any, axis: Any = None, *, keepdims: bool = False, where: Any = True, initial: float = 0) -> Any:
    """``numpy.sum``."""
    chosen = x if where is True else x * np.asarray(where, dtype=float)
    summed = type(chosen).sum(chosen, axis, keepdims=keepdims)
    return summed + initial if initial else summed


def mean(x: Any, axis: Any = None, *, keepdims: bool = False, where: Any = True) -> Any:
    """``numpy.mean``."""
    if where is True:
        return type(x).mean(x, axis, keepdims=keepdims)
    mask = np.broadcast_to(np.asarray(where, dtype=float), x.shape)
    counts = mask.sum(axis=axis, keepdims=True)
    if np.any(counts == 0):
        refuse("ZeroOperand", "a mean of no elements", "Let the mask choose one at least along every axis")
    return type(x).sum(x * (mask / counts), axis, keepdims=keepdims)


def average(x: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    """``numpy.average`` with clear weights."""
    if weights is None:
        return mean(x, axis, keepdims=keepdims)
    if isinstance(weights, Tensor):
        refuse(
            "UnsupportedConstruct",
            "an average by encrypted weights divides by their sum",
            "Write (x * w).sum() / w.sum(), with bounds that keep the sum of the weights away from 0",
        )
    values = constant_array(weights)
    if values.ndim == 1 and x.ndim > 1 and isinstance(axis, (int, np.integer)):
        shape = [1] * x.ndim
        shape[int(axis)] = -1
        values = values.reshape(shape)
    wide = np.broadcast_to(values, x.shape)
    sums = wide.sum(axis=axis, keepdims=True)
    if np.any(sums == 0):
        refuse("DivisionByZero", "the weights of an average sum up to zero", "Give weights that do not")
    return type(x).sum(x * (wide / sums), axis, keepdims=keepdims)


def var(
    x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False, correction: float | None = None
) -> Any:
    """``numpy.var``."""
    centred = x - type(x).mean(x, axis, keepdims=True)
    count = _count(x, axis)
    left = count - (ddof if correction is None else correction)
    if left <= 0:
        refuse("DivisionByZero", f"a variance of {count} elements with ddof {ddof}", "Take a smaller ddof")
    other = centred.conj() if _complex(x) else centred
    squares = type(x).sum(centred * other, axis, keepdims=keepdims)
    return squares * (1 / left)


def std(x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    """``numpy.std``."""
    return _root(var(x, axis, ddof=ddof, keepdims=keepdims))


def _root(x: Any) -> Any:
    return elementary.unary("numpy.sqrt", np.sqrt, not_negative(x))


def not_negative(x: Any) -> Any:
    """Sums of squares, which intervals may not see to be so."""
    for part in parts_of(x):
        ends = bounds.reach(part.graph, part.node)
        if ends is not None and np.all(np.isfinite(ends[1])):
            mask = part.layout.mask().real != 0
            part.graph.promise_ends(part.node, 0.0, float(np.max(ends[1][mask])), mask)
    return x


def norm(x: Any, ord: Any = None, axis: Any = None, *, keepdims: bool = False) -> Any:
    """``numpy.linalg.norm``: Euclidean, Frobenius, and the sum of absolute values of vectors."""
    flat = x.ndim == 1 or isinstance(axis, (int, np.integer))
    if ord in (None, "fro") or (ord == 2 and flat):
        return _root(type(x).sum(x * x.conj() if _complex(x) else x * x, axis, keepdims=keepdims))
    if ord == 1 and flat:
        return type(x).sum(abs(x), axis, keepdims=keepdims)
    if ord in (np.inf, -np.inf) and flat:
        return largest(abs(x), axis, least=ord < 0)
    refuse(
        "UnsupportedFunction",
        f"the norm {ord!r} of an encrypted {x.kind}",
        "Take 2, 1 or inf of a vector, or 'fro'",
    )


def _complex(x: Any) -> bool:
    return any(part.graph.magnitude is None for part in parts_of(x))


def cov(m: Any, y: Any = None, *, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Any:
    """``numpy.cov`` of one matrix."""
    if y is not None or m.ndim > 2:
        refuse("UnsupportedFunction", f"numpy.cov of an encrypted {m.kind} and another", "Stack them first")
    if m.ndim == 1:
        return var(m, ddof=(0 if bias else 1) if ddof is None else ddof)
    records = m.T if rowvar else m
    count = records.shape[0] - ((0 if bias else 1) if ddof is None else ddof)
    if count <= 0:
        refuse("DivisionByZero", f"a covariance of {records.shape[0]} records", "Take a smaller ddof")
    centred = records - type(records).mean(records, 0, keepdims=True)
    other = centred.conj() if _complex(m) else centred
    return centred.T @ other * (1 / count)


def along(x: Any, matrix: Any, axis: int) -> Any:
    """A clear matrix times every vector along an axis; one level."""
    from ringmill.trace.layout import Layout
    from ringmill.trace.where import MoreSlotsError

    if isinstance(x, Cut) and axes_of(axis, x.ndim, f"an encrypted {x.kind}")[0] == x.axis:
        x._stays("multiplied by a matrix along its long axis here")
    if not hasattr(x, "layout"):
        if axis == x.ndim - 1:
            return x @ np.asarray(matrix).T
        return x.map(lambda part: along(part, matrix, axis))
    axis = axes_of(axis, x.ndim, f"an encrypted {x.kind}")[0]
    if x.ndim == 1:
        return linear.matrix_vector(np.asarray(matrix, dtype=np.complex128), x)
    shape = (*x.shape[:axis], matrix.shape[0], *x.shape[axis + 1 :])
    layout = Layout.contiguous(shape, x.slots)
    if layout.reach > x.slots:
        raise MoreSlotsError(layout.reach)
    rows, columns = np.nonzero(matrix)
    source = np.moveaxis(x.layout.index(), axis, -1)[..., columns]
    target = np.moveaxis(layout.index(), axis, -1)[..., rows]
    return linear.mapped(x, source, target, np.asarray(matrix)[rows, columns], layout)


def cumsum(x: Any, axis: Any = None, *, include_initial: bool = False) -> Any:
    """``numpy.cumsum``: a triangle of ones times every vector along the axis."""
    if axis is None:
        if x.ndim != 1:
            x = x.reshape(-1)
        axis = 0
    axis = axes_of(axis, x.ndim, f"an encrypted {x.kind}")[0]
    if isinstance(x, Cut) and axis == x.axis and not include_initial:
        return x.cumsum()
    n = x.shape[axis]
    triangle = np.tri(n + 1, n, -1) if include_initial else np.tri(n)
    return along(x, triangle, axis)


def diff(x: Any, n: int = 1, axis: int = -1) -> Any:
    """``numpy.diff``: differences of slices, without a level."""
    axis = axes_of(axis, x.ndim, f"an encrypted {x.kind}")[0]
    if not 0 <= n < x.shape[axis]:
        refuse("BadArguments", f"{n} differences along {x.shape[axis]} elements", "Take fewer")
    for _ in range(n):
        later, earlier = ([slice(None)] * x.ndim for _ in range(2))
        later[axis], earlier[axis] = slice(1, None), slice(None, -1)
        x = x[tuple(later)] - x[tuple(earlier)]
    return x


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """``numpy.trapezoid`` over clear places."""
    n = y.shape[axis]
    steps = np.full(n - 1, dx) if x is None else np.diff(np.asarray(x, dtype=float))
    if steps.shape != (n - 1,):
        refuse("ShapeMismatch", f"{steps.size + 1} places for {n} values", "Give a place for each value")
    weights = np.concatenate([steps, [0.0]]) / 2 + np.concatenate([[0.0], steps]) / 2
    return average(y, axis, weights) * float(weights.sum())


def _halved(x: Any, axis: Any, combine: Any) -> Any:
    """All elements along an axis combined two by two, ⌈log2 n⌉ deep."""
    if axis is None:
        x, axis = (x if x.ndim == 1 else x.reshape(-1)), 0
    axis = axes_of(axis, x.ndim, f"an encrypted {x.kind}")[0]
    if isinstance(x, Cut) and axis == x.axis:
        return functools.reduce(combine, [_halved(part, axis, combine) for part in x.joined(combine)])
    values = np.arange(x.shape[axis])
    rest = None
    while (n := x.shape[axis]) > 1:
        half = n // 2
        one, two, odd = (
            gather.by_numbers(np.take, x, values[s], axis)
            for s in (slice(half), slice(half, 2 * half), slice(n - 1, n))
        )
        if n % 2:
            rest = odd if rest is None else combine(rest, odd)
        x = combine(one, two)
    x = x if rest is None else combine(x, rest)
    return gather.by_numbers(np.take, x, 0, axis)


def product(x: Any, axis: Any = None) -> Any:
    """``numpy.prod``: ⌈log2 n⌉ levels."""
    return _halved(x, axis, lambda a, b: a * b)


def _remember(x: Any, found: Any, axis: Any, *, least: bool) -> None:
    """Note whose extreme it is, for differences with it, and that it takes long."""
    count = math.prod(x.shape) // max(math.prod(found.shape), 1)
    graph = parts_of(x)[0].graph
    graph.long.append(("a minimum" if least else "a maximum", count, here(), parts_of(found)[0].node))
    if not (hasattr(x, "node") and hasattr(found, "node")):
        return
    ends = elementary.ends_of(x)
    if ends is not None:
        # Comparisons err by the tolerance each; the rest is for the error of encryption.
        width, stages = ends[1] - ends[0], max(count - 1, 1).bit_length()
        slack = width / 64 + stages * graph.tolerance
        between = (-slack, width + slack) if least else (-width - slack, slack)
        axes = axes_of(axis, x.ndim, f"an encrypted {x.kind}")
        graph.extremes[found.node] = Extreme(x, axes, between)


def _compared(x: Any, axis: Any, *, least: bool) -> Any:
    """The extreme along an axis.

    Where no form of |x| is close enough, a coarser one stands for it, in case that results do not need it:
    the quotient of a soft-max is the same without its maximum. If they do, the trace is refused
    (`Graph.deferred`).
    """
    graph = parts_of(x)[0].graph
    wanted, refused = graph.tolerance, None
    try:
        while True:
            try:
                found = _halved(x, axis, lambda a, b: elementary.maximum(a, b, least=least))
            except KernelError as error:
                refused = refused or error
                if error.code != "NotReached" or graph.tolerance > COARSEST:
                    raise refused from None
                graph.tolerance *= 16
                continue
            if refused is not None:
                graph.deferred += [(part.node, refused) for part in parts_of(found)]
            return found
    finally:
        graph.tolerance = wanted


def largest(x: Any, axis: Any = None, *, least: bool = False, keepdims: bool = False) -> Any:
    """``numpy.max`` by comparing two by two: ⌈log2 n⌉ times the levels of one |x|."""
    found = _compared(x, axis, least=least)
    _remember(x, found, axis, least=least)
    if not keepdims:
        return found
    axes = axes_of(axis, x.ndim, f"an encrypted {x.kind}")
    kept = found.reshape(tuple(1 if a in axes else n for a, n in enumerate(x.shape)))
    if hasattr(kept, "node") and found.node in kept.graph.extremes:
        kept.graph.extremes[kept.node] = kept.graph.extremes[found.node]
    return kept
