"""Indices into encrypted arrays, and exponents: what is a whole number, and what NumPy makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ringmill.trace.base import Tensor
from ringmill.trace.gather import Numbers, numbers
from ringmill.trace.where import refuse

# A power takes ⌈log2 exponent⌉ levels; no chain, bootstrapped or not, makes sense of more than this.
LARGEST_POWER = 1 << 64


def index_of(x: Tensor, key: Any) -> Numbers:
    """The numbers of the elements that an index chooses, in the shape that NumPy gives them."""
    keys = key if isinstance(key, tuple) else (key,)
    axes = [k for k in keys if k is not None and k is not Ellipsis]
    if any(isinstance(k, Tensor) for k in keys):
        refuse(
            "BadIndex",
            "an encrypted value cannot be an index",
            "Which element is read would be unknown: use masks",
        )
    for k in axes:
        if isinstance(k, (int, np.integer, slice)) and not isinstance(k, bool):
            continue
        kind = np.asarray(k).dtype.kind if isinstance(k, (list, np.ndarray)) else type(k).__name__
        if kind not in ("i", "u", "b"):
            refuse(
                "BadIndex",
                f"an index of type {_type_of(k)} into an encrypted {x.kind}",
                "Use whole numbers, slices, and clear arrays of whole numbers or of True and False",
            )
    if len(axes) > x.ndim and not any(np.asarray(k).ndim > 1 for k in axes if isinstance(k, np.ndarray)):
        refuse("BadIndex", f"{len(axes)} indices into an encrypted {x.kind}", "Use one index an axis")
    try:
        found = np.asarray(numbers(x)[key])
    except TypeError:
        refuse("BadIndex", f"the index {key!r}", "Slice bounds are whole numbers")
    except (IndexError, ValueError) as error:
        _out_of_range(x, keys)
        refuse("BadIndex", f"the index {key!r} into an encrypted {x.kind}: {error}", "Index as NumPy does")
    if found.size == 0:
        refuse(
            "BadIndex",
            f"the index {key!r} leaves nothing of an encrypted {x.kind}",
            "Choose an element at least",
        )
    return found


def _type_of(key: Any) -> str:
    elements = f" of {np.asarray(key).dtype}" if isinstance(key, (list, np.ndarray)) else ""
    return type(key).__name__ + elements


def _out_of_range(x: Tensor, keys: tuple[Any, ...]) -> None:
    if any(k is None or k is Ellipsis or not isinstance(k, (int, np.integer, slice)) for k in keys):
        return
    for item, count in zip(keys, x.shape, strict=False):
        if isinstance(item, (int, np.integer)) and not -count <= item < count:
            refuse(
                "BadIndex", f"index {item} is outside an axis with {count} elements", f"Use 0 to {count - 1}"
            )


def whole_exponent(x: Tensor, exponent: object) -> int | None:
    """An exponent that products serve: a whole number from 0 up, whatever its type; ``None`` for others."""
    real = isinstance(exponent, (int, float, np.integer, np.floating)) and not isinstance(exponent, bool)
    if not real or not np.isfinite(float(exponent) if not isinstance(exponent, int) else 0.0):  # type: ignore[arg-type]
        refuse(
            "BadExponent",
            f"an encrypted {x.kind} cannot be raised to the power {exponent!r}",
            "Exponents are clear real numbers",
        )
    if exponent < 0 or exponent != int(exponent):  # type: ignore[operator, call-overload]
        return None
    whole: int = int(exponent)  # type: ignore[call-overload]
    if whole > LARGEST_POWER:
        refuse(
            "BadExponent",
            f"an encrypted {x.kind} cannot be raised to a power of {whole.bit_length()} bits",
            "Every doubling of the exponent costs a level; the largest exponent is 2^64",
        )
    return whole
