"""Where the main job's levels and time go, and what large workloads take: figures for the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ringmill.atomic import write_text
from ringmill.compiled import Compiled
from ringmill.keys import Keys
from ringmill.profile import profile
from ringmill.progress import Show, steps
from ringmill.studies.stored import text_of
from ringmill.studies.workloads import programs

Results = dict[str, Any]

#: Workloads that are counted in seconds.
COUNTED = ("bootstrap", "helr")
#: Rows of ResNet-20, which takes minutes to compile. ``python -m ringmill.studies.demo.effort`` writes them,
#: by the costs in use; a long test holds them.
RESNET = Path(__file__).with_name("resnet20.json")


def resnet_rows(found: Results) -> list[Results]:
    """Sum up what `programs.describe` says of ResNet-20: an activation, and all programs of one image."""
    (activation,) = [row for row in found["rows"] if row["times"] > 1]
    common = {"workload": "resnet-20", "log_n": 16, "costs": found["costs"]}
    names = (
        "levels",
        "bootstraps",
        "rotations",
        "products",
        "constant_products",
        "key_bytes",
        "transforms",
        "seconds",
    )
    image = {name: sum(row[name] * row["times"] for row in found["rows"]) for name in names}
    runs = sum(row["times"] for row in found["rows"])
    return [
        {
            **common,
            "program": f"ResNet-20, each of {activation['times']} activations",
            **{name: activation[name] for name in (*names, "keys")},
        },
        {**common, "program": f"ResNet-20, an image: {runs} programs", **image, "keys": found["keys"]},
    ]


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
        counted += json.loads(RESNET.read_text(encoding="utf-8"))
    work = compiled.work()
    return {
        "levels": levels(compiled),
        "profile": spent,
        "switches": [list(row) for row in work["switches"]],
        "costs": work["costs"],
        "predicted_seconds": work["seconds"],
        "workloads": counted,
    }


if __name__ == "__main__":
    write_text(RESNET, text_of(resnet_rows(programs.describe("resnet-20", show="auto"))))
