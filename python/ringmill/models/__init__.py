"""Trained models on encrypted records: `from_sklearn` takes a fitted estimator, `from_onnx` a network.

A model is split: what is evaluated encrypted, and what the client does before encryption and after decryption
(labels, links, votes; everything that jumps). ``model.notes`` lists the latter. The page is docs/models.md.
"""

from __future__ import annotations

from typing import Any

from ringmill.models.client import ModelClient
from ringmill.models.fitted import from_sklearn
from ringmill.models.model import Model
from ringmill.models.report import Report

__all__ = ["Approximated", "Model", "ModelClient", "Report", "from_onnx", "from_sklearn"]


def __getattr__(name: str) -> Any:
    # Its base class is scikit-learn's, which nothing else here needs to be installed for.
    if name == "Approximated":
        from ringmill.models.approximated import Approximated

        return Approximated
    if name == "from_onnx":
        from ringmill.models.onnx import from_onnx

        return from_onnx
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
