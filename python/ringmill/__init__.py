"""Ringmill: compute on encrypted numbers (CKKS), from a Python function to a program that machines run.

import numpy as np
import ringmill as rm

@rm.kernel
def score(x, w, b):
    return x @ w + b
"""

from ringmill import errors
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
    *errors.__all__,
]
