"""Runs a workload encrypted, and the same job in the clear beside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringmill import machines, memory
from ringmill._native import Params
from ringmill.compiled import Compiled
from ringmill.errors import CommandError, fail
from ringmill.progress import Show, steps
from ringmill.studies.workloads import helr, network, records, training
from ringmill.studies.workloads.records import Array, Split
from ringmill.studies.workloads.stepwise import Needs
from ringmill.trace import matrix

Facts = dict[str, Any]

# Of training: bits of the scale, and of the largest value beside it, a sum over all records.
SCALE_BITS = 46
INTEGER_BITS = 8


@dataclass(frozen=True)
class Limits:
    """What a run may take: worker threads, all cores if not said, and bytes of memory, else what is free.

    ``seeded`` keeps half of each key in memory.
    """

    threads: int | None = None
    memory: float | None = None
    seeded: bool = False


NO_LIMITS = Limits()


def _encrypted(
    compiled: Compiled, show: Show, limits: Limits, arguments: dict[str, Array]
) -> tuple[Any, Facts]:
    """What the kernel gives for these arguments, and what it took."""
    needs = Needs()
    parts = needs.survey(compiled.params, [compiled], seeded=limits.seeded)
    fits = needs.fits(compiled.params, parts, seeded=limits.seeded)
    memory.check(f"The kernel {compiled.name}", parts, limits.memory, fits, CommandError)
    seconds: dict[str, float] = {}
    with steps(compiled.name, 4, show) as step:

        def stage(name: str, work: Callable[[], Any]) -> Any:
            step(name)
            begin = time.perf_counter()
            done = work()
            seconds[name] = time.perf_counter() - begin
            return done

        machine = machines.cpu(threads=limits.threads)
        keys = stage("make keys", lambda: compiled.keygen(seeded=limits.seeded))
        sent = stage("encrypt", lambda: compiled.encrypt(keys.secret, arguments))
        back = stage("evaluate", lambda: compiled.evaluate(keys, sent, machine=machine))
        result = stage("decrypt", lambda: compiled.decrypt(keys, back))
    facts = {
        "parameters": repr(compiled.params),
        "levels": compiled.plan.depth,
        "key switches": compiled.cost["key_switches"],
        "seconds": {name: round(spent, 3) for name, spent in seconds.items()},
    }
    return result, facts


def _error(found: Array, expected: Array) -> str:
    return f"2^{np.log2(max(float(np.max(np.abs(found - expected))), 2.0**-60)):.1f}"


def run_network(show: Show = "none", limits: Limits = NO_LIMITS, *, images: int | None = None) -> Facts:
    """Classify the unseen digits, or the first few of them, by the network that ships with the package."""
    weights, split = network.Network.load(), records.digits()
    batch, labels = split.unseen[:images], split.unseen_labels[:images]
    compiled = network.classify.compile(
        matrix(batch.shape[0], batch.shape[1], packing="columns"), weights, precision=12
    )
    scores, facts = _encrypted(compiled, show, limits, {"images": batch})
    clear = weights.scores(batch)
    return {
        "images": len(batch),
        "right, encrypted": float(np.mean(scores.argmax(axis=1) == labels)),
        "right, in the clear": float(np.mean(clear.argmax(axis=1) == labels)),
        "error": _error(scores, clear),
        "predicted error": f"2^{max(compiled.predicted_error.values()):.1f}",
        **facts,
    }


def run_training(
    split: Split, schedule: training.Schedule, show: Show = "none", limits: Limits = NO_LIMITS
) -> Facts:
    """Train on encrypted records; judge by the unseen ones, beside the same steps in the clear."""
    z = training.prepared(split.seen, split.seen_labels)
    arranged = training.padded(z)
    described = matrix(arranged.shape[0], arranged.shape[1])
    # Predicted errors add up step by step, as if no step made up for the error of the one before: a scale
    # chosen by them would be far too large.
    depth = training.train.trace(described, len(z), schedule).depth
    params = Params.by_need(
        depth=depth, scale_bits=SCALE_BITS, integer_bits=INTEGER_BITS, slots=arranged.size, security=128
    )
    compiled = training.train.compile(described, len(z), schedule, params=params)
    rows, facts = _encrypted(compiled, show, limits, {"z": arranged})
    weights = rows[0, : z.shape[1]]
    clear = training.train_clear(z, schedule)
    return {
        "records": len(z),
        "features": z.shape[1],
        "iterations": schedule.steps,
        "right, encrypted": training.accuracy(weights, split),
        "right, in the clear": training.accuracy(clear, split),
        "right, exact sigmoid": training.accuracy(training.train_clear(z, schedule, exact=True), split),
        "error": _error(weights, clear),
        "seconds an iteration": round(facts["seconds"]["evaluate"] / schedule.steps, 3),
        **facts,
    }


#: Seconds of an iteration of HELR with 1,024 records a batch on a CPU, by the table below Taiyi's Fig. 10.
PUBLISHED_SECONDS = 23.3


def run_blocks(
    split: Split,
    shape: helr.Shape,
    show: Show = "none",
    limits: Limits = NO_LIMITS,
    params: Params | None = None,
) -> Facts:
    """Train as `run_training` does, in the shape that accelerators are measured by, with bootstrapping."""
    schedule = training.Schedule(steps=shape.steps)
    params = params or Params.bootstrapping(helr.LEVELS, slots=shape.slots)
    _, compiled = helr.program(params, shape, whole=True)
    blocks = shape.cut(training.prepared(split.seen, split.seen_labels))
    arguments = {f"z{number}": block for number, block in enumerate(blocks)}
    found, facts = _encrypted(compiled, show, limits, arguments)
    weights = np.concatenate([rows[0] for rows in found.values()]) * schedule.reach
    clear = helr.trained_clear(blocks, shape, schedule)
    spent = facts["seconds"]["evaluate"] / shape.steps
    return {
        "records": len(split.seen),
        "features": shape.features,
        "iterations": shape.steps,
        "bootstrappings": len(compiled.bootstraps),
        "right, encrypted": training.accuracy(weights, split),
        "right, in the clear": training.accuracy(clear, split),
        "error": _error(weights, clear),
        "seconds an iteration": round(spent, 3),
        "published, on a CPU": PUBLISHED_SECONDS,
        **facts,
    }


# Rates suit the spread of the features: about the reciprocal of the largest curvature of the loss.
WORKLOADS: dict[str, Callable[[Show, Limits], Facts]] = {
    "digits": run_network,
    "train-digits": lambda show, limits: run_training(
        records.three_or_eight(), training.Schedule(steps=7, rate=8.0), show, limits
    ),
    "train-parity": lambda show, limits: run_blocks(records.odd_or_even(), helr.Shape(), show, limits),
    "train-tumours": lambda show, limits: run_training(
        records.tumours(), training.Schedule(steps=7, rate=2.0), show, limits
    ),
}


def run(name: str, show: Show = "none", limits: Limits = NO_LIMITS) -> Facts:
    """Run a workload by its name.

    Raises
    ------
        CommandError: no workload of that name, or one that needs more memory than it may take.
    """
    if name not in WORKLOADS:
        fail(
            CommandError,
            "NoWorkload",
            f"There is no workload {name!r}; there are {', '.join(WORKLOADS)}.",
            workload=name,
        )
    return WORKLOADS[name](show, limits)
