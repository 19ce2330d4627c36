"""Estimators made of others: pipelines, columns, searches, votes, calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ringmill.errors import ModelError, fail
from ringmill.models.after import RESULTS, After, Later
from ringmill.models.columns import Columns, Context
from ringmill.models.lowered import Array, Lowered, Server
from ringmill.models.sklearn.transform import at_client, client

#: Estimators that stand for one that they hold.
HOLDERS = {
    "GridSearchCV": "best_estimator_",
    "RandomizedSearchCV": "best_estimator_",
    "HalvingGridSearchCV": "best_estimator_",
    "HalvingRandomSearchCV": "best_estimator_",
    "SelfTrainingClassifier": "estimator_",
    "FrozenEstimator": "estimator",
}


def _lower(estimator: Any) -> Lowered:
    from ringmill.models.sklearn import lower

    return lower(estimator)


def _identity(_context: Context, x: Columns) -> Columns:
    return x


def _in_turn(servers: Sequence[Server]) -> Server:
    def server(context: Context, x: Columns) -> Columns:
        for step in servers:
            x = step(context, x)
        return x

    return server


def _skipped(step: object) -> bool:
    return step is None or step == "passthrough"


def _pipeline(estimator: Any) -> Lowered:
    steps = [step for _, step in estimator.steps if not _skipped(step)]
    if not steps:
        return Lowered(_identity, {"transform": RESULTS})
    lowered = [_lower(step) for step in steps]
    # What stands before a step of the client runs there too.
    cut = max((at for at, one in enumerate(lowered) if one.client), default=0)
    before = [client(step) for step in steps[:cut]] if lowered[cut].client else lowered[:cut]
    parts = [*before, *lowered[cut:]]
    return Lowered(
        _in_turn([part.server for part in parts]),
        lowered[-1].methods,
        [step for part in parts for step in part.client],
        [note for part in parts for note in part.notes],
    )


def _side_by_side(parts: Sequence[tuple[Lowered, Sequence[int] | None, float]], outer: str) -> Lowered:
    """Transformers of some columns each, their results times a weight."""
    for part, _, _ in parts:
        _at_server(part, outer)

    def server(context: Context, x: Columns) -> Columns:
        made = []
        for part, which, weight in parts:
            found = part.server(context, x if which is None else x.chosen(which))
            made.append(found.scaled(weight) if weight != 1 else found)
        return Columns.joined(made)

    notes = [note for part, _, _ in parts for note in part.notes]
    return Lowered(server, {"transform": RESULTS}, notes=notes)


def _at_server(part: Lowered, outer: str) -> None:
    if part.client:
        name = type(part.client[0]).__name__
        fail(
            ModelError,
            "Unsupported",
            f"{name} inside {outer} is not supported, since it runs at the client. "
            f"Put it before {outer} in a Pipeline.",
            estimator=name,
        )


def _columns(estimator: Any) -> Lowered:
    if at_client(estimator):
        return client(estimator)
    parts = []
    for name, step, _ in estimator.transformers_:
        which = list(estimator._transformer_to_input_indices[name])
        if (isinstance(step, str) and step == "drop") or not which:
            continue
        lowered = Lowered(_identity, {}) if _skipped(step) else _lower(step)
        weight = (estimator.transformer_weights or {}).get(name, 1.0)
        parts.append((lowered, which, float(weight)))
    return _side_by_side(parts, "ColumnTransformer")


def _union(estimator: Any) -> Lowered:
    if at_client(estimator):
        return client(estimator)
    parts: list[tuple[Lowered, Sequence[int] | None, float]] = []
    for name, step in estimator.transformer_list:
        if isinstance(step, str) and step == "drop":
            continue
        lowered = Lowered(_identity, {}) if _skipped(step) else _lower(step)
        parts.append((lowered, None, float((estimator.transformer_weights or {}).get(name, 1.0))))
    return _side_by_side(parts, "FeatureUnion")


def _function(estimator: Any) -> Lowered:
    if estimator.func is None:
        return Lowered(_identity, {"transform": RESULTS})
    return client(estimator)


def _holder(estimator: Any) -> Lowered:
    return _lower(getattr(estimator, HOLDERS[type(estimator).__name__]))


class Group:
    """Several estimators of the same features: their results side by side."""

    def __init__(self, estimators: Sequence[Any], outer: str, which: Sequence[Any] | None = None) -> None:
        self.parts = [_lower(one) for one in estimators]
        for part in self.parts:
            _at_server(part, outer)
        self.which = [None] * len(self.parts) if which is None else [list(w) for w in which]
        self.widths: list[int] = []
        self.notes = list(dict.fromkeys(note for part in self.parts for note in part.notes))

    def server(self, context: Context, x: Columns) -> Columns:
        """Results of every estimator."""
        made = [
            part.server(context, x if which is None else x.chosen(which))
            for part, which in zip(self.parts, self.which, strict=True)
        ]
        self.widths = [columns.count for columns in made]
        return Columns.joined(made)

    def results(self, method: str, d: Array) -> list[Array]:
        """What a method of each estimator makes of its own results."""
        return [after(d) for after in self.afters(method)]

    def afters(self, method: str) -> tuple[After, ...]:
        """The same as functions of the results of all."""
        ends = np.cumsum(self.widths).tolist()
        return tuple(
            After("columns", (part.methods[method],), (end - width, end))
            for part, width, end in zip(self.parts, self.widths, ends, strict=True)
        )

    def has(self, method: str) -> bool:
        """Whether every estimator has a method."""
        return all(method in part.methods for part in self.parts)


def _voting_regressor(estimator: Any) -> Lowered:
    group = Group(estimator.estimators_, type(estimator).__name__)
    weights = getattr(estimator, "_weights_not_none", None)

    predict = Later(lambda: After("mean", group.afters("predict"), (weights,)))
    return Lowered(group.server, {"predict": predict}, notes=group.notes)


def _voting_classifier(estimator: Any) -> Lowered:
    group = Group(estimator.estimators_, "VotingClassifier")
    weights, classes = estimator._weights_not_none, estimator.classes_
    notes = [*group.notes, "The client counts the votes."]
    if estimator.voting == "soft":
        methods = _by_mean(lambda: After("mean", group.afters("predict_proba"), (weights,)), classes)
        return Lowered(group.server, methods, notes=notes)

    def counted() -> After:
        return After("beside", group.afters("predict")).then("counted", len(classes), weights)

    predict = Later(lambda: counted().largest(classes))
    return Lowered(group.server, {"predict": predict}, notes=notes)


def _by_mean(mean: Callable[[], After], classes: Array) -> dict[str, Callable[[Array], Array]]:
    """Methods of a classifier of these probabilities."""
    return {
        "predict_proba": Later(mean),
        "predict": Later(lambda: mean().largest(classes)),
    }


def _bagging_regressor(estimator: Any) -> Lowered:
    group = Group(estimator.estimators_, "BaggingRegressor", estimator.estimators_features_)
    predict = Later(lambda: After("mean", group.afters("predict"), (None,)))
    return Lowered(group.server, {"predict": predict}, notes=group.notes)


def _bagging_classifier(estimator: Any) -> Lowered:
    group = Group(estimator.estimators_, "BaggingClassifier", estimator.estimators_features_)
    classes = estimator.classes_
    notes = [*group.notes, "The client counts the votes."]

    def mean() -> After:
        if group.has("predict_proba"):
            return After("mean", group.afters("predict_proba"), (None,))
        votes = After("beside", group.afters("predict")).then("counted", len(classes), None)
        return votes.then("normalised")

    return Lowered(group.server, _by_mean(mean, classes), notes=notes)


def _outputs(estimator: Any) -> Lowered:
    group = Group(estimator.estimators_, type(estimator).__name__)
    predict = Later(lambda: After("beside", group.afters("predict")))
    return Lowered(group.server, {"predict": predict}, notes=group.notes)


def _rest(estimator: Any) -> Lowered:
    group = Group(estimator.estimators_, "OneVsRestClassifier")
    classes = estimator.classes_
    if estimator.multilabel_:
        fail(
            ModelError,
            "Unsupported",
            "OneVsRestClassifier of several labels a row is not supported. Fit one classifier a label.",
            estimator="OneVsRestClassifier",
        )
    by = "decision_function" if group.has("decision_function") else "predict_proba"

    def scores(method: str) -> After:
        second = method == "predict_proba"
        parts = group.afters(method)
        return After("beside", tuple(part.then("column", 1) for part in parts) if second else parts)

    def predict() -> After:
        found = scores(by)
        if len(group.parts) > 1:
            return found.largest(classes)
        limit = 0 if by == "decision_function" else 0.5
        return found.above(limit, classes)

    methods: dict[str, Callable[[Array], Array]] = {"predict": Later(predict)}
    if group.has("predict_proba"):
        share = "two" if len(group.parts) == 1 else "normalised"
        methods["predict_proba"] = Later(lambda: scores("predict_proba").then(share))
    if by == "decision_function":
        one = len(classes) == 2
        methods["decision_function"] = Later(lambda: scores(by).then("column", 0) if one else scores(by))
    return Lowered(group.server, methods, notes=group.notes)


def _target(estimator: Any) -> Lowered:
    inner = _lower(estimator.regressor_)
    transformer = estimator.transformer_

    def predict(d: Array) -> Array:
        y = inner.methods["predict"](d)
        back = transformer.inverse_transform(y.reshape(len(y), -1))
        return np.asarray(back[:, 0] if y.ndim == 1 else back)

    notes = [*inner.notes, "The client transforms the decrypted predictions back."]
    return Lowered(inner.server, {"predict": predict}, inner.client, notes)


def _calibrated(estimator: Any) -> Lowered:
    parts = estimator.calibrated_classifiers_
    group = Group([one.estimator for one in parts], "CalibratedClassifierCV")
    classes = estimator.classes_
    by = "decision_function" if group.has("decision_function") else "predict_proba"
    binary = len(classes) == 2

    def probabilities() -> After:
        made = []
        for one, scores in zip(parts, group.afters(by), strict=True):
            column = 1 if binary and by == "predict_proba" else 0
            found = [
                _calibrator(scores.then("matrix").then("column", column + k), calibrator)
                for k, calibrator in enumerate(one.calibrators)
            ]
            made.append(found[0].then("two") if binary else After("beside", tuple(found)).then("shares"))
        return After("mean", tuple(made), (None,))

    notes = [*group.notes, "The client calibrates the decrypted decisions."]
    return Lowered(group.server, _by_mean(probabilities, classes), notes=notes)


def _calibrator(score: After, calibrator: Any) -> After:
    if type(calibrator).__name__ == "IsotonicRegression":
        return score.then("interpolated", calibrator.X_thresholds_, calibrator.y_thresholds_)
    if type(calibrator).__name__ == "_SigmoidCalibration":
        return score.then("times", -float(calibrator.a_)).then("plus", -float(calibrator.b_)).then("logistic")
    fail(
        ModelError,
        "Unsupported",
        "CalibratedClassifierCV with this method is not supported. Take method='sigmoid' or 'isotonic'.",
        estimator="CalibratedClassifierCV",
        attribute="method",
    )


def _threshold(estimator: Any) -> Lowered:
    inner = _lower(estimator.estimator_)
    by = estimator.response_method
    if by == "auto":
        by = "predict_proba" if "predict_proba" in inner.methods else "decision_function"
    limit = getattr(estimator, "best_threshold_", getattr(estimator, "threshold", "auto"))
    if limit == "auto":
        limit = 0.5 if by == "predict_proba" else 0.0
    classes = estimator.classes_
    label = getattr(estimator, "pos_label", None)
    positive = 1 if label is None else int(np.flatnonzero(classes == label)[0])

    def predict(d: Array) -> Array:
        found = inner.methods[by](d)
        scores = found[:, positive] if found.ndim == 2 else found if positive else -found
        above = scores >= limit
        return np.asarray(classes[np.where(above, positive, 1 - positive)])

    methods = {**inner.methods, "predict": predict}
    return Lowered(inner.server, methods, inner.client, [*inner.notes, "The client applies the threshold."])


def _after(first: Callable[[Array], Array], then: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda d: np.asarray(then(first(d)))


def _stacking(estimator: Any) -> Lowered:
    if estimator.passthrough:
        fail(
            ModelError,
            "Unsupported",
            f"{type(estimator).__name__} with passthrough=True is not supported. Take passthrough=False.",
            estimator=type(estimator).__name__,
            attribute="passthrough",
        )
    kept = [one for one in estimator.estimators_ if not isinstance(one, str)]
    group = Group(kept, type(estimator).__name__)
    final = estimator.final_estimator_

    def stacked(d: Array) -> Array:
        ends = np.cumsum(group.widths)
        found = [
            part.methods[method](d[:, end - width : end])
            for part, method, width, end in zip(
                group.parts, estimator.stack_method_, group.widths, ends, strict=True
            )
        ]
        return np.asarray(estimator._concatenate_predictions(d, found))

    def predict(d: Array) -> Array:
        found = final.predict(stacked(d))
        encoder = getattr(estimator, "_label_encoder", None)
        return np.asarray(encoder.inverse_transform(found) if encoder is not None else found)

    methods: dict[str, Callable[[Array], Array]] = {"predict": predict}
    for name in ("predict_proba", "decision_function"):
        if hasattr(final, name):
            own = getattr(final, name)
            methods[name] = _after(stacked, own)
    notes = [*group.notes, f"The client runs the final {type(final).__name__} on the decrypted results."]
    return Lowered(group.server, methods, notes=notes)


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {
    "Pipeline": _pipeline,
    "ColumnTransformer": _columns,
    "FeatureUnion": _union,
    "FunctionTransformer": _function,
    **dict.fromkeys(HOLDERS, _holder),
    "VotingRegressor": _voting_regressor,
    "VotingClassifier": _voting_classifier,
    "BaggingRegressor": _bagging_regressor,
    "BaggingClassifier": _bagging_classifier,
    "MultiOutputRegressor": _outputs,
    "MultiOutputClassifier": _outputs,
    "OneVsRestClassifier": _rest,
    "TransformedTargetRegressor": _target,
    "CalibratedClassifierCV": _calibrated,
    "FixedThresholdClassifier": _threshold,
    "TunedThresholdClassifierCV": _threshold,
    "StackingClassifier": _stacking,
    "StackingRegressor": _stacking,
}
