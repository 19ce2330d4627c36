"""Trained models in ONNX files: operators of the domain ``ai.onnx.ml``, as converters of scikit-learn write.

Scalers, linear models and the ends of classifiers become nodes of the main domain. Trees and support vectors
are evaluated as those of ``from_sklearn`` are. Labels are chosen by the client.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.models.onnx.ensembles import SERVER
from ringmill.models.onnx.evaluate import Node, decoded
from ringmill.models.onnx.nodes import _refuse as refuse

Array = NDArray[Any]
DOMAIN = "ai.onnx.ml"
#: Of the main domain, where a file names none.
OPSET = 18
#: Written in nodes of the main domain, and of ``SERVER``.
REWRITTEN = frozenset(
    [
        "ArrayFeatureExtractor",
        "LinearClassifier",
        "LinearRegressor",
        "SVMClassifier",
        "Scaler",
        "TreeEnsembleClassifier",
    ]
)

# What follows the scores of a classifier, in operators of the main domain.
_POST = {"NONE": ("Identity", {}), "LOGISTIC": ("Sigmoid", {}), "SOFTMAX": ("Softmax", {"axis": 1})}


class _Rewriting:
    """The nodes of a graph while they are written anew, and the constants that come with them."""

    def __init__(self, model: Any) -> None:
        import onnx

        self.onnx = onnx
        self.model = model
        self.nodes: list[Any] = []
        self.constants = {i.name for i in model.graph.initializer}
        self.count = 0

    def name(self, of: str) -> str:
        """A name that no value has."""
        self.count += 1
        return f"{of}/ringmill {self.count}"

    def constant(self, values: Any, of: str) -> str:
        """Another constant."""
        name = self.name(of)
        array = np.asarray(values)
        array = array.astype(np.float32) if array.dtype.kind == "f" else array
        self.model.graph.initializer.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def node(
        self, op: str, inputs: Sequence[str], outputs: Sequence[str], like: Any, **attributes: Any
    ) -> None:
        """Another node; messages call it what they called the one that it comes from."""
        named = Node(like, OPSET).name
        domain = DOMAIN if op in SERVER else ""
        self.nodes.append(self.onnx.helper.make_node(op, inputs, outputs, named, domain=domain, **attributes))


def has_own(model: Any) -> bool:
    """Whether a model has operators of trained models."""
    return any(node.domain == DOMAIN for node in model.graph.node)


def unzipped(model: Any) -> Any:
    """The model with matrices, a column a class, in place of lists of dictionaries (``ZipMap``)."""
    zips = [node for node in model.graph.node if node.domain == DOMAIN and node.op_type == "ZipMap"]
    if not zips:
        return model
    import onnx

    made = onnx.ModelProto()
    made.CopyFrom(model)
    results = {node.output[0] for node in zips}
    for node in made.graph.node:
        if node.output[0] in results:
            node.op_type, node.domain = "Identity", ""
            del node.attribute[:]
    for output in made.graph.output:
        if output.name in results:
            shape = [None, None]
            output.CopyFrom(onnx.helper.make_tensor_value_info(output.name, onnx.TensorProto.FLOAT, shape))
    if not any(one.domain in ("", "ai.onnx") for one in made.opset_import):
        made.opset_import.append(onnx.helper.make_opsetid("", OPSET))
    return made


def rewritten(model: Any) -> Any:
    """The model with nodes of the main domain in place of those that can be."""
    if not has_own(model):
        return model
    import onnx

    made = onnx.ModelProto()
    made.CopyFrom(model)
    rewriting = _Rewriting(made)
    for node in model.graph.node:
        write = _WRITERS.get(node.op_type) if node.domain == DOMAIN else None
        if write is None or not write(rewriting, node, decoded(node)):
            rewriting.nodes.append(node)
    del made.graph.node[:]
    made.graph.node.extend(rewriting.nodes)
    return made


def _refuse(proto: Any, why: str, instead: str) -> Any:
    refuse(Node(proto, OPSET), why, instead)


def _scaler(to: _Rewriting, node: Any, given: dict[str, Any]) -> bool:
    moved = to.name(node.output[0])
    to.node(
        "Sub", [node.input[0], to.constant(np.array(given["offset"], float), node.output[0])], [moved], node
    )
    scale = to.constant(np.array(given["scale"], float), node.output[0])
    to.node("Mul", [moved, scale], [node.output[0]], node)
    return True


def _linear(to: _Rewriting, node: Any, given: dict[str, Any]) -> bool:
    """A regression of one target or several."""
    if given.get("post_transform", "NONE") != "NONE":
        _refuse(node, f"it ends with {given['post_transform']}", "Apply that to the predictions")
    targets = int(given.get("targets", 1))
    weights = np.array(given["coefficients"], float).reshape(targets, -1)
    intercepts = np.array(given.get("intercepts", np.zeros(targets)), float)
    _gemm(to, node, node.input[0], weights, intercepts, node.output[0])
    return True


def _gemm(to: _Rewriting, node: Any, x: str, weights: Array, offset: Array, y: str) -> None:
    """``x @ weights.T + offset``."""
    constants = [to.constant(weights, node.output[0]), to.constant(offset, node.output[0])]
    to.node("Gemm", [x, *constants], [y], node, transB=1)


def _linear_classifier(to: _Rewriting, node: Any, given: dict[str, Any]) -> bool:
    classes = _classes(node, given)
    intercepts = np.array(given.get("intercepts", [0.0]), float)
    weights = np.array(given["coefficients"], float).reshape(len(intercepts), -1)
    if len(intercepts) == 1 and len(classes) == 2:
        weights, intercepts = np.vstack([-weights, weights]), np.concatenate([-intercepts, intercepts])
    if len(intercepts) != len(classes):
        _refuse(
            node, f"it has {len(intercepts)} scores for {len(classes)} classes", "Give each class a score"
        )
    scores = to.name(node.output[0])
    _gemm(to, node, node.input[0], weights, intercepts, scores)
    _end(to, node, given, scores, classes)
    return True


def _classes(node: Any, given: dict[str, Any]) -> Array:
    names = ("classlabels_ints", "classlabels_int64s", "classlabels_strings")
    labels = next((given[name] for name in names if given.get(name)), None)
    if labels is None or len(labels) < 2:
        _refuse(node, "it has fewer than two classes", "Export it with the labels of its classes")
    array = np.array(labels)
    return array.astype(object) if array.dtype.kind == "U" else array.astype(np.int64)


def _end(to: _Rewriting, node: Any, given: dict[str, Any], scores: str, classes: Array) -> None:
    """Probabilities and the label of the largest, from scores of all classes."""
    post = given.get("post_transform", "NONE")
    if post not in _POST:
        _refuse(node, f"it ends with {post}", f"{', '.join(_POST)} are known")
    outputs = [*node.output, "", ""]
    label, chances = outputs[0], outputs[1] or to.name(node.output[0])
    op, attributes = _POST[post]
    to.node(op, [scores], [chances], node, **attributes)
    if label:
        number = to.name(label)
        to.node("ArgMax", [chances], [number], node, axis=1, keepdims=0)
        to.node("Gather", [to.constant(classes, label), number], [label], node)


def _tree_classifier(to: _Rewriting, node: Any, given: dict[str, Any]) -> bool:
    classes = _classes(node, given)
    ids = np.array(given["class_ids"], np.int64)
    binary = len(set(ids.tolist())) == 1
    if binary and (len(classes) != 2 or given.get("post_transform", "NONE") == "PROBIT"):
        _refuse(node, "its trees give one of several classes alone", "Export it with a weight for each class")
    names = {
        "class_nodeids": "target_nodeids",
        "class_treeids": "target_treeids",
        "class_weights": "target_weights",
    }
    post = given.get("post_transform", "NONE")
    mixed = min(np.ravel(given["class_weights"])) < 0
    if binary and (post, mixed) not in (("NONE", False), ("LOGISTIC", True)):
        # Runtimes and the reference implementation make other scores of these.
        _refuse(
            node,
            f"it has one score for two classes, {'of both signs' if mixed else 'never negative'}, and ends "
            f"with {post}, which runtimes read in different ways",
            "Take ringmill.from_sklearn, or export it with a score for each class",
        )
    kept = {
        name: value for name, value in given.items() if name.startswith("nodes_") or name == "base_values"
    }
    kept |= {new: given[old] for old, new in names.items()}
    kept["target_ids"] = [0] * len(ids) if binary else ids.tolist()
    kept["n_targets"] = 1 if binary else len(classes)
    if "base_values" in kept:
        kept["base_values"] = list(np.ravel(kept["base_values"]))[: kept["n_targets"]]
    kept = {name: np.asarray(v).tolist() if isinstance(v, np.ndarray) else v for name, v in kept.items()}
    sums = to.name(node.output[0])
    to.node("TreeEnsembleRegressor", [node.input[0]], [sums], node, **kept)
    scores = sums
    if binary:
        scores = to.name(node.output[0])
        first = 1.0 if post == "NONE" else 0.0
        _gemm(to, node, sums, np.array([[-1.0], [1.0]]), np.array([first, 0.0]), scores)
    _end(to, node, given, scores, classes)
    return True


def _vector_classifier(to: _Rewriting, node: Any, given: dict[str, Any]) -> bool:
    """Decisions of every pair of classes by support vectors; the client counts which class wins most."""
    classes = _classes(node, given)
    counts = [int(n) for n in given.get("vectors_per_class", [])]
    if given.get("post_transform", "NONE") != "NONE" or given.get("prob_a") or not sum(counts):
        _refuse(
            node,
            "it couples probabilities of pairs, or has no support vectors",
            "Export it with scores alone",
        )
    dual = np.array(given["coefficients"], float).reshape(-1, sum(counts))
    if dual.min() >= 0:
        _refuse(node, "no weight of its support vectors is negative", "Fit it to more than one class")
    pairs = list(itertools.combinations(range(len(classes)), 2))
    starts = np.cumsum([0, *counts])
    weights = np.zeros((sum(counts), len(pairs)))
    for k, (i, j) in enumerate(pairs):
        first, second = (slice(starts[c], starts[c + 1]) for c in (i, j))
        weights[first, k], weights[second, k] = dual[j - 1, first], dual[i, second]
    kept = {
        name: given[name]
        for name in ("kernel_params", "kernel_type", "rho", "support_vectors")
        if name in given
    }
    scores = to.name(node.output[0])
    to.node(
        "SVMRegressor",
        [node.input[0]],
        [scores],
        node,
        coefficients=weights.ravel().tolist(),
        n_supports=sum(counts),
        n_targets=len(pairs),
        **kept,
    )
    outputs = [*node.output, "", ""]
    if outputs[1] and len(pairs) > 1:
        to.node("Identity", [scores], [outputs[1]], node)
    elif outputs[1]:
        _gemm(to, node, scores, np.array([[-1.0], [1.0]]), np.zeros(2), outputs[1])
    if outputs[0]:
        _most_wins(to, node, scores, pairs, classes, outputs[0])
    return True


def _most_wins(
    to: _Rewriting, node: Any, scores: str, pairs: list[tuple[int, int]], classes: Array, label: str
) -> None:
    """The class that wins the most pairs: the first of a pair where its decision is positive."""
    won, number, wide, gains, sums, votes, most = (to.name(label) for _ in range(7))
    gain, before = np.zeros((len(pairs), len(classes))), np.zeros(len(classes))
    for k, (i, j) in enumerate(pairs):
        gain[k, i], gain[k, j] = 1.0, -1.0
        before[j] += 1.0
    float_type = to.onnx.TensorProto.FLOAT
    to.node("Greater", [scores, to.constant(np.zeros(1), label)], [won], node)
    to.node("Cast", [won], [number], node, to=float_type)
    to.node("Unsqueeze", [number, to.constant(np.array([2]), label)], [wide], node)
    to.node("Mul", [wide, to.constant(gain, label)], [gains], node)
    to.node("ReduceSum", [gains, to.constant(np.array([1]), label)], [sums], node, keepdims=0)
    to.node("Add", [sums, to.constant(before, label)], [votes], node)
    to.node("ArgMax", [votes], [most], node, axis=1, keepdims=0)
    to.node("Gather", [to.constant(classes, label), most], [label], node)


def _extractor(to: _Rewriting, node: Any, _: dict[str, Any]) -> bool:
    """Columns by constant numbers; of constants by encrypted numbers, it stays for the client."""
    if node.input[1] not in to.constants:
        return False
    index = next(i for i in to.model.graph.initializer if i.name == node.input[1])
    numbers = to.constant(to.onnx.numpy_helper.to_array(index).ravel(), node.output[0])
    to.node("Gather", [node.input[0], numbers], [node.output[0]], node, axis=-1)
    return True


_WRITERS: dict[str, Callable[[_Rewriting, Any, dict[str, Any]], bool]] = {
    "ArrayFeatureExtractor": _extractor,
    "LinearClassifier": _linear_classifier,
    "LinearRegressor": _linear,
    "SVMClassifier": _vector_classifier,
    "Scaler": _scaler,
    "TreeEnsembleClassifier": _tree_classifier,
}
