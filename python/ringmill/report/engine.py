"""Jobs of the encryption engine as a page: which unit works when, if jobs follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ringmill.encryptor_schedule import BY_EXTRA, Engine, Span

Facts = dict[str, Any]

#: Jobs that are drawn: later ones repeat the interval.
SHOWN = 32


def reported(engine: Engine, modes: Sequence[int], simulated: Sequence[int]) -> tuple[Facts, list[Span]]:
    """What `render_simulation` shows of jobs: facts, and when each unit works.

    Args:
        engine: the build.
        modes: of the jobs, in their order.
        simulated: cycles of each, which the simulator counted from power-on.
    """
    shown = modes[:SHOWN]
    courses, spans = engine.courses([(mode, None) for mode in shown]), engine.spans(shown)
    cycles = max(end for _, _, _, end in spans)
    busy: dict[str, int] = {}
    for unit, _, first, end in spans:
        busy[unit] = busy.get(unit, 0) + end - first
    last = courses[-1]
    parts = [
        ("samples of the first job", courses[0].start),
        ("jobs before the last one", last.start - courses[0].start),
        *([("transforms modulo the extra prime", engine.extra_latency)] if last.mode in BY_EXTRA else []),
        ("limbs, up to the first row", engine.first_row),
        ("rows of the last result", engine.rows),
    ]
    limbs = f"{engine.limbs} limb{'s' if engine.limbs > 1 else ''}"
    counted = {f"job {number}, simulated from power-on": count for number, count in enumerate(simulated)}
    facts = {
        "program": f"{len(shown)} jobs at N = 2^{engine.log_n}, {limbs}, {1 << engine.log_p} words a cycle",
        "machine": "the encryption engine",
        "by": "the schedule that its RTL is held to, where all jobs wait from the first cycle on; a stage "
        "works while rows enter it, and bytes are refused as often as on average",
        "cycles": cycles,
        "seconds": None,
        "parts": parts,
        "utilisation": {unit: count / cycles for unit, count in busy.items()},
        "energy": [],
        "counters": {"interval": engine.interval(last.mode), **counted},
    }
    return facts, spans
