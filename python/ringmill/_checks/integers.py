"""Whole numbers that a user gives, held to their range in one place."""

from __future__ import annotations

import numpy as np

from ringmill.errors import RingmillError, fail


def shown(value: object) -> str:
    """What was given, as Python writes it; it does not write integers of more than 4,300 digits."""
    try:
        return repr(value)
    except ValueError:
        return "a number of too many digits"


def whole(
    error: type[RingmillError], what: str, value: object, least: int, most: int, range_: str = ""
) -> int:
    """The number as Python's own.

    ``error`` for anything else, with the range: in numbers, or as ``range_`` states it.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= int(value) <= most:
        fail(
            error,
            "WholeNumber",
            f"{what} is {shown(value)}; give a whole number {range_ or f'from {least} to {most}'}.",
            value=value,
            least=least,
            most=most,
        )
    return int(value)


#: Rotations beyond these are taken for mistakes; the engine counts in 64 bits.
_MOST_STEPS = 2**63 - 1


def rotation(error: type[RingmillError], what: str, value: object) -> int:
    """A rotation by any whole number of slots that the engine counts; ``error`` for anything else."""
    range_ = "of slots between -2^63 and 2^63, negative to rotate right"
    return whole(error, what, value, -_MOST_STEPS, _MOST_STEPS, range_)


def rotations(error: type[RingmillError], given: object) -> list[int]:
    """A list of rotations; ``error`` for anything else."""
    try:
        items = None if isinstance(given, (str, bytes)) else list(given)  # type: ignore[call-overload]
    except TypeError:
        items = None
    if items is None:
        fail(
            error,
            "NotAList",
            f"The rotations are {given!r}; give a list of whole numbers of slots, as [1, 2].",
            value=given,
        )
    return [rotation(error, "A rotation", k) for k in items]
