"""Operators that are evaluated on request alone: soft-max in the middle of a model, and pooling by maxima."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array

from ringmill.errors import ModelError, fail
from ringmill.models.columns import Columns, Context
from ringmill.models.onnx.evaluate import Node
from ringmill.models.onnx.nodes import Array, Tensor, members
from ringmill.models.onnx.pooling import windows


def requested(context: Context, node: Node, x: Tensor, asked: frozenset[str]) -> Tensor:
    """A node of ``REQUEST``.

    Raises
    ------
        ModelError: one that is not asked for; the message says what it takes.
    """
    if node.op == "Softmax":
        return _softmax(context, node, x, asked)
    return _largest(context, node, x, asked)


def _ask(node: Node, asked: frozenset[str], takes: str, instead: str) -> None:
    if node.op not in asked:
        fail(
            ModelError,
            "Request",
            f"Node {node.name!r} ({node.op}) takes {takes}. "
            f"Ask for it by approximate=[{node.op!r}], or {instead}.",
            node=node.name,
            operator=node.op,
        )


def _softmax(context: Context, node: Node, x: Tensor, asked: frozenset[str]) -> Tensor:
    """exp(x − c) over its sum, for any c: the middle of the calibrated range."""
    axis = int(node.attributes.get("axis", -1))
    axis = (axis + len(x.full) if axis < 0 else axis) - x.lead
    if axis < 0:
        fail(
            ModelError,
            "Unsupported",
            f"Node {node.name!r} (Softmax) is not supported: it is over the batch axis. Take a later axis.",
            node=node.name,
            operator=node.op,
        )
    count = x.columns.count
    groups = np.moveaxis(x.index, axis, -1).reshape(-1, x.shape[axis])
    takes = f"{count} exponentials, {len(groups)} inverses and {count} products"
    _ask(node, asked, takes, "move it to the end of the model, where the client computes it")
    # Of one element it is 1, and no function of the operand.
    of, member = members(groups, count)
    centred = _centred(context, x.columns)
    powers = context.function(centred, np.exp, f"exp at {node.name!r}")
    sums = context.function(powers.affine(member), np.reciprocal, f"inverse at {node.name!r}")
    spread = sums.chosen(of)
    return Tensor(context.product(powers, spread, f"share at {node.name!r}"), x.shape, x.lead)


def _centred(context: Context, columns: Columns) -> Columns:
    low, high = context.range(columns, "operands of a soft-max")
    return columns.scaled(1.0, -(low + high) / 2)


def _largest(context: Context, node: Node, x: Tensor, asked: frozenset[str]) -> Tensor:
    """The largest element of every window, by rounds of max(a, b) = (a + b + |a − b|)/2."""
    if any(node.outputs[1:]) or node.attributes.get("storage_order", 0):
        fail(
            ModelError,
            "Unsupported",
            f"Node {node.name!r} ({node.op}) is not supported: it gives indices. Leave that output out.",
            node=node.name,
            operator=node.op,
        )
    found = windows(node, x.shape, 2 - x.lead)
    left = found.elements
    most = max(len(window) for window in left)
    rounds = max(most - 1, 0).bit_length()
    takes = f"{rounds} rounds of |a − b|, {sum(len(w) - 1 for w in left)} in all"
    _ask(node, asked, takes, "take AveragePool")
    columns = x.columns
    for number in range(rounds):
        columns, left = _round(context, columns, left, f"round {number + 1} of {node.op} at {node.name!r}")
    return Tensor(columns.chosen([int(window[0]) for window in left]), found.shape, x.lead)


def _round(context: Context, columns: Columns, windows: list[Any], name: str) -> tuple[Columns, list[Array]]:
    """Halve every window: its elements in pairs, equal pairs once."""
    pairs = sorted(
        {(int(w[k]), int(w[k + 1])) for w in windows for k in range(0, len(w) - 1, 2)}
        | {(int(w[-1]), int(w[-1])) for w in windows if len(w) % 2}
    )
    number = {pair: at for at, pair in enumerate(pairs)}
    first, second = columns.chosen([i for i, _ in pairs]), columns.chosen([j for _, j in pairs])
    apart = Columns.added([first, second], [1.0, -1.0])
    real = [at for at, (i, j) in enumerate(pairs) if i != j]
    distance = context.function(apart.chosen(real), np.abs, name)
    spread = csc_array((np.full(len(real), 0.5), (np.arange(len(real)), real)), shape=(len(real), len(pairs)))
    made = Columns.added([first, second, distance.affine(spread)], [0.5, 0.5, 1.0])
    left = [
        np.array([number[int(w[k]), int(w[min(k + 1, len(w) - 1)])] for k in range(0, len(w), 2)])
        for w in windows
    ]
    return made, left
