"""Estimators by distances from centres. The client takes roots of decrypted squares, and the nearest one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.errors import ModelError, fail
from ringmill.models.after import After
from ringmill.models.columns import Columns, Context
from ringmill.models.lowered import Array, Lowered

NEAREST = "The client takes roots of the decrypted squared distances, and the nearest centre."


def squared(context: Context, x: Columns, centres: Array) -> Columns:
    """Squared distances of each row from each centre, (centres, features): one level of products."""
    middle = centres.mean(axis=0)
    near = x.scaled(1.0, -middle)
    squares = context.product(near, near, "a square of a feature")
    shifted = centres - middle
    both = Columns.joined([squares, near])
    count = len(centres)
    weights = np.vstack([np.ones((x.count, count)), -2 * shifted.T])
    return both.affine(weights, (shifted**2).sum(axis=1))


def _centres(estimator: Any) -> Lowered:
    centres = np.asarray(estimator.cluster_centers_, float)
    methods: dict[str, Callable[[Array], Array]] = {
        "transform": After("roots"),
        "predict": After("smallest"),
    }
    return Lowered(lambda context, x: squared(context, x, centres), methods, notes=[NEAREST])


def _centroid(estimator: Any) -> Lowered:
    if estimator.metric != "euclidean":
        fail(
            ModelError,
            "Unsupported",
            f"NearestCentroid with metric={estimator.metric!r} is not supported. Take metric='euclidean'.",
            estimator="NearestCentroid",
            attribute="metric",
        )
    centres = np.asarray(estimator.centroids_, float)
    classes = estimator.classes_
    priors = getattr(estimator, "class_prior_", None)
    if priors is not None and not np.allclose(priors, priors[0]):
        fail(
            ModelError,
            "Unsupported",
            "NearestCentroid with unequal priors is not supported. Take priors='uniform'.",
            estimator="NearestCentroid",
            attribute="priors",
        )
    methods: dict[str, Callable[[Array], Array]] = {"predict": After("smallest").then("chosen", classes)}
    return Lowered(lambda context, x: squared(context, x, centres), methods, notes=[NEAREST])


def _nearest(estimator: Any) -> Lowered:
    labels = getattr(estimator, "subcluster_labels_", None)
    found = "cluster_centers_" if labels is None else "subcluster_centers_"
    centres = getattr(estimator, found, np.zeros((0, 1)))
    if not len(centres):
        name = type(estimator).__name__
        fail(
            ModelError, "Unsupported", f"{name} found no centres. Fit it until it converges.", estimator=name
        )
    centres = np.asarray(centres, float)
    nearest = After("smallest")
    methods: dict[str, Callable[[Array], Array]] = {
        "predict": nearest if labels is None else nearest.then("chosen", np.asarray(labels))
    }
    if hasattr(estimator, "transform"):
        methods["transform"] = After("roots")
    return Lowered(lambda context, x: squared(context, x, centres), methods, notes=[NEAREST])


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {
    "AffinityPropagation": _nearest,
    "Birch": _nearest,
    "KMeans": _centres,
    "MeanShift": _nearest,
    "MiniBatchKMeans": _centres,
    "NearestCentroid": _centroid,
}
