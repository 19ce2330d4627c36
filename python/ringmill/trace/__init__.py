"""Tracing: from a Python function to an HE program. Knows nothing of encryption."""

from ringmill.trace.approximate import Approximation, approximate
from ringmill.trace.images import average_pool, convolve
from ringmill.trace.kernel import Kernel, kernel
from ringmill.trace.linear import total
from ringmill.trace.marks import bootstrap, region, within
from ringmill.trace.poly import polynomial
from ringmill.trace.private import Private, private
from ringmill.trace.program import Traced
from ringmill.trace.signature import Signature
from ringmill.trace.spec import Spec, matrix, scalar, vector
from ringmill.trace.tables import lookup

__all__ = [
    "Approximation",
    "Kernel",
    "Private",
    "Signature",
    "Spec",
    "Traced",
    "approximate",
    "average_pool",
    "bootstrap",
    "convolve",
    "kernel",
    "lookup",
    "matrix",
    "polynomial",
    "private",
    "region",
    "scalar",
    "total",
    "vector",
    "within",
]
