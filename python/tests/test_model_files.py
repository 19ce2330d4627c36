"""Models in two files: the client's has no weights and needs NumPy alone, the server's is a kernel file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import ringmill as rm
from ringmill import bundle
from ringmill.cli import main
from ringmill.models.after import After
from ringmill.models.before import Before, before
from ringmill.models.client import ModelClient

IRIS, KIND = datasets.load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[KIND]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both files of a pipeline whose classes are words."""
    folder = tmp_path_factory.mktemp("model")
    made = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(IRIS, NAMES)
    model = rm.from_sklearn(made, IRIS, rows=64)
    assert model.save(client=folder / "client.rm", server=folder / "server.rm") > 0
    np.save(folder / "labels.npy", made.predict(IRIS))
    np.save(folder / "chances.npy", made.predict_proba(IRIS))
    np.save(folder / "weights.npy", made[-1].coef_)
    return folder


CLIENT = """
import sys
import numpy as np
import ringmill as rm

folder, rows = sys.argv[1], np.load(sys.argv[2])
client = rm.load_client(folder + "/client.rm")
keys = client.keygen()
arguments = client.encrypt(keys.public, rows)
results = rm.Compiled.load(folder + "/server.rm").evaluate(keys.evaluation, arguments)
assert (client.decrypt(keys, results) == np.load(folder + "/labels.npy")).all()
found = client.decrypt(keys, results, "predict_proba")
assert abs(found - np.load(folder + "/chances.npy")).max() < 1e-4
assert not {"sklearn", "onnx", "scipy"} & set(sys.modules), "the client needs NumPy alone"
"""


def test_a_client_with_numpy_alone_gets_labels_and_probabilities(files: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", IRIS)
    program = [sys.executable, "-c", CLIENT, str(files), str(tmp_path / "rows.npy")]
    subprocess.run(program, check=True, timeout=300)


def test_the_client_file_has_no_weights(files: Path) -> None:
    data = (files / "client.rm").read_bytes()
    for weight in np.load(files / "weights.npy").ravel():
        for form in (np.float64(weight).tobytes(), repr(float(weight)).encode(), f"{weight:.6g}".encode()):
            assert form not in data
    assert b"program.he" not in data
    read = bundle.load(files / "client.rm", "model client")
    assert sorted(read.parts) == ["model", "params", "signature"]


def test_the_command_line_takes_both_files(files: Path, tmp_path: Path) -> None:
    client, server = str(files / "client.rm"), str(files / "server.rm")
    np.savez(tmp_path / "rows.npz", X=IRIS[:70])
    keys = tmp_path / "keys"
    key = ["--key", str(keys / "secret.key")]

    def both(read: str, written: str) -> list[str]:
        return ["--input", str(tmp_path / read), "--out", str(tmp_path / written)]

    evaluation = ["--keys", str(keys / "evaluation.keys")]
    steps = [
        ["keygen", "--kernel", client, "--out", str(keys), "--quiet"],
        ["encrypt", "--kernel", client, *key, *both("rows.npz", "arguments"), "--quiet"],
        ["evaluate", "--kernel", server, *evaluation, *both("arguments", "results"), "--quiet"],
        ["decrypt", "--kernel", client, *key, *both("results", "labels.npz")],
    ]
    for step in steps:
        assert main(step) == 0
    found = np.load(tmp_path / "labels.npz")
    np.testing.assert_array_equal(found["predict"], np.load(files / "labels.npy")[:70])
    assert found["predict_proba"].shape == (70, 3)


LATER: list[tuple[Any, Any]] = [
    (LogisticRegression(max_iter=1000), KIND > 0),
    (OneVsRestClassifier(LogisticRegression(max_iter=1000)), NAMES),
    (GaussianNB(), NAMES),
    (SVC(kernel="poly", degree=2), NAMES),
    (VotingClassifier([("a", LogisticRegression(max_iter=1000)), ("b", GaussianNB())], weights=[2, 1]), KIND),
    (VotingRegressor([("a", Ridge()), ("b", LinearRegression())], weights=[1, 3]), KIND),
    (BaggingClassifier(LogisticRegression(max_iter=1000), 3, max_features=3, random_state=0), NAMES),
    (PoissonRegressor(), KIND),
    (CalibratedClassifierCV(LogisticRegression(max_iter=1000), cv=3), NAMES),
    (CalibratedClassifierCV(GaussianNB(), cv=3, method="isotonic"), KIND > 0),
    (DecisionTreeClassifier(max_depth=2), NAMES),
    (GradientBoostingClassifier(n_estimators=2, max_depth=1), KIND),
]


@pytest.mark.parametrize(("estimator", "y"), LATER, ids=lambda v: type(v).__name__)
def test_steps_after_decryption_survive_the_file(estimator: Any, y: Any) -> None:
    made = estimator.fit(IRIS, y)
    model = rm.from_sklearn(made, IRIS)
    results = model.clear(model.units(IRIS))
    for method in model._lowered.methods.values():
        data = json.loads(json.dumps(method.to_json()))
        np.testing.assert_array_equal(After.from_json(data)(results), method(results))


ROWS = np.array(
    [["red", 1.0, 4.0, 2], ["blue", 2.0, np.nan, 0], ["red", -3.0, 0.5, 1], ["green", 0.5, 2.0, 2]],
    dtype=object,
)
PREPARE = ColumnTransformer(
    [
        ("colour", OneHotEncoder(drop="first"), [0]),
        ("filled", make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler()), [1, 2]),
        ("order", OrdinalEncoder(), [3]),
        ("above", Binarizer(threshold=0.7), [1]),
        ("left out", "drop", [1]),
    ],
    transformer_weights={"order": 0.5},
)


