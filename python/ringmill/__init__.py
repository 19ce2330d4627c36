"""Ringmill: compute on encrypted numbers (CKKS), from a Python function to a program that machines run.

import numpy as np
import ringmill as rm

@rm.kernel
def score(x, w, b):
    return x @ w + b
"""

from typing import TYPE_CHECKING, Any

from ringmill import errors, html, machines
from ringmill import pickling as pickling
from ringmill._native import (
    Comparison,
    EvaluationKeys,
    Evaluator,
    MachineSpec,
    Params,
    Plan,
    PublicKey,
    SecretKey,
    __version__,
)
from ringmill.ciphertext import Ciphertext, bootstrap_keys, decrypt, encrypt, measure_error
from ringmill.errors import *  # noqa: F403
from ringmill.keys import Keys, keygen, load_evaluation_keys
from ringmill.progress import showing
from ringmill.stopping import Stop
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
    lookup,
    matrix,
    polynomial,
    private,
    region,
    scalar,
    total,
    vector,
    within,
)
from ringmill.trace.plain import plain

html.install()

if TYPE_CHECKING:
    from ringmill import interop, remote
    from ringmill.client import Client, load_client
    from ringmill.compiled import Compiled
    from ringmill.explorer import explore
    from ringmill.models import from_onnx, from_sklearn
    from ringmill.values import Values


def __getattr__(name: str) -> Any:
    """Names of modules that are imported on first use: importing the package stays quick."""
    if name == "Compiled":
        from ringmill.compiled import Compiled

        return Compiled
    if name in ("Client", "load_client"):
        from ringmill import client

        return getattr(client, name)
    if name == "Values":
        from ringmill.values import Values

        return Values
    if name in ("interop", "remote"):
        import importlib

        return importlib.import_module(f"ringmill.{name}")
    if name == "explore":
        from ringmill.explorer import explore

        return explore
    if name == "from_sklearn":
        from ringmill.models import from_sklearn

        return from_sklearn
    if name == "from_onnx":
        from ringmill.models import from_onnx

        return from_onnx
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Approximation",
    "Ciphertext",
    "Client",
    "Comparison",
    "Compiled",
    "EvaluationKeys",
    "Evaluator",
    "Kernel",
    "Keys",
    "MachineSpec",
    "Params",
    "Plan",
    "PublicKey",
    "SecretKey",
    "Signature",
    "Spec",
    "Stop",
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
    "from_onnx",
    "from_sklearn",
    "interop",
    "kernel",
    "key_forms",
    "key_switching",
    "keygen",
    "load_client",
    "load_evaluation_keys",
    "lookup",
    "machines",
    "matrix",
    "measure_error",
    "plain",
    "polynomial",
    "private",
    "region",
    "remote",
    "scalar",
    "showing",
    "total",
    "vector",
    "within",
    "__version__",
    *errors.__all__,
]
