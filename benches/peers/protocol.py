"""The protocol of a measured process.

One request a line on standard input, one JSON object a line on standard output:

``WORK COUNT [wall]``
    run the work COUNT times and answer ``{"work", "us": [one figure a run, microseconds]}``: the time that
    the processor spent on the process, in all its threads, so that other jobs of the machine stay out; with
    ``wall`` what a clock on the wall would show. Works far shorter than a reading of the clock is worth may
    give the mean of a few runs as one figure;
``drop SET``
    forget what was prepared for a set, and answer ``{"dropped"}``;
``facts WORK``
    answer with what else there is to say of a prepared work: an object, empty for most;
``peak``
    answer ``{"peak_bytes"}``, the largest resident size of this process so far.

A work that the library cannot do answers ``{"work", "missing": reason}``. Keys and inputs are prepared on the
first request of a set, outside the clock, and the preparation checks that the work computes what it should.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable

Works = dict[str, Callable[[], object]]
Facts = dict[str, float]


def serve(name: str, prepare: Callable[[str], Works | tuple[Works, Facts]]) -> None:
    """Answer requests until standard input ends.

    Parameters
    ----------
    name
        What the library and its version are called in the table.
    prepare
        From the name of a set to its works, by the part of their name before the slash, with facts if there
        are any.
    """
    ready: dict[str, tuple[Works, Facts]] = {}
    print(json.dumps({"name": name}), flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(line.split(), ready, prepare)), flush=True)


def _answer(
    words: list[str],
    ready: dict[str, tuple[Works, Facts]],
    prepare: Callable[[str], Works | tuple[Works, Facts]],
) -> dict[str, object]:
    if words[0] == "peak":
        return {"peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
    if words[0] == "drop":
        ready.pop(words[1], None)
        return {"dropped": words[1]}
    if words[0] == "facts":
        return dict(ready.get(words[1].partition("/")[2], ({}, {}))[1])
    work, count = words[0], int(words[1])
    kind, _, which = work.partition("/")
    try:
        if which not in ready:
            made = prepare(which)
            ready[which] = made if isinstance(made, tuple) else (made, {})
        run = ready[which][0][kind]
    except KeyError:
        return {"work": work, "missing": "not offered by this library"}
    except Exception as error:  # whatever stops a peer is its own row's reason, not the end of the table
        return {"work": work, "missing": f"{type(error).__name__}: {error}"}
    clock = time.perf_counter_ns if words[2:] == ["wall"] else time.process_time_ns
    return {"work": work, "us": [_once(run, clock) for _ in range(count)]}


def _once(run: Callable[[], object], clock: Callable[[], int]) -> float:
    start = clock()
    result = run()
    elapsed = clock() - start
    del result  # outside the clock
    return elapsed / 1e3


def close(measured: object, expected: object, tolerance: float) -> None:
    """Stop with the deviation if a prepared work does not compute what it should."""
    import numpy as np

    deviation = float(np.max(np.abs(np.asarray(measured) - np.asarray(expected))))
    if not deviation < tolerance:
        raise ArithmeticError(f"result is off by {deviation:.3g}, more than {tolerance:.3g}")
