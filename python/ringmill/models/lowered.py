"""An estimator as what is evaluated encrypted, and what the client does before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from ringmill.models.columns import Columns, Context

Array = NDArray[Any]
#: What the server evaluates.
Server = Callable[[Context, Columns], Columns]


@dataclass(slots=True)
class Lowered:
    """An estimator in two parts.

    Attributes
    ----------
        server: from the columns of the features to the columns of results.
        methods: what the client makes of the decrypted results (rows, k), by the method of the estimator:
            ``predict``, ``predict_proba``, ``decision_function``, ``transform``.
        client: steps of the estimator that run at the client, before encryption.
        notes: a sentence for each thing that happens at the client.
    """

    server: Server
    methods: dict[str, Callable[[Array], Array]]
    client: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
