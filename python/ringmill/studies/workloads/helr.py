"""HELR in the shape that accelerators are measured by: 196 features, 1,024 records a batch.

Records do not fit one ciphertext: the features are cut into blocks of 32, a block of all records fills
the slots. A step is that of `training.py`, block by block, with one cubic for all; weights repeat in
every row.

Weights run out of levels long before the training ends. Two times seven ciphertexts of 32 numbers each go
into one: block b into the rows r with r mod 16 = b. It is bootstrapped, and taken apart again: a level on
each side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringmill._native import Params
from ringmill.compiled import Compiled, compile_traced
from ringmill.studies.workloads.records import Array
from ringmill.studies.workloads.training import Schedule
from ringmill.trace import kernel, matrix, region, total
from ringmill.trace.marks import bootstrap
from ringmill.trace.marks import within_everywhere as within
from ringmill.trace.symbol import Symbol

#: Levels after a bootstrapping: two steps of four, and one on each side for weights that go together.
LEVELS = 10


@dataclass(frozen=True)
class Shape:
    """Records and how they are cut.

    Attributes
    ----------
        records: of a batch, a power of two.
        features: of a record, the first a one.
        width: features of a block, a power of two.
        steps: of a training.
        renew: steps between two bootstrappings.
    """

    records: int = 1024
    features: int = 196
    width: int = 32
    steps: int = 8
    renew: int = 2

    @property
    def blocks(self) -> int:
        """Ciphertexts of a batch, and of weights."""
        return math.ceil(self.features / self.width)

    @property
    def slots(self) -> int:
        """Slots of a ciphertext."""
        return self.records * self.width

    @property
    def share(self) -> int:
        """Rows of one block in sixteen, or however many hold all blocks of both weights."""
        return 1 << (2 * self.blocks - 1).bit_length()

    def cut(self, z: Array) -> list[Array]:
        """Records prepared as `training.prepared` does, padded and cut into blocks."""
        rows, columns = z.shape
        padded = np.pad(z, ((0, self.records - rows), (0, self.blocks * self.width - columns)))
        return np.split(padded, self.blocks, axis=1)


def _sum_of_rows(x: Any, times: float) -> Any:
    """The sum of every row in all of its elements, times a factor; partial sums are below 2, as promised."""
    if isinstance(x, Symbol):
        # The node that `total` will find there: slots between the rows hold parts of two sums.
        node = x.graph.sum(x.node, x.shape[1], x.layout.strides[1])
        x.graph.promise(node, 2.0)
    return total(x, 1, times=times)


def _step(
    zs: list[Any], vs: list[Any], ws: list[Any], owed: float, schedule: Schedule, eta: float
) -> tuple[list[Any], list[Any]]:
    """One step: gradients at v, then Nesterov's combination; new v, but for the factor 1 − eta, and new w.

    ``owed`` is the factor that the step before left out of v: no level here. Weights are kept divided
    by the bound on |u|, so that no value passes 2 and bootstrapping is precise.
    """
    count = zs[0].shape[0]
    unit = schedule.reach
    scale = schedule.rate / count / unit
    # As in `training.train`: with a³ = γ·c₃/m and k = γ·c₁/(m·a) the cubic takes two levels.
    a = math.cbrt(scale * schedule.cubic)
    k = scale * schedule.linear / a
    with region("products with the weights"):
        products = [z * v for z, v in zip(zs, vs, strict=True)]
        whole = products[0]
        for product in products[1:]:
            whole = within(whole + product, 1.0)
        u = within(_sum_of_rows(whole, a * unit * owed), abs(a) * schedule.reach)
    with region("gradient"):
        share = u * u + k
        most = schedule.rate * (1 + schedule.error) / unit
        slopes = [within(total(share * (u * z) + z * (scale / 2), 0), most) for z in zs]
    with region("weights"):
        bound = schedule.largest / unit
        newer = [within(v * owed + g, bound) for v, g in zip(vs, slopes, strict=True)]
        past = eta / (1 - eta)
        ahead = [within(n + w * past, bound) for n, w in zip(newer, ws, strict=True)]
    return ahead, newer


def _renewed(weights: list[Any], shape: Shape) -> list[Any]:
    """The same weights with fresh levels, by one bootstrapping."""
    row = np.arange(shape.records)[:, None] % shape.share
    with region("weights together"):
        packed = None
        for number, weight in enumerate(weights):
            part = weight * np.broadcast_to((row == number) * 1.0, (shape.records, shape.width))
            packed = part if packed is None else packed + part
        packed = bootstrap(within(packed, 1.0))
    found = []
    with region("weights apart"):
        for number in range(len(weights)):
            mask = (row == number) * (shape.share / shape.records)
            one = packed * np.broadcast_to(mask, (shape.records, shape.width))
            found.append(within(total(one, 0), 1.0))
    return found


@kernel
def iteration(
    z0: Any, z1: Any, z2: Any, z3: Any, z4: Any, z5: Any, z6: Any,
    v0: Any, v1: Any, v2: Any, v3: Any, v4: Any, v5: Any, v6: Any,
    w0: Any, w1: Any, w2: Any, w3: Any, w4: Any, w5: Any, w6: Any,
    schedule: Schedule,
) -> Any:  # fmt: skip
    """The second step of a training, seven blocks."""
    zs = [z0, z1, z2, z3, z4, z5, z6]
    vs, ws = [v0, v1, v2, v3, v4, v5, v6], [w0, w1, w2, w3, w4, w5, w6]
    ahead, newer = _step(zs, vs, ws, 1.0, schedule, schedule.momentum()[1])
    return tuple(ahead + newer)


@kernel
def training(
    z0: Any, z1: Any, z2: Any, z3: Any, z4: Any, z5: Any, z6: Any, shape: Shape, schedule: Schedule
) -> Any:
    """A whole training from zero, seven blocks; gives weights divided by ``schedule.reach``.

    Marks stand where levels run out.
    """
    return _trained([z0, z1, z2, z3, z4, z5, z6], shape, schedule)


@kernel
def training_of_two(z0: Any, z1: Any, shape: Shape, schedule: Schedule) -> Any:
    """The same for two blocks: small enough to run in a test."""
    return _trained([z0, z1], shape, schedule)


def _trained(zs: list[Any], shape: Shape, schedule: Schedule) -> Any:
    with region("step 1"):
        vs = ws = [total(z * (schedule.rate / (2 * shape.records * schedule.reach)), 0) for z in zs]
    momentum, owed = schedule.momentum(), 1.0
    for step in range(1, schedule.steps):
        if step % shape.renew == 0:
            both = _renewed([*vs, *ws], shape)
            vs, ws = both[: len(zs)], both[len(zs) :]
        vs, ws = _step(zs, vs, ws, owed, schedule, momentum[step])
        owed = 1 - momentum[step]
    return tuple(within(w, 1.0) for w in ws)


def trained_clear(blocks: list[Array], shape: Shape, schedule: Schedule) -> Array:
    """The last weights of `training`, as a textbook writes the steps."""
    z = np.concatenate(blocks, axis=1)
    v = w = schedule.rate * z.sum(axis=0) / (2 * shape.records)
    for eta in schedule.momentum()[1:]:
        u = z @ v
        share = 0.5 + schedule.linear * u + schedule.cubic * u**3
        newer = v + schedule.rate * (share @ z) / shape.records
        v, w = (1 - eta) * newer + eta * w, newer
    return np.asarray(w)


def program(params: Params, shape: Shape, *, whole: bool) -> tuple[str, Compiled]:
    """One iteration, or the whole training, and its name."""
    schedule = Schedule(steps=shape.steps)
    block = matrix(shape.records, shape.width)

    def arguments(letters: str) -> dict[str, Any]:
        return dict.fromkeys((f"{name}{n}" for name in letters for n in range(shape.blocks)), block)

    if whole:
        traced = training.trace(**arguments("z"), shape=shape, schedule=schedule)
        return f"training, {shape.steps} iterations", compile_traced(traced, params=params)
    traced = iteration.trace(**arguments("zvw"), schedule=schedule)
    return "iteration", compile_traced(traced, params=params)
