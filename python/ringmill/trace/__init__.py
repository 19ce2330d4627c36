"""Tracing: from a Python function to an HE program. Pure Python, knows nothing of encryption."""

from ringmill.trace.kernel import Kernel, kernel, region
from ringmill.trace.poly import Approximation, approximate, polynomial
from ringmill.trace.program import Signature, Traced
from ringmill.trace.spec import Spec, matrix, scalar, vector

__all__ = [
    "Approximation",
    "Kernel",
    "Signature",
    "Spec",
    "Traced",
    "approximate",
    "kernel",
    "matrix",
    "polynomial",
    "region",
    "scalar",
    "vector",
]
