"""Trained models on encrypted records: `from_sklearn` takes a fitted estimator, `from_onnx` a network.

A model is split: what is evaluated encrypted, and what the client does before encryption and after decryption
(labels, links, votes; everything that jumps). ``model.notes`` lists the latter. The page is docs/models.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ringmill.models.client import ModelClient

if TYPE_CHECKING:
    from ringmill.models.approximated import Approximated
    from ringmill.models.fitted import from_sklearn
    from ringmill.models.model import Model
    from ringmill.models.onnx import from_onnx
    from ringmill.models.report import Report

__all__ = ["Approximated", "Model", "ModelClient", "Report", "from_onnx", "from_sklearn"]

#: Where names stand whose modules need SciPy, scikit-learn or onnx: a client needs none of them.
_PLACES = {
    "Approximated": "approximated",
    "Model": "model",
    "Report": "report",
    "from_onnx": "onnx",
    "from_sklearn": "fitted",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
