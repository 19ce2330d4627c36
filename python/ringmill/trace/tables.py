"""Tables that whole numbers are looked up in: functions of few values, made while a value is bootstrapped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill.trace.base import Tensor
from ringmill.trace.elementary import interval
from ringmill.trace.several import Several
from ringmill.trace.symbol import Symbol
from ringmill.trace.where import refuse

#: Entries of a table.
LEAST, MOST = 2, 256

#: The farthest from zero that a table may start.
FARTHEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries for ``first``, ``first`` + 1 and so on, and how far data may be from whole numbers."""

    values: tuple[float, ...]
    first: int = 0
    noise: float = 0.0

    @classmethod
    def of(cls, table: object, first: object, noise: object) -> Entries:
        """What a caller gives; refuses what cannot be looked up."""
        return cls(_values(table), _first(first), _noise(noise))

    @property
    def last(self) -> int:
        """The greatest number that has an entry."""
        return self.first + len(self.values) - 1

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest entry."""
        return min(self.values), max(self.values)

    def at(self, x: ArrayLike) -> NDArray[np.float64]:
        """The entries for clear numbers."""
        numbers = np.floor(np.real(np.asarray(x)) + 0.5).astype(np.int64)
        found: NDArray[np.float64] = np.asarray(self.values)[(numbers - self.first) % len(self.values)]
        return found

    def through(self, error: NDArray[np.float64]) -> NDArray[np.float64]:
        """What an error of the numbers beside their noise does to results, at most."""
        least, most = self.ends
        flatness = (most - least) * math.pi**2 / 3
        off = self.noise + error
        return np.where(off < 0.5, flatness * (off**2 - self.noise**2), most - least)

    @property
    def text(self) -> str:
        """As the HE program has it."""
        entries = ", ".join(repr(v) for v in self.values)
        return f"[{entries}], {self.first}" + (f", {self.noise!r}" if self.noise else "")


def _values(table: object) -> tuple[float, ...]:
    if isinstance(table, Tensor):
        refuse("LookupTable", "an encrypted table", "Tables are part of the program: give clear numbers")
    try:
        given = np.asarray(table)
        values = np.real(given).astype(np.float64)
    except (TypeError, ValueError):
        refuse("LookupTable", f"a table of {type(table).__name__}", "Give the entries as a list of numbers")
    if np.any(np.iscomplex(given)):
        refuse("LookupTable", "a table with complex entries", "Look real and imaginary parts up apart")
    if values.ndim != 1 or not LEAST <= values.size <= MOST:
        shape = f"{values.size} entries" if values.ndim == 1 else f"shape {values.shape}"
        refuse("LookupTable", f"a table of {shape}", f"Give {LEAST} to {MOST} numbers in a row")
    if not np.all(np.isfinite(values)):
        index = int(np.flatnonzero(~np.isfinite(values))[0])
        refuse("LookupTable", f"entry {index} of the table is {values[index]}", "Entries are finite numbers")
    if np.all(values == values[0]):
        refuse("LookupTable", "a table whose entries are all one number", "Use that number itself")
    return tuple(float(v) for v in values)


def _first(first: object) -> int:
    whole = isinstance(first, (int, np.integer)) and not isinstance(first, bool)
    if not whole or abs(int(first)) > FARTHEST:  # type: ignore[call-overload]
        refuse("LookupFirst", f"a table that starts at {first!r}", f"Give a whole number up to {FARTHEST}")
    return int(first)  # type: ignore[call-overload, no-any-return]


def _noise(noise: object) -> float:
    number = isinstance(noise, (int, float, np.integer, np.floating)) and not isinstance(noise, bool)
    if not number or not 0 <= float(noise) < 0.5:  # type: ignore[arg-type]
        refuse(
            "LookupNoise",
            f"numbers that are {noise!r} from whole ones",
            "The nearest whole number is the one that is looked up: give 0 or more, and less than 0.5",
        )
    return float(noise)  # type: ignore[arg-type]


def lookup(x: Any, table: Sequence[float] | ArrayLike, *, first: int = 0, noise: float = 0.0) -> Any:
    """The entry of a table for the whole number in every element, with fresh levels.

    ``table[i]`` is what ``first + i`` gives. A bootstrapping does it: it needs its parameters and keys, takes
    its time, and leaves fewer levels by about log2 of the number of entries less two. Results lie between the
    least and the greatest entry. Of an error e of a number 3.3·e² of that range comes through, so numbers get
    closer to whole ones; where the error reaches one half, the entry may be another one. Clear data are
    looked up as they are, imaginary parts left out.

    Args:
        x: whole numbers, real, with bounds within the table.
        table: 2 to 256 finite real numbers, not all equal.
        first: the number that ``table[0]`` is for.
        noise: how far the data may be from whole numbers, less than 0.5; predicted errors rely on it. The
            error of encryption comes on top, exceeded with probability 2^-40 at most.

    Raises
    ------
        KernelError: code ``LookupTable``, ``LookupFirst`` or ``LookupNoise`` for what cannot be looked up,
            ``LookupRange`` for numbers without an entry, ``NoBounds`` for numbers without bounds.

    Source: Alexandru, Kim and Polyakov, ePrint 2024/1623 (docs/algorithms/bootstrapping.md).
    """
    entries = Entries.of(table, first, noise)
    if isinstance(x, Several):
        return x.map(lambda part: _looked_up(part, entries))
    if isinstance(x, Symbol):
        return _looked_up(x, entries)
    method = getattr(x, "lookup", None)  # an encrypted vector at the prompt
    return _clear(x, entries) if method is None else method(table, first=first, noise=noise)


def _clear(x: Any, entries: Entries) -> NDArray[np.float64]:
    """The entries for clear numbers; those without an entry are refused."""
    try:
        numbers = np.real(np.asarray(x)).astype(np.float64)
    except (TypeError, ValueError):
        what = f"numbers that are of type {type(x).__name__}"
        refuse("LookupRange", what, "Give whole numbers, an array of them, or an encrypted vector")
    inside = (numbers > entries.first - 0.5) & (numbers < entries.last + 0.5)
    if not np.all(inside):
        outside = numbers[~inside].flat[0]
        table = f"a table from {entries.first} to {entries.last}"
        refuse("LookupRange", f"the number {outside:.6g} in {table}", "Give numbers that have an entry")
    return entries.at(numbers)


def _looked_up(x: Symbol, entries: Entries) -> Symbol:
    low, high = interval(x, "rm.lookup")
    least, most = math.floor(low + 0.5 + 1e-9), math.ceil(high - 0.5 - 1e-9)
    if least < entries.first or most > entries.last:
        refuse(
            "LookupRange",
            f"numbers from {low:.6g} to {high:.6g} in a table from {entries.first} to {entries.last}",
            f"Declare where they lie, as ringmill.vector(n, low={entries.first}, high={entries.last}), or "
            f"promise it of the value, ringmill.within(v, ({entries.first}, {entries.last}))",
        )
    # Padding that is zero stays so if zero gives zero.
    clean = x.clean and not entries.noise and float(entries.at(0.0)) == 0.0
    found = x.with_node(x.graph.lookup(x.node, entries), clean=clean)
    least_entry, greatest = entries.ends
    found.graph.promise(found.node, max(abs(least_entry), abs(greatest)))
    return found
