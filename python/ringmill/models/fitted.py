"""A fitted estimator of scikit-learn as a `Model`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ringmill.errors import ModelError, fail
from ringmill.models.features import Array, Outside
from ringmill.models.layouts import Layout
from ringmill.models.lowered import Lowered
from ringmill.models.model import AGREEMENT, Model, Options, calibrated, prepared


def from_sklearn(
    estimator: Any,
    X: Any,
    *,
    precision: int = 20,
    error: float = 1e-3,
    margin: float = 0.1,
    rows: int | None = None,
    security: int = 128,
    outside: Outside = "refuse",
    layout: Layout = "auto",
) -> Model:
    """Make a model for encrypted records of a fitted estimator or pipeline of scikit-learn.

    Args:
        estimator: fitted; docs/models.md lists what is supported.
        X: calibration rows, as the estimator takes them. They give the range of every feature and of every
            value that a function is applied to.
        precision: bits of the results after the binary point, relative to their largest calibrated size.
        error: the distance that each polynomial may have from its function; kinks come no closer than degree
            63 does, and ``model.functions`` lists what is reached.
        margin: by which fraction of its width every calibrated range is extended on both sides.
        rows: rows of one evaluation, a power of two; as many as the ring holds by default.
        security: bits of security: 128, 192 or 256.
        outside: what is done with features outside of their range: "refuse" or "clip".
        layout: "rows" along the slots with a ciphertext a feature, a "record" in one ciphertext, or "auto":
            rows for a full ring; where ``rows`` is given, what is predicted to take fewer seconds.

    Returns
    -------
        The model. Nothing is compiled or encrypted before it is needed.

    Raises
    ------
        ModelError: an estimator that is not fitted or not supported, calibration data that do not fit it, or
            an estimator whose own results on them are others than those of its conversion.
    """
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    from ringmill.models.sklearn import lower

    name = type(estimator).__name__
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        fail(
            ModelError,
            "Estimator",
            f"A {type(estimator).__name__} is not an estimator of scikit-learn. "
            "Give a fitted one, as LogisticRegression().fit(X, y).",
        )
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        fail(ModelError, "NotFitted", f"{name} is not fitted. Call fit(X, y) first.", estimator=name)
    options = Options(precision, error, margin, rows, security, outside, layout)
    lowered = lower(estimator)
    array = prepared(estimator, lowered, X)
    names = _names(lowered.client[-1]) if lowered.client else list(getattr(X, "columns", []))
    if not names or len(names) != array.shape[1]:
        names = [f"x{j}" for j in range(array.shape[1])]
    model, results = calibrated(estimator, lowered, array, [str(n) for n in names], options)
    _agrees(estimator, lowered, results, X)
    return model


def _names(step: Any) -> list[Any]:
    try:
        return list(step.get_feature_names_out())
    except (AttributeError, TypeError, ValueError):
        return []


def _agrees(estimator: Any, lowered: Lowered, results: Array, X: Any) -> None:
    """Refuse an estimator that computes something else than its conversion, as another version may."""
    for method, make in lowered.methods.items():
        if not hasattr(estimator, method):
            continue
        own, ours = np.asarray(getattr(estimator, method)(X)), np.asarray(make(results))
        if own.dtype.kind in "fc" and own.shape == ours.shape:
            least = AGREEMENT * max(1.0, float(np.abs(own).max(initial=0.0)))
            same = bool(np.all(np.abs(own - ours) <= least))
        else:
            # Rows whose decision is 0 may fall to either side.
            same = own.shape == ours.shape and bool(np.mean(own == ours) >= 0.999)
        if not same:
            name = type(estimator).__name__
            fail(
                ModelError,
                "Disagrees",
                f"{name}.{method} gives other results than its conversion, by an option or a version that "
                "Ringmill does not know. Please report the estimator and its parameters.",
                estimator=name,
                attribute=method,
            )
