"""Classifiers by quadratic likelihoods: Gaussian naive Bayes and quadratic discriminants."""

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
        near = x.affine(np.eye(x.count), -middle)
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

    def server(context: Context, x: Columns) -> Columns:
        parts = []
        for mean, to_unit, shift in zip(means, maps, constant, strict=True):
            near = x.affine(to_unit, -mean @ to_unit)
            squares = context.product(near, near, "a square of a whitened feature")
            parts.append(squares.affine(np.full((squares.count, 1), -0.5), shift))
        return Columns.joined(parts)

    classes = estimator.classes_
    methods: dict[str, Callable[[Array], Array]] = {
        "predict": by_largest(classes),
        "predict_proba": After("softmax"),
        "decision_function": After("difference") if len(classes) == 2 else RESULTS,
    }
    return Lowered(server, methods, notes=[NOTE])


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {
    "GaussianNB": _naive,
    "QuadraticDiscriminantAnalysis": _quadratic,
}
