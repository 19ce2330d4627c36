"""Perceptrons and Boltzmann machines: activations become polynomials on the ranges that calibration shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.models.after import RESULTS, After, by_largest, by_sign, logistic, of_two
from ringmill.models.columns import Columns, Context
from ringmill.models.lowered import Array, Lowered

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "logistic": logistic,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
}


def _layers(estimator: Any) -> Callable[[Context, Columns], Columns]:
    def server(context: Context, x: Columns) -> Columns:
        last = len(estimator.coefs_) - 1
        for at, (weights, offset) in enumerate(zip(estimator.coefs_, estimator.intercepts_, strict=True)):
            x = x.affine(weights, offset)
            if at < last and estimator.activation != "identity":
                activation = ACTIVATIONS[estimator.activation]
                x = context.function(x, activation, f"{estimator.activation} of layer {at + 1}")
        return x

    return server


def _regressor(estimator: Any) -> Lowered:
    return Lowered(_layers(estimator), {"predict": After("flat")})


def _classifier(estimator: Any) -> Lowered:
    classes = estimator.classes_
    notes = ["The client applies the last activation to the decrypted results, and takes the class."]
    methods: dict[str, Callable[[Array], Array]]
    if estimator.out_activation_ == "softmax":
        methods = {"predict": by_largest(classes), "predict_proba": After("softmax")}
    elif len(classes) == 2:
        methods = {"predict": by_sign(classes), "predict_proba": of_two()}
    else:
        methods = {"predict": RESULTS.then("above", 0), "predict_proba": After("logistic")}
    return Lowered(_layers(estimator), methods, notes=notes)


def _boltzmann(estimator: Any) -> Lowered:
    weights, offset = (
        np.asarray(estimator.components_, float).T,
        np.asarray(estimator.intercept_hidden_, float),
    )

    def server(context: Context, x: Columns) -> Columns:
        return context.function(x.affine(weights, offset), logistic, "hidden units")

    return Lowered(server, {"transform": RESULTS})


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {
    "BernoulliRBM": _boltzmann,
    "MLPClassifier": _classifier,
    "MLPRegressor": _regressor,
}
