"""Cycles of an operation on the compact core, from the cycle model."""

from __future__ import annotations

from functools import cache
from typing import Any

from ringmill._native import compact_cycles
from ringmill.compare.casa import Cycles, Outputs, Point

#: Passes that the search for a plan may schedule, all attempts together: some tenths of a second a program.
EFFORT = 10_000


def _told(point: Point, *, word_bits: int, bus_bits: int, latency: int, policy: str) -> dict[str, Any]:
    return compact_cycles(
        point.operation,
        log_n=point.n.bit_length() - 1,
        butterflies=point.nbf,
        limbs=point.set.limbs,
        special=point.set.special,
        dnum=point.set.dnum,
        sequence=point.sequence,
        word_bits=word_bits,
        bus_bits=bus_bits,
        latency=latency,
        effort=EFFORT,
        policy=policy,
    )


def counter(*, word_bits: int, bus_bits: int, latency: int) -> Cycles:
    """Return the function from a point to its cycles on cores of this width and memory."""

    @cache
    def cycles(point: Point) -> int:
        told = _told(point, word_bits=word_bits, bus_bits=bus_bits, latency=latency, policy="throughput")
        return int(told["cycles"])

    return cycles


def outputs(*, word_bits: int, bus_bits: int, latency: int) -> Outputs:
    """Return the function from a point and a policy to when each output is in memory, and to all cycles."""

    def ends(point: Point, policy: str) -> tuple[list[int], int]:
        told = _told(point, word_bits=word_bits, bus_bits=bus_bits, latency=latency, policy=policy)
        return sorted(told["output_ends"]), int(told["cycles"])

    return ends
