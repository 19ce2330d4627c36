"""Products of two arrays other than ``*`` and ``@``, in terms of these."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ringmill.trace import gather, statistics
from ringmill.trace.base import UFUNCS, Tensor, constant_array
from ringmill.trace.cut import Cut
from ringmill.trace.where import refuse


def _matmul(a: Any, b: Any) -> Any:
    return UFUNCS["matmul"](a, b)


def _times(a: Any, b: Any) -> Any:
    return UFUNCS["multiply"](a, b)


def _flat(x: Any) -> Any:
    if not isinstance(x, Tensor):
        return constant_array(x).ravel()
    values: Any = x
    return x if x.ndim == 1 else values.reshape(-1)


def dot(a: Any, b: Any) -> Any:
    """``numpy.dot``."""
    a, b = (x if isinstance(x, Tensor) else constant_array(x) for x in (a, b))
    return _times(a, b) if a.ndim == 0 or b.ndim == 0 else _matmul(a, b)


def inner(a: Any, b: Any) -> Any:
    """``numpy.inner``."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return _times(a, b)
    return _matmul(a, np.transpose(b) if np.ndim(b) > 1 else b)


def outer(a: Any, b: Any) -> Any:
    """``numpy.outer``."""
    return _times(_flat(a)[:, None], _flat(b)[None, :])


def kron(a: Any, b: Any) -> Any:
    """``numpy.kron`` of two of the same number of axes."""
    ndim = np.ndim(a)
    if ndim != np.ndim(b) or ndim == 0:
        refuse("ShapeMismatch", "numpy.kron of values of other numbers of axes", "Reshape one of them")
    left = a[tuple(k for _ in range(ndim) for k in (slice(None), None))]
    right = b[tuple(k for _ in range(ndim) for k in (None, slice(None)))]
    shape = tuple(m * n for m, n in zip(np.shape(a), np.shape(b), strict=True))
    return _times(left, right).reshape(shape)


def vecdot(a: Any, b: Any, axis: int = -1) -> Any:
    """``numpy.vecdot``: the first is conjugated."""
    conjugated = a.conj() if isinstance(a, Tensor) and statistics._complex(a) else a
    if not isinstance(a, Tensor):
        conjugated = np.conj(a)
    return _times(conjugated, b).sum(axis=axis)


