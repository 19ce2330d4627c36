"""Intervals from sample data: where values lie that are known for some records, with a margin on both sides.

Interval arithmetic bounds what any data can do. Samples say what data do; what follows from them is a promise
about all others, as ``ringmill.within`` is. Bounds of arguments that follow from samples are declared ones,
which ``encrypt`` holds data to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.errors import EncodingError, fail
from ringmill.trace.graph import Graph, Node
from ringmill.trace.spec import Spec, finite_array

#: Margin beyond what samples show, on both sides, in units of the width that they show.
MARGIN = 0.5

Samples = dict[str, NDArray[np.float64]]


def checked(given: Mapping[str, Any], specs: Mapping[str, Spec], magnitude: float | None) -> Samples:
    """Sample data, one record or several of every argument; refuses what is not data of these."""
    if not isinstance(given, Mapping) or set(given) != set(specs):
        named = ", ".join(map(str, given)) if isinstance(given, Mapping) else repr(given)
        fail(
            EncodingError,
            "Calibration",
            f"Calibration data are given for {named or 'nothing'}; the encrypted arguments are "
            f"{', '.join(specs)}. Give a dict with records of each.",
        )
    found = {}
    for name, spec in specs.items():
        array = finite_array(name, given[name], "used")
        if array.shape == spec.shape:
            array = array[None]
        if array.shape[1:] != spec.shape or not array.size or np.any(array.imag):
            fail(
                EncodingError,
                "Calibration",
                f"Calibration data of {name!r} have shape {np.shape(given[name])}; give real records of "
                f"shape {spec.shape}, one or several along a first axis.",
                argument=name,
            )
        low, high = spec.low, spec.high
        if low is None and magnitude is not None:
            low, high = -magnitude, magnitude
        outside = low is not None and high is not None and (array.real < low) | (array.real > high)
        if np.any(outside):
            fail(
                EncodingError,
                "Calibration",
                f"Calibration data of {name!r} reach from {array.real.min():g} to {array.real.max():g}, "
                f"beyond the declared bounds {low:g} and {high:g}. Declare wider ones, or leave such "
                "records out.",
                argument=name,
            )
        found[name] = array.real
    counts = {name: len(array) for name, array in found.items()}
    if len(set(counts.values())) > 1:
        fail(
            EncodingError,
            "Calibration",
            f"Calibration data have {counts} records. Give as many of each argument.",
        )
    return found


def widened(low: float, high: float) -> tuple[float, float]:
    """An interval with a margin."""
    slack = MARGIN * ((high - low) or max(abs(low), 2.0**-10))
    # What keeps its sign in all samples is taken to keep it.
    lower = max(low - slack, low / 2) if low > 0 else low - slack
    upper = min(high + slack, high / 2) if high < 0 else high + slack
    return lower, upper


def declared(specs: Mapping[str, Spec], samples: Samples, magnitude: float | None) -> dict[str, Spec]:
    """The arguments with bounds: those that are declared, or those of samples with a margin."""
    found = {}
    for name, spec in specs.items():
        low, high = widened(float(samples[name].min()), float(samples[name].max()))
        if magnitude is not None:
            low, high = max(low, -magnitude), min(high, magnitude)
        found[name] = spec if spec.low is not None else spec.between(low, high)
    return found


def ends(graph: Graph, index: int, slots: NDArray[np.int64]) -> tuple[float, float] | None:
    """Where the samples have a value in these slots, with a margin; ``None`` without samples."""
    if not graph.samples:
        return None
    for missing in graph.needed([index], graph.samples):
        node = graph.nodes[missing]
        graph.samples[missing] = _value(graph, node, [graph.samples[a] for a in node.args])
    values = graph.samples[index]
    values = values if values.ndim == 1 else values[:, slots]
    return widened(float(np.min(values)), float(np.max(values)))


def _value(graph: Graph, node: Node, args: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """One operation on samples."""
    if node.op == "const":
        return np.broadcast_to(np.real(np.asarray(node.value)), (1, graph.slots))
    if node.op == "add":
        return args[0] + args[1]
    if node.op == "sub":
        return args[0] - args[1]
    if node.op == "neg":
        return -args[0]
    if node.op == "mul":
        return args[0] * args[1]
    if node.op == "square":
        return args[0] ** 2
    if node.op == "rotate":
        return np.roll(args[0], -node.step, axis=1)
    if node.op == "sum":
        total, x = np.zeros_like(args[0]), args[0]
        for j in range(node.count):
            total = total + np.roll(x, -j * node.step, axis=1)
        return total
    if node.table is not None:
        return node.table.at(args[0])
    return args[0]  # conj, bootstrap


def sized(arguments: dict[str, Any], magnitude: float | None) -> tuple[dict[str, Any], float | None]:
    """Arguments of which all have bounds if one has, and the size of the largest."""
    declared = [v.magnitude for v in arguments.values() if isinstance(v, Spec) and v.magnitude is not None]
    if not declared:
        return arguments, magnitude
    others = 1.0 if magnitude is None else magnitude
    filled = {n: v.bounded(others) if isinstance(v, Spec) and v.real else v for n, v in arguments.items()}
    sizes = [v.magnitude or others for v in filled.values() if isinstance(v, Spec)]
    return filled, max(sizes)
