"""`ringmill simulate`: what a program takes on a machine, told without running it."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

from ringmill import bundle
from ringmill._native import MachineSpec, estimate_program
from ringmill.atomic import write_text
from ringmill.cli.places import to_write
from ringmill.compiled import Compiled, estimated
from ringmill.errors import FileFormatError, ProgramError, fail
from ringmill.machines import machine_of

Facts = dict[str, Any]


def _text(path: str) -> str:
    """The text of a limb program, which begins with the word, after comments."""
    try:
        text = bundle.read_text_file(path).decode()
    except UnicodeDecodeError:
        text = ""
    lines = (line.strip() for line in text.splitlines())
    if not next((line for line in lines if line and not line.startswith("#")), "").startswith("limb "):
        fail(
            FileFormatError,
            "NoProgram",
            f"{path} is neither a kernel nor the text of a limb program. Give one of these.",
            path=path,
        )
    return text


def _of_text(path: str, machine: MachineSpec) -> Facts:
    try:
        return estimated(machine, estimate_program(_text(path), machine))
    except ProgramError as error:
        fail(ProgramError, error.code, f"{path}: {error.message}", **{**error.fields, "path": path})


def simulate(options: Namespace) -> Facts:
    """Tell what a limb program or a kernel takes."""
    machine = machine_of(options.machine)
    spans = to_write(options.spans, options.program) if options.spans else None
    if bundle.is_bundle(options.program):
        compiled = Compiled.load(options.program)
        compiled = compiled.switched(options.switching) if options.switching else compiled
        facts = compiled.estimate(machine)
    else:
        facts = _of_text(options.program, machine)
    found = facts.pop("spans")
    if spans is not None:
        write_text(spans, json.dumps(found) + "\n")
        facts["spans"] = str(spans)
    return {"program": options.program, **facts}


def show_simulate(facts: Facts) -> None:
    """Print a line each figure."""
    if facts["cycles"] is not None:
        print(f"cycles        {facts['cycles']:,}")
    if facts["seconds"] is not None:
        print(f"seconds       {facts['seconds']:.6g}")
    for unit, share in facts["utilisation"].items():
        print(f"{unit:<13} {100 * share:.1f} % of the cycles at work")
    for name, count in facts["counters"].items():
        print(f"{name:<17} {count:>14,}")
    print(f"by {facts['by']}")
    if "spans" in facts:
        print(f"what each unit does when: {facts['spans']}")
