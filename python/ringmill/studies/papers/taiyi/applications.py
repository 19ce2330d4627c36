"""HELR and ResNet-20 as this project's programs, on machines whose words are long enough for their primes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ringmill.studies.papers.taiyi.machines import place, reported
from ringmill.studies.workloads.programs import PROGRAMS

Row = dict[str, Any]

#: Workloads by the names of Table VII, and how many bits their levels have.
NAMES = {"helr-training": "HELR, 8 iterations", "resnet-20": "ResNet-20"}
MACHINES = ("taiyi-60", "ark")


def rows(show: Callable[[Row], None]) -> list[Row]:
    """Simulate each program of a workload from an empty memory, and add them up as often as they run."""
    found = []
    for workload, name in NAMES.items():
        sums: dict[str, Row] = {}
        for part in PROGRAMS[workload]():
            for machine in MACHINES:
                one = reported(part.compiled.estimate(place(machine)))
                sums[machine] = _added(sums.get(machine), one, part.times)
                show({"machine": machine, "method": part.name, "ms": one["ms"]})
        found += [
            {"machine": machine, "workload": name, "method": "ours", **total}
            for machine, total in sums.items()
        ]
    return found


def _added(total: Row | None, one: Row, times: int) -> Row:
    """Add counts, a number of times; shares of a whole are left out."""
    names = ("ms", "cycles", "bytes_keys", "bytes_spilled", "bytes_off_chip", "energy_j")
    return {
        name: None if one[name] is None else round((total or {}).get(name, 0) + times * one[name], 4)
        for name in names
    }
