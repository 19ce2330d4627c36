"""The compact core: what a key switch looks like inside."""

from __future__ import annotations

from typing import Any

from ringmill._native import compact_cycles
from ringmill.progress import Show, steps
from ringmill.studies.papers.casa import cycles
from ringmill.studies.papers.casa.rows import Set

#: The core that the report shows: CASA's parameter set II at its middle size.
N, BUTTERFLIES, SET = 8192, 4, Set(3, 1, 3)


def key_switch() -> dict[str, Any]:
    """Return the cycles of one key switch and when each instruction held its unit."""
    reported = compact_cycles(
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
        for unit, what, start, end in reported["spans"]
        if unit != "control"
    ]
    return {"cycles": reported["cycles"], "slot": reported["slot"], "spans": spans}


def run_hardware(show: Show) -> dict[str, Any]:
    """Return everything that the section on the core shows."""
    with steps("hardware", 1, show) as step:
        step("one key switch, cycle by cycle")
        switch = key_switch()
    return {"core": {"n": N, "butterflies": BUTTERFLIES, "set": list(SET)}, "key_switch": switch}
