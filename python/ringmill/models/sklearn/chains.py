"""Estimators of several classes or outputs that are made of one estimator each, and build on one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.errors import ModelError, fail
from ringmill.models.after import RESULTS, After, Later
from ringmill.models.columns import Columns, Context
from ringmill.models.lowered import Array, Lowered
from ringmill.models.sklearn.compose import Group


def _pairs(estimator: Any) -> Lowered:
    group = Group(estimator.estimators_, "OneVsOneClassifier", estimator.pairwise_indices_)
    classes = estimator.classes_
    if not group.has("decision_function"):
        name = type(estimator.estimators_[0]).__name__
        fail(
            ModelError,
            "Unsupported",
            f"OneVsOneClassifier of {name} is not supported: it has no decision_function. "
            "Take LogisticRegression, LinearSVC or SVC.",
            estimator="OneVsOneClassifier",
            attribute="estimator",
        )

    def decisions() -> After:
        return After("beside", group.afters("decision_function"))

    def scores() -> After:
        # Here a positive decision is for the second class of a pair.
        return decisions().then("times", -1.0).then("one_to_rest", len(classes))

    methods: dict[str, Callable[[Array], Array]]
    if len(classes) == 2:
        one = Later(lambda: decisions().then("column", 0))
        methods = {"predict": Later(lambda: decisions().above(0, classes)), "decision_function": one}
    else:
        methods = {"predict": Later(lambda: scores().largest(classes)), "decision_function": Later(scores)}
    notes = [*group.notes, "The client takes the class with the most votes of pairs."]
    return Lowered(group.server, methods, notes=notes)


def _chain(estimator: Any) -> Lowered:
    """Each output's estimator takes the features and the outputs before it."""
    group = Group(estimator.estimators_, "RegressorChain")
    ends = [part.methods.get("predict") for part in group.parts]
    if not all(isinstance(end, After) and end.name in ("flat", "same") for end in ends):
        name = type(estimator.estimators_[0]).__name__
        fail(
            ModelError,
            "Unsupported",
            f"RegressorChain of {name} is not supported: its predictions are known at the client alone. "
            "Take one without a link or votes, as Ridge.",
            estimator="RegressorChain",
            attribute="estimator",
        )
    order = np.argsort(estimator.order_)

    def server(context: Context, x: Columns) -> Columns:
        made: list[Columns] = []
        for part in group.parts:
            made.append(part.server(context, Columns.joined([x, *made])))
        return Columns.joined(made).chosen(order)

    return Lowered(server, {"predict": RESULTS}, notes=group.notes)


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {"OneVsOneClassifier": _pairs, "RegressorChain": _chain}
