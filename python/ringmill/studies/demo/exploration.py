"""From the clinic's kernel to a core of its own: explored for a small board, built, given the whole job."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from typing import Any

import numpy as np

from ringmill.errors import MachineError, fail
from ringmill.explorer import Exploration, explore
from ringmill.kernels import logistic_regression
from ringmill.progress import Show, steps
from ringmill.project import design as designs
from ringmill.project import write
from ringmill.project.make import last_words, make
from ringmill.project.simulator import verilator
from ringmill.report import explored
from ringmill.studies.demo.clinic import Job

Row = dict[str, Any]

#: The board, seconds to look around the front, and designs of it whose error is measured.
BOARD, SECONDS, POINTS = "zynq-7020", 20.0, 5
#: The error of encryption may be at most this part of the distance between polynomial and sigmoid.
PART = 1 / 4


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
    done = make(folder, "host")
    if done.returncode != 0:
        fail(MachineError, "Simulator", f"The simulator of {folder} does not build: {last_words(done)}.")
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
        "measured_log2": compiled.measure_error(keys, results, job.expected())["out"].measured_log2,
    }


def _counted(found: Exploration, chosen: int, job: dict[str, Any]) -> Row:
    """The cycles of the chosen design, counted over the job that it did."""
    return {
        "design": chosen,
        "what": "cycles",
        "unit": "cycles",
        "predicted": found.best["predicted"]["cycles"]["value"],
        "measured": job["cycles"],
        "by": "RTL under Verilator, the whole job" if job["simulated"] else "no simulator at hand",
    }


def run_exploration(job: Job, folder: Path, show: Show) -> dict[str, Any]:
    """Explore the clinic's kernel for a small board, build the chosen core, give it the clinic's job."""
    with steps("exploration", 3, show) as step:
        step(f"the clinic's kernel for {BOARD}")
        kernel = logistic_regression.trace(*job.arguments)
        most = job.activation.error * PART
        found = explore(kernel, BOARD, max_error=most, seconds=SECONDS, progress="none")
        step("the chosen core, built, simulated with the clinic's records")
        done = same_bits(job, found, folder)
        step("designs of the front beside what happens")
        shown = explored.reported(found, POINTS)
    validated = [_counted(found, shown["chosen"], done), *shown["validated"]]
    return {**shown, "job": done, "validated": validated}
