"""From the clinic's kernel to a core of its own: explored for a small board, built, given the whole job."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from ringmill.compiled import measured_error
from ringmill.demo.clinic import Job
from ringmill.errors import MachineError, fail
from ringmill.explorer import Exploration, explore
from ringmill.explorer.result import Design
from ringmill.kernels import logistic_regression
from ringmill.progress import Show, steps
from ringmill.project import design as designs
from ringmill.project import write
from ringmill.project.simulator import verilator
from ringmill.validate import design as held
from ringmill.validate.stored import spread

Row = dict[str, Any]

#: The board, seconds to look around the front, and designs of it whose error is measured.
BOARD, SECONDS, POINTS = "zynq-7020", 20.0, 5
#: Encryption may add so much of what the polynomial is away from the sigmoid.
PART = 1 / 4

#: Designs of the front that the report shows.
SHOWN = 60


def thin(front: list[Design], most: int = SHOWN) -> list[Design]:
    """Every so manieth design of a long front, its ends included."""
    if len(front) <= most:
        return list(front)
    return [front[round(at * (len(front) - 1) / (most - 1))] for at in range(most)]


def _core(design: Design) -> tuple[Any, ...]:
    h = design["hardware"]
    return tuple(h[name] for name in ("word_bits", "butterflies", "multiplier", "bus_bits", "banks"))


def front_with(found: Exploration) -> tuple[list[Design], int]:
    """The front for a reader with the chosen design in its place, and where that is."""
    best = found.best
    others = [d for d in found.front if (d["parameters"], _core(d)) != (best["parameters"], _core(best))]
    shown = [*thin(others), best]
    shown.sort(key=lambda d: float(d["predicted"]["latency_ms"]["value"]))
    return shown, shown.index(best)


def merged(spans: list[tuple[str, str, int, int]], gap: int) -> list[list[Any]]:
    """Spans of a unit with the same operation, less than `gap` cycles apart, as one."""
    out: list[list[Any]] = []
    last: dict[str, list[Any]] = {}
    for unit, what, start, end in spans:
        before = last.get(unit)
        if before is not None and before[1].split()[0] == what.split()[0] and start - before[3] < gap:
            before[3] = max(before[3], end)
            continue
        last[unit] = [unit, what, start, end]
        out.append(last[unit])
    return out


def told(found: Exploration) -> dict[str, Any]:
    """What the report shows of an exploration."""
    front, chosen = front_with(found)
    design = designs.of(found.best)
    image = design.core.image(design.compiled.plan)
    return {
        "kernel": design.compiled.name,
        "device": found.device,
        "wishes": found.wishes,
        "explored": found.statistics["points"],
        "complete": found.front_proven,
        "completeness": found.completeness(),
        "seconds": found.statistics["seconds"],
        "front_whole": front,
        "front": [{**d, "kernel": {**d["kernel"], "program": ""}} for d in front],
        "chosen": chosen,
        "core": {
            "n": 1 << image.log_n,
            "butterflies": design.core.butterflies,
            "cycles": image.cycles,
            "slot": image.slot,
            "spans": merged(image.spans, image.cycles // 2000),
        },
    }


def _host(folder: Path) -> Any:
    """The module host/host.py of a built folder."""
    spec = importlib.util.spec_from_file_location("ringmill_built_host", folder / "host" / "host.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(found: Exploration, folder: Path) -> bool:
    """Write the chosen core and its simulator; whether there is a simulator to make."""
    design = designs.of(found.best)
    write(design.compiled, design.core, folder, design=found.best, overwrite=True)
    if not verilator():
        return False
    done = subprocess.run(
        ["make", "-s", "host"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MAKEFLAGS": ""},
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        fail(
            MachineError,
            "Simulator",
            f"The simulator of {folder} does not build: {said[-1] if said else ''}.",
        )
    return True


def same_bits(job: Job, found: Exploration, folder: Path) -> dict[str, Any]:
    """The encrypted records on the chosen core and on the CPU: bits, diagnoses, errors."""
    simulated = build(found, folder)
    compiled = designs.of(found.best).compiled
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys, x=job.clinic.test)
    expected = compiled.evaluate(keys, arguments)
    core = _host(folder).Core(folder / "build" / "libhost_sim.so") if simulated else None
    start = time.perf_counter()
    results = compiled.evaluate(keys, arguments, machine=core or "compact")
    seconds = time.perf_counter() - start
    same = {n: p.to_bytes() for n, p in results.parts.items()} == {
        n: p.to_bytes() for n, p in expected.parts.items()
    }
    got = np.asarray(compiled.decrypt(keys, results))
    cycles = core.cycles if core is not None else None
    if core is not None:
        core.close()
    return {
        "same_bits": same,
        "simulated": simulated,
        "seconds": seconds,
        "cycles": cycles,
        "records": len(got),
        "agreement": int(np.sum((got > 0.5) == (job.clinic.probabilities() > 0.5))),
        "accuracy": float(np.mean((got > 0.5) == job.clinic.labels)),
        "measured_log2": measured_error(got, job.expected()),
    }


def _validated(found: Exploration, front: list[Design], chosen: int, job: dict[str, Any]) -> list[Row]:
    """The chosen design by the job that it did, others of the front by runs of the largest arguments."""
    known = found.best["predicted"]
    cycles = {"what": "cycles", "unit": "cycles", "predicted": known["cycles"]["value"]}
    by = "RTL under Verilator, the whole job" if job["simulated"] else "no simulator at hand"
    rows = [{"design": chosen, **cycles, "measured": job["cycles"], "by": by}]
    places = spread(len(front), POINTS)
    for at in sorted({chosen, *places}):
        design = designs.of(front[at])
        rows.append({"design": at, **held.error(design, runs=1)})
        blocks = held.resources(design, held.of_core(design, held.stored_syntheses()))
        rows += [{"design": at, **row} for row in blocks if row["measured"] is not None]
    return rows


def run_exploration(job: Job, folder: Path, show: Show) -> dict[str, Any]:
    """Explore the clinic's kernel for a small board, build the chosen core, give it the clinic's job."""
    with steps("exploration", 3, show) as step:
        step(f"the clinic's kernel for {BOARD}")
        kernel = logistic_regression.trace(*job.arguments)
        most = job.activation.error * PART
        found = explore(kernel, BOARD, max_error=most, seconds=SECONDS, progress="none")
        step("the chosen core, built, simulated with the clinic's records")
        done = same_bits(job, found, folder)
        shown = told(found)
        step("designs of the front beside what happens")
        validated = _validated(found, shown["front_whole"], shown["chosen"], done)
    del shown["front_whole"]
    return {**shown, "job": done, "validated": validated}
