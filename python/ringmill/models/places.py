"""Places for the results of a linear map, so that it has few diagonals.

Slot t of the result reads slot s of its operand through the diagonal s − t. A convolution whose results stay
where their operands stand has a diagonal a weight. If results stand anywhere, it has as many as there are
pairs. So results go where their operands have shifts that the map has already.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Slots = NDArray[np.int64]
Mask = NDArray[np.bool_]


def rotations(shifts: Slots) -> int:
    """Rotations of a map with these diagonals, by baby and giant steps of the best size."""
    if len(shifts) < 2:
        return int(np.any(shifts != 0))
    best, size = len(shifts), 1
    while size <= int(np.max(np.abs(shifts))):
        babies, giants = np.unique(shifts % size), np.unique(shifts // size)
        best = min(best, int(np.count_nonzero(babies) + np.count_nonzero(giants)))
        size *= 2
    return best


class _Placing:
    """Slots that are free, and shifts that the map has so far, modulo twice the number of slots."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.free = np.ones(slots, bool)
        self.known = np.zeros(2 * slots, bool)
        self._spectrum = np.fft.rfft(self.known)

    def take(self, places: Slots, shifts: Slots) -> None:
        """Results stand at these places now, and the map has these shifts."""
        self.free[places] = False
        shifts = shifts % (2 * self.slots)
        if not self.known[shifts].all():
            self.known[shifts] = True
            self._spectrum = np.fft.rfft(self.known)

    def overlaps(self, values: Slots) -> NDArray[np.float64]:
        """For every move d by 0 to 2·slots − 1: how many of ``values − d`` are known shifts."""
        chosen = np.zeros(2 * self.slots)
        np.add.at(chosen, values % (2 * self.slots), 1.0)
        return np.rint(np.fft.irfft(np.fft.rfft(chosen) * np.conj(self._spectrum), 2 * self.slots))

    def one(self, source: Slots) -> int:
        """The free slot for a result with these operands."""
        votes = np.where(self.free, self.overlaps(source)[: self.slots], -1)
        at = int(np.argmax(votes))
        if votes[at] > 0:
            return at
        opened = np.flatnonzero(self.free)
        low = int(source.min()) if len(source) else 0
        return int(opened[min(int(np.searchsorted(opened, low)), len(opened) - 1)])

    def move(self, places: Slots, shifts: Slots) -> int | None:
        """How far a group of results moves to free slots, with the fewest new diagonals; none if nowhere."""
        taken = np.zeros(2 * self.slots)
        taken[: self.slots] = ~self.free
        taken[self.slots :] = 1
        own = np.zeros(2 * self.slots)
        own[places] = 1
        met = np.fft.irfft(np.fft.rfft(taken) * np.conj(np.fft.rfft(own)), 2 * self.slots)
        # The group moves up or down; what leaves the slots at either end meets those that are taken.
        open_ = np.flatnonzero(np.rint(met) == 0)
        if not len(open_):
            return None
        distance = np.where(open_ < self.slots, open_, open_ - 2 * self.slots)
        votes = self.overlaps(shifts)[open_]
        return int(distance[np.lexsort((np.abs(distance), -votes))[0]])


def kept(operands: Sequence[Slots], slots: int) -> Slots:
    """Slot of each result, for the slots that each reads; fewer results than slots.

    The first results that read some slots are placed one by one, those with the most operands first. Further
    ones that read the same slots, as other channels of a convolution do, follow as a whole.
    """
    placing, places = _Placing(slots), np.zeros(len(operands), np.int64)
    seen: dict[bytes, list[int]] = {}
    ranks: dict[int, list[tuple[int, int]]] = {}
    for result in sorted(range(len(operands)), key=lambda r: -len(operands[r])):
        alike = seen.setdefault(np.sort(operands[result]).tobytes(), [])
        alike.append(result)
        ranks.setdefault(len(alike) - 1, []).append((result, alike[0]))
    for rank, group in sorted(ranks.items()):
        results = np.array([result for result, _ in group])
        if rank:
            first = places[[like for _, like in group]]
            shifts = np.unique(np.concatenate([operands[like] - places[like] for _, like in group]))
            by = placing.move(first, shifts)
            if by is not None:
                places[results] = first + by
                placing.take(places[results], shifts - by)
                continue
        for result in results.tolist():
            places[result] = placing.one(operands[result])
            placing.take(places[result : result + 1], operands[result] - places[result])
    return places
