"""Trees, forests and boosting of bounded size: every split is a step, every leaf a product of steps.

A tree is the sum over its leaves of their values, each times the product of the steps on its path. Halves of
a path are multiplied, so that a tree of depth d takes ⌈log2 d⌉ levels after the steps. Splits at one
threshold of one feature are one step, in however many trees they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringmill.errors import ModelError, fail
from ringmill.models.after import RESULTS, After, by_largest, by_sign, of_two
from ringmill.models.columns import Columns, Context
from ringmill.models.lowered import Array, Lowered

#: Different splits that one model may have, and their products: thousands of polynomials are hours.
MOST_SPLITS, MOST_PRODUCTS = 1_000, 4_000


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Rows whose feature is above the threshold go right."""

    feature: int
    threshold: float
    left: Node
    right: Node

    @property
    def at(self) -> tuple[int, float]:
        """What rows are compared with."""
        return self.feature, self.threshold


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """The values of a leaf, (k,)."""

    values: Array


Node = Split | Leaf


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A tree, and the results that its values are added to: ``values @ outputs``, (k, results)."""

    root: Node
    outputs: Array


def depth(node: Node) -> int:
    """Splits on the longest path."""
    return 0 if isinstance(node, Leaf) else 1 + max(depth(node.left), depth(node.right))


def leaves(node: Node) -> int:
    """The number of leaves."""
    return 1 if isinstance(node, Leaf) else leaves(node.left) + leaves(node.right)


def splits(node: Node) -> set[tuple[int, float]]:
    """Features and thresholds, each once."""
    return set() if isinstance(node, Leaf) else {node.at} | splits(node.left) | splits(node.right)


def joined(at: tuple[int, float], left: Node, right: Node) -> Node:
    """A split; none where it changes nothing."""
    same = isinstance(left, Leaf) and isinstance(right, Leaf) and np.array_equal(left.values, right.values)
    return left if same else Split(*at, left, right)


class _Evaluation:
    """The trees of a model, with the steps that they share."""

    def __init__(self, context: Context, steps: dict[tuple[int, float], Columns]) -> None:
        self.context, self.steps = context, steps

    def value(self, node: Node) -> Columns:
        """The values of the leaf that a row comes to, (k,)."""
        found = self.indicators(node, depth(node))
        return _sum([chosen.affine(leaf.values[None]) for leaf, chosen in found if isinstance(leaf, Leaf)])

    def indicators(self, node: Node, deep: int) -> list[tuple[Node, Columns]]:
        """Nodes at a depth, and the leaves above it, each with 1 for the rows that come to it and 0 else."""
        if isinstance(node, Leaf) or deep == 0:
            return [(node, _constant(np.ones(1)))]
        if deep == 1:
            step = self.steps[node.at]
            return [(node.left, step.affine([[-1.0]], 1.0)), (node.right, step)]
        top = (deep + 1) // 2
        found: list[tuple[Node, Columns]] = []
        for below, chosen in self.indicators(node, top):
            found += self._within(chosen, below, deep - top)
        return found

    def _within(self, chosen: Columns, node: Node, deep: int) -> list[tuple[Node, Columns]]:
        """`indicators` of a subtree, for rows that come to it: the last is what the others leave."""
        inner = self.indicators(node, deep)
        if len(inner) == 1:
            return [(node, chosen)]
        made = [(below, self.context.both(chosen, one)) for below, one in inner[:-1]]
        rest = Columns.joined([chosen, *(one for _, one in made)])
        return [*made, (inner[-1][0], rest.affine([[1.0]] + [[-1.0]] * len(made)))]


def _constant(values: Array) -> Columns:
    return Columns.constant(np.asarray(values, float))


def _sum(parts: Sequence[Columns]) -> Columns:
    return Columns.added(parts, [1.0] * len(parts))


def evaluated(trees: Sequence[Tree], offset: Array) -> Callable[[Context, Columns], Columns]:
    """The server's part: all trees' values over their results, and an offset (results,)."""
    keys = sorted(set().union(*(splits(tree.root) for tree in trees)))

    def server(context: Context, x: Columns) -> Columns:
        features = x.chosen([feature for feature, _ in keys])
        steps = context.above(features, np.array([t for _, t in keys]), f"{len(keys)} splits")
        own = _Evaluation(context, {key: steps.single(k) for k, key in enumerate(keys)})
        values = [own.value(tree.root) for tree in trees]
        outputs = np.vstack([tree.outputs for tree in trees])
        return Columns.joined(values).affine(outputs, offset)

    return server


def bounded(name: str, trees: Sequence[Tree]) -> None:
    """Refuse trees with more splits or products than are evaluated, and those without a split."""
    keys = set().union(*(splits(tree.root) for tree in trees))
    products = sum(max(leaves(tree.root) - 2, 0) for tree in trees)
    if len(keys) > MOST_SPLITS or products > MOST_PRODUCTS:
        deepest = max(depth(tree.root) for tree in trees)
        fail(
            ModelError,
            "TooLarge",
            f"{name} has {len(keys):,} different splits in {len(trees):,} trees of depth up to {deepest}; "
            f"{MOST_SPLITS:,} splits and {MOST_PRODUCTS:,} products are evaluated at most. "
            "Fit fewer trees, or smaller ones: max_depth=3.",
            estimator=name,
            splits=len(keys),
            products=products,
        )
    if not keys:
        fail(ModelError, "Constant", f"{name} has no split. Nothing needs encryption here.", estimator=name)


def _lowered(
    estimator: Any,
    trees: Sequence[Tree],
    methods: dict[str, Any],
    *,
    offset: Array | None = None,
    note: str = "",
) -> Lowered:
    bounded(type(estimator).__name__, trees)
    results = trees[0].outputs.shape[1]
    server = evaluated(trees, np.zeros(results) if offset is None else offset)
    return Lowered(server, methods, notes=[note] if note else [])


def _read(tree: Any, values: Callable[[int], Array], features: Sequence[int] | None = None) -> Node:
    """A fitted tree of scikit-learn, with values for the numbers of its leaves."""
    made: dict[int, Node] = {}
    # Children have greater numbers than their parents.
    for node in reversed(range(tree.node_count)):
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            made[node] = Leaf(np.asarray(values(node), float))
            continue
        feature = int(tree.feature[node])
        at = feature if features is None else int(features[feature]), threshold(float(tree.threshold[node]))
        made[node] = joined(at, made[left], made[right])
    return made[0]


def threshold(given: float) -> float:
    """The same for features in double precision: trees round them to single precision first."""
    near = np.float32(given)
    least = near if float(near) <= given else np.nextafter(near, np.float32(-np.inf))
    return (float(least) + float(np.nextafter(least, np.float32(np.inf)))) / 2


def _one_output(estimator: Any) -> None:
    if getattr(estimator, "n_outputs_", 1) != 1:
        name = type(estimator).__name__
        fail(
            ModelError,
            "Unsupported",
            f"{name} was fitted to several outputs. Fit one estimator an output.",
            estimator=name,
            attribute="n_outputs_",
        )


def _forest_regressor(estimator: Any) -> Lowered:
    _one_output(estimator)
    parts = getattr(estimator, "estimators_", [estimator])
    trees = [_regression(part.tree_, 1 / len(parts)) for part in parts]
    return _lowered(estimator, trees, {"predict": After("flat")})


def _regression(tree: Any, factor: float, place: Array | None = None) -> Tree:
    root = _read(tree, lambda node: tree.value[node, 0, :1] * factor)
    return Tree(root, np.eye(1) if place is None else place[None])


def _forest_classifier(estimator: Any) -> Lowered:
    _one_output(estimator)
    parts = getattr(estimator, "estimators_", [estimator])
    classes = estimator.classes_
    # Of two classes the second one's share is enough.
    first = 1 if len(classes) == 2 else 0
    count = len(classes) - first
    trees = []
    for part in parts:
        shares = part.tree_.value[:, 0, :] / part.tree_.value[:, 0, :].sum(axis=1, keepdims=True)
        root = _read(part.tree_, lambda node, own=shares: own[node, first:] / len(parts))  # type: ignore[misc]
        trees.append(Tree(root, np.eye(count)))
    methods = {
        "predict_proba": After("two") if first else RESULTS,
        "predict": RESULTS.above(0.5, classes) if first else by_largest(classes),
    }
    note = "The client takes the class of the largest decrypted share."
    return _lowered(estimator, trees, methods, note=note)


def _boosted(estimator: Any) -> tuple[list[Tree], Array]:
    """Trees of gradient boosting, and what they start from, (results,)."""
    name = type(estimator).__name__
    if name.startswith("Hist"):
        offset = np.ravel(estimator._baseline_prediction).astype(float)
        trees = [
            Tree(_of_nodes(estimator, one.nodes), np.eye(len(offset))[k][None])
            for stage in estimator._predictors
            for k, one in enumerate(stage)
        ]
        return trees, offset
    init = estimator.init_
    if not (isinstance(init, str) or type(init).__name__.startswith("Dummy")):
        fail(
            ModelError,
            "Unsupported",
            f"{name} with init={type(init).__name__} is not supported. Take init=None or 'zero'.",
            estimator=name,
            attribute="init",
        )
    start = estimator._raw_predict_init(np.zeros((1, estimator.n_features_in_)))
    offset = np.ravel(np.asarray(start, float))
    trees = [
        _regression(one.tree_, estimator.learning_rate, np.eye(len(offset))[k])
        for stage in estimator.estimators_
        for k, one in enumerate(stage)
    ]
    return trees, offset


def _of_nodes(estimator: Any, nodes: Any) -> Node:
    """A tree of histogram-based boosting."""
    made: dict[int, Node] = {}
    for number in reversed(range(len(nodes))):
        node = nodes[number]
        if node["is_categorical"]:
            name = type(estimator).__name__
            fail(
                ModelError,
                "Unsupported",
                f"{name} with categorical_features is not supported. Encode them by OneHotEncoder.",
                estimator=name,
                attribute="categorical_features",
            )
        if node["is_leaf"]:
            made[number] = Leaf(np.array([float(node["value"])]))
        else:
            at = int(node["feature_idx"]), float(node["num_threshold"])
            made[number] = joined(at, made[int(node["left"])], made[int(node["right"])])
    return made[0]


def _boosted_regressor(estimator: Any) -> Lowered:
    trees, offset = _boosted(estimator)
    mean = RESULTS.then("column", 0)
    exponential = getattr(estimator, "loss", "") in ("poisson", "gamma")
    note = "The client applies exp to the decrypted prediction." if exponential else ""
    methods = {"predict": mean.then("exp") if exponential else mean}
    return _lowered(estimator, trees, methods, offset=offset, note=note)


def _boosted_classifier(estimator: Any) -> Lowered:
    trees, offset = _boosted(estimator)
    classes = estimator.classes_
    binary = len(offset) == 1
    methods: dict[str, Any] = {
        "decision_function": After("flat"),
        "predict": by_sign(classes) if binary else by_largest(classes),
        "predict_proba": of_two() if binary else After("softmax"),
    }
    if getattr(estimator, "loss", "") == "exponential":
        methods["predict_proba"] = RESULTS.then("times", 2.0).then("column", 0).then("logistic").then("two")
    note = "The client takes the class of the decrypted decision, and makes probabilities."
    return _lowered(estimator, trees, methods, offset=offset, note=note)


def _weighted_votes(estimator: Any) -> Lowered:
    """AdaBoost: votes of trees for the class that is the largest in the leaf."""
    classes, parts = estimator.classes_, estimator.estimators_
    odd = next((part for part in parts if not hasattr(part, "tree_")), None)
    if odd is not None:
        fail(
            ModelError,
            "Unsupported",
            f"AdaBoostClassifier of {type(odd).__name__} is not supported: its votes are of classes. "
            "Take a DecisionTreeClassifier.",
            estimator="AdaBoostClassifier",
            attribute="estimator",
        )
    count = len(classes)
    weights = np.asarray(estimator.estimator_weights_)[: len(parts)]
    trees = []
    for part, weight in zip(parts, weights / weights.sum(), strict=True):
        voted = part.classes_[np.argmax(part.tree_.value[:, 0, :], axis=1)]
        votes = np.where(voted[:, None] == classes, weight, -weight / (count - 1))
        own = votes[:, 1:] - votes[:, :1] if count == 2 else votes
        root = _read(part.tree_, lambda node, own=own: own[node])  # type: ignore[misc]
        trees.append(Tree(root, np.eye(own.shape[1])))
    methods = {
        "decision_function": After("flat"),
        "predict": by_sign(classes) if count == 2 else by_largest(classes),
        "predict_proba": of_two() if count == 2 else RESULTS.then("times", 1 / (count - 1)).then("softmax"),
    }
    note = "The client takes the class of the decrypted decision, and makes probabilities."
    return _lowered(estimator, trees, methods, note=note)


def _isolation(estimator: Any) -> Lowered:
    """Mean lengths of paths; the client makes scores of them."""
    lengths = zip(
        estimator.estimators_,
        estimator.estimators_features_,
        estimator._decision_path_lengths,
        estimator._average_path_length_per_tree,
        strict=True,
    )
    most = estimator._max_samples
    # The mean length of a search in a tree: Liu, Ting and Zhou, *Isolation forest* (2008), equation 1.
    usual = 2 * (np.log(most - 1) + np.euler_gamma) - 2 * (most - 1) / most if most > 2 else float(most == 2)
    scale = len(estimator.estimators_) * usual
    trees = []
    for part, features, path, more in lengths:
        own = (np.asarray(path) + np.asarray(more) - 1.0) / scale
        root = _read(part.tree_, lambda node, own=own: own[node : node + 1], features)  # type: ignore[misc]
        trees.append(Tree(root, np.eye(1)))
    scores = RESULTS.then("column", 0).then("minus_exp2")
    decision = scores.then("plus", -float(estimator.offset_))
    methods = {
        "score_samples": scores,
        "decision_function": decision,
        "predict": decision.then("above", 0).then("chosen", np.array([-1, 1])),
    }
    note = "The client makes scores of the decrypted mean lengths of paths, and takes their sign."
    return _lowered(estimator, trees, methods, note=note)


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {
    **dict.fromkeys(
        ("DecisionTreeClassifier", "ExtraTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier"),
        _forest_classifier,
    ),
    **dict.fromkeys(
        ("DecisionTreeRegressor", "ExtraTreeRegressor", "RandomForestRegressor", "ExtraTreesRegressor"),
        _forest_regressor,
    ),
    **dict.fromkeys(("GradientBoostingRegressor", "HistGradientBoostingRegressor"), _boosted_regressor),
    **dict.fromkeys(("GradientBoostingClassifier", "HistGradientBoostingClassifier"), _boosted_classifier),
    "AdaBoostClassifier": _weighted_votes,
    "IsolationForest": _isolation,
}
