"""Reading a design: the file in which an exploration keeps what it chose, with the kernel inside."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from ringmill import bundle
from ringmill._native import Params, Plan, check_design
from ringmill.compiled import Compiled
from ringmill.errors import CommandError, FileFormatError, RingmillError, fail
from ringmill.project.core import Core
from ringmill.project.parameters import Parameters
from ringmill.targets import machine_fields
from ringmill.trace.signature import Signature

#: Version of the files that are written; those of before are read as well.
SCHEMA = 3

#: The machine whose hardware is here.
CORE = "compact"
#: The engine of a client, which another verb builds.
_ENGINE = "encryptor"
#: The machine whose engine is built without a core.
_SWITCHES = "pipelined"
T = TypeVar("T")
# What a design and a core call alike.
_OF_CORE = (*(field.name for field in fields(Parameters)), "family", "banks")


@dataclass(frozen=True, slots=True)
class Design:
    """A kernel compiled for the parameters of a design, its core, and the whole file."""

    compiled: Compiled
    core: Core
    content: dict[str, Any]


def read(path: str | Path) -> Design:
    """Read a design file, of this version or before, and compile its kernel."""
    return made(path, of)


def made(path: str | Path, make: Callable[[dict[str, Any]], T]) -> T:
    """What is made of a design file, of this version or before; refusals name the file."""
    data = bundle.read_text_file(path)
    try:
        content = json.loads(data)
    except ValueError:
        content = None
    if not isinstance(content, dict) or "schema" not in content:
        fail(
            FileFormatError,
            "NotADesign",
            f"{path} is no design. Write one with ringmill explore … --out, or with Design.save.",
            path=str(path),
        )
    try:
        return make(json.loads(check_design(json.dumps(content))))
    except RingmillError as error:
        remedy = "" if error.code == "Schema" else " Transfer or create it again."
        message = f"{path}: {error.message}{remedy}"
        fail(type(error), error.code, message, **{**error.fields, "path": str(path)})
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        bundle.refuse_damaged(str(path), f"it lacks or misspells what a design says ({error})")


def compiled_of(content: dict[str, Any]) -> Compiled:
    """The kernel of a parsed file, compiled for its parameters."""
    kernel, p = content["kernel"], content["parameters"]
    literal = {"scale_bits": p["scale_bits"], "secret": p["secret"]}
    params = Params.from_primes(p["log_n"], p["q"], p["p"], p["dnum"], insecure=True, **literal)
    if params.security is not None:
        params = Params.from_primes(p["log_n"], p["q"], p["p"], p["dnum"], **literal)
    signature = Signature.from_json(kernel["signature"])
    plan = Plan.with_params(kernel["program"], params, kernel["magnitude"], kernel["bound"], kernel["real"])
    compiled = Compiled(kernel["program"], signature, plan)
    compiled.check_names()
    return compiled


def of(content: dict[str, Any]) -> Design:
    """The design of a parsed file."""
    compiled = compiled_of(content)
    clock = content["predicted"]["frequency_mhz"]["value"]
    return Design(compiled, core_of(content, clock_mhz=clock), content)


def core_of(content: dict[str, Any], **others: Any) -> Core:
    """The core of a design; ``others`` are further arguments of ``Core``, or replace its own."""
    name = content["machine"].partition(":")[0]
    if name != CORE:
        remedy = {
            _ENGINE: f"For the engine of the kernel's clients: ringmill build KERNEL --machine {_ENGINE}.",
            _SWITCHES: "For its key-switch engine: ringmill build with this file.",
        }.get(name, f"Estimate it with ringmill simulate --machine {content['machine']}.")
        fail(
            CommandError,
            "NotBuilt",
            f"The design is for a machine {name!r}, and this takes {CORE} cores alone. {remedy}",
            machine=content["machine"],
        )
    # What a design leaves out is as by default.
    found = machine_fields(content)
    return Core(**{**{name: found[name] for name in _OF_CORE if name in found}, **others})
