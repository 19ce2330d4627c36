"""Models of Gaussians: naive Bayes, quadratic discriminants, mixtures, and an envelope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.models.after import RESULTS, After, by_largest
from ringmill.models.columns import Columns, Context
from ringmill.models.lowered import Array, Lowered

NOTE = "The client takes the class of the largest decrypted likelihood, and makes probabilities."


def _naive(estimator: Any) -> Lowered:
    means, variances = np.asarray(estimator.theta_), np.asarray(estimator.var_)
    constant = np.log(estimator.class_prior_) - 0.5 * np.log(2 * np.pi * variances).sum(axis=1)

    def server(context: Context, x: Columns) -> Columns:
        middle = means.mean(axis=0)
        near = x.scaled(1.0, -middle)
        squares = context.product(near, near, "a square of a feature")
        shifted = means - middle
        weights = np.vstack([-0.5 / variances.T, (shifted / variances).T])
        offset = constant - 0.5 * (shifted**2 / variances).sum(axis=1)
        return Columns.joined([squares, near]).affine(weights, offset)

    methods: dict[str, Callable[[Array], Array]] = {
        "predict": by_largest(estimator.classes_),
        "predict_proba": After("softmax"),
    }
    return Lowered(server, methods, notes=[NOTE])


def _quadratic(estimator: Any) -> Lowered:
    means = np.asarray(estimator.means_)
    maps = [
        np.asarray(r) * np.asarray(s) ** -0.5
        for r, s in zip(estimator.rotations_, estimator.scalings_, strict=True)
    ]
    constant = np.log(estimator.priors_) - 0.5 * np.array([np.log(s).sum() for s in estimator.scalings_])

    classes = estimator.classes_
    methods: dict[str, Callable[[Array], Array]] = {
        "predict": by_largest(classes),
        "predict_proba": After("softmax"),
        "decision_function": After("difference") if len(classes) == 2 else RESULTS,
    }
    return Lowered(_quadratic_forms(means, maps, constant), methods, notes=[NOTE])


def _quadratic_forms(
    means: Array, maps: list[Array], constant: Array
) -> Callable[[Context, Columns], Columns]:
    """−|(x − mean) @ map|²/2 + constant, for each mean."""

    def server(context: Context, x: Columns) -> Columns:
        parts = []
        for mean, to_unit, shift in zip(means, maps, constant, strict=True):
            near = x.affine(to_unit, -mean @ to_unit)
            squares = context.product(near, near, "a square of a whitened feature")
            parts.append(squares.affine(np.full((squares.count, 1), -0.5), shift))
        return Columns.joined(parts)

    return server


def _mixture(estimator: Any) -> Lowered:
    means = np.asarray(estimator.means_, float)
    features = means.shape[1]
    roots, kind = np.asarray(estimator.precisions_cholesky_, float), estimator.covariance_type
    if kind == "full":
        maps = list(roots)
    elif kind == "tied":
        maps = [roots] * len(means)
    elif kind == "diag":
        maps = [np.diag(root) for root in roots]
    else:
        maps = [root * np.eye(features) for root in roots]
    # At its mean a component is its constant.
    constant = np.diag(np.asarray(estimator._estimate_weighted_log_prob(means)))
    methods: dict[str, Callable[[Array], Array]] = {
        "predict": After("largest"),
        "predict_proba": After("softmax"),
        "score_samples": After("log_sum"),
    }
    note = "The client takes the component of the largest decrypted likelihood, and makes probabilities."
    return Lowered(_quadratic_forms(means, maps, constant), methods, notes=[note])


def _envelope(estimator: Any) -> Lowered:
    # |(x − mean) @ map|² is the squared Mahalanobis distance.
    to_unit = np.linalg.cholesky(np.asarray(estimator.precision_, float))
    offset = float(estimator.offset_)
    server = _quadratic_forms(np.atleast_2d(estimator.location_), [np.sqrt(2.0) * to_unit], np.zeros(1))
    scores = RESULTS.then("column", 0)
    decision = scores.then("plus", -offset)
    methods: dict[str, Callable[[Array], Array]] = {
        "score_samples": scores,
        "decision_function": decision,
        "predict": decision.then("above", 0).then("chosen", np.array([-1, 1])),
    }
    return Lowered(server, methods, notes=["The client takes the sign of the decrypted decision."])


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {
    "BayesianGaussianMixture": _mixture,
    "EllipticEnvelope": _envelope,
    "GaussianMixture": _mixture,
    "GaussianNB": _naive,
    "QuadraticDiscriminantAnalysis": _quadratic,
}
