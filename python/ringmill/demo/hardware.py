"""The compact core beside the CPU: the clinic's job once more, and what a key switch looks like inside."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from ringmill import bundle
from ringmill._native import EvaluationKeys, compact_cycles
from ringmill.compare import casa, cycles, measure, taiyi
from ringmill.compiled import Compiled
from ringmill.progress import Show, steps
from ringmill.values import Values

#: The core that the report shows: CASA's parameter set II at its middle size.
N, BUTTERFLIES, SET = 8192, 4, casa.Set(3, 1, 3)


def same_job(server: Path) -> dict[str, Any]:
    """Evaluate what the server was sent on the compact core; whether the bits are those of the CPU."""
    compiled = Compiled.load(server / "kernel")
    keys = EvaluationKeys.from_bytes(compiled.params, bundle.read_file(server / "evaluation.keys"))
    arguments = Values.load(server / "arguments", "arguments", compiled.params)
    expected = Values.load(server / "results", "results", compiled.params)
    start = time.perf_counter()
    found = compiled.evaluate(keys, arguments, machine="compact", butterflies=BUTTERFLIES)
    seconds = time.perf_counter() - start
    same = {n: p.to_bytes() for n, p in found.parts.items()} == {
        n: p.to_bytes() for n, p in expected.parts.items()
    }
    simulated = "RINGMILL_CORE_LIBRARY" in os.environ
    return {"same_bits": same, "simulated": simulated, "seconds": seconds, "ciphertexts": len(found.parts)}


def key_switch() -> dict[str, Any]:
    """Return the cycles of one key switch and when each instruction held its unit."""
    told = compact_cycles(
        "key_switch",
        log_n=N.bit_length() - 1,
        butterflies=BUTTERFLIES,
        limbs=SET.limbs,
        special=SET.special,
        dnum=SET.dnum,
        effort=cycles.EFFORT,
    )
    spans = [
        {"unit": unit, "what": what, "start": start, "end": end}
        for unit, what, start, end in told["spans"]
        if unit != "control"
    ]
    return {"cycles": told["cycles"], "slot": told["slot"], "spans": spans}


def run_hardware(server: Path, show: Show) -> dict[str, Any]:
    """Everything that the hardware section of the report shows."""
    with steps("hardware", 3, show) as step:
        step("the clinic's job on the compact core")
        job = same_job(server)
        step("one key switch, cycle by cycle")
        switch = key_switch()
        step("beside CASA")
        beside = measure.beside_casa(word_bits=54)
    core = {"n": N, "butterflies": BUTTERFLIES, "set": list(SET)}
    return {
        "core": core,
        "job": job,
        "key_switch": switch,
        "casa": beside["rows"],
        "area_origin": beside["area_origin"],
        "taiyi": taiyi.rows(taiyi.stored()),
    }
