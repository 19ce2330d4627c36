"""Circuits of the crate `crates/circuits`, written into the program that is being traced.

Polynomials, linear maps and matrix products are planned and written there, once for every caller
(docs/decisions/0010). Here their few operations become rows of the graph, so that equal ones are shared,
bounds are worked out for each, and messages name the kernel's line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ringmill.trace.graph import Graph

if TYPE_CHECKING:
    from ringmill._native import Circuit


def splice(graph: Graph, circuit: Circuit, x: int, y: int = -1) -> int:
    """The result of ``circuit`` for ``x`` and ``y``; its regions stand inside the kernel's region."""
    outer = graph.region
    values: list[int] = []
    inputs = {"x": x, "y": y}
    try:
        for word, operands, attribute, title, within in circuit.steps():
            graph.region = f"{outer}: {title}" if outer and title else title or outer
            row = _row(graph, word, [values[v] for v in operands], attribute, inputs)
            values.append(row if within is None else graph.promise(row, within))
    finally:
        graph.region = outer
    return values[circuit.result]


def _row(graph: Graph, word: str, args: list[int], attribute: Any, inputs: dict[str, int]) -> int:
    if word == "input":
        return inputs[attribute]
    if word == "const":
        return graph.const(attribute)
    if word == "square":
        return graph.mul(args[0], args[0])
    if word == "rotate":
        return graph.rotate(args[0], attribute)
    if word == "sum":
        return graph.sum(args[0], *attribute)
    row: int = getattr(graph, word)(*args)  # add, sub, mul, neg, conj
    return row
