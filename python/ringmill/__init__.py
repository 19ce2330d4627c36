"""Ringmill: compute on encrypted numbers (CKKS), from a Python function to a program that machines run.

import numpy as np
import ringmill as rm

@rm.kernel
def score(x, w, b):
    return x @ w + b
"""

from ringmill import errors
from ringmill._native import Params, Plan, __version__
from ringmill.errors import *  # noqa: F403
from ringmill.trace import (
    Approximation,
    Kernel,
    Signature,
    Spec,
    Traced,
    approximate,
    kernel,
    matrix,
    polynomial,
    region,
    scalar,
    vector,
)

__all__ = [
    "Approximation",
    "Kernel",
    "Params",
    "Plan",
    "Signature",
    "Spec",
    "Traced",
    "approximate",
    "errors",
    "kernel",
    "matrix",
    "polynomial",
    "region",
    "scalar",
    "vector",
    "__version__",
    *errors.__all__,
]