def matrix_power(x: Any, n: int) -> Any:
    """``numpy.linalg.matrix_power``, from 1 up."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        refuse("BadExponent", f"the matrix power {n!r}", "Exponents of matrices are whole numbers from 1 up")
    half = x if n == 1 else matrix_power(x, int(n) // 2)
    if n == 1:
        return x
    square = half @ half
    return square @ x if n % 2 else square


def _toeplitz(kernel: Any, n: int, mode: str, function: Any) -> Any:
    return np.array([function(unit, kernel, mode) for unit in np.eye(n)]).T


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """``numpy.convolve`` of an encrypted vector and a clear one: as many diagonals as there are taps."""
    if isinstance(a, Tensor) and isinstance(v, Tensor):
        return _both(a, v, mode)
    x, taps = (a, v) if isinstance(a, Tensor) else (v, a)
    return _slid(x, taps, mode, np.convolve, "convolve")


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """``numpy.correlate`` of an encrypted vector with a clear one."""
    if not isinstance(a, Tensor) or isinstance(v, Tensor):
        refuse(
            "UnsupportedFunction",
            "numpy.correlate with encrypted weights",
            "Write numpy.convolve(x, v[::-1])",
        )
    return _slid(a, v, mode, np.correlate, "correlate")


def _slid(x: Any, taps: Any, mode: str, function: Any, name: str) -> Any:
    weights = constant_array(taps)
    if x.ndim != 1 or weights.ndim != 1 or not weights.size or mode not in ("full", "same", "valid"):
        refuse(
            "ShapeMismatch",
            f"numpy.{name} of an encrypted {x.kind} and weights of shape {weights.shape} with mode {mode!r}",
            "Both are vectors, the mode is 'full', 'same' or 'valid'; for images there is ringmill.convolve",
        )
    values = weights.real if not np.any(weights.imag) else weights
    if isinstance(x, Cut):
        return _slid_far(x, values if name == "convolve" else values[::-1].conj(), mode)
    return statistics.along(x, _toeplitz(values, x.shape[0], mode, function), 0)


def _slid_far(x: Cut, taps: Any, mode: str) -> Any:
    """A convolution of a vector in several ciphertexts: each element takes as many as there are taps."""
    m, n = taps.size, x.size
    modes = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}
    first, length = modes[mode]
    if m > n:
        refuse("ShapeMismatch", f"{m} weights for an encrypted {x.kind}", "Take fewer weights than elements")
    columns, at = (each.ravel() for each in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    rows = columns + at - first
    inside = (rows >= 0) & (rows < length) & (taps[at] != 0)
    return x.mapped(rows[inside], columns[inside], taps[at][inside], length)


def _both(a: Any, v: Any, mode: str) -> Any:
    """Of two encrypted vectors: the outer product, summed along its diagonals."""
    if a.ndim != 1 or v.ndim != 1 or mode != "full":
        refuse(
            "UnsupportedFunction",
            f"numpy.convolve of two encrypted values, {mode!r}",
            "Take two vectors, 'full'",
        )
    m = v.shape[0]
    terms = [gather.by_numbers(np.pad, a, (j, m - 1 - j)) * v[j] for j in range(m)]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def polyval(p: Any, x: Any) -> Any:
    """``numpy.polyval``: the highest power first."""
    from ringmill.trace.poly import polynomial

    if isinstance(p, Tensor):
        refuse("BadPolynomial", "coefficients that are encrypted", "Write the sum of products out")
    coefficients = np.trim_zeros(np.atleast_1d(constant_array(p)), "f")
    if coefficients.size <= 1:
        return x * 0 + (coefficients[0] if coefficients.size else 0)
    return polynomial(x, coefficients[::-1])


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """``numpy.tensordot``."""
    left, right = np.ndim(a), np.ndim(b)
    if isinstance(axes, (int, np.integer)):
        pairs = [(left - int(axes) + k, k) for k in range(int(axes))]
    else:
        first, second = (list(np.atleast_1d(side)) for side in axes)
        pairs = [(int(i) % left, int(j) % right) for i, j in zip(first, second, strict=True)]
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    names = [next(letters) for _ in range(left)]
    others = [next((names[i] for i, j in pairs if j == k), "") or next(letters) for k in range(right)]
    summed = {names[i] for i, _ in pairs}
    kept = "".join(n for n in names + others if n not in summed)
    return einsum(f"{''.join(names)},{''.join(others)}->{kept}", a, b)


def einsum(subscripts: Any, *operands: Any, optimize: Any = None) -> Any:
    """``numpy.einsum`` of one operand or two."""
    if not isinstance(subscripts, str) or "." in subscripts:
        refuse("UnsupportedFunction", f"numpy.einsum of {subscripts!r}", "Write subscripts as 'ij,jk->ik'")
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if not re.fullmatch(r"[a-zA-Z,]*", inputs) or len(terms) != len(operands) or len(terms) > 2:
        refuse(
            "UnsupportedFunction",
            f"numpy.einsum({subscripts!r}) is no product of two",
            "Give one operand or two, with their subscripts; write longer products one after the other",
        )
    if not arrow:
        output = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    for term, operand in zip(terms, operands, strict=True):
        if len(term) != np.ndim(operand):
            refuse(
                "ShapeMismatch",
                f"numpy.einsum({subscripts!r}) names {len(term)} axes of one with {np.ndim(operand)}",
                "Give every axis a letter",
            )
        if len(set(output)) < len(output) or set(output) - set(inputs):
            refuse(
                "ShapeMismatch",
                f"numpy.einsum({subscripts!r}) of {np.ndim(operand)} axes",
                "Name each axis once",
            )
    reduced = [
        _alone(t, x, set(output) | set("".join(terms[:k] + terms[k + 1 :])))
        for k, (t, x) in enumerate(zip(terms, operands, strict=True))
    ]
    if len(reduced) == 1:
        return _ordered(*reduced[0], output)
    return _product_of_two(reduced[0], reduced[1], output)


def _alone(term: str, x: Any, needed: set[str]) -> tuple[str, Any]:
    """One operand, its diagonal taken and what nothing else names summed."""
    while len(set(term)) < len(term):
        c = next(c for c in term if term.count(c) > 1)
        i, j = [k for k, d in enumerate(term) if d == c][:2]
        x = np.diagonal(x, 0, i, j)
        term = "".join(d for k, d in enumerate(term) if k not in (i, j)) + c
    axes = tuple(k for k, c in enumerate(term) if c not in needed)
    if axes:
        x = x.sum(axis=axes)
        term = "".join(c for c in term if c in needed)
    return term, x


def _ordered(term: str, x: Any, output: str) -> Any:
    return x if term == output else np.transpose(x, tuple(term.index(c) for c in output))


def _product_of_two(left: tuple[str, Any], right: tuple[str, Any], output: str) -> Any:
    (a, x), (b, y) = left, right
    shared = [c for c in a if c in b and c not in output]
    both = [c for c in output if c in a and c in b]
    if len(shared) == 1 and not both and max(len(a), len(b)) == 2:
        c = shared[0]
        x = x if a[-1] == c else np.transpose(x)
        y = y if b[0] == c else np.transpose(y)
        rest = a.replace(c, "") + b.replace(c, "")
        return _ordered(rest, _matmul(x, y), output)
    labels = output + "".join(shared)
    wide = [_over(term, z, labels) for term, z in (left, right)]
    product = _times(*wide)
    axes = tuple(range(len(output), len(labels)))
    return product.sum(axis=axes) if axes else product


def _over(term: str, x: Any, labels: str) -> Any:
    """Axes in the order of the labels, of one element where an operand has none."""
    ordered = np.transpose(x, tuple(term.index(c) for c in labels if c in term)) if len(term) > 1 else x
    key = tuple(slice(None) if c in term else None for c in labels)
    return ordered[key]
