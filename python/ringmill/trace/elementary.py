"""Functions that are no polynomials, written as NumPy has them: exp, 1/x, |x|, x > y and others.

The interval of the argument follows from the bounds that are declared for the kernel's arguments, the error
from the precision that is asked for. Of the forms that there are, polynomials and compositions of them, the
one of fewest levels is taken, then of fewest products (`choice.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.trace import choice, samples
from ringmill.trace.base import Encrypted, Tensor, constant_array, parts_of
from ringmill.trace.bounds import reach
from ringmill.trace.choice import BAND, Form
from ringmill.trace.found import Found
from ringmill.trace.graph import Power
from ringmill.trace.where import here, refuse


def interval(x: Any, name: str) -> tuple[float, float]:
    """Where the elements lie, for all data within the declared bounds."""
    low, high = math.inf, -math.inf
    for part in parts_of(x):
        ends = reach(part.graph, part.node)
        if ends is None:
            refuse(
                "NoBounds",
                f"{name} of an encrypted {x.kind} needs to know where its values lie",
                "Arguments must be real, with bounds: compile or trace with magnitude=…, or declare them, as "
                "ringmill.vector(n, low=0.3, high=1.7)",
            )
        slots = part.layout.index().ravel() if part.shape else np.arange(part.slots)
        lower, upper = float(np.min(ends[0][slots])), float(np.max(ends[1][slots]))
        seen = samples.ends(part.graph, part.node, slots)
        if seen is not None and (seen[0] > lower or seen[1] < upper):
            lower, upper = max(lower, seen[0]), min(upper, seen[1])
            part.graph.promise_ends(part.node, lower, upper, part.layout.mask().real != 0)
        low, high = min(low, lower), max(high, upper)
    if not (math.isfinite(low) and math.isfinite(high)):
        refuse(
            "NoBounds",
            f"{name} of values that the intervals do not bound",
            "Promise what you know of them, as ringmill.within(x, (-4, 4))",
        )
    return low, high


def _applied(x: Any, name: str, form: Form) -> Any:
    """A form of a function of ``x``, written down."""
    graph = parts_of(x)[0].graph
    known = len(graph.found)
    with graph.part(name):
        y = form(x)
    # What it is made of does not count beside it.
    del graph.found[known:]
    for before, after in zip(parts_of(x), parts_of(y), strict=True):
        graph.found.append(
            Found(
                name,
                (before.node,),
                after.node,
                form.error,
                form.slope,
                form.how,
                chosen=True,
                band=form.band,
                where=here(),
            )
        )
        graph.promise_ends(after.node, *form.range, after.layout.mask().real != 0)
    return y


def tolerance(x: Any) -> float:
    """What a function of ``x`` may err by."""
    found: float = parts_of(x)[0].graph.tolerance
    return found


def unary(name: str, function: Callable[[Any], Any], x: Any) -> Any:
    """A function of one argument that has no jumps on the interval of ``x``."""
    low, high = interval(x, name)
    y = _applied(x, name, choice.smooth(name, function, low, high, tolerance(x)))
    if isinstance(function, choice.Exponential) or function in (np.exp, np.exp2):
        _remember(x, y, name, function)
    return y


def _remember(x: Any, y: Any, name: str, function: Callable[[Any], Any]) -> None:
    """Note that y is an exponential of a difference with an extreme, if x is one."""
    found = x.graph.shifted.get(x.node) if hasattr(x, "node") else None
    if found is not None and hasattr(y, "node"):
        y.graph.powers[y.node] = Power(found.of, found.axes, lambda d: unary(name, function, d))


def reciprocal(x: Any) -> Any:
    """1/x."""
    return unary("1/x", np.reciprocal, x)


def power(x: Any, exponent: Any) -> Any:
    """A power whose exponent is no whole number from 0 up."""
    exponent = float(exponent)
    if exponent == -1:
        return reciprocal(x)
    if exponent == 0.5:
        return unary("numpy.sqrt", np.sqrt, x)
    name = f"x**{exponent:g}"
    return unary(name, choice.Power(exponent), x)


def exponential(base: Any, x: Any) -> Any:
    """A clear base to an encrypted power."""
    values = constant_array(base)
    if np.any(values.imag != 0) or np.any(values.real <= 0):
        refuse("BadBase", f"the base {base!r} of an encrypted exponent", "Powers of a positive base are real")
    if values.ndim == 0:
        return unary(f"{float(values.real):g}**x", choice.Exponential(float(values.real)), x)
    return unary("numpy.exp", np.exp, x * np.log(values.real))


def absolute(x: Any) -> Any:
    """|x|."""
    low, high = interval(x, "abs()")
    if low >= 0 or high <= 0:
        return x if low >= 0 else -x
    return _applied(x, "abs()", choice.absolute(max(-low, high), tolerance(x)))


def sign(x: Any) -> Any:
    """−1 or 1."""
    low, high = interval(x, "numpy.sign")
    if low > 0 or high < 0:
        return x * 0 + (1 if low > 0 else -1)
    return _applied(x, "numpy.sign", choice.sign(max(-low, high), tolerance(x)))


def difference(a: Any, b: Any) -> Any:
    """a − b, one of them encrypted."""
    return a - b if isinstance(a, Encrypted) else (-b) + a


def greater(a: Any, b: Any) -> Any:
    """1 where a > b, 0 where a < b; nothing is promised in a band around equality."""
    d = difference(a, b)
    low, high = interval(d, "a comparison")
    if low > 0 or high < 0:
        return d * 0 + (1 if low > 0 else 0)
    return _applied(d, "a comparison", choice.step(max(-low, high), tolerance(d)))


def maximum(a: Any, b: Any, *, least: bool = False) -> Any:
    """The greater, or the lesser, of two: half the sum and half the distance."""
    d = difference(a, b)
    low, high = interval(d, "numpy.minimum" if least else "numpy.maximum")
    if low >= 0 or high <= 0:
        first = (low >= 0) != least
        return (d * 0 + a) if first else (d * 0 + b)
    half = absolute(d) * 0.5
    found = (d * 0.5 + b) + (-half if least else half)
    _promise_either(found, a, b, parts_of(d)[0].graph.found[-1].error / 2, least=least)
    return found


def _promise_either(found: Any, a: Any, b: Any, error: float, *, least: bool) -> None:
    """Say of the greater, or the lesser, of two that it lies where they do, which sums do not show."""
    both = [_known(a), _known(b)]
    ends = [one for one in both if one is not None]
    if len(ends) < 2:
        return
    of = min if least else max
    low, high = of(ends[0][0], ends[1][0]) - error, of(ends[0][1], ends[1][1]) + error
    for part in parts_of(found):
        part.graph.promise_ends(part.node, low, high, part.layout.mask().real != 0)


def _known(x: Any) -> tuple[float, float] | None:
    """Where elements lie, if that is known."""
    if not isinstance(x, Encrypted):
        values = constant_array(x).real
        return float(np.min(values)), float(np.max(values))
    ends = [ends_of(part) for part in parts_of(x)]
    known = [one for one in ends if one is not None]
    if len(known) < len(ends):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def ends_of(part: Any) -> tuple[float, float] | None:
    """The least and the greatest element that a ciphertext's value can have, if finite ones are known."""
    ends = reach(part.graph, part.node)
    if ends is None:
        return None
    slots = part.layout.index().ravel() if part.shape else np.arange(part.slots)
    low, high = float(np.min(ends[0][slots])), float(np.max(ends[1][slots]))
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def clip(x: Any, low: Any = None, high: Any = None) -> Any:
    """``numpy.clip``: half the difference of the distances from both ends."""
    if low is None or high is None or isinstance(low, Tensor) or isinstance(high, Tensor):
        x = x if low is None else maximum(x, low)
        return x if high is None else maximum(x, high, least=True)
    ends = constant_array(low).real, constant_array(high).real
    if np.any(ends[0] > ends[1]):
        refuse("BadBound", f"clipping from {low!r} to {high!r}", "Give the smaller end first")
    return (absolute(x - low) - absolute(x - high) + (ends[0] + ends[1])) * 0.5


def where(condition: Any, a: Any, b: Any) -> Any:
    """``numpy.where`` with a clear condition, or with what a comparison of encrypted values gave."""
    if isinstance(condition, Tensor):
        if not isinstance(a, Encrypted) and not isinstance(b, Encrypted):
            return condition * (constant_array(a) - constant_array(b)) + constant_array(b)
        return condition * difference(a, b) + b
    mask = np.asarray(condition).astype(bool).astype(float)
    return _masked(a, mask) + _masked(b, 1 - mask)


def _masked(x: Any, mask: Any) -> Any:
    return x * mask if isinstance(x, Encrypted) else constant_array(x) * mask


__all__ = ["BAND", "absolute", "clip", "greater", "maximum", "reciprocal", "sign", "unary", "where"]
