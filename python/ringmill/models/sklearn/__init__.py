"""scikit-learn's estimators: each family in a file, found by the name of the class.

A converter takes a fitted estimator and returns a `Lowered`. ``CONVERTERS`` has them all. ``refusals.py``
says why the others are refused, and what to take instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ringmill.errors import ModelError, fail
from ringmill.models.lowered import Lowered
from ringmill.models.sklearn import (
    chains,
    compose,
    distances,
    gaussian,
    kernels,
    linear,
    neural,
    tables,
    transform,
    trees,
)
from ringmill.models.sklearn.refusals import REFUSED

CONVERTERS: dict[str, Callable[[Any], Lowered]] = {
    **linear.CONVERTERS,
    **transform.CONVERTERS,
    **distances.CONVERTERS,
    **gaussian.CONVERTERS,
    **kernels.CONVERTERS,
    **neural.CONVERTERS,
    **trees.CONVERTERS,
    **tables.CONVERTERS,
    **compose.CONVERTERS,
    **chains.CONVERTERS,
}


def page() -> str:
    """Return the tables of ``docs/models.md``: every estimator of scikit-learn, with what becomes of it."""
    from sklearn.utils import all_estimators

    supported, refused = [], []
    for name, _ in all_estimators():
        if name in CONVERTERS:
            supported.append(f"| `{name}` | evaluated encrypted |")
        elif name in transform.CLIENT:
            supported.append(f"| `{name}` | runs at the client, before encryption |")
        elif name in REFUSED:
            reason, instead = REFUSED[name]
            refused.append(f"| `{name}` | {reason} | {instead} |")
        else:
            refused.append(f"| `{name}` | not known to Ringmill | |")
    return "\n".join(
        [
            "| supported | how |",
            "|---|---|",
            *supported,
            "",
            "| refused | because | instead |",
            "|---|---|---|",
            *refused,
            "",
        ]
    )


def lower(estimator: Any) -> Lowered:
    """Split a fitted estimator into what is evaluated encrypted and what the client does.

    Raises
    ------
        ModelError: an estimator that is not supported, or an option of it that is not.
    """
    name = type(estimator).__name__
    if name in CONVERTERS:
        return CONVERTERS[name](estimator)
    if transform.at_client(estimator):
        return transform.client(estimator)
    reason, instead = REFUSED.get(
        name, ("Ringmill does not know this class", "Take an estimator of docs/models.md")
    )
    fail(ModelError, "Unsupported", f"{name} is not supported: {reason}. {instead}.", estimator=name)
