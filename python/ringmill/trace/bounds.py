"""How large values can become: interval arithmetic over a traced program, slot by slot.

Given a bound on the arguments, every slot of every value gets an interval that holds whatever the data is.
The largest of them decides how many bits a ciphertext needs above its binary point, so that results can
never wrap around; it also keeps predicted errors close, since an error grows with the size of what it is
multiplied by. Squares of real values are not negative: the Chebyshev recursion 2u² − 1 stays in [−1, 1].
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ringmill.trace.graph import Graph, Node

Array = NDArray[np.float64]
Interval = tuple[Array, Array]


def _constant(node: Node, slots: int, *, real: bool) -> Interval:
    value = np.broadcast_to(np.asarray(node.value), (slots,))
    if real:
        return value.real.astype(float), value.real.astype(float)
    size = np.abs(value)
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


def _sum(a: Array, count: int, step: int) -> Array:
    """Σ_{j < count} a[i + j·step], by doubling."""
    total, done, block, width = np.zeros_like(a), 0, a, 1
    while done < count:
        if count & width:
            total = total + np.roll(block, -done * step)
            done += width
        block = block + np.roll(block, -width * step)
        width *= 2
    return total


def intervals(graph: Graph, inputs: Mapping[str, Array], *, real: bool) -> dict[int, Interval]:
    """Lower and upper ends for every live value.

    Args:
        graph: the program.
        inputs: greatest size of every slot of every input.
        real: all values are real; otherwise ends are ± the absolute value.
    """
    out: dict[int, Interval] = {}
    for index in graph.live():
        node = graph.nodes[index]
        a, *rest = [out[arg] for arg in node.args] or [(np.zeros(0), np.zeros(0))]
        if node.op == "input":
            out[index] = (-inputs[node.name], inputs[node.name])
        elif node.op == "const":
            out[index] = _constant(node, graph.slots, real=real)
        elif node.op == "add":
            out[index] = (a[0] + rest[0][0], a[1] + rest[0][1])
        elif node.op == "sub":
            out[index] = (a[0] - rest[0][1], a[1] - rest[0][0])
        elif node.op == "neg":
            out[index] = (-a[1], -a[0])
        elif node.op == "mul":
            out[index] = _product(a, rest[0])
        elif node.op == "square":
            out[index] = _square(a, real=real)
        elif node.op == "rotate":
            out[index] = (np.roll(a[0], -node.step), np.roll(a[1], -node.step))
        elif node.op == "sum":
            out[index] = (_sum(a[0], node.count, node.step), _sum(a[1], node.count, node.step))
        else:  # conj
            out[index] = a
    return out


def largest(graph: Graph, inputs: Mapping[str, Array], *, real: bool) -> float:
    """The greatest size that any encrypted value of the program can have."""
    found = intervals(graph, inputs, real=real)
    encrypted = [ends for index, ends in found.items() if not graph.nodes[index].plain]
    return max(float(np.max(np.maximum(np.abs(low), np.abs(high)))) for low, high in encrypted)
