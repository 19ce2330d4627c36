"""Numbers with declared bounds in programs of the prompt: what results show follows from the bounds alone.

Numbers are moved so little that none is zero or whole, and none equals those beside it: so no operation is
left out for some of them. A kernel is traced with these, and with numbers as large as the bounds. Constants
that differ between the traces come from declared numbers, and are as large as in any trace; each becomes a
vector with that bound. A kernel whose program follows from the numbers is refused. In a product with a matrix
all constants are its numbers, and one trace is enough.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ringmill.trace.graph import Graph
from ringmill.trace.plain import Plain
from ringmill.trace.program import Traced
from ringmill.trace.where import Where, refuse

# Numbers are moved by up to this part of their bound: less than the error of what they multiply, at scales
# up to 2^50.
MOVED = 2.0**-45
# Numbers that stand for them are larger than the bound by this part, and by up to twice as much.
_ABOVE = 2.0**-10
#: Signs of what stands for numbers: equal ones make sums largest, others differences.
PATTERNS = 4
# Bits of a bound that is worked out.
_BITS = 8


@dataclass(frozen=True, slots=True)
class Bounded:
    """A program for the prompt.

    Attributes
    ----------
        traced: the program.
        public: what is known of it without declared numbers, to bound its values by.
        bounds: of the vectors that come from declared numbers, by their names.
    """

    traced: Traced
    public: Traced
    bounds: dict[str, float]


def _parts(count: int, number: int) -> NDArray[np.float64]:
    """Parts of 1 that differ: of few multiples of the golden ratio in a row no two are close."""
    parts: NDArray[np.float64] = (np.arange(1, count + 1) + number / 7) * (math.sqrt(5) - 1) / 2 % 1.0
    return parts


def known(given: Plain) -> Any:
    """The numbers as a kernel takes them."""
    values = given.values.real if given.real else given.values
    return values if values.ndim else values.item()


def moved(given: Plain, number: int = 0) -> Any:
    """The numbers within the same bound, of which none is zero or whole, and none equal to one beside it."""
    values = given.values.real if given.real else given.values
    steps = given.magnitude * MOVED / 2 * (1 + _parts(values.size, number)).reshape(values.shape)
    found = np.asarray(values * (1 - MOVED) + steps)
    if given.structured:
        found = np.where(values == 0, 0, found)
    return found if found.ndim else found.item()


def standing_for(given: Plain, number: int, pattern: int) -> Any:
    """Numbers of the same shape, as large as the bound."""
    rng = np.random.default_rng([number, pattern])
    shape = given.values.shape
    sizes = given.magnitude * (1 + _ABOVE * (1 + rng.random(given.values.size)))
    signs = [np.ones(sizes.size), -np.ones(sizes.size), (-1.0) ** (np.arange(sizes.size) + number)]
    sizes *= signs[pattern] if pattern < len(signs) else rng.choice([-1.0, 1.0], sizes.size)
    found = sizes.reshape(shape)
    if not given.real:
        found = found * np.exp(2j * np.pi * rng.random(shape))
    return found if found.ndim else found.item()


def sizes(actual: Traced, others: Sequence[Traced], where: Where) -> dict[int, float]:
    """The constants that come from declared numbers, and how large they are; refused if the program does."""
    graphs = [actual.graph, *(other.graph for other in others)]
    if len({len(graph.nodes) for graph in graphs}) > 1 or any(g.outputs != graphs[0].outputs for g in graphs):
        refuse_decided(where)
    found: dict[int, float] = {}
    for index, nodes in enumerate(zip(*(graph.nodes for graph in graphs), strict=True)):
        first = nodes[0]
        shapes = {np.shape(node.value) for node in nodes if node.value is not None}
        if any(node != first or node.within != first.within for node in nodes) or len(shapes) > 1:
            refuse_decided(first.where or where)
        if not first.plain:
            continue
        value, *standing = (np.asarray(node.value) for node in nodes)
        if any(not np.array_equal(other, value) for other in standing):
            found[index] = _rounded_up(max(float(np.max(np.abs(other))) for other in standing))
            if float(np.max(np.abs(value))) > found[index]:
                refuse(
                    "BeyondDeclared",
                    "a number that is worked out from declared ones is larger than follows from their bounds",
                    "Work it out before, and declare the outcome, as ringmill.plain(1 / w, magnitude=8)",
                    first.where or where,
                )
    return found


def _rounded_up(size: float) -> float:
    fraction, exponent = math.frexp(size)
    return math.ldexp(math.ceil(fraction * 2**_BITS), exponent - _BITS)


def refuse_decided(where: Where) -> NoReturn:
    """Refuse a kernel whose program follows from declared numbers."""
    refuse(
        "DependsOnDeclared",
        "the program follows from numbers that are declared by their bound alone",
        "Give them as they are where everybody may know them; or decide before, and declare the outcome",
        where,
    )


def bounded(traced: Traced, sizes: Mapping[int, float]) -> Bounded:
    """The program with a vector in place of each constant of a size."""
    graph, public = traced.graph, copy.copy(traced.graph)
    public.nodes = list(graph.nodes)
    for index, size in sizes.items():
        node = graph.nodes[index]
        value = np.broadcast_to(np.asarray(node.value, dtype=np.complex128), (graph.slots,)).copy()
        graph.nodes[index] = replace(node, value=value)
        public.nodes[index] = replace(node, value=complex(size), fill=None)
    # As of complex numbers nothing is known of signs.
    signature = replace(traced.signature, real=False)
    bounds = {name: sizes[index] for name, index in _vectors(graph).items() if index in sizes}
    return Bounded(traced, Traced(public, signature, traced.magnitude), bounds)


def _vectors(graph: Graph) -> dict[str, int]:
    """The nodes of vector constants, by the names that the program's text gives them."""
    live = [index for index in graph.live() if isinstance(graph.nodes[index].value, np.ndarray)]
    return {f"c{number}": index for number, index in enumerate(live)}
