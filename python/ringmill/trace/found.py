"""Functions that polynomials stand for, and how far results are from those of the functions themselves.

Each is written down where a kernel uses it: what it errs by, and by how much the function magnifies an error
of its argument. From there errors go through sums and products as intervals do, slot by slot: a bound for all
data within the declared bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.trace import bounds
from ringmill.trace.graph import Graph, Node
from ringmill.trace.where import Where

Array = NDArray[np.float64]

# The steepest slope between neighbours on this many points, and this much more for what is between them.
POINTS = 4096
SLACK = 1.05


@dataclass(frozen=True, slots=True)
class Found:
    """One use of a function.

    ``node`` is the value that stands for the function of ``args``; it errs by ``error``, and by ``slope``
    times what these err by. ``chosen`` is true for those that the tracer chose, not the kernel.
    ``band`` is the half width of the band around a jump in which nothing is promised.
    """

    name: str
    args: tuple[int, ...]
    node: int
    error: float
    slope: float
    how: str = ""
    chosen: bool = False
    band: float = 0.0
    where: Where | None = None

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        band = f"; nothing is promised within {self.band:.3g} of the jump" if self.band else ""
        return f"{place}{self.name}: {self.how}, error 2^{math.log2(self.error):.1f}{band}"


def steepness(function: Any, low: float, high: float) -> float:
    """The largest slope of a function on an interval, on a grid."""
    points = np.linspace(low, high, POINTS)
    with np.errstate(all="ignore"):
        slopes = np.abs(np.diff(np.asarray(function(points), dtype=float)) / np.diff(points))
    slopes = slopes[np.isfinite(slopes)]
    return SLACK * float(np.max(slopes, initial=0.0))


def errors(graph: Graph, magnitude: float, *, real: bool, chosen: bool = False) -> dict[int, Array]:
    """What approximations put into every output by its node, slot by slot; the chosen ones alone if asked."""
    live = graph.live()
    alive = set(live)
    known = {f.node: f for f in graph.found if f.node in alive}
    if not known or (chosen and not any(f.chosen for f in known.values())):
        return {}
    last = _last_uses(graph, live, known)
    ends: dict[int, bounds.Interval] = {}
    found: dict[int, Array] = {}
    nothing = np.zeros(graph.slots)
    for index in live:
        node, own = graph.nodes[index], known.get(index)
        bounds.intervals(graph, [index], ends, magnitude, real=real)
        if own is not None:
            error = 0.0 if chosen and not own.chosen else own.error
            before = [found.get(a, nothing) for a in own.args]
            worst = max(float(np.max(b)) for b in before) if len(before) > 1 else before[0]
            found[index] = nothing + error + own.slope * worst
        elif any(a in found for a in node.args):
            args = [found.get(a, nothing) for a in node.args]
            sizes = [np.maximum(np.abs(low), np.abs(high)) for low, high in (ends[a] for a in node.args)]
            with np.errstate(over="ignore", invalid="ignore"):
                found[index] = _through(node, args, sizes)
        for done in last.get(index, ()):
            ends.pop(done, None)
            found.pop(done, None)
    return {node: found.get(node, nothing) for _, node in graph.outputs}


def _last_uses(graph: Graph, live: list[int], known: dict[int, Found]) -> dict[int, list[int]]:
    """The values that nothing needs after each one: they take bytes a slot."""
    users: dict[int, int] = {}
    for index in live:
        for a in (*graph.nodes[index].args, *(known[index].args if index in known else ())):
            users[a] = index
    outputs = {node for _, node in graph.outputs}
    last: dict[int, list[int]] = {}
    for value, user in users.items():
        if value not in outputs:
            last.setdefault(user, []).append(value)
    return last


def _through(node: Node, errs: list[Array], sizes: list[Array]) -> Array:
    """The error of an operation whose operands err."""
    if node.op in ("add", "sub"):
        return errs[0] + errs[1]
    if node.op == "mul":
        return sizes[0] * errs[1] + sizes[1] * errs[0] + errs[0] * errs[1]
    if node.op == "square":
        return (2 * sizes[0] + errs[0]) * errs[0]
    if node.op == "rotate":
        return np.roll(errs[0], -node.step)
    if node.op == "sum":
        return bounds.sums(errs[0], node.count, node.step)
    if node.table is not None:
        return node.table.through(errs[0])
    return errs[0]  # neg, conj, bootstrap