def _portable(step: Any, rows: Any) -> Any:
    data = json.loads(json.dumps(before([step]).to_json()))
    return Before.from_json(data)(rows)


def test_steps_before_encryption_survive_the_file() -> None:
    fitted = PREPARE.fit(ROWS)
    np.testing.assert_allclose(_portable(fitted, ROWS), np.asarray(fitted.transform(ROWS), float), atol=1e-12)
    for step in (Normalizer("l1"), FunctionTransformer(np.log1p), StandardScaler()):
        fitted = step.fit(IRIS)
        np.testing.assert_allclose(_portable(fitted, IRIS), fitted.transform(IRIS))
    unknown = ROWS.copy()
    unknown[1, 0] = "black"
    with pytest.raises(rm.ModelError, match="has 'black' in row 1, which was not seen"):
        _portable(PREPARE, unknown)


def test_what_needs_scikit_learn_is_refused_by_name(tmp_path: Path) -> None:
    cases = [
        (
            make_pipeline(KNNImputer(), LogisticRegression(max_iter=1000)),
            "KNNImputer, a step before encryption,",
        ),
        (
            StackingClassifier([("a", LogisticRegression(max_iter=1000)), ("b", GaussianNB())]),
            "of this model runs in the library",
        ),
    ]
    for estimator, said in cases:
        model = rm.from_sklearn(estimator.fit(IRIS, KIND), IRIS)
        with pytest.raises(rm.ModelError, match=said) as refused:
            model.save(client=tmp_path / "client.rm", server=tmp_path / "server.rm")
        assert refused.value.code == "NotPortable"
        assert not list(tmp_path.iterdir())


def test_rows_that_the_client_cannot_take_are_refused(files: Path) -> None:
    client = rm.load_client(files / "client.rm")
    assert isinstance(client, ModelClient)
    with pytest.raises(rm.ModelError, match="the model takes rows of 4 features"):
        client.ends.units(IRIS[:, :3])
    with pytest.raises(rm.ModelError, match=r"Feature 'x2' is 9 .*calibrated for"):
        client.ends.units(np.array([[5.0, 3.0, 9.0, 1.0]]))
    with pytest.raises(rm.FileFormatError, match="client's file"):
        rm.Compiled.load(files / "client.rm")


def test_a_damaged_client_file_is_refused(files: Path, tmp_path: Path) -> None:
    read = bundle.load(files / "client.rm", "model client")
    said = json.loads(read.parts["model"])
    for change in ({"width": "4"}, {"outside": "ask"}, {"methods": {"predict": ["system", [], []]}}):
        parts = {**read.parts, "model": json.dumps({**said, **change}).encode()}
        bundle.Bundle(read.kind, read.facts, parts).save(tmp_path / "client.rm")
        with pytest.raises(rm.FileFormatError) as refused:
            rm.load_client(tmp_path / "client.rm")
        assert refused.value.code == "Damaged"
