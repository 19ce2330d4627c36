"""Whole numbers that a user gives, held to their range in one place."""

from __future__ import annotations

import numpy as np

from ringmill.errors import RingmillError, fail


def whole(error: type[RingmillError], what: str, value: object, least: int, most: int) -> int:
    """The number as Python's own; ``error``, which tells the range, for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        fail(
            error,
            "WholeNumber",
            f"{what} is {value!r}; give a whole number from {least} to {most}.",
            value=value,
            least=least,
            most=most,
        )
    return int(value)
