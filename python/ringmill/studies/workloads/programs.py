"""Workloads as programs: compiled, counted and saved, without any data.

What simulators take as their input, and what says how large a job is before it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringmill._native import Params
from ringmill.atomic import make_folder
from ringmill.compiled import Compiled
from ringmill.errors import CommandError, fail
from ringmill.programs import save
from ringmill.progress import Show, steps
from ringmill.studies.workloads import helr, resnet
from ringmill.studies.workloads.stepwise import Needs
from ringmill.trace import kernel, vector
from ringmill.trace.marks import bootstrap

Facts = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """A program of a workload, and how often it runs."""

    name: str
    compiled: Compiled
    times: int = 1


@kernel
def refresh(x: Any) -> Any:
    """Bootstrapping alone."""
    return bootstrap(x)


def bootstrap_parts(log_n: int = 16, levels: int = 9, *, insecure: bool = False) -> Iterator[Part]:
    """Full slots."""
    params = Params.bootstrapping(levels, log_n=log_n, insecure=insecure)
    yield Part("bootstrapping", refresh.compile(vector(params.slots), params=params))


def helr_parts(*, whole: bool = False) -> Iterator[Part]:
    """One iteration, or a training."""
    shape = helr.Shape()
    params = Params.bootstrapping(helr.LEVELS, slots=shape.slots)
    yield Part(*helr.program(params, shape, whole=whole))


def resnet_parts(
    shape: resnet.Shape | None = None, *, log_n: int = 16, insecure: bool = False
) -> Iterator[Part]:
    """A program a layer; activations are all the same one."""
    shape = shape or resnet.Shape()
    params = resnet.parameters(shape, log_n=log_n, insecure=insecure)
    network = resnet.Network.drawn(shape)
    shared = sum(step.shared for step in resnet.steps(network))
    seen = False
    for step in resnet.steps(network):
        if step.shared and seen:
            continue
        seen |= step.shared
        name = step.sort if step.shared else step.name
        yield Part(name, step.compile(params), shared if step.shared else 1)


PROGRAMS: dict[str, Callable[[], Iterator[Part]]] = {
    "bootstrap": bootstrap_parts,
    "helr": helr_parts,
    "helr-training": lambda: helr_parts(whole=True),
    "resnet-20": resnet_parts,
}


def counts(part: Part) -> Facts:
    """What one run of a program takes."""
    compiled, cost, work = part.compiled, part.compiled.cost, part.compiled.work()
    return {
        "program": part.name,
        "times": part.times,
        "levels": compiled.plan.start_level - compiled.plan.output_level,
        "bootstraps": len(compiled.bootstraps),
        "rotations": cost.get("rotate", 0) + cost.get("conj", 0),
        "products": cost.get("relin", 0),
        "constant_products": cost.get("mul_plain", 0),
        "key_switches": cost["key_switches"],
        "keys": len(compiled.plan.rotations) + compiled.plan.needs_relin + compiled.plan.needs_conjugation,
        "key_bytes": work["key_bytes"],
        "transforms": work["transforms"],
        "multiply_adds": work["multiply_adds"],
        "data_bytes": work["data_bytes"],
        "peak_bytes": work["peak_bytes"],
        "seconds": work["seconds"],
        "switches": work["switches"],
    }


#: Counts that add up over the programs of a workload.
SUMS = (
    "bootstraps",
    "rotations",
    "products",
    "constant_products",
    "key_switches",
    "transforms",
    "multiply_adds",
    "seconds",
)


def describe(name: str, folder: Path | None = None, show: Show = "none") -> Facts:
    """Compile and count the programs of a workload; save them into a folder as they come."""
    if name not in PROGRAMS:
        fail(
            CommandError,
            "NoWorkload",
            f"There is no program {name!r}; there are {', '.join(PROGRAMS)}.",
            workload=name,
        )
    if folder:
        make_folder(folder)
    rows, files, needs, params = [], [], Needs(), None
    parts = PROGRAMS[name]()
    with steps(name, 1, show) as step:
        step("compile and count")
        for number, part in enumerate(parts):
            rows.append(counts(part))
            needs.add(part.compiled)
            params = part.compiled.params
            if folder:
                path = folder / f"{number:02}-{part.name.replace(', ', '-').replace(' ', '-')}.kernel"
                limbs = path.with_suffix(".limb")
                files.append(f"{path} ({part.compiled.save(path)} bytes)")
                files.append(f"{limbs} ({save(part.compiled.limb_program(), limbs)} bytes)")
    assert params is not None  # every workload has a program
    total = {sum_: sum(row[sum_] * row["times"] for row in rows) for sum_ in SUMS}
    return {
        "workload": name,
        "parameters": repr(params),
        "keys": needs.count,
        "key_bytes": needs.bytes(params),
        **total,
        "costs": rows and part.compiled.work()["costs"],
        "rows": rows,
        "files": files,
    }
