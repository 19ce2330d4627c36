"""Operators that are evaluated on request alone: soft-max in the middle of a model, and pooling by maxima."""

from __future__ import annotations

from typing import Any

import numpy as np

from ringmill.errors import ModelError, fail
from ringmill.models.columns import Columns, Context
from ringmill.models.onnx.evaluate import Node
from ringmill.models.onnx.nodes import Affine, Array, Tensor


def requested(context: Context, node: Node, x: Tensor, affine: Affine, asked: frozenset[str]) -> Tensor:
    """A node of ``REQUEST``.

    Raises
    ------
        ModelError: one that is not asked for; the message says what it takes.
    """
    if node.op == "Softmax":
        return _softmax(context, node, x, asked)
    return _largest(context, node, x, affine, asked)


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
    member = np.zeros((count, len(groups)))
    member[groups.ravel(), np.repeat(np.arange(len(groups)), groups.shape[1])] = 1
    centred = _centred(context, x.columns)
    powers = context.function(centred, np.exp, f"exp at {node.name!r}")
    sums = context.function(powers.affine(member), np.reciprocal, f"inverse at {node.name!r}")
    spread = sums.chosen(np.argmax(member, axis=1))
    return Tensor(context.product(powers, spread, f"share at {node.name!r}"), x.shape, x.lead)


def _centred(context: Context, columns: Columns) -> Columns:
    low, high = context.range(columns, "operands of a soft-max")
    return columns.affine(np.eye(columns.count), -(low + high) / 2)


def _largest(context: Context, node: Node, x: Tensor, affine: Affine, asked: frozenset[str]) -> Tensor:
    """The largest element of every window, by rounds of max(a, b) = (a + b + |a − b|)/2."""
    if any(node.outputs[1:]) or node.attributes.get("storage_order", 0):
        fail(
            ModelError,
            "Unsupported",
            f"Node {node.name!r} ({node.op}) is not supported: it gives indices. Leave that output out.",
            node=node.name,
            operator=node.op,
        )
    # The mean over the same windows says which elements are in them.
    mean = affine(node.mean, [Tensor(Columns.of([np.zeros(1)] * x.columns.count), x.shape, x.lead)])[0]
    windows = [np.flatnonzero(column) for column in mean.columns.weights.T]
    most = max(len(window) for window in windows)
    rounds = max(most - 1, 0).bit_length()
    takes = f"{rounds} rounds of |a − b|, {sum(len(w) - 1 for w in windows)} in all"
    _ask(node, asked, takes, "take AveragePool")
    columns, left = x.columns, windows
    for number in range(rounds):
        columns, left = _round(context, columns, left, f"round {number + 1} of {node.op} at {node.name!r}")
    return Tensor(columns.chosen([int(window[0]) for window in left]), mean.shape, x.lead)


def _round(context: Context, columns: Columns, windows: list[Any], name: str) -> tuple[Columns, list[Array]]:
    """Halve every window: its elements in pairs, equal pairs once."""
    pairs = sorted(
        {(int(w[k]), int(w[k + 1])) for w in windows for k in range(0, len(w) - 1, 2)}
        | {(int(w[-1]), int(w[-1])) for w in windows if len(w) % 2}
    )
    number = {pair: at for at, pair in enumerate(pairs)}
    first, second = columns.chosen([i for i, _ in pairs]), columns.chosen([j for _, j in pairs])
    eye = np.eye(len(pairs))
    apart = Columns.joined([first, second]).affine(np.vstack([eye, -eye]))
    real = [at for at, (i, j) in enumerate(pairs) if i != j]
    distance = context.function(apart.chosen(real), np.abs, name)
    spread = np.zeros((len(real), len(pairs)))
    spread[np.arange(len(real)), real] = 0.5
    made = Columns.joined([first, second, distance]).affine(np.vstack([eye / 2, eye / 2, spread]))
    left = [
        np.array([number[int(w[k]), int(w[min(k + 1, len(w) - 1)])] for k in range(0, len(w), 2)])
        for w in windows
    ]
    return made, left
