"""The compact core: what a key switch looks like inside, and beside published designs."""

from __future__ import annotations

from typing import Any

from ringmill._native import compact_cycles
from ringmill.compare import casa, cycles, measure, taiyi
from ringmill.progress import Show, steps

#: The core that the report shows: CASA's parameter set II at its middle size.
N, BUTTERFLIES, SET = 8192, 4, casa.Set(3, 1, 3)
#: Passes in search of each plan beside CASA's: half of the minute that `ringmill compare casa` takes.
_EFFORT = 60_000


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


def run_hardware(show: Show) -> dict[str, Any]:
    """Everything that the hardware section of the report shows."""
    with steps("hardware", 2, show) as step:
        step("one key switch, cycle by cycle")
        switch = key_switch()
        step("beside CASA")
        beside = measure.beside_casa(word_bits=54, effort=_EFFORT)
    core = {"n": N, "butterflies": BUTTERFLIES, "set": list(SET)}
    return {
        "core": core,
        "key_switch": switch,
        "casa": beside["rows"],
        "area_origin": beside["area_origin"],
        "taiyi": taiyi.rows(taiyi.stored()),
    }
