"""Naive Bayes on categories: the client looks them up, and what is left is affine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.models.after import After, by_largest
from ringmill.models.lowered import Array, Lowered
from ringmill.models.sklearn.linear import affine

NOTE = "The client takes the class of the largest decrypted likelihood, and makes probabilities."


def _methods(estimator: Any) -> dict[str, Callable[[Array], Array]]:
    return {"predict": by_largest(estimator.classes_), "predict_proba": After("softmax")}


def _binary(estimator: Any) -> Lowered:
    from sklearn.preprocessing import Binarizer

    yes = np.asarray(estimator.feature_log_prob_, float)
    no = np.log1p(-np.exp(yes))
    offset = np.asarray(estimator.class_log_prior_) + no.sum(axis=1)
    client, notes = [], [NOTE]
    if estimator.binarize is not None:
        client = [Binarizer(threshold=estimator.binarize).fit(np.zeros((1, yes.shape[1])))]
        notes = ["The client runs Binarizer before encryption.", NOTE]
    return Lowered(affine((yes - no).T, offset), _methods(estimator), client, notes)


def _categories(estimator: Any) -> Lowered:
    from sklearn.preprocessing import OneHotEncoder

    tables = [np.asarray(table, float) for table in estimator.feature_log_prob_]
    known = [np.arange(table.shape[1]) for table in tables]
    encoder = OneHotEncoder(categories=known, sparse_output=False)
    encoder.fit(np.zeros((1, len(known)), dtype=int))
    weights = np.vstack([table.T for table in tables])
    notes = ["The client runs OneHotEncoder before encryption.", NOTE]
    offset = np.asarray(estimator.class_log_prior_)
    return Lowered(affine(weights, offset), _methods(estimator), [encoder], notes)


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {"BernoulliNB": _binary, "CategoricalNB": _categories}
