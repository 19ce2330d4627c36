"""Cycles of an operation on the compact core, from the cycle model."""

from __future__ import annotations

from functools import cache
from typing import Any

from ringmill._native import compact_cycles
from ringmill.studies.papers.casa.rows import Activity, Cycles, Outputs, Point

#: Passes that the search for a plan may schedule, all attempts together: some tenths of a second a program.
EFFORT = 100_000
#: The same for a key switch, about a second, and for several in a row.
SWITCH, ROW = 300_000, 1_200_000


def _effort(point: Point) -> int:
    if point.operation != "key_switch":
        return EFFORT
    return SWITCH if point.times == 1 else ROW


@cache
def _reported(
    point: Point, *, word_bits: int, bus_bits: int, latency: int, effort: int | None, policy: str
) -> dict[str, Any]:
    return compact_cycles(
        point.operation,
        log_n=point.n.bit_length() - 1,
        butterflies=point.nbf,
        limbs=point.set.limbs,
        special=point.set.special,
        dnum=point.set.dnum,
        sequence=point.sequence,
        times=point.times,
        word_bits=word_bits,
        bus_bits=bus_bits,
        latency=latency,
        effort=_effort(point) if effort is None else effort,
        policy=policy,
    )


def counter(*, word_bits: int, bus_bits: int, latency: int, effort: int | None = None) -> Cycles:
    """Return the function from a point to its cycles on cores of this width and memory."""
    build: dict[str, Any] = {"word_bits": word_bits, "bus_bits": bus_bits, "latency": latency}

    def cycles(point: Point) -> int:
        return int(_reported(point, policy="throughput", effort=effort, **build)["cycles"])

    return cycles


def activity(*, word_bits: int, bus_bits: int, latency: int, effort: int | None = None) -> Activity:
    """Return the function from a point to the busy cycles of each unit."""
    build: dict[str, Any] = {"word_bits": word_bits, "bus_bits": bus_bits, "latency": latency}

    def busy(point: Point) -> dict[str, Any]:
        reported = _reported(point, policy="throughput", effort=effort, **build)
        return {
            name: reported[name] for name in ("cycles", "transform_busy", "arithmetic_busy", "read_beats")
        }

    return busy


def outputs(*, word_bits: int, bus_bits: int, latency: int, effort: int | None = None) -> Outputs:
    """Return the function from a point and a policy to when each output is in memory, and to all cycles."""
    build: dict[str, Any] = {"word_bits": word_bits, "bus_bits": bus_bits, "latency": latency}

    def ends(point: Point, policy: str) -> tuple[list[int], int]:
        reported = _reported(point, policy=policy, effort=effort, **build)
        return sorted(reported["output_ends"]), int(reported["cycles"])

    return ends
