"""Quotients that no shift changes: exp(x − m) over its sum, with any m that is constant along the sum.

NumPy code subtracts the greatest element, since floats overflow. Here that element would take dozens of
levels, so the middle of the interval where x lies is subtracted in its place. Where x spans more than
`WIDEST`, the inverse of the sum would be steep, and the kernel's own form stays.
"""

from __future__ import annotations

from typing import Any

from ringmill.trace import elementary

#: The widest interval of x. The sum spans a ratio of e^8 = 3,000 there; where it spans e^4, its inverse takes
#: seven levels for 12 bits.
WIDEST = 8.0


def quotient(power: Any, total: Any) -> Any:
    """An exponential over its sum, if that is what both are and x spans little enough; otherwise ``None``."""
    if not (hasattr(power, "node") and hasattr(total, "node")):
        return None
    made, summed = power.graph.powers.get(power.node), power.graph.totals.get(total.node)
    if made is None or summed is None or summed.node != power.node or not set(summed.axes) <= set(made.axes):
        return None
    ends = elementary.ends_of(made.of)
    if ends is None or ends[1] - ends[0] > WIDEST:
        return None
    equal = made.again(made.of - (ends[0] + ends[1]) / 2)
    return equal * elementary.reciprocal(equal.sum(summed.axes, keepdims=summed.keepdims))
