"""From a kernel to a core of its own: explored for a small board, built, run in simulation."""

from __future__ import annotations

import importlib.util
import math
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from ringmill.compiled import measured_error
from ringmill.errors import MachineError, fail
from ringmill.explorer import Exploration, explore
from ringmill.explorer.result import Design
from ringmill.kernels import NINE
from ringmill.progress import Show, steps
from ringmill.project import design as designs
from ringmill.project import write

#: A hundred records times weights, the board, the error allowed, and seconds to look around the front.
KERNEL = next(row for row in NINE if row.letter == "g")
BOARD, MAX_ERROR, SECONDS = "artix7-100t", 1e-3, 3.0

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
        "seconds": found.statistics["seconds"],
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
    if shutil.which("verilator") is None:
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


def same_bits(found: Exploration, folder: Path) -> dict[str, Any]:
    """One encrypted run on the chosen core and on the CPU; whether the bits are the same."""
    simulated = build(found, folder)
    compiled = designs.of(found.best).compiled
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys, KERNEL.encrypted())
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
        "measured_log2": measured_error(got, KERNEL.reference(*KERNEL.data())),
    }


def _validated(found: Exploration, chosen: int, job: dict[str, Any]) -> list[dict[str, Any]]:
    known = found.best["predicted"]
    rows = [
        {
            "what": "error",
            "unit": "log2",
            "predicted": math.log2(known["error"]["value"]),
            "measured": job["measured_log2"],
            "by": "decrypted",
        }
    ]
    cycles = {"what": "cycles", "unit": "cycles", "predicted": known["cycles"]["value"]}
    by = "RTL under Verilator" if job["simulated"] else "no simulator at hand"
    rows.append({**cycles, "measured": job["cycles"], "by": by})
    return [{"design": chosen, **row} for row in rows]


def run_exploration(folder: Path, show: Show) -> dict[str, Any]:
    """Explore one of the nine kernels for a small board, build the chosen core, run it."""
    with steps("exploration", 2, show) as step:
        step(f"{KERNEL.letter} {KERNEL.title} {KERNEL.size} for {BOARD}")
        found = explore(KERNEL, BOARD, max_error=MAX_ERROR, seconds=SECONDS, progress="none")
        step("the chosen core, built and simulated")
        job = same_bits(found, folder)
    shown = told(found)
    return {**shown, "job": job, "validated": _validated(found, shown["chosen"], job)}
