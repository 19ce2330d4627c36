"""Estimators of scikit-learn on encrypted records: conversions against the estimators' own results."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils import all_estimators

import ringmill as rm
from ringmill.models import Approximated, from_sklearn
from ringmill.models.sklearn import CONVERTERS, page
from ringmill.models.sklearn.refusals import REFUSED
from ringmill.models.sklearn.transform import CLIENT
from ringmill.models.steps import step

ROOT = Path(__file__).resolve().parents[2]
IRIS, KIND = datasets.load_iris(return_X_y=True)
TUMOURS, BENIGN = datasets.load_breast_cancer(return_X_y=True)
SUGAR, PROGRESS = datasets.load_diabetes(return_X_y=True)
SUGAR, PROGRESS = SUGAR[:120, :5], PROGRESS[:120]
BOTH = np.column_stack([PROGRESS, PROGRESS**0.5])
TWO = KIND > 0

#: Inner estimators of those that need some; the rest are made without arguments.
MADE: dict[str, Any] = {
    "BaggingClassifier": BaggingClassifier(LogisticRegression(), 3, max_features=3, random_state=0),
    "BaggingRegressor": BaggingRegressor(Ridge(), 3, max_features=3, random_state=0),
    "CalibratedClassifierCV": CalibratedClassifierCV(LogisticRegression(), cv=3),
    "ColumnTransformer": ColumnTransformer(
        [("a", StandardScaler(), [0, 2]), ("b", PolynomialFeatures(2), [1])], remainder="passthrough"
    ),
    "FeatureUnion": FeatureUnion([("a", PCA(2)), ("b", StandardScaler())], transformer_weights={"b": 0.5}),
    "FixedThresholdClassifier": FixedThresholdClassifier(LogisticRegression(), threshold=0.3),
    "FrozenEstimator": FrozenEstimator(Ridge().fit(SUGAR, PROGRESS)),
    "ExtraTreesClassifier": ExtraTreesClassifier(3, max_depth=3),
    "ExtraTreesRegressor": ExtraTreesRegressor(3, max_depth=2),
    "DecisionTreeRegressor": DecisionTreeRegressor(max_depth=3),
    "ExtraTreeRegressor": ExtraTreeRegressor(max_depth=3),
    "FunctionTransformer": FunctionTransformer(),
    "GaussianMixture": GaussianMixture(3, reg_covar=1e-3),
    "GaussianProcessRegressor": GaussianProcessRegressor(
        ConstantKernel(2.0) * RBF(1.5) + WhiteKernel(0.5) + DotProduct(), optimizer=None, normalize_y=True
    ),
    "GradientBoostingClassifier": GradientBoostingClassifier(n_estimators=3, max_depth=2),
    "GradientBoostingRegressor": GradientBoostingRegressor(n_estimators=3, max_depth=2),
    "HistGradientBoostingClassifier": HistGradientBoostingClassifier(max_iter=3, max_depth=3),
    "HistGradientBoostingRegressor": HistGradientBoostingRegressor(max_iter=3, max_depth=2),
    "AdaBoostClassifier": AdaBoostClassifier(n_estimators=4),
    "IsolationForest": IsolationForest(n_estimators=2, max_samples=16),
    "KernelPCA": KernelPCA(2, kernel="rbf"),
    "OneVsOneClassifier": OneVsOneClassifier(LogisticRegression(max_iter=1000)),
    "RandomForestClassifier": RandomForestClassifier(3, max_depth=3),
    "RandomForestRegressor": RandomForestRegressor(2, max_depth=2),
    "RegressorChain": RegressorChain(Ridge(), order=[1, 0]),
    "GridSearchCV": GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}),
    "KMeans": KMeans(3, n_init=3, random_state=0),
    "MLPClassifier": MLPClassifier(hidden_layer_sizes=(6,), activation="tanh", max_iter=3000, random_state=0),
    "MLPRegressor": make_pipeline(
        StandardScaler(),
        MLPRegressor(hidden_layer_sizes=(6,), activation="logistic", max_iter=5000, random_state=0),
    ),
    "MultiOutputClassifier": MultiOutputClassifier(LogisticRegression()),
    "MultiOutputRegressor": MultiOutputRegressor(Ridge()),
    "Nystroem": Nystroem(n_components=10, random_state=0),
    "OneVsRestClassifier": OneVsRestClassifier(LogisticRegression()),
    "Pipeline": Pipeline([("a", StandardScaler()), ("b", PCA(3)), ("c", Ridge())]),
    "RandomizedSearchCV": RandomizedSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, n_iter=1, random_state=0),
    "SelfTrainingClassifier": SelfTrainingClassifier(LogisticRegression()),
    "SequentialFeatureSelector": SequentialFeatureSelector(Ridge(), n_features_to_select=2),
    "StackingClassifier": StackingClassifier([("a", LogisticRegression()), ("b", GaussianNB())]),
    "StackingRegressor": StackingRegressor([("a", Ridge()), ("b", LinearRegression())]),
    "SVR": make_pipeline(StandardScaler(), SVR(C=10)),
    "TransformedTargetRegressor": TransformedTargetRegressor(Ridge(), func=np.log1p, inverse_func=np.expm1),
    "TunedThresholdClassifierCV": TunedThresholdClassifierCV(LogisticRegression()),
    "VotingClassifier": VotingClassifier(
        [("a", LogisticRegression()), ("b", GaussianNB())], voting="soft", weights=[2, 1]
    ),
    "VotingRegressor": VotingRegressor([("a", Ridge()), ("b", LinearRegression())], weights=[1, 3]),
}
#: Those that need another target: several columns, two classes, or counts.
TARGETS: dict[str, Any] = {
    **dict.fromkeys(("FixedThresholdClassifier", "TunedThresholdClassifierCV"), TWO),
    **dict.fromkeys(
        ("MultiTaskElasticNet", "MultiTaskElasticNetCV", "MultiTaskLasso", "MultiTaskLassoCV"), BOTH
    ),
    "MultiOutputRegressor": BOTH,
    "RegressorChain": BOTH,
    "MultiOutputClassifier": np.column_stack([KIND, TWO.astype(int)]),
}
#: Those that take other rows: on both sides of 0, shares, categories, kernel values.
ROWS: dict[str, Any] = {
    "BernoulliNB": IRIS - IRIS.mean(axis=0),
    "BernoulliRBM": IRIS / 8,
    "CategoricalNB": np.round(IRIS).astype(int),
    "KernelCenterer": IRIS @ IRIS.T,
}
#: Fitted to all rows: splits lie between training rows, the others are where a step rises.
STEPS = ("Tree", "Forest", "Boost", "KernelCenterer")
#: Their own constructors need estimators, and no test of theirs is small.
WITH_OWN_TESTS = {"HalvingGridSearchCV", "HalvingRandomSearchCV", "RFE", "RFECV", "SelectFromModel"}


def _target(name: str, kind: type) -> tuple[Any, Any]:
    from sklearn.base import is_classifier, is_regressor

    made = MADE[name] if name in MADE else _made(name, kind)
    if name in TARGETS:
        y = TARGETS[name]
        return (IRIS, y) if len(y) == len(IRIS) else (SUGAR, y)
    if is_regressor(made):
        return SUGAR, PROGRESS + 1
    if is_classifier(made) or not name.startswith("PLS"):
        return IRIS, KIND
    return SUGAR, BOTH


def _made(name: str, kind: type) -> Any:
    given = {"estimator": Ridge()} if name in ("RFE", "RFECV", "SelectFromModel") else {}
    if name in ("PLSSVD", "PLSCanonical", "CCA"):
        given = {"n_components": 1}
    if name in ("GaussianRandomProjection", "SparseRandomProjection"):
        given = {"n_components": 3}
    return kind(**given)


ESTIMATORS = dict(all_estimators())
CONVERTED = sorted(set(CONVERTERS) & set(ESTIMATORS) - WITH_OWN_TESTS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        name if at % 4 == 0 else pytest.param(name, marks=pytest.mark.long)
        for at, name in enumerate(CONVERTED)
    ],
)
def test_a_conversion_computes_what_the_estimator_does(name: str) -> None:
    made = MADE[name] if name in MADE else _made(name, ESTIMATORS[name])
    x, y = _target(name, ESTIMATORS[name])
    if "random_state" in made.get_params():
        made.set_params(random_state=0)
    x = ROWS.get(name, x)
    seen = slice(None) if any(kind in name for kind in STEPS) else slice(None, None, 2)
    made.fit(x[seen], y[seen])
    model = from_sklearn(made, x, error=1e-4)
    for method in model.methods:
        own = np.asarray(getattr(made, method)(x))
        ours = model.approximated(x, method)
        assert own.shape == ours.shape, method
        if own.dtype.kind == "f":
            far = np.abs(own - ours) / max(1.0, float(np.abs(own).max()))
            # Rows in the band of a split get something between both leaves.
            split = any("splits" in site for site, _ in model.functions)
            assert (np.mean(far > 0.02) < 0.2) if split else np.max(far) <= 0.02, method
        else:
            assert np.mean(own == ours) > 0.98, method


#: A family each, with the data that it is encrypted on.
ENCRYPTED: dict[str, tuple[Any, Any, Any]] = {
    "logistic": (make_pipeline(StandardScaler(), LogisticRegression()), TUMOURS, BENIGN),
    "ridge of products": (make_pipeline(PolynomialFeatures(2), Ridge(1e-3)), SUGAR, PROGRESS),
    "discriminants": (QuadraticDiscriminantAnalysis(), IRIS, KIND),
    "projection": (make_pipeline(PCA(2), LinearDiscriminantAnalysis()), IRIS, KIND),
    "centres": (KMeans(3, n_init=3, random_state=0), IRIS, None),
    "kernel": (make_pipeline(StandardScaler(), SVC(kernel="poly", degree=2)), IRIS, KIND),
    "tree": (DecisionTreeClassifier(max_depth=2), IRIS[:, 2:], KIND),
    "perceptron": (MADE["MLPClassifier"], IRIS, KIND),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENCRYPTED)
def test_encrypted_results_are_those_of_the_polynomials(name: str) -> None:
    made, x, y = ENCRYPTED[name]
    made.fit(x, y)
    model = rm.from_sklearn(made, x)
    report = model.report(x, y)
    assert report.encryption <= report.predicted < 1e-4
    assert not report.flips
    if y is not None:
        assert report.scores["encrypted"] == pytest.approx(report.scores["approximated"], abs=1e-6)
        assert report.scores["encrypted"] == pytest.approx(report.scores["clear"], abs=0.005)
    for method in model.methods:
        np.testing.assert_allclose(
            getattr(model, method)(x[:5]), model.approximated(x[:5], method), rtol=1e-3, atol=1e-3
        )


def test_client_and_server_are_the_steps_of_predict() -> None:
    made = LogisticRegression().fit(IRIS, TWO)
    model = rm.from_sklearn(made, IRIS, rows=64, layout="rows")
    keys = model.compiled.keygen()
    arguments = model.encrypt(keys.public, IRIS)
    assert (arguments.records, len(arguments.parts), model.rows) == (150, 3 * 4, 64)
    results = model.evaluate(keys.evaluation, arguments)
    np.testing.assert_array_equal(model.decrypt(keys, results), made.predict(IRIS))
    probabilities = model.decrypt(keys, results, "predict_proba")
    np.testing.assert_allclose(probabilities, made.predict_proba(IRIS), atol=1e-4)
    with pytest.raises(rm.MismatchError, match="no method 'transform'; it has decision_function, predict"):
        model.decrypt(keys, results, "transform")


def test_affine_steps_take_one_level() -> None:
    made = make_pipeline(StandardScaler(), PCA(3), StandardScaler(), LogisticRegression()).fit(IRIS, KIND)
    assert rm.from_sklearn(made, IRIS).compiled.cost["levels"] == 1


def test_the_cost_of_a_tree_is_known_before_it_runs() -> None:
    made = DecisionTreeClassifier(max_depth=2, random_state=0).fit(IRIS, KIND)
    cost = rm.from_sklearn(made, IRIS).cost
    # At most nine levels of a step, one of the path, two of results and ranges.
    assert 7 <= cost["levels"] <= 13
    assert cost["seconds"] > 0
    assert cost["peak_bytes"] > 2**20


@pytest.mark.parametrize("threshold", [-0.95, -0.3, 0.0, 0.7])
@pytest.mark.parametrize("band", [0.04, 0.1, 0.4])
def test_a_step_keeps_to_its_error_beside_its_band(threshold: float, band: float) -> None:
    made = step(threshold, band, 1e-2)
    u = np.cos(np.linspace(0, np.pi, 20_001))
    found = np.asarray(made(u))
    assert found.min() >= 0
    assert found.max() <= 1
    beside = np.abs(np.arccos(u) - np.arccos(threshold)) >= band
    assert np.max(np.abs(found - (u > threshold))[beside]) <= made.error <= 1e-2


def test_splits_of_a_forest_are_shared_and_paths_are_products() -> None:
    # Whole trees: some thresholds are values of rows, in single precision.
    made = RandomForestRegressor(4, random_state=0).fit(SUGAR, PROGRESS)
    model = from_sklearn(made, SUGAR)
    every = [
        (int(f), float(t))
        for tree in made.estimators_
        for f, t in zip(tree.tree_.feature, tree.tree_.threshold, strict=True)
        if f >= 0
    ]
    ((name, _),) = model.functions
    # Thresholds that no number of single precision is between are one.
    assert 0 < int(name.removesuffix(" splits")) <= len(set(every)) < len(every)
    # In the clear, exact steps are the forest's.
    np.testing.assert_allclose(model.clear(model.units(SUGAR), exact=True)[:, 0], made.predict(SUGAR))


def test_what_jumps_runs_at_the_client_and_is_said() -> None:
    rng = np.random.default_rng(3)
    rows = np.array(
        [[rng.choice(["red", "green", "blue"]), rng.normal(), rng.normal()] for _ in range(60)], dtype=object
    )
    y = (rows[:, 0] == "red").astype(int)
    prepare = ColumnTransformer([("colour", OneHotEncoder(), [0])], remainder="passthrough")
    made = make_pipeline(prepare, StandardScaler(with_mean=False), LogisticRegression()).fit(rows, y)
    model = rm.from_sklearn(made, rows)
    assert model.features.count == 5
    assert "The client runs ColumnTransformer before encryption." in model.notes
    np.testing.assert_array_equal(model.predict(rows), made.predict(rows))


def test_features_that_never_vary_are_not_encrypted() -> None:
    x = np.column_stack([IRIS, np.full(len(IRIS), 7.0)])
    model = rm.from_sklearn(LogisticRegression(max_iter=1000).fit(x, KIND), x)
    assert len(model.features.varying) == 4
    other = x.copy()
    other[3, 4] = 8.0
    with pytest.raises(rm.ModelError, match="'x4' is 8 in row 3; the model was calibrated for 7 to 7"):
        model.predict(other)


def test_the_approximated_estimator_goes_into_a_search() -> None:
    inner = make_pipeline(StandardScaler(), SVC())
    scores = cross_val_score(Approximated(inner, error=1e-3), IRIS, KIND, cv=3)
    clear = cross_val_score(inner, IRIS, KIND, cv=3)
    assert np.max(np.abs(scores - clear)) <= 0.03
    search = GridSearchCV(Approximated(SVC()), {"estimator__C": [0.1, 10.0]}, cv=2).fit(IRIS, KIND)
    assert search.best_params_["estimator__C"] == 10.0


def test_the_report_is_a_page_of_its_own(tmp_path: Path) -> None:
    made = LogisticRegression().fit(IRIS, TWO)
    report = rm.from_sklearn(made, IRIS).report(IRIS, TWO, title="<b>Iris</b>")
    text = str(report)
    for said in ("score, clear", "labels that differ", "bytes of a row, up and down", "probabilities"):
        assert said in text
    html = report.save(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;Iris&lt;/b&gt;" in html
    assert "score, encrypted" in html
    assert "https://" not in html


def _wrong() -> Iterator[tuple[str, Any, str]]:
    fitted = LogisticRegression(max_iter=1000).fit(IRIS, KIND)
    model = rm.from_sklearn(fitted, IRIS)
    yield "not fitted", lambda: from_sklearn(LogisticRegression(), IRIS), "is not fitted. Call fit"
    yield "a class", lambda: from_sklearn(LogisticRegression, IRIS), "is not an estimator of scikit-learn"
    yield "a number", lambda: from_sklearn(3, IRIS), "A int is not an estimator"
    forest = RandomForestRegressor(100, random_state=0).fit(SUGAR, PROGRESS)
    yield "a forest", lambda: from_sklearn(forest, SUGAR), "splits and 4,000 products are evaluated at most"
    isotonic = IsotonicRegression().fit(IRIS[:, 0], KIND)
    yield "isotonic", lambda: from_sklearn(isotonic, IRIS[:, :1]), "IsotonicRegression is not supported: it"
    started = GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()).fit(TUMOURS, BENIGN)
    yield "a start", lambda: from_sklearn(started, TUMOURS), "with init=LogisticRegression is not supported"
    neighbours = KNeighborsClassifier().fit(IRIS, KIND)
    yield "neighbours", lambda: from_sklearn(neighbours, IRIS), "it sorts distances to all training rows"
    odd = SVC(kernel=lambda a, b: a @ b.T).fit(IRIS, KIND)
    yield "a kernel", lambda: from_sklearn(odd, IRIS), "Take linear, rbf, sigmoid, or poly"
    yield "features", lambda: model.predict(IRIS[:, :3]), "X has 3 features; the model was fitted to 4"
    yield (
        "features of calibration",
        lambda: from_sklearn(fitted, IRIS[:, :3]),
        "X has 3 features; the model was fitted to 4",
    )
    yield "no rows", lambda: model.predict(IRIS[:0]), "X has no rows"
    yield "an axis", lambda: model.predict(IRIS[0]), "X has 1 axes; give rows and features"
    yield "text", lambda: model.predict([["a", "b", "c", "d"]]), "values that are not numbers"
    hole = IRIS.copy()
    hole[2, 1] = np.nan
    yield "a hole", lambda: model.predict(hole), "Feature 'x1' is nan in row 2"
    yield "a hole in calibration", lambda: from_sklearn(fitted, hole), "missing or infinite values"
    far = IRIS.copy()
    far[5, 2] = 100
    yield "far", lambda: model.predict(far), "Feature 'x2' is 100 in row 5; the model was calibrated for"
    yield "constant", lambda: from_sklearn(fitted, IRIS[:1]), "No feature varies in the calibration data"
    yield "precision", lambda: from_sklearn(fitted, IRIS, precision=0), "a whole number from 1 to 64"
    yield "rows", lambda: from_sklearn(fitted, IRIS, rows=48), "give a power of two"
    yield "security", lambda: from_sklearn(fitted, IRIS, security=100), "choose 128, 192 or 256"
    yield "error", lambda: from_sklearn(fitted, IRIS, error=-1), "error=-1 is not possible"
    yield "outside", lambda: from_sklearn(fitted, IRIS, outside="drop"), "choose 'refuse' or 'clip'"
    yield "layout", lambda: from_sklearn(fitted, IRIS, layout="packed"), "choose 'auto', 'rows', 'record'"


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    WRONG = list(_wrong())


@pytest.mark.parametrize(("call", "said"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_wrong_use_is_refused_in_a_sentence(call: Any, said: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(rm.ModelError) as caught:
            call()
    assert said in str(caught.value)
    assert str(caught.value).endswith(".")


def test_clipped_rows_are_those_of_the_range() -> None:
    fitted = LogisticRegression(max_iter=1000).fit(IRIS, KIND)
    model = rm.from_sklearn(fitted, IRIS, outside="clip")
    far, near = IRIS.copy(), IRIS.copy()
    far[5, 2], near[5, 2] = 100, model.features.high[2]
    np.testing.assert_allclose(
        model.approximated(far, "decision_function"), fitted.decision_function(near), atol=1e-9
    )


class _Frame:
    """Rows with names, as a table library has them."""

    def __init__(self, data: Any, columns: list[str]) -> None:
        self.data, self.columns = data, columns

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.data, dtype)

    def __len__(self) -> int:
        return len(self.data)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_features_in_another_order_are_refused() -> None:
    fitted = LogisticRegression(max_iter=1000).fit(IRIS, KIND)
    fitted.feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)
    model = rm.from_sklearn(fitted, IRIS)
    with pytest.raises(rm.ModelError, match="in another order"):
        model.predict(_Frame(IRIS, ["b", "a", "c", "d"]))
    with pytest.raises(rm.ModelError, match="d missing; e unknown"):
        model.predict(_Frame(IRIS, ["a", "b", "c", "e"]))


def test_every_estimator_is_supported_or_refused_with_advice() -> None:
    known = set(CONVERTERS) | set(CLIENT) | set(REFUSED)
    assert not (set(CONVERTERS) | set(CLIENT)) & set(REFUSED)
    assert set(ESTIMATORS) <= known
    for name, (reason, instead) in REFUSED.items():
        assert reason, name
        assert instead, name
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert page() in text, "run python scripts/reference.py"


@pytest.mark.filterwarnings("ignore")
def test_a_row_of_the_study_has_both_scores() -> None:
    from ringmill.studies.models import data, estimators, row

    assert len(estimators()) == 10
    x, y = data()["wine"]()
    found = row("ridge", estimators()["ridge"](), "wine", x, y)
    assert found["encrypted"] == found["clear"] > 0.9
    assert found["error"] <= found["predicted_error"]
    assert found["rows"] == 89
    assert found["flips"] == 0


def test_the_stored_study_keeps_its_bars() -> None:
    from ringmill.studies.models import STORED, data, estimators, page

    stored = json.loads(STORED.read_text(encoding="utf-8"))
    pairs = {(row["data"], row["estimator"]) for row in stored["rows"]}
    assert pairs == {(dataset, name) for dataset in data() for name in estimators()}
    for row in stored["rows"]:
        one = 1.01 / row["rows"]
        assert abs(row["clear"] - row["encrypted"]) <= max(0.005, one), row
        assert row["flips"] <= max(0.01 * row["rows"], 1), row
        assert row["error"] <= row["predicted_error"], row
    ours, *peers = stored["speed"]
    assert ours["library"] == "Ringmill"
    assert ours["rows_a_second"] >= 50_000
    assert ours["bytes_up"] <= 2_000
    assert ours["flips"] == 0
    same, few = peers
    assert same["rows"] == ours["rows"]
    # Concrete ML takes rows one at a time, so few are measured.
    assert few["rows_a_second"] > 0
    assert few["flips"] <= 0.01 * ours["rows"]
    assert ours["single_row_layout"] == "record"
    assert ours["single_row_seconds"] <= 0.02
    (digits,) = stored["digits"]
    assert (digits["images"], digits["unseen"]) == (10_000, 2_000)
    assert digits["seconds"]["evaluate"] <= 30
    assert abs(digits["clear"] - digits["encrypted"]) <= 0.005
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert page(stored) in text, "run python scripts/reference.py"


def test_rows_of_a_study_replace_those_of_the_same_pair() -> None:
    from ringmill.studies.models import merged

    old = [
        {"data": "wine", "estimator": "ridge", "flips": 1},
        {"data": "tumours", "estimator": "ridge", "flips": 2},
    ]
    found = merged(old, [{"data": "wine", "estimator": "ridge", "flips": 0}])
    assert [(row["data"], row["flips"]) for row in found] == [("tumours", 2), ("wine", 0)]
