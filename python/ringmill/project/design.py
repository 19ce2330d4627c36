"""Reading a design: the file in which an exploration keeps what it chose, with the kernel inside."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringmill import bundle
from ringmill._native import Params, Plan, stored_devices
from ringmill.compiled import Compiled
from ringmill.errors import FileFormatError, fail
from ringmill.project.core import Core
from ringmill.trace.program import Signature

#: Version of the file that this reads.
SCHEMA = 1

# What a design's hardware and a core call alike.
_OF_CORE = (
    "word_bits",
    "butterflies",
    "log_n_max",
    "moduli",
    "multiplier",
    "bus_bits",
    "memory_latency",
    "beat_cycles",
    "effort",
    "tile",
    "banks",
)


@dataclass(frozen=True, slots=True)
class Design:
    """A kernel compiled for the parameters of a design, its core, and the whole file."""

    compiled: Compiled
    core: Core
    content: dict[str, Any]


def read(path: str | Path) -> Design:
    """Read a design file and compile its kernel."""
    data = bundle.read_file(path)
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
    if content["schema"] != SCHEMA:
        fail(
            FileFormatError,
            "Version",
            f"{path} is a design of version {content['schema']!r}, this Ringmill reads {SCHEMA}. "
            "Explore again, or use the version that wrote it.",
            path=str(path),
            version=content["schema"],
        )
    try:
        return of(content)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        bundle.refuse_damaged(str(path), f"it lacks or misspells what a design says ({error})")


def of(content: dict[str, Any]) -> Design:
    """The design of a parsed file."""
    kernel, p, h = content["kernel"], content["parameters"], content["hardware"]
    literal = {"scale_bits": p["scale_bits"], "secret": p["secret"]}
    params = Params.from_primes(p["log_n"], p["q"], p["p"], p["dnum"], insecure=True, **literal)
    if params.security is not None:
        params = Params.from_primes(p["log_n"], p["q"], p["p"], p["dnum"], **literal)
    signature = Signature.from_json(kernel["signature"])
    plan = Plan.with_params(kernel["program"], params, kernel["magnitude"], kernel["bound"], kernel["real"])
    compiled = Compiled(kernel["program"], signature, plan)
    compiled.check_names()
    clock = content["predicted"]["frequency_mhz"]["value"]
    core = core_of(h, policy=h["policy"], clock_mhz=clock, family=_family(content))
    return Design(compiled, core, content)


def _family(content: dict[str, Any]) -> str:
    """The family of a design's device; of a user's own device, by the blocks that it counts."""
    stored = {device["name"]: device["family"] for device in json.loads(stored_devices())}
    if content["device"] in stored:
        return str(stored[content["device"]])
    counted = content["predicted"]["resources"]
    for blocks, family in (("ebr", "ecp5"), ("area_um2", "asic45")):
        if blocks in counted:
            return family
    return "xc7" if content["hardware"]["tile"] == "dsp48e1" else "xcup"


def core_of(hardware: dict[str, Any], **others: Any) -> Core:
    """The core of a design's hardware; ``others`` are further arguments of ``Core``, or replace its own."""
    fields = {name: hardware[name] for name in _OF_CORE}
    return Core(**{**fields, **others})
