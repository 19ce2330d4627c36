"""The client's nodes at the end of a network, as functions that need NumPy alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ringmill.models.after import RESULTS, After
from ringmill.models.onnx.evaluate import Node

if TYPE_CHECKING:
    from ringmill.models.onnx.convert import Graph

Shape = tuple[int, ...]


def _axis(node: Node) -> int:
    return int(node.attributes.get("axis", 0 if node.op.startswith("Arg") else -1))


def _along(name: str) -> Callable[[Node, After], After]:
    return lambda node, x: x.then(name, _axis(node))


def _index(name: str) -> Callable[[Node, After], After]:
    return lambda node, x: x.then(name, _axis(node), bool(node.attributes.get("keepdims", 1)))


# Orders of norms, as numpy.linalg.norm has them.
_NORMS = {b"L1": 1.0, b"L2": 2.0, b"MAX": math.inf}

_NODES: dict[str, Callable[[Node, After], After]] = {
    "Identity": lambda _, x: x,
    "Sigmoid": lambda _, x: x.then("logistic"),
    "Tanh": lambda _, x: x.then("tanh"),
    "Exp": lambda _, x: x.then("exp"),
    "Normalizer": lambda node, x: x.then("normed", _NORMS[node.attributes["norm"]]),
    "Sqrt": lambda _, x: x.then("roots"),
    "Softmax": _along("softmax_along"),
    "LogSoftmax": _along("log_softmax_along"),
    "ArgMax": _index("argmax_along"),
    "ArgMin": _index("argmin_along"),
}


def _labels(graph: Graph, node: Node) -> Any:
    """The constants that a node at the client chooses from by number, if it does that."""
    chooses = node.op == "Gather" and not int(node.attributes.get("axis", 0))
    labels = graph.constants.get(node.inputs[0]) if chooses else None
    return labels if labels is not None and labels.ndim == 1 else None


def _changes_nothing(graph: Graph, node: Node) -> bool:
    """Whether a node casts numbers to numbers, or labels to what they are."""
    import onnx

    if node.op != "Cast":
        return False
    to = int(node.attributes["to"])
    if to in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
        return True
    made = next((one for one in graph.client if node.inputs[0] in one.outputs), None)
    labels = None if made is None else _labels(graph, made)
    if labels is None:
        return False
    whole = to in (onnx.TensorProto.INT32, onnx.TensorProto.INT64)
    return labels.dtype.kind in "iu" if whole else to == onnx.TensorProto.STRING and labels.dtype.kind in "OU"


def portable(graph: Graph) -> bool:
    """Whether the client's part fits into a file: no node of it looks across records, or is unknown here."""
    known = all(
        _labels(graph, node) is not None
        or _changes_nothing(graph, node)
        or (
            node.op in _NODES
            and len(node.inputs) == 1
            and (node.op not in ("Softmax", "LogSoftmax", "ArgMax", "ArgMin") or _axis(node) != 0)
            and not node.attributes.get("select_last_index", 0)
        )
        for node in graph.client
    )
    return known and graph.lead == 1


def afters(graph: Graph, shapes: Mapping[str, Shape]) -> list[After]:
    """What each output is made of, where ``portable`` holds: results (rows, k) have these shapes a row."""
    made: dict[str, Any] = {}
    at = 0
    for name in graph.results:
        size = math.prod(shapes[name])
        columns = After("columns", (RESULTS,), (at, at + size))
        made[name] = columns.then("shaped", *shapes[name])
        at += size
    for node in graph.client:
        if _changes_nothing(graph, node):
            made[node.outputs[0]] = made[node.inputs[0]]
            continue
        labels = _labels(graph, node)
        if labels is not None:
            made[node.outputs[0]] = made[node.inputs[1]].then("chosen", labels)
            continue
        made[node.outputs[0]] = _NODES[node.op](node, made[node.inputs[0]])
    return [made[name] for name in graph.outputs]
