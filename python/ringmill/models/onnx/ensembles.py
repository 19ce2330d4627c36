"""Trees and support vectors of the domain ``ai.onnx.ml``, evaluated as those of ``from_sklearn`` are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.models.columns import Context
from ringmill.models.onnx.evaluate import Node
from ringmill.models.onnx.nodes import Tensor, _refuse
from ringmill.models.sklearn import trees
from ringmill.models.sklearn.kernels import kernel

Array = NDArray[Any]
#: Operators that are evaluated here.
SERVER = frozenset(["SVMRegressor", "TreeEnsembleRegressor"])

_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "LEAF")


def evaluated(context: Context, node: Node, x: Tensor) -> Tensor:
    """What a node of ``SERVER`` gives."""
    if len(x.shape) != 1 or not x.lead:
        _refuse(node, "its input is no matrix of records", "Give it (records, features)")
    if node.op == "SVMRegressor":
        return _vectors(context, node, x)
    roots, offset = _trees(node)
    trees.bounded(node.name, roots)
    return Tensor(trees.evaluated(roots, offset)(context, x.columns), (len(offset),), x.lead)


def _vectors(context: Context, node: Node, x: Tensor) -> Tensor:
    """A sum of kernel values with support vectors."""
    given = node.decoded
    name = given.get("kernel_type", "LINEAR").lower()
    post = given.get("post_transform", "NONE")
    if post != "NONE" or int(given.get("one_class", 0)):
        _refuse(node, "it ends with a jump", "Export it with scores alone")
    # Those that are written from classifiers have a target for each pair of classes.
    targets = int(given.get("n_targets", 1))
    weights = np.array(given["coefficients"], float).reshape(-1, targets)
    offset = np.array(given.get("rho", [0.0]), float)[:targets]
    count = int(given.get("n_supports", 0))
    if not count:
        return Tensor(x.columns.affine(weights, offset), (targets,), x.lead)
    vectors = np.array(given["support_vectors"], float).reshape(count, -1)
    gamma, coef0, degree = (float(v) for v in given.get("kernel_params", [0.0, 0.0, 1.0]))
    if name not in ("linear", "poly", "rbf", "sigmoid") or (name == "poly" and degree != int(degree)):
        _refuse(
            node, f"its kernel is {name} of degree {degree:g}", "Take linear, rbf, sigmoid or a whole degree"
        )
    values = kernel(context, x.columns, vectors, name, gamma=gamma, coef0=coef0, degree=degree)
    return Tensor(values.affine(weights, offset), (targets,), x.lead)


def _trees(node: Node) -> tuple[list[trees.Tree], Array]:
    """The trees of a node, and what their values are added to."""
    given = node.decoded
    post = given.get("post_transform", "NONE")
    how = given.get("aggregate_function", "SUM")
    if post != "NONE" or how not in ("SUM", "AVERAGE"):
        _refuse(node, f"it takes the {how.lower()} of its trees, then {post}", "Take sums or means of trees")
    modes = given["nodes_modes"]
    if odd := sorted(set(modes) - set(_MODES)):
        _refuse(node, f"it has splits of the kind {', '.join(odd)}", "Splits by an order are known")
    targets = int(given["n_targets"])
    places = list(zip(given["nodes_treeids"], given["nodes_nodeids"], strict=True))
    number = {place: k for k, place in enumerate(places)}
    values = np.zeros((len(places), targets))
    weights = np.array(given["target_weights"], float)
    for tree, at, target, weight in zip(
        given["target_treeids"], given["target_nodeids"], given["target_ids"], weights, strict=True
    ):
        values[number[tree, at], target] += weight
    roots = list(dict.fromkeys(given["nodes_treeids"]))
    values /= len(roots) if how == "AVERAGE" else 1
    ids, yes, no = (given[f"nodes_{name}"] for name in ("treeids", "truenodeids", "falsenodeids"))
    features, thresholds = given["nodes_featureids"], np.array(given["nodes_values"], float)
    made: dict[int, trees.Node] = {}

    def build(first: int) -> trees.Node:
        # Children may stand before their parents: they are visited first, without recursion.
        todo = [first]
        while todo:
            k = todo[-1]
            if modes[k] == "LEAF":
                made[todo.pop()] = trees.Leaf(values[k])
                continue
            children = [number[ids[k], yes[k]], number[ids[k], no[k]]]
            missing = [child for child in children if child not in made]
            if missing:
                todo += missing
                continue
            true, false = (made[child] for child in children)
            # Trees compare features in single precision.
            strict = modes[k] in ("BRANCH_LT", "BRANCH_GTE")
            limit = np.nextafter(np.float32(thresholds[k]), np.float32(-np.inf)) if strict else thresholds[k]
            low, high = (false, true) if modes[k] in ("BRANCH_GT", "BRANCH_GTE") else (true, false)
            made[todo.pop()] = trees.joined((int(features[k]), trees.threshold(float(limit))), low, high)
        return made[first]

    first = {tree: next(k for k, (own, _) in enumerate(places) if own == tree) for tree in roots}
    found = [trees.Tree(build(first[tree]), np.eye(targets)) for tree in roots]
    base = given.get("base_values", np.zeros(targets))
    return found, np.broadcast_to(np.array(base, float), targets)
