"""Where the main job's levels and time go, and what large workloads take: figures for the report."""

from __future__ import annotations

from typing import Any

from ringmill.compiled import Compiled
from ringmill.keys import Keys
from ringmill.profile import profile
from ringmill.progress import Show, steps
from ringmill.workloads import programs

Results = dict[str, Any]

#: Workloads that are counted in seconds.
COUNTED = ("bootstrap", "helr")


def levels(compiled: Compiled) -> list[Results]:
    """Runs of operations at one level, as the program goes: level, how many, and their region."""
    runs: list[Results] = []
    for level, operation, region in compiled.plan.levels():
        if operation == "input":
            continue
        if not runs or runs[-1]["level"] != level or runs[-1]["region"] != (region or ""):
            runs.append({"level": level, "region": region or "", "operations": 0})
        runs[-1]["operations"] += 1
    return runs


def run_effort(compiled: Compiled, keys: Keys, show: Show) -> Results:
    """Profile the main job's kernel, and count the workloads."""
    with steps("effort", 1 + len(COUNTED), show) as step:
        step("profile")
        spent = profile(compiled, keys)
        counted = []
        for name in COUNTED:
            step(name)
            found = programs.describe(name)
            counted += [{"workload": name, "log_n": 16, **row} for row in found["rows"]]
    work = compiled.work()
    return {
        "levels": levels(compiled),
        "profile": spent,
        "switches": [list(row) for row in work["switches"]],
        "costs": work["costs"],
        "predicted_seconds": work["seconds"],
        "workloads": counted,
    }
