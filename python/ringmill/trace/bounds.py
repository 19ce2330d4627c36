"""How large values can become: interval arithmetic over a traced program, slot by slot.

Given a bound on the arguments, every slot of every value gets an interval that holds whatever the data is.
The largest of them decides how many bits a ciphertext needs above its binary point, so that results can
never wrap around. It also keeps predicted errors close, since an error grows with the size of what it is
multiplied by. Squares of real values are not negative: the Chebyshev recursion 2u² − 1 stays in [−1, 1].
While a kernel is traced for arguments of a known size, they show what data do to paddings (``reach``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ringmill.errors import ParameterError, fail
from ringmill.trace.graph import Graph, Node

Array = NDArray[np.float64]
Interval = tuple[Array, Array]


def positive(magnitude: float) -> float:
    """The size of the largest argument, checked."""
    if not isinstance(magnitude, (int, float, np.integer, np.floating)) or not 0 < magnitude < math.inf:
        fail(
            ParameterError,
            "Magnitude",
            f"The magnitude is {magnitude!r}; give the size of the largest argument, a positive number.",
            magnitude=magnitude,
        )
    return float(magnitude)


def _input(graph: Graph, index: int, magnitude: float) -> Interval:
    mask = graph.layouts[index].mask().real
    low, high = graph.ranges.get(index, (-magnitude, magnitude))
    return mask * low, mask * high


def _constant(node: Node, slots: int, *, real: bool) -> Interval:
    if node.size is not None:
        known = np.broadcast_to(node.size, (slots,))
        return -known, known
    value = np.broadcast_to(np.asarray(node.value), (slots,))
    # Until constants are settled (Graph.relax), any slot may become what fills the others.
    fill = value if node.fill is None else np.asarray(node.fill)
    if real:
        return np.minimum(value.real, fill.real), np.maximum(value.real, fill.real)
    size = np.maximum(np.abs(value), np.abs(fill))
    return -size, size


def _product(a: Interval, b: Interval) -> Interval:
    corners = np.stack([a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]])
    return corners.min(axis=0), corners.max(axis=0)


def _square(a: Interval, *, real: bool) -> Interval:
    size = np.maximum(np.abs(a[0]), np.abs(a[1])) ** 2
    if not real:
        return -size, size
    crosses = (a[0] <= 0) & (a[1] >= 0)
    least = np.where(crosses, 0.0, np.minimum(np.abs(a[0]), np.abs(a[1])) ** 2)
    return least, size


def sums(a: Array, count: int, step: int) -> Array:
    """Σ_{j < count} a[i + j·step], by doubling."""
    total, done, block, width = np.zeros_like(a), 0, a, 1
    while done < count:
        if count & width:
            total = total + np.roll(block, -done * step)
            done += width
        block = block + np.roll(block, -width * step)
        width *= 2
    return total


def step(graph: Graph, node: Node, args: list[Interval], *, real: bool) -> Interval:
    """The interval of an operation on intervals of slots, many or one, whatever is promised of it."""
    if node.op == "const":
        return _constant(node, graph.slots, real=real)
    a = args[0]
    if node.op == "add":
        return a[0] + args[1][0], a[1] + args[1][1]
    if node.op == "sub":
        return a[0] - args[1][1], a[1] - args[1][0]
    if node.op == "neg":
        return -a[1], -a[0]
    if node.op == "mul":
        return _product(a, args[1])
    if node.op == "square":
        return _square(a, real=real)
    if node.op == "rotate":
        return np.roll(a[0], -node.step), np.roll(a[1], -node.step)
    if node.op == "sum":
        return sums(a[0], node.count, node.step), sums(a[1], node.count, node.step)
    if node.table is not None:
        least, most = node.table.ends
        return np.full_like(a[0], least), np.full_like(a[1], most)
    return a  # conj, bootstrap


def intervals(
    graph: Graph, nodes: Iterable[int], out: dict[int, Interval], magnitude: float, *, real: bool
) -> None:
    """Lower and upper ends of values; promises (``Node.within``) are taken as they are.

    Args:
        graph: the program.
        nodes: the values, each after those that it is made of.
        out: the ends of others that they are made of; theirs are added.
        magnitude: bound on the arguments.
        real: all values are real; otherwise ends are ± the absolute value.
    """
    for index in nodes:
        node = graph.nodes[index]
        if node.op == "input":
            low, high = _input(graph, index, magnitude)
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # What becomes infinite stays so, or is NaN.
                low, high = step(graph, node, [out[arg] for arg in node.args], real=real)
        if node.within is not None:
            low, high = (np.clip(end, -node.within, node.within) for end in (low, high))
        if index in graph.ends:
            least, most, mask = graph.ends[index]
            low, high = (np.where(mask, np.clip(end, least, most), end) for end in (low, high))
        out[index] = (low, high)


def reach(graph: Graph, index: int) -> Interval | None:
    """Ends of a value while its kernel is traced, each worked out once; ``None`` where no bound is known."""
    if graph.magnitude is None:
        return None
    missing = graph.needed([index], graph.reaches)
    intervals(graph, missing, graph.reaches, graph.magnitude, real=True)
    return graph.reaches[index]


def leaving(graph: Graph, magnitude: float, *, real: bool) -> tuple[Node, float] | None:
    """The first promise that data of the declared range would break, and how large its value becomes.

    Known for inputs, and for what constants and rotations make of one: there intervals are exact. Of other
    values they are bounds that need not be reached, and promises know better.
    """
    exact: dict[int, Interval] = {}
    for index in graph.live():
        node = graph.nodes[index]
        if node.op == "input":
            exact[index] = _input(graph, index, magnitude)
        elif node.plain:
            exact[index] = _constant(node, graph.slots, real=real)
        elif all(arg in exact for arg in node.args) and (
            node.op in ("neg", "rotate")
            or (node.op in ("add", "sub", "mul") and any(graph.nodes[arg].plain for arg in node.args))
        ):
            exact[index] = step(graph, node, [exact[arg] for arg in node.args], real=real)
        else:
            continue
        # The end that data of one sign stay away from does not count: 1/x on [1, 4] is fine up to 4.
        size = float(np.max(np.minimum(*(np.abs(end) for end in exact[index]))))
        promised = node.within is not None and not (node.op == "input" and index in graph.ranges)
        if promised and size > node.within * (1 + 2.0**-30):  # type: ignore[operator]
            return node, size
    return None


def largest(graph: Graph, magnitude: float, *, real: bool) -> float:
    """The greatest size that any encrypted value of the program can have; infinite if it is unknown."""
    found: dict[int, Interval] = {}
    intervals(graph, graph.live(), found, magnitude, real=real)
    encrypted = [ends for index, ends in found.items() if not graph.nodes[index].plain]
    sizes = (np.maximum(np.abs(low), np.abs(high)) for low, high in encrypted)
    return max(float(np.max(np.nan_to_num(size, nan=np.inf, posinf=np.inf))) for size in sizes)
