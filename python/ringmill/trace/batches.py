"""How a kernel over one record takes many: how many lanes, and data with one axis more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmill._checks.integers import whole
from ringmill.errors import ParameterError
from ringmill.trace.layout import MOST_SLOTS, power_of_two
from ringmill.trace.spec import Spec
from ringmill.trace.where import Where, refuse

if TYPE_CHECKING:
    from ringmill.compiled import Compiled

#: Slots that parameters are first chosen for; then as many as their ring holds.
FIRST_SLOTS = 1 << 10
#: Slots times operations of a program: a compilation follows a bound for each, in some 24 bytes.
MOST_BOUNDS = 1 << 27
#: Records of one call.
MOST_RECORDS = 1 << 40


def asked(batch: object) -> int:
    """How many records a batch shall hold; 0 where none are asked for, and many for ``True``.

    Raises
    ------
        ParameterError: a number that is not possible.
    """
    if batch is None or isinstance(batch, (bool, np.bool_)):
        return MOST_RECORDS if batch else 0
    return whole(ParameterError, "batch, the number of records,", batch, 1, MOST_RECORDS)


def in_lanes(compiled: Callable[[int], Compiled], records: int, own: int, most: int) -> Compiled:
    """A kernel with as many lanes as records, or as its ring holds if these are fewer.

    Args:
        compiled: compiles for a number of lanes.
        records: how many there are; 0 for a kernel that takes one, without an axis for records.
        own: slots of one record.
        most: slots of the ring, where parameters are given.
    """
    if not records:
        return compiled(0)
    wanted = min(power_of_two(min(records, MOST_SLOTS)), max(most // own, 1))
    lanes = min(wanted, max(FIRST_SLOTS // own, 1)) if most == MOST_SLOTS else wanted
    first = compiled(lanes)
    if lanes == wanted:
        return first
    operations = sum(first.plan.counts.values())
    full = min(wanted, first.params.slots // own)
    while full > lanes and full * own * operations > MOST_BOUNDS:
        full //= 2
    return first if full <= lanes else compiled(full)


def of_data(specs: Mapping[str, Spec], values: Mapping[str, Any], where: Where) -> int:
    """Records that the data of a call hold along one axis more than declared; 0 if they are one record.

    Raises
    ------
        KernelError: code ``Batch``, with the kernel's line, for arguments of different numbers of records.
    """
    shapes = {name: _shape(values[name]) for name in specs}
    many = {n: s[0] for n, s in shapes.items() if len(s) > len(specs[n].shape) and s[1:] == specs[n].shape}
    if len(set(many.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in many.items())
        refuse(
            "Batch",
            f"the arguments have different numbers of records along their first axis: {listed}",
            "Give as many of each, or one record for all",
            where,
        )
    return next(iter(many.values()), 0)


def _shape(values: Any) -> tuple[int, ...]:
    try:
        return np.shape(values)
    except ValueError:  # rows of different lengths, which are refused as numbers
        return ()
