"""Many records in one ciphertext: slot i·lanes + b holds what slot i of record b alone would hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill.trace.layout import Layout

Slots = NDArray[np.complex128]


def placed(layout: Layout, values: ArrayLike, lanes: int) -> Slots:
    """The slot vector of all lanes; padding is zero.

    Args:
        layout: of one record.
        values: (lanes, *shape), or of the shape of one record, which then is in every lane.
        lanes: how many there are.
    """
    array = np.asarray(values, dtype=np.complex128)
    array = np.broadcast_to(array, (lanes, *layout.shape))
    return put_in_lanes(layout, lanes, np.zeros(layout.slots * lanes, dtype=np.complex128), array)


def of_run(run: int, lanes: int, records: int) -> NDArray[np.int64]:
    """The record of each lane of a run; the last record fills the lanes of the last run."""
    return np.minimum(np.arange(run * lanes, (run + 1) * lanes), records - 1)


def put_in_lanes(layout: Layout, lanes: int, slots: ArrayLike, values: ArrayLike) -> Slots:
    """A slot vector with values (lanes, *shape) in place of the logical arrays; padding stays."""
    array = np.asarray(values, dtype=np.complex128)
    out = np.array(slots, dtype=np.complex128)
    by_slot = out.reshape(layout.slots, lanes)
    by_slot[layout.index() if layout.shape else slice(None)] = np.moveaxis(array, 0, -1)
    return out


def taken(layout: Layout, slots: ArrayLike, lanes: int) -> Slots:
    """The logical arrays (lanes, *shape) of a slot vector."""
    by_slot = np.asarray(slots, dtype=np.complex128).reshape(layout.slots, lanes)
    return np.asarray(np.moveaxis(by_slot[layout.index()] if layout.shape else by_slot[0], -1, 0))
