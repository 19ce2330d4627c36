"""An equal program in place of the one that a kernel says: what it saves."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ringmill import _native

if TYPE_CHECKING:
    from ringmill.trace.program import Traced

# What a cost counts, one of it and many.
_NAMES = {
    "depth": ("level", "levels"),
    "key_switches": ("key switch", "key switches"),
    "rotations": ("distance of rotations", "distances of rotations"),
    "products": ("product", "products"),
}


@dataclass(frozen=True, slots=True)
class Algebra:
    """What the algebra of docs/algorithms/algebra.md made of a kernel.

    Attributes
    ----------
        written: the traced program as the kernel says it.
        before: what that costs: ``depth`` (levels), ``key_switches``, ``rotations`` (different distances, a
            key each), ``products`` that take a level, ``operations``.
        after: the same of the program that takes its place.
        largest: the greatest size of any value of that program.
    """

    written: str
    before: Mapping[str, int]
    after: Mapping[str, int]
    largest: float

    def __str__(self) -> str:
        """What became fewer or more."""
        changed = [
            f"{self.after[key]:,} {one if self.after[key] == 1 else many} for {self.before[key]:,}"
            for key, (one, many) in _NAMES.items()
            if self.after[key] != self.before[key]
        ]
        return ", ".join(changed) or "fewer operations"


#: Programs whose folding is remembered, as of those that the prompt keeps.
RECENT = 8

_folded = functools.lru_cache(maxsize=RECENT)(_native.fold_algebra)


def within(traced: Traced, magnitude: float, bound: float) -> tuple[Traced, float]:
    """As `folded`, for parameters that are given: of no larger values than twice as large ones.

    Returns the kernel and a bound on its values, for a ``bound`` on those of the program as written.
    """
    other, saved = folded(traced, magnitude)
    if saved is None or saved.largest > 2 * bound:
        return traced, bound
    return other, max(bound, saved.largest)


def folded(traced: Traced, magnitude: float) -> tuple[Traced, Algebra | None]:
    """The kernel with an equal program that costs less, and what that saves; as it is where none is found."""
    real = traced.signature.real
    text, before, after, largest = _folded(traced.written, magnitude, real)
    if text is None:
        return traced, None
    costs = MappingProxyType(before), MappingProxyType(after)
    return replace(traced, folded=text), Algebra(traced.written, *costs, largest)
