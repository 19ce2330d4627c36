"""Objects of other packages that NumPy turns into numbers, though they mean something else by them.

NumPy takes the coefficients of a ``poly1d`` for an array, highest power first, the values of a table without
its labels, a quantity without its unit. What follows another convention than an array of plain numbers is
refused here, with what would be right; polynomials are known to ``ringmill.polynomial`` alone.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

# Arrays whose elements are what NumPy shows; masks are looked at where these are read.
_ARRAYS = (np.ndarray, np.memmap, np.ma.MaskedArray)
_NUMBERS = (int, float, complex, np.generic, Fraction, Decimal)
_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__")

_MATRIX = (
    "numpy.matrix multiplies as matrices do where arrays multiply element by element",
    "Give np.asarray(m), and write @ for products of matrices",
)
_POLYNOMIAL = (
    "numpy.poly1d is a polynomial, and not the array of its coefficients",
    "Evaluate it by ringmill.polynomial(x, p), or give p.coef, where the highest power comes first",
)


def foreign(value: Any) -> tuple[str, str] | None:
    """What is wrong with taking an object, or one in a list, for plain numbers, and what to give instead."""
    if isinstance(value, (list, tuple)):
        return next((wrong for each in value if (wrong := foreign(each))), None)
    kind = type(value)
    if kind in _ARRAYS or isinstance(value, _NUMBERS):
        return None
    if isinstance(value, np.matrix):
        return _MATRIX
    if isinstance(value, np.poly1d):
        return _POLYNOMIAL
    name = f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
    if is_sparse(value):
        return f"{name} is a sparse matrix, of which only some elements are stored", "Give .toarray()"
    if isinstance(value, np.ndarray) or any(hasattr(kind, protocol) for protocol in _PROTOCOLS):
        way = ".to_numpy()" if hasattr(value, "to_numpy") else "numpy.asarray of it"
        return (
            f"{name} is no plain array: what its labels, units or operators mean is not known here",
            f"Give {way}, if the numbers alone are meant",
        )
    return None


def is_sparse(value: Any) -> bool:
    """Whether this is a sparse matrix as SciPy has them."""
    return hasattr(value, "toarray") and hasattr(value, "nnz")
