"""Multi-layer perceptrons: activations become polynomials on the ranges that calibration shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.models.columns import Columns, Context
from ringmill.models.lowered import Array, Lowered, classes_by_largest, flat, logistic, softmax, two

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
    return Lowered(_layers(estimator), {"predict": flat})


def _classifier(estimator: Any) -> Lowered:
    classes = estimator.classes_
    notes = ["The client applies the last activation to the decrypted results, and takes the class."]
    methods: dict[str, Callable[[Array], Array]]
    if estimator.out_activation_ == "softmax":
        methods = {"predict": classes_by_largest(classes), "predict_proba": softmax}
    elif len(classes) == 2:
        methods = {
            "predict": lambda d: classes[(d[:, 0] > 0).astype(int)],
            "predict_proba": lambda d: two(logistic(d[:, 0])),
        }
    else:
        methods = {"predict": lambda d: (d > 0).astype(int), "predict_proba": logistic}
    return Lowered(_layers(estimator), methods, notes=notes)


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {
    "MLPClassifier": _classifier,
    "MLPRegressor": _regressor,
}
