"""A record in one ciphertext: the same predictions as by rows, few diagonals, and the faster one is taken."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from networks import made
from onnx import helper
from onnx.reference import ReferenceEvaluator
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

import ringmill as rm
from ringmill.errors import ModelError
from ringmill.models.places import kept, rotations

IRIS, KINDS = load_iris(return_X_y=True)

ESTIMATORS = {
    "affine": make_pipeline(StandardScaler(), LogisticRegression()),
    "products": make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression()),
    "functions": make_pipeline(
        StandardScaler(),
        MLPRegressor(hidden_layer_sizes=(6, 5), activation="tanh", max_iter=60, random_state=1),
    ),
    "kernel": SVC(kernel="rbf", C=0.5),
    # Both parts read the features, and what follows reads both.
    "joined": make_pipeline(
        FeatureUnion([("squares", PolynomialFeatures(2)), ("axes", PCA(2))]), LogisticRegression()
    ),
}


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_record_predicts_what_the_estimator_does(name: str, rows: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ESTIMATORS[name].fit(IRIS, KINDS)
        model = rm.from_sklearn(fitted, IRIS, rows=rows, layout="record")
    chosen = IRIS[::30]
    assert model.layout == "record"
    assert model.rows == rows
    report = model.report(chosen)
    assert report.encryption <= report.predicted
    assert len(report.plan) == len(model.stages)
    own, found = fitted.predict(chosen), model.predict(chosen)
    if name == "functions":
        np.testing.assert_allclose(found, own, atol=2e-2)
    else:
        np.testing.assert_array_equal(found, own)


def random_network(rng: np.random.Generator) -> tuple[Any, np.ndarray[Any, Any]]:
    """One or two convolutions, squares, and a dense layer, of any strides, pads and channels."""
    channels, side = int(rng.integers(1, 3)), int(rng.integers(5, 9))
    image = (channels, side, side)
    nodes: list[Any] = []
    constants: dict[str, Any] = {}
    name = "x"
    for layer in range(int(rng.integers(1, 3))):
        outputs, size = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        stride, pad = int(rng.integers(1, 3)), int(rng.integers(0, size))
        weights = rng.normal(size=(outputs, channels, size, size)) / size
        constants[f"w{layer}"] = weights.astype(np.float32)
        nodes += [
            helper.make_node(
                "Conv", [name, f"w{layer}"], [f"c{layer}"], strides=[stride] * 2, pads=[pad] * 4
            ),
            helper.make_node("Mul", [f"c{layer}"] * 2, [f"s{layer}"]),
        ]
        name, channels, side = f"s{layer}", outputs, (side + 2 * pad - size) // stride + 1
    constants["d"] = (rng.normal(size=(channels * side * side, 3)) / side).astype(np.float32)
    nodes += [helper.make_node("Flatten", [name], ["f"]), helper.make_node("MatMul", ["f", "d"], ["y"])]
    return made(nodes, constants, ["N", *image], ["y"]), rng.uniform(-1, 1, (20, *image))


@pytest.mark.parametrize("seed", range(8))
def test_networks_of_any_shape_go_into_one_ciphertext(seed: int) -> None:
    file, x = random_network(np.random.default_rng(seed))
    x[:, :, 0] = 0.25  # features that do not vary keep their slots
    model = rm.from_onnx(file, x, rows=2, layout="record")
    (own,) = ReferenceEvaluator(file).run(None, {"x": x[:3].astype(np.float32)})
    scale = float(np.abs(own).max())
    np.testing.assert_allclose(model.predict(x[:3]), own, atol=1e-4 * max(scale, 1.0))


@pytest.mark.parametrize("layout", ["rows", "record"])
@pytest.mark.parametrize("low", [-1.5, -1.2, 0.3])
def test_a_column_that_is_zero_for_all_rows_is_multiplied(layout: Any, low: float) -> None:
    # Its polynomial is not quite zero: ReLU of x + low, squared.
    nodes = [
        helper.make_node("Add", ["x", "z"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Mul", ["b", "b"], ["c"]),
        helper.make_node("Add", ["c", "x"], ["y"]),
    ]
    file = made(nodes, {"z": np.array([low, 0.3], np.float32)}, ["N", 2], ["y"])
    x = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    model = rm.from_onnx(file, x, rows=2, layout=layout)
    (own,) = ReferenceEvaluator(file).run(None, {"x": x[:3].astype(np.float32)})
    found = model.predict(x[:3])
    np.testing.assert_allclose(found, own, atol=5e-3)
    np.testing.assert_allclose(found, model.approximated(x[:3]), atol=1e-6)


@pytest.mark.parametrize("channels", [1, 2, 5, 8])
@pytest.mark.parametrize(("size", "stride"), [(3, 1), (3, 2), (5, 2), (2, 2)])
def test_places_of_a_convolution_have_as_few_diagonals_as_its_grid(
    size: int, stride: int, channels: int
) -> None:
    side = 16
    out = (side - size) // stride + 1
    taps = np.add.outer(np.arange(size) * side, np.arange(size)).ravel()
    corners = np.add.outer(np.arange(out) * stride * side, np.arange(out) * stride).ravel()
    operands = [corner + taps for _ in range(channels) for corner in corners]
    slots = 1 << (side * side * channels - 1).bit_length()
    places = kept(operands, slots)
    assert len(np.unique(places)) == len(places)
    assert 0 <= places.min() <= places.max() < slots
    shifts = np.unique(np.concatenate([source - at for source, at in zip(operands, places, strict=True)]))
    assert len(shifts) <= channels * size * size
    # Close together, results lose the grid.
    close = np.unique(np.concatenate([source - at for at, source in enumerate(operands)]))
    assert len(shifts) <= len(close)


@pytest.mark.parametrize("seed", range(20))
def test_places_of_any_map_are_slots_of_their_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slots = 1 << int(rng.integers(2, 8))
    count = int(rng.integers(1, slots + 1))
    operands = [
        rng.choice(slots, int(rng.integers(0, slots + 1)), replace=False).astype(np.int64)
        for _ in range(count)
    ]
    places = kept(operands, slots)
    assert len(np.unique(places)) == count
    assert places.min() >= 0
    assert places.max() < slots


def test_rotations_are_baby_and_giant_steps() -> None:
    assert rotations(np.array([0])) == 0
    assert rotations(np.array([3])) == 1
    # 16 in a row: three steps of 1 and three of 4.
    assert rotations(np.arange(16)) == 6
    assert rotations(np.array([0, 1, 2, 64, 65, 66])) == 3


def test_few_rows_take_the_layout_that_is_predicted_to_be_faster() -> None:
    fitted = ESTIMATORS["kernel"].fit(IRIS, KINDS)
    models = {
        layout: rm.from_sklearn(fitted, IRIS, rows=1, layout=layout) for layout in ("rows", "record", "auto")
    }
    assert models["record"].cost["seconds"] < models["rows"].cost["seconds"]
    assert models["auto"].layout == "record"
    assert models["auto"].cost == models["record"].cost
    assert rm.from_sklearn(fitted, IRIS).layout == "rows"


def test_what_the_client_encrypts_counts() -> None:
    rng = np.random.default_rng(0)
    many = rng.normal(size=(200, 60))
    fitted = LogisticRegression().fit(many, many[:, 0] > 0)
    model = rm.from_sklearn(fitted, many, rows=1)
    rows = rm.from_sklearn(fitted, many, rows=1, layout="rows")
    # A sum of 60 ciphertexts takes no key switch, but they want to be encrypted.
    assert rows.cost["seconds"] < model.cost["seconds"]
    assert model.layout == "record"
    sent = [len(each.encrypt(each.keys.public, many[:1]).to_bytes()) for each in (model, rows)]
    assert 4 * sent[0] < sent[1]


def test_trees_stay_in_rows() -> None:
    boosted = GradientBoostingClassifier(n_estimators=2, max_depth=1).fit(IRIS[:100], KINDS[:100])
    with pytest.raises(ModelError, match="give layout='rows'") as refused:
        _ = rm.from_sklearn(boosted, IRIS[:100], rows=1, layout="record").compiled
    assert refused.value.code == "Layout"
    assert rm.from_sklearn(boosted, IRIS[:100], rows=1).layout == "rows"


def test_files_of_client_and_server_hold_the_layout(tmp_path: Path) -> None:
    file, x = random_network(np.random.default_rng(3))
    x[:, 0, 0] = 0.5
    model = rm.from_onnx(file, x, rows=2, layout="record")
    model.save(client=tmp_path / "client.rm", server=tmp_path / "server.rm")
    client, server = rm.load_client(tmp_path / "client.rm"), rm.Compiled.load(tmp_path / "server.rm")
    keys = client.keygen()
    found = client.decrypt(keys, server.evaluate(keys.evaluation, client.encrypt(keys.public, x[:5])))
    np.testing.assert_allclose(found, model.approximated(x[:5]), atol=1e-5)
    ranges = model.features.to_json()
    assert ranges["spread"] is True
    assert type(model.features).from_json(json.loads(json.dumps(ranges))).spread


def test_a_report_draws_the_plan(tmp_path: Path) -> None:
    file, x = random_network(np.random.default_rng(5))
    report = rm.from_onnx(file, x, rows=1, layout="record").report(x[:2])
    page = report.save(tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg viewBox") >= len(report.plan) > 0
    assert "results" in page
    for stage in report.plan:
        assert 0 < sum(stage["cells"]) <= len(stage["cells"])
