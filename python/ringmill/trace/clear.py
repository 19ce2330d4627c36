"""Kernels in the clear, on drawn arguments: how results depend on clear numbers.

Functions that do not run in the clear are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.trace.spec import Spec

Arguments = Mapping[str, Any]
Arrays = list[NDArray[np.complex128]]

# How far results may be apart that are taken to be the same, by the size of the largest number.
_NEAR = 2.0**-20


def agree(function: Callable[..., Any], one: Arguments, other: Arguments) -> bool:
    """Whether a kernel gives the same for two sets of clear arguments, on drawn values of encrypted ones.

    Args:
        function: the kernel.
        one, other: its arguments, encrypted ones as descriptions.
    """
    rng = np.random.default_rng(2026)
    drawn = {name: _drawn(spec, rng) for name, spec in one.items() if isinstance(spec, Spec)}
    first, second = (_results(function, {**clear, **drawn}) for clear in (one, other))
    if first is None or second is None:
        return True
    if [array.shape for array in first] != [array.shape for array in second]:
        return False
    return all(
        np.max(np.abs(a - b), initial=0.0) <= _NEAR * max(1.0, np.max(np.abs(a), initial=0.0))
        for a, b in zip(first, second, strict=True)
    )


def change(function: Callable[..., Any], one: Arguments, other: Arguments) -> float:
    """The largest difference of results, for encrypted arguments at the ends of their bounds."""
    worst, rng = 0.0, np.random.default_rng(2026)
    for draw in (None, rng):
        ends = {name: _corner(spec, draw) for name, spec in one.items() if isinstance(spec, Spec)}
        first, second = (_results(function, {**clear, **ends}) for clear in (one, other))
        if first is None or second is None:
            return 0.0
        for a, b in zip(first, second, strict=True):
            worst = max(worst, float(np.max(np.abs(b - a), initial=0.0)))
    return worst


def _results(function: Callable[..., Any], arguments: Arguments) -> Arrays | None:
    """What a kernel returns, as arrays; ``None`` if it does not run."""
    try:
        with np.errstate(all="ignore"):
            result = function(**arguments)
            if isinstance(result, Mapping):
                result = list(result.values())
            parts = result if isinstance(result, list | tuple) else [result]
            return [np.asarray(part, dtype=np.complex128) for part in parts]
    except Exception:  # whatever a kernel raises
        return None


def _drawn(spec: Spec, rng: np.random.Generator) -> Any:
    """Elements within the declared bounds."""
    found = rng.uniform(*_ends(spec), spec.shape)
    return found if spec.shape else float(found)


def _corner(spec: Spec, rng: np.random.Generator | None) -> Any:
    """Elements at an end of the declared bounds: the upper one, or any."""
    low, high = _ends(spec)
    found = np.full(spec.shape, high) if rng is None else rng.choice([low, high], spec.shape)
    return found if spec.shape else float(found)


def _ends(spec: Spec) -> tuple[float, float]:
    return -1.0 if spec.low is None else spec.low, 1.0 if spec.high is None else spec.high
