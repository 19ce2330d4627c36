"""`ringmill simulate`: what a program takes on a machine, without running it."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ringmill import bundle
from ringmill._native import LimbProgram, MachineSpec, estimate_program, trace_events
from ringmill.atomic import write_text
from ringmill.cli.places import to_write
from ringmill.compiled import Compiled, estimated
from ringmill.errors import FileFormatError, ProgramError, fail
from ringmill.machines import machine_of

Facts = dict[str, Any]
Span = tuple[str, str, int, int]


def limb_program(path: str) -> LimbProgram:
    """A limb program of either form."""
    with bundle.opened(path):
        pass  # what is wrong with the path, in the words of all files
    try:
        return LimbProgram.load(Path(path))
    except FileFormatError as error:
        if error.code != "NoProgram":
            fail(FileFormatError, error.code, f"{path}: {error.message}", **{**error.fields, "path": path})
        fail(
            FileFormatError,
            "NoProgram",
            f"{path} is neither a kernel nor a limb program. Give one of these.",
            path=path,
        )
    except ProgramError as error:
        fail(ProgramError, error.code, f"{path}: {error.message}", **{**error.fields, "path": path})


def _of_program(path: str, machine: MachineSpec) -> Facts:
    program = limb_program(path)
    try:
        return estimated(machine, estimate_program(program, machine))
    except ProgramError as error:
        fail(ProgramError, error.code, f"{path}: {error.message}", **{**error.fields, "path": path})


def simulate(options: Namespace) -> Facts:
    """Estimate what a limb program or a kernel takes."""
    machine = machine_of(options.machine)
    places = {
        name: to_write(place, options.program)
        for name in ("spans", "trace", "report")
        if (place := getattr(options, name))
    }
    if bundle.is_bundle(options.program):
        compiled = Compiled.load(options.program)
        compiled = compiled.switched(options.switching) if options.switching else compiled
        facts = compiled.estimate(machine)
    else:
        facts = _of_program(options.program, machine)
    found = facts.pop("spans")
    facts = {"program": options.program, **facts}
    texts = {name: _WRITTEN[name](facts, found) for name in places}
    for name, place in places.items():
        write_text(place, texts[name])
        facts[name] = str(place)
    return facts


def _spans(_: Facts, found: list[Span]) -> str:
    return json.dumps(found) + "\n"


def _trace(facts: Facts, found: list[Span]) -> str:
    seconds = facts["seconds"]
    return trace_events(found, facts["cycles"] / seconds / 1e9 if seconds and facts["cycles"] else None)


def _report(facts: Facts, found: list[Span]) -> str:
    from ringmill import __version__
    from ringmill.report import render_simulation

    return render_simulation(facts, found, __version__)


#: What is written for each option.
_WRITTEN: dict[str, Callable[[Facts, list[Span]], str]] = {
    "spans": _spans,
    "trace": _trace,
    "report": _report,
}


def show_simulate(facts: Facts) -> None:
    """Print a line each figure."""
    if facts["cycles"] is not None:
        print(f"cycles        {facts['cycles']:,}")
    if facts["seconds"] is not None:
        print(f"seconds       {facts['seconds']:.6g}")
    for unit, share in facts["utilisation"].items():
        print(f"{unit:<13} {100 * share:.1f} % of the cycles at work")
    if facts["parts"]:
        print("where the cycles went:")
    for part, count in facts["parts"]:
        print(f"  {part:<32} {count:>14,}  {100 * count / facts['cycles']:5.1f} %")
    for name, joules in facts["energy"]:
        print(f"energy of {name:<17} {joules:.3g} J")
    for name, count in facts["counters"].items():
        print(f"{name:<17} {count:>14,}")
    print(f"by {facts['by']}")
    for name in _WRITTEN:
        if name in facts:
            print(f"{name}: {facts[name]}")
