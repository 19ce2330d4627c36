"""Products of two encrypted matrices: the way is chosen by shape, from what each would cost.

(r, c) times (c, p) is computed in one of these ways:

- *copies*: one product of r·c·p slots, each factor copied along the axis that it lacks, then a sum over c;
- *columns*: p matrix-vector products; *rows*: the same of the transposed product, r of them;
- *outer*: a sum of c products of a column and a row, each copied to r×p;
- *blocks*: d×d slots, d the power of two above all sides, in d products (`crates/circuits`).

Each way that fits is traced in a program of its own, where its key switches, keys and levels are
counted. Costs grow with the ring, which holds the slots and, as levels grow, has to be larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmill.trace import linear
from ringmill.trace.graph import Graph
from ringmill.trace.layout import Layout, power_of_two
from ringmill.trace.where import MoreSlotsError

if TYPE_CHECKING:
    from ringmill.trace.symbol import Symbol

Way = Callable[["Symbol", "Symbol"], Any]

# Products one after the other, at most.
MOST_PRODUCTS = 32

# A table that is encoded takes about as long as a key switch of so few primes.
TABLE = 1.0

# Primes that a ring of N = 2^12 · 2^k holds, about, at 128 bits of security.
PRIMES = (2, 4, 9, 19, 39)


def product(left: Symbol, right: Symbol) -> Symbol:
    """``left @ right`` in the cheapest way."""
    best: tuple[float, int, Way] | None = None
    for way, slots in _ways(left, right):
        slots = max(slots, left.slots)
        while slots <= left.graph.most:
            try:
                cost = (
                    _cost_of_blocks(left, right, slots)
                    if way is linear.in_blocks
                    else _cost(way, left, right, slots)
                )
            except MoreSlotsError as more:
                slots = power_of_two(more.slots)
                continue
            if best is None or (cost, slots) < best[:2]:
                best = (cost, slots, way)
            break
    if best is None:
        side = power_of_two(max(*left.shape, *right.shape))
        raise MoreSlotsError(side * side)
    if best[1] > left.slots:
        raise MoreSlotsError(best[1])
    made: Symbol = best[2](left, right)
    return made


def _ways(left: Symbol, right: Symbol) -> list[tuple[Way, int]]:
    """Those that may do, with the slots that they need at least."""
    (r, c), p = left.shape, right.shape[1]
    side = power_of_two(max(r, c, p))
    ways: list[tuple[Way, int]] = [(linear.in_blocks, side * side)]
    if r * c * p <= left.graph.most:
        ways.append((copies, power_of_two(r * c * p)))
    if p <= min(MOST_PRODUCTS, c):
        ways.append((columns, power_of_two(r * c)))
    if r <= min(MOST_PRODUCTS, c):
        ways.append((rows, power_of_two(c * p)))
    if 1 < c <= MOST_PRODUCTS and r * p <= left.graph.most:
        ways.append((outer, power_of_two(r * p)))
    return ways


def copies(left: Symbol, right: Symbol) -> Symbol:
    """One product, each factor copied along the axis that it lacks."""
    both: Symbol = left[:, :, None] * right[None, :, :]
    return both.sum(axis=1)


def columns(left: Symbol, right: Symbol) -> Symbol:
    """Matrix-vector products, one for every column of the right factor."""
    from ringmill.trace.symbol import Symbol

    (r, _), p, (down, along) = left.shape, right.shape[1], left.layout.strides
    layout = Layout((r, p), (down, along), left.slots)
    total: Symbol | None = None
    for j in range(p):
        sums = linear.matrix_times(left, right[:, j])
        target = layout.index()[:, j]
        column = linear.mapped(sums, sums.layout.index(), target, np.ones(1, dtype=np.complex128), layout)
        total = column if total is None else total + column
    assert total is not None  # a matrix has a column
    return Symbol(total.graph, total.node, layout, clean=True)


def rows(left: Symbol, right: Symbol) -> Symbol:
    """The same of the transposed product."""
    return columns(right.transpose(), left.transpose()).transpose()


def outer(left: Symbol, right: Symbol) -> Symbol:
    """Products of a column and a row, summed."""
    total: Any = None
    for k in range(left.shape[1]):
        term = left[:, k : k + 1] * right[k : k + 1, :]
        total = term if total is None else total + term
    return total  # type: ignore[no-any-return]


def _cost(way: Way, left: Symbol, right: Symbol, slots: int) -> float:
    """What a way costs, traced in a program of its own; raises where it needs more slots."""
    from ringmill.trace.symbol import Symbol

    graph = Graph(slots)
    same = left.node == right.node
    factors = []
    for name, x in (("left", left), ("left" if same else "right", right)):
        layout = Layout(x.shape, x.layout.strides, slots)
        factors.append(Symbol(graph, graph.input(name, layout), layout, clean=x.clean))
    result = way(*factors).node
    switches, tables, keys = 0, 0, set()
    live = graph.needed([result])
    for index in live:
        node = graph.nodes[index]
        if node.op == "rotate":
            switches += 1
            keys.add(node.step)
        elif node.op == "sum":
            turns = node.count.bit_length() - 1
            switches += turns + node.count.bit_count() - 1
            keys.update(node.step * 2**i % slots for i in range(turns))
        elif node.plain:
            tables += isinstance(node.value, np.ndarray)
        elif node.op == "square" or (node.op == "mul" and not graph.nodes[node.args[1]].plain):
            switches += 1
            keys.add(0)
    return _work(switches + TABLE * tables, len(keys), graph.depths()[result], slots)


def _cost_of_blocks(left: Symbol, right: Symbol, slots: int) -> float:
    """The same by formula: two maps of about 2d diagonals, then d products of rotated factors."""
    d = power_of_two(max(*left.shape, *right.shape))
    if d * d > slots:
        raise MoreSlotsError(d * d)
    return _work(4 * d + 6 * math.sqrt(d) + TABLE * 5 * d, int(3 * d + 4 * math.sqrt(d)), 3, slots)


def _work(switches: float, keys: int, depth: int, slots: int) -> float:
    """Key switches and keys, in units of one limb of the least ring: in proportion to primes."""
    primes = depth + 2
    held = next((k for k, most in enumerate(PRIMES) if primes <= most), len(PRIMES))
    log_n = max(12 + held, slots.bit_length())
    return float((switches + keys) * primes * 2 ** (log_n - 12))
