"""Estimators whose decision is an affine function of the features; links and classes are the client's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.errors import ModelError, fail
from ringmill.models.after import RESULTS, After, by_largest, by_sign, of_two
from ringmill.models.lowered import Array, Lowered

#: Regressors: prediction = X @ coef + intercept.
REGRESSORS = [
    "ARDRegression",
    "BayesianRidge",
    "ElasticNet",
    "ElasticNetCV",
    "HuberRegressor",
    "Lars",
    "LarsCV",
    "Lasso",
    "LassoCV",
    "LassoLars",
    "LassoLarsCV",
    "LassoLarsIC",
    "LinearRegression",
    "LinearSVR",
    "MultiTaskElasticNet",
    "MultiTaskElasticNetCV",
    "MultiTaskLasso",
    "MultiTaskLassoCV",
    "OrthogonalMatchingPursuit",
    "OrthogonalMatchingPursuitCV",
    "PassiveAggressiveRegressor",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "SGDRegressor",
    "TheilSenRegressor",
    "PLSRegression",
    "PLSCanonical",
    "CCA",
    "RANSACRegressor",
]
#: Generalised linear models: the client applies the inverse of the link.
GENERALISED = ("GammaRegressor", "PoissonRegressor", "TweedieRegressor")
#: Classifiers: decision = X @ coef.T + intercept.
CLASSIFIERS = [
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LogisticRegression",
    "LogisticRegressionCV",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
]
#: Naive Bayes on counts: the joint log likelihood is affine.
COUNTS = ("MultinomialNB", "ComplementNB")


def affine(weights: Array, offset: Array) -> Callable[[Any, Any], Any]:
    """The server's part of an affine estimator: weights are (features, outputs)."""
    return lambda _context, x: x.affine(weights, offset)


def probed(function: Callable[[Array], Array], features: int) -> tuple[Array, Array]:
    """Weights (features, k) and offset (k,) of an affine function, by its values at 0 and unit vectors."""
    probes = np.vstack([np.zeros((1, features)), np.eye(features)])
    values = np.asarray(function(probes), float).reshape(features + 1, -1)
    return values[1:] - values[0], values[0]


def _regressor(estimator: Any) -> Lowered:
    weights, offset = probed(estimator.predict, estimator.n_features_in_)
    many = np.asarray(estimator.predict(np.zeros((1, estimator.n_features_in_)))).ndim > 1
    return Lowered(affine(weights, offset), {"predict": RESULTS if many else After("flat")})


def _generalised(estimator: Any) -> Lowered:
    link = "identity" if getattr(estimator, "link", "log") == "identity" else "log"
    if type(estimator).__name__ == "TweedieRegressor" and estimator.link == "auto" and estimator.power <= 0:
        link = "identity"
    mean = RESULTS.then("column", 0)
    weights, offset = np.atleast_2d(estimator.coef_).T, np.atleast_1d(estimator.intercept_)
    notes = ["The client applies exp to the decrypted prediction."] if link == "log" else []
    return Lowered(
        affine(weights, offset), {"predict": mean.then("exp") if link == "log" else mean}, notes=notes
    )


def _probabilities(estimator: Any, binary: bool) -> After | None:
    """How the client makes probabilities of decisions, where the estimator has them."""
    name = type(estimator).__name__
    loss = getattr(estimator, "loss", "")
    one_to_rest = getattr(estimator, "solver", "") == "liblinear" or name == "SGDClassifier"
    if name == "SGDClassifier" and loss not in ("log_loss", "modified_huber"):
        return None
    if name not in (
        "LogisticRegression",
        "LogisticRegressionCV",
        "LinearDiscriminantAnalysis",
        "SGDClassifier",
    ):
        return None
    if loss == "modified_huber":
        return RESULTS.then("column", 0).then("clipped").then("two") if binary else None
    if binary:
        return of_two()
    return RESULTS.then("logistic").then("normalised") if one_to_rest else After("softmax")


def _classifier(estimator: Any) -> Lowered:
    weights, offset = np.atleast_2d(estimator.coef_).T, np.atleast_1d(estimator.intercept_)
    if np.ndim(getattr(estimator, "classes_", [])) != 1:
        fail(
            ModelError,
            "Unsupported",
            f"{type(estimator).__name__} was fitted to several labels a row. Fit one classifier a label.",
            estimator=type(estimator).__name__,
        )
    binary = weights.shape[1] == 1
    classes = estimator.classes_
    methods: dict[str, Callable[[Array], Array]] = {
        "decision_function": After("flat"),
        "predict": by_sign(classes) if binary else by_largest(classes),
    }
    notes = ["The client takes the class of the largest decrypted decision."]
    if probabilities := _probabilities(estimator, binary):
        methods["predict_proba"] = probabilities
        notes.append("The client makes probabilities of the decrypted decisions.")
    return Lowered(affine(weights, np.broadcast_to(offset, weights.shape[1:])), methods, notes=notes)


def _counts(estimator: Any) -> Lowered:
    weights = np.asarray(estimator.feature_log_prob_).T
    name = type(estimator).__name__
    offset = np.zeros(weights.shape[1])
    if name == "MultinomialNB" or len(estimator.classes_) == 1:
        offset = np.asarray(estimator.class_log_prior_)
    notes = ["The client takes the class of the largest decrypted likelihood, and makes probabilities."]
    methods: dict[str, Callable[[Array], Array]] = {
        "predict": by_largest(estimator.classes_),
        "predict_proba": After("softmax"),
    }
    return Lowered(affine(weights, offset), methods, notes=notes)


def _one_class(estimator: Any) -> Lowered:
    weights, offset = np.asarray(estimator.coef_, float).reshape(-1, 1), float(np.ravel(estimator.offset_)[0])
    methods: dict[str, Callable[[Array], Array]] = {
        "decision_function": After("flat"),
        "predict": by_sign(np.array([-1, 1])),
        "score_samples": RESULTS.then("column", 0).then("plus", offset),
    }
    notes = ["The client takes the sign of the decrypted decision."]
    return Lowered(affine(weights, np.array([-offset])), methods, notes=notes)


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {
    **dict.fromkeys(REGRESSORS, _regressor),
    **dict.fromkeys(GENERALISED, _generalised),
    **dict.fromkeys(CLASSIFIERS, _classifier),
    **dict.fromkeys(COUNTS, _counts),
    "SGDOneClassSVM": _one_class,
}
