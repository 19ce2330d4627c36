"""Options of `compile`, approximations and models: every two values meet, and results are compared.

The oracle is NumPy, and for models the estimator itself.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from allpairspy import AllPairs

import ringmill as rm

RNG = np.random.default_rng(34)
RECORDS = RNG.uniform(-1, 1, (4, 2))
WEIGHTS = np.array([0.75, -0.5])

COMPILE: dict[str, list[Any]] = {
    "precision": [10, 20, 28],
    "magnitude": [0.5, 1.0, 4.0],
    "security": [128, 192, 256],
    "packing": ["slots", "columns"],
    "bounds": [None, "declared", "calibrated"],
    "switching": ["hybrid", "klss", "auto"],
    "rotation_keys": [None, 1],
    "function": ["square", "tanh"],
    "batch": [None, 3, True],
}

APPROXIMATE: dict[str, list[Any]] = {
    "function": [np.exp, np.tanh, np.abs],
    "interval": [(-1.0, 1.0), (-4.0, 1.0), (-2.0, 4.0)],
    "size": [("error", 1e-1), ("error", 1e-2), ("degree", 3), ("degree", 12)],
    "method": ["chebyshev", "minimax"],
    "place": ["kernel", "prompt"],
}

MODEL: dict[str, list[Any]] = {
    "estimator": ["logistic", "svc", "mlp"],
    "precision": [12, 20],
    "error": [1e-2, 1e-3],
    "margin": [0.01, 0.1, 0.5],
    "rows": [None, 64],
    "security": [128, 192],
    "outside": ["refuse", "clip"],
}


def rows(axes: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Rows in which every two values of two axes meet."""
    return [dict(zip(axes, row, strict=True)) for row in AllPairs(list(axes.values()))]


def some(axes: dict[str, list[Any]], few: int) -> list[Any]:
    """The rows as parameters; those after the first few run in `make test-full` alone."""
    made = rows(axes)
    return [*made[:few], *(pytest.param(row, marks=pytest.mark.long) for row in made[few:])]


def name(row: dict[str, Any]) -> str:
    """The values of a row, for the name of its test."""
    return "-".join(str(getattr(value, "__name__", value)).replace(" ", "") for value in row.values())


@pytest.mark.parametrize("axes", [COMPILE, APPROXIMATE, MODEL], ids=["compile", "approximate", "model"])
def test_every_two_values_meet(axes: dict[str, list[Any]]) -> None:
    made = rows(axes)
    for one, other in itertools.combinations(axes, 2):
        met = {(str(row[one]), str(row[other])) for row in made}
        assert met == set(itertools.product(map(str, axes[one]), map(str, axes[other]))), (one, other)


@pytest.mark.parametrize("row", some(COMPILE, 8), ids=name)
def test_options_of_compile_work_together(row: dict[str, Any]) -> None:
    magnitude, data = row["magnitude"], row["magnitude"] * RECORDS
    function = {"square": np.square, "tanh": np.tanh}[row["function"]]
    if row["batch"]:
        data = np.stack([data, 0.5 * data, -data])

    def score(x: Any, w: Any) -> Any:
        return function(x @ w) + 0.25

    declared = {"low": -magnitude, "high": magnitude} if row["bounds"] == "declared" else {}
    spec = rm.matrix(*RECORDS.shape, packing=row["packing"], **declared)
    more: dict[str, Any] = {"calibrate": {"x": data}} if row["bounds"] == "calibrated" else {}
    named = ("precision", "magnitude", "security", "switching", "batch")
    options = {option: row[option] for option in named}
    compiled = rm.kernel(score).compile(spec, WEIGHTS, rotation_keys=row["rotation_keys"], **options, **more)
    assert len(compiled.plan.rotations) <= (row["rotation_keys"] or 64)
    assert compiled.plan.params.security >= row["security"]
    keys = compiled.keygen()
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=data))
    expected = function(data @ WEIGHTS) + 0.25
    error = np.max(np.abs(compiled.decrypt(keys, results) - expected))
    assert error <= 2.0**results.error_log2 <= 2.0 ** -row["precision"] * 1.001


@pytest.mark.parametrize("row", some(APPROXIMATE, 8), ids=name)
def test_options_of_an_approximation_work_together(row: dict[str, Any]) -> None:
    (low, high), (what, value) = row["interval"], row["size"]
    made = rm.approximate(row["function"], row["interval"], method=row["method"], **{what: value})
    # A bound at the prompt holds on both sides of 0.
    reach = (low, high) if row["place"] == "kernel" else (-min(-low, high), min(-low, high))
    data = np.linspace(*reach, 64)
    # The polynomial of the stated error, against the function on a finer grid.
    clear = np.max(np.abs(made(np.linspace(low, high, 1001)) - row["function"](np.linspace(low, high, 1001))))
    assert clear <= made.error * 1.01
    if what == "error":
        assert made.error <= value
    else:
        assert made.degree <= value
    if row["place"] == "kernel":
        spec = rm.vector(64, low=low, high=high)
        compiled = rm.kernel(lambda x: made(x)).compile(spec, precision=20, magnitude=4.0)
        keys = compiled.keygen()
        found = compiled.decrypt(keys, compiled.evaluate(keys, compiled.encrypt(keys, x=data)))
    else:
        params = rm.Params.by_need(depth=6, scale_bits=45, integer_bits=8, slots=64)
        prompt = rm.keygen(params)
        found = rm.decrypt(made(rm.encrypt(data, prompt, magnitude=reach[1])), prompt)
    assert np.max(np.abs(found - row["function"](data))) <= made.error * 1.01 + 1e-4


def _fitted(kind: str) -> Any:
    sklearn = pytest.importorskip("sklearn")
    assert sklearn
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    x = np.random.default_rng(7).normal(size=(40, 3))
    y = (x[:, 0] + 0.5 * x[:, 1] ** 2 > 0.4).astype(int)
    made = {
        "logistic": LogisticRegression(),
        "svc": SVC(gamma=0.2),
        "mlp": MLPClassifier((4,), activation="tanh", max_iter=3000, random_state=1, tol=1e-3),
    }[kind]
    return made.fit(x, y), x


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("row", some(MODEL, 4), ids=name)
def test_options_of_a_model_work_together(row: dict[str, Any]) -> None:
    fitted, x = _fitted(row["estimator"])
    options = {option: row[option] for option in MODEL if option != "estimator"}
    model = rm.from_sklearn(fitted, x, **options)
    assert model.compiled.plan.params.security >= row["security"]
    decisions = (
        fitted.decision_function(x) if hasattr(fitted, "decision_function") else fitted.predict_proba(x)
    )
    found = model.decision_function(x) if hasattr(fitted, "decision_function") else model.predict_proba(x)
    scale = np.max(np.abs(decisions))
    # Errors of polynomials add up over the model; labels differ only near the border.
    assert np.max(np.abs(found - decisions)) <= 10 * row["error"] * max(scale, 1.0)
    near = np.abs(decisions if decisions.ndim == 1 else decisions[:, 1] - 0.5) < 10 * row["error"] * max(
        scale, 1.0
    )
    assert ((model.predict(x) == fitted.predict(x)) | near).all()
    # A row outside of every range of the calibration rows.
    far = x[:1] + 10 * (np.max(x) - np.min(x))
    if row["outside"] == "refuse":
        with pytest.raises(rm.RingmillError, match="outside"):
            model.predict(far)
    else:
        assert model.predict(far).shape == (1,)
