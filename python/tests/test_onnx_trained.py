"""Models of scikit-learn through ONNX files: as onnxruntime has them, and as ``from_sklearn`` has them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, PolynomialFeatures, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import ringmill as rm

with warnings.catch_warnings():
    # It imports what the next version of onnx renames.
    warnings.simplefilter("ignore")
    from skl2onnx import to_onnx

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])

ESTIMATORS: dict[str, BaseEstimator] = {
    "regression": LinearRegression(),
    "two classes": LogisticRegression(max_iter=500),
    "three classes": make_pipeline(StandardScaler(), PCA(3), LogisticRegression()),
    "labels of text": LogisticRegression(max_iter=500),
    "support vectors": LinearSVC(),
    "pairs of classes": SVC(kernel="rbf", C=0.5),
    "vectors of two classes": SVC(kernel="poly", degree=2),
    "kernel": SVR(kernel="poly", degree=2, C=0.1),
    "stochastic": SGDClassifier(random_state=1),
    "discriminants": LinearDiscriminantAnalysis(),
    "bayes": GaussianNB(),
    "counts": PoissonRegressor(),
    "network": MLPClassifier((6,), activation="tanh", max_iter=400, random_state=1),
    "network of numbers": MLPRegressor(
        hidden_layer_sizes=(6,), activation="tanh", max_iter=400, random_state=1
    ),
    "tree": DecisionTreeClassifier(max_depth=2),
    "tree of numbers": DecisionTreeRegressor(max_depth=2),
    "forest": RandomForestClassifier(3, max_depth=2, random_state=1),
    "boosting": GradientBoostingRegressor(n_estimators=3, max_depth=2),
    "boosting of two": GradientBoostingClassifier(n_estimators=3, max_depth=1),
    "polynomials": make_pipeline(PolynomialFeatures(2), Ridge()),
    "centres": KMeans(3, n_init=1, random_state=1),
    "scaler": RobustScaler(),
    "normaliser": Normalizer(),
}
#: Trees are steps, which bend near their thresholds.
STEEP = ("tree", "tree of numbers", "forest", "boosting", "boosting of two")


def _labels(name: str) -> Any:
    if name.endswith(("two", "two classes")):
        return (Y > 0).astype(int)
    return NAMES[Y] if name == "labels of text" else Y


@pytest.fixture(scope="module")
def files() -> dict[str, tuple[BaseEstimator, Any]]:
    """Fitted estimators and their files."""
    made: dict[str, tuple[BaseEstimator, Any]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, estimator in ESTIMATORS.items():
            fitted = estimator.fit(X, _labels(name))
            made[name] = fitted, to_onnx(fitted, X[:1].astype(np.float32))
    return made


def _elsewhere(file: Any, rows: Any) -> list[Any]:
    session = onnxruntime.InferenceSession(file.SerializeToString(), providers=["CPUExecutionProvider"])
    found: list[Any] = session.run(None, {session.get_inputs()[0].name: rows.astype(np.float32)})
    return found


def _matrix(result: Any) -> Any:
    """Probabilities by class as a matrix."""
    return np.array([list(row.values()) for row in result]) if isinstance(result, list) else result


#: A kernel of all pairs takes as long as the twenty others.
SLOW = ("pairs of classes",)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in SLOW else name for name in ESTIMATORS]
)
def test_files_of_estimators_agree_with_onnxruntime_and_scikit_learn(
    name: str, files: dict[str, tuple[BaseEstimator, Any]]
) -> None:
    fitted, file = files[name]
    rows = X[::10]
    model = rm.from_onnx(file, X)
    found, wanted = model.outputs(rows), _elsewhere(file, rows)
    assert len(found) == len(wanted)
    for got, want in zip(found, map(_matrix, wanted), strict=True):
        if np.asarray(want).dtype.kind in "iuUO":
            assert np.mean(np.ravel(got) != np.ravel(want)) <= (0.1 if name in STEEP else 0.0)
            continue
        assert np.shape(got) == np.shape(want)
        apart = np.abs(got - want) / max(1.0, float(np.abs(want).max()))
        # A row in the band of a split gets something between both leaves.
        assert np.quantile(apart, 0.8 if name in STEEP else 1.0) <= 5e-3
    own = getattr(fitted, "predict", getattr(fitted, "transform", None))(rows)
    if own.dtype.kind not in "fc":
        assert np.mean(np.ravel(found[0]) != np.ravel(own)) <= (0.1 if name in STEEP else 0.0)


@pytest.mark.parametrize("name", ["labels of text", "two classes", "pairs of classes"])
def test_a_classifier_in_a_file_splits_into_client_and_server(
    name: str, files: dict[str, tuple[BaseEstimator, Any]], tmp_path: Path
) -> None:
    fitted, file = files[name]
    if name == "pairs of classes":
        # The converter's scores of pairs are more than a file of clients says.
        with pytest.raises(rm.errors.ModelError, match="needs NumPy alone"):
            rm.from_onnx(file, X).save(client=tmp_path / "client.rm")
        return
    model = rm.from_onnx(file, X)
    model.save(client=tmp_path / "client.rm", server=tmp_path / "server.rm")
    client = rm.load_client(tmp_path / "client.rm")
    keys = client.keygen()
    server = rm.Compiled.load(tmp_path / "server.rm")
    results = server.evaluate(keys.evaluation, client.encrypt(keys.public, X[:20]))
    labels, chances = client.decrypt(keys, results, "outputs")
    np.testing.assert_array_equal(labels, fitted.predict(X[:20]))
    np.testing.assert_allclose(chances, fitted.predict_proba(X[:20]), atol=1e-4)


def _ensemble(**given: Any) -> Any:
    """A stump: 1 where the first feature is above a half and 2 elsewhere."""
    attributes: dict[str, Any] = {
        "n_targets": 1,
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "nodes_values": [0.5, 0.0, 0.0],
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights": [2.0, 1.0],
        **given,
    }
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph(
        [node],
        "stump",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 1])],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE"])
def test_every_order_of_a_split_is_known(mode: str) -> None:
    file = _ensemble(nodes_modes=[mode, "LEAF", "LEAF"], base_values=[0.25])
    rows = np.array([[0.1, 0.0], [0.2, 1.0], [0.8, 0.0], [0.9, 1.0]])
    model = rm.from_onnx(file, rows)
    np.testing.assert_allclose(model.approximated(rows), _elsewhere(file, rows)[0], atol=1e-2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"nodes_modes": ["BRANCH_EQ", "LEAF", "LEAF"]}, "splits of the kind BRANCH_EQ"),
        ({"aggregate_function": "MAX"}, "takes the max of its trees"),
        ({"post_transform": "LOGISTIC"}, "then LOGISTIC"),
    ],
)
def test_what_trees_cannot_be_evaluated_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(rm.errors.ModelError, match=said):
        rm.from_onnx(_ensemble(**given), np.array([[0.1, 0.0], [0.9, 1.0]]))


def test_one_score_of_both_signs_for_two_classes_is_refused() -> None:
    # onnxruntime gives [-s, s] for it, the reference implementation [1 - s, s].
    boosted = GradientBoostingClassifier(n_estimators=2, max_depth=1, loss="exponential")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = to_onnx(boosted.fit(X, Y > 0), X[:1].astype(np.float32))
    with pytest.raises(rm.errors.ModelError, match="one score for two classes, of both signs"):
        rm.from_onnx(file, X)


def test_a_file_that_the_reference_does_not_evaluate_is_refused_in_words() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = to_onnx(SVC().fit(X, np.array(["no", "yes"])[(Y > 0).astype(int)]), X[:1].astype(np.float32))
    with pytest.raises(rm.errors.ModelError, match="Export labels as whole numbers"):
        rm.from_onnx(file, X)


def test_layers_after_a_jump_are_refused_all_at_once() -> None:
    steps = [
        helper.make_node("Less", ["x", "limit"], ["small"], "compare"),
        helper.make_node("Cast", ["small"], ["number"], "cast", to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["number", "w"], ["y"], "layer"),
    ]
    graph = helper.make_graph(
        steps,
        "jumps",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 1])],
        [
            helper.make_tensor("limit", TensorProto.FLOAT, [1], [0.5]),
            helper.make_tensor("w", TensorProto.FLOAT, [2, 1], [1.0, 2.0]),
        ],
    )
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    with pytest.raises(rm.errors.ModelError, match=r"'layer' \(MatMul, after one that the client runs\)"):
        rm.from_onnx(file, np.array([[0.1, 0.0], [0.9, 1.0]]))
