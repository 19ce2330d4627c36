"""Ringmill: compute on encrypted numbers (CKKS), from a Python function to a program that machines run.

import numpy as np
import ringmill as rm

@rm.kernel
def score(x, w, b):
    return x @ w + b
"""

from typing import TYPE_CHECKING, Any

from ringmill import errors
from ringmill import pickling as pickling
from ringmill._native import (
    Comparison,
    EvaluationKeys,
    Evaluator,
    Params,
    Plan,
    PublicKey,
    SecretKey,
    __version__,
)
from ringmill.ciphertext import Ciphertext, bootstrap_keys, decrypt, encrypt, measure_error
from ringmill.errors import *  # noqa: F403
from ringmill.keys import Keys, keygen, load_evaluation_keys
from ringmill.plain import plain
from ringmill.progress import showing
from ringmill.switching import key_forms, key_switching
from ringmill.trace import (
    Approximation,
    Kernel,
    Signature,
    Spec,
    Traced,
    approximate,
    average_pool,
    bootstrap,
    convolve,
    kernel,
    matrix,
    polynomial,
    region,
    scalar,
    total,
    vector,
    within,
)

if TYPE_CHECKING:
    from ringmill import interop
    from ringmill.compiled import Compiled
    from ringmill.explorer import explore
    from ringmill.values import Values


def __getattr__(name: str) -> Any:
    """``Compiled``, ``Values``, ``explore`` and ``interop`` on first use: importing stays quick."""
    if name == "Compiled":
        from ringmill.compiled import Compiled

        return Compiled
    if name == "Values":
        from ringmill.values import Values

        return Values
    if name == "interop":
        import importlib

        return importlib.import_module("ringmill.interop")
    if name == "explore":
        from ringmill.explorer import explore

        return explore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Approximation",
    "Ciphertext",
    "Comparison",
    "Compiled",
    "EvaluationKeys",
    "Evaluator",
    "Kernel",
    "Keys",
    "Params",
    "Plan",
    "PublicKey",
    "SecretKey",
    "Signature",
    "Spec",
    "Traced",
    "Values",
    "approximate",
    "average_pool",
    "bootstrap",
    "bootstrap_keys",
    "convolve",
    "decrypt",
    "encrypt",
    "errors",
    "explore",
    "interop",
    "kernel",
    "key_forms",
    "key_switching",
    "keygen",
    "load_evaluation_keys",
    "matrix",
    "measure_error",
    "plain",
    "polynomial",
    "region",
    "scalar",
    "showing",
    "total",
    "vector",
    "within",
    "__version__",
    *errors.__all__,
]
