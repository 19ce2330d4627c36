"""How large the values of a kernel may be: bounded by its arguments, within reason and within intervals."""

from __future__ import annotations

import math

from ringmill.errors import ParameterError, fail
from ringmill.trace.program import Traced

# Larger results leave no space for their fraction in any practical modulus.
LARGEST = 2.0**40


def _size(bound: float) -> str:
    return f"2^{math.log2(bound):.0f}" if math.isfinite(bound) else "any size"


def largest_value(traced: Traced, magnitude: float) -> float:
    """Bound on every value of a kernel for arguments up to ``magnitude``; refused beyond reason."""
    if traced.magnitude is not None and magnitude > traced.magnitude:
        fail(
            ParameterError,
            "Magnitude",
            f"Kernel {traced.name!r} was traced for arguments up to {traced.magnitude:g}, and {magnitude:g} "
            f"is asked for: its program may be wrong for them. Trace it with magnitude={magnitude:g}.",
            magnitude=magnitude,
            traced=traced.magnitude,
        )
    bound = max(traced.bound(magnitude), magnitude)
    if bound > LARGEST:
        fail(
            ParameterError,
            "ValuesTooLarge",
            f"Values of kernel {traced.name!r} can reach {_size(bound)} when its arguments are as "
            f"large as {magnitude:g}, as far as intervals show. Scale them on the way, for example by "
            "using means in place of sums; or promise what you know of them, as rm.within(x, 1).",
            bound=bound,
            magnitude=magnitude,
        )
    return bound


def bounded(traced: Traced, magnitude: float, smaller: str = "Compile with a smaller magnitude") -> float:
    """Bound on every value of a kernel for arguments up to ``magnitude``.

    Refused if it is beyond reason, or if it leaves the interval of a polynomial; ``smaller`` says how to
    promise less then.
    """
    _inside(traced, magnitude, smaller)
    return largest_value(traced, magnitude)


def _inside(traced: Traced, magnitude: float, smaller: str) -> None:
    """Refuse a range of arguments that leaves the interval of a polynomial."""
    found = traced.leaves_interval(magnitude)
    if found is None:
        return
    node, size = found
    # The bound of a mapped interval is 1, so sizes are given as a multiple of it.
    times = size / (node.within or 1.0)
    fail(
        ParameterError,
        "LeavesInterval",
        f"{node.where}: arguments of kernel {traced.name!r} as large as {magnitude:g} bring a value to "
        f"{times:.3g} times the bound that is declared for it, as by a polynomial on its interval. "
        f"{smaller}, or declare a wider interval.",
        magnitude=magnitude,
        times=times,
    )
