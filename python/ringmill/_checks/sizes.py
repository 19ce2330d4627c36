"""How much a chip holds, as a user writes it: limbs, or bytes with their unit."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ringmill._checks.integers import shown
from ringmill.errors import RingmillError, fail

#: Bytes of a unit.
UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}

#: More limbs than these are taken for bytes without a unit.
_MOST_LIMBS = 2**20

#: As many bytes as machines of descriptions hold.
_MOST_BYTES = 2**50

_WRITTEN = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([A-Za-z]*)\s*")

_FOLDED = {unit.lower(): size for unit, size in UNITS.items()}


class Capacity(NamedTuple):
    """A number of limbs or bytes."""

    amount: int
    in_bytes: bool

    def __str__(self) -> str:
        """As `capacity` reads it."""
        return f"{self.amount} {'B' if self.in_bytes else 'limbs'}"


def capacity(error: type[RingmillError], what: str, value: object) -> Capacity:
    """A number of limbs, or a text such as ``"128MiB"``, ``"96.5 MB"``, ``"298 limbs"``.

    ``error`` for anything else.
    """
    text = str(int(value)) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else value
    found = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
    if found is not None:
        number, unit = found.groups()
        if unit.lower() in ("", "limb", "limbs"):
            if "." not in number and 1 <= int(number) <= _MOST_LIMBS:
                return Capacity(int(number), in_bytes=False)
        elif unit.lower() in _FOLDED:
            amount = int(float(number) * _FOLDED[unit.lower()])
            if 1 <= amount <= _MOST_BYTES:
                return Capacity(amount, in_bytes=True)
    fail(
        error,
        "Capacity",
        f"{what} is {shown(value)}; give 1 to {_MOST_LIMBS:,} limbs as a whole number, or bytes with their "
        f"unit ({', '.join(UNITS)}) up to 2^50, as '128MiB'.",
        value=value,
        most=_MOST_LIMBS,
    )
