"""Where the time of a kernel goes, by kind of work, and how near each kind runs to what the machine can do.

The CPU machine times every kernel call, in one thread. Two ceilings are measured beside it: words that
the multiplier takes a second, and bytes that memory gives. A kind that is near neither of them waits: for
the latency of instructions, for sums and permutations, for a cache that is further away than it need be.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from ringmill import _native
from ringmill.compiled import Compiled
from ringmill.errors import CommandError, fail
from ringmill.keys import Keys
from ringmill.progress import Show, steps

Facts = dict[str, Any]

#: A kind that reaches this part of a ceiling is bound by it.
NEAR = 0.5


def _arguments(compiled: Compiled) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Random arguments: what a kernel takes does not depend on the numbers."""
    random = np.random.default_rng(1)
    magnitude = compiled.plan.magnitude
    shapes = {name: spec.shape for name, spec in compiled.signature.inputs.items()}
    return {name: random.uniform(-magnitude, magnitude, shape) for name, shape in shapes.items()}


def profile(compiled: Compiled, keys: Keys | None = None, *, runs: int = 5, progress: Show = "none") -> Facts:
    """Run a kernel on random arguments and say where the time went.

    Args:
        compiled: the kernel.
        keys: keys of its parameters; made when none are given.
        runs: runs by the clock, and as many whose calls are timed, after one of each that makes memory and
            tables; the least time counts.
        progress: how to show the work.

    Returns
    -------
        ``rows``, one a kind of work with its ``seconds``, its part of the time (``share``), what it
        multiplies (``multiplications``) and moves (``bytes``) in a run, and both as parts of the machine's
        ceilings (``multiplier``, ``memory``); ``seconds`` of a run by the clock, ``timed_seconds`` inside
        kernel calls.
    """
    if runs < 1:
        fail(CommandError, "Runs", f"{runs} runs measure nothing; give 1 or more.", runs=runs)
    with steps("profile", 5 + runs, progress) as step:
        step("make keys")
        keys = keys or compiled.keygen(insecure=True)  # for random arguments alone
        step("encrypt")
        sent = compiled.encrypt(keys, _arguments(compiled)).parts
        step("prepare")
        # A run with a look at the clock before and after every call takes longer than one without.
        plain = _native.Executable(compiled.plan, "cpu:threads=1", compiled.switching)
        watched = _native.Executable.profiled(compiled.plan, compiled.switching)
        step("first run")
        for executable in plain, watched:
            executable.run(sent, keys.evaluation)
        watched.spent()
        seconds = math.inf
        for run in range(runs):
            step(f"run {run + 1}")
            begin = time.perf_counter()
            plain.run(sent, keys.evaluation)
            seconds = min(seconds, time.perf_counter() - begin)
            watched.run(sent, keys.evaluation)
        step("measure the machine")
        ceilings = _native.ceilings()
    return facts(compiled.name, watched.spent(), ceilings, seconds)


def facts(
    name: str,
    spent: list[tuple[str, int, float, int, int]],
    ceilings: tuple[float, float],
    seconds: float,
) -> Facts:
    """What was measured, with the shares that a reader wants."""
    multiply, move = ceilings
    timed = sum(row[2] for row in spent)
    rows: list[Facts] = []
    for kind, calls, took, moved, multiplied in sorted(spent, key=lambda row: -row[2]):
        took = max(took, 1e-9)
        multiplier, memory = multiplied / took / multiply, moved / took / move
        rows.append(
            {
                "kind": kind,
                "calls": calls,
                "seconds": took,
                "share": took / timed,
                "multiplications": multiplied,
                "bytes": moved,
                "multiplications_a_byte": multiplied / moved if moved else None,
                "multiplier": multiplier,
                "memory": memory,
                "bound": _bound(multiplier, memory),
            }
        )
    return {
        "kernel": name,
        "isa": _native.isa(),
        "seconds": seconds,
        "timed_seconds": timed,
        "least_seconds": sum(max(r["multiplier"], min(r["memory"], 1.0)) * r["seconds"] for r in rows),
        "ceilings": {
            "multiplications_a_second": multiply,
            "bytes_a_second": move,
            "multiplications_a_byte": multiply / move,
        },
        "rows": rows,
    }


def _bound(multiplier: float, memory: float) -> str:
    if memory > 1:
        return "caches"  # More than memory gives: it comes from nearer.
    if max(multiplier, memory) < NEAR:
        return "neither"
    return "multiplier" if multiplier >= memory else "memory"
