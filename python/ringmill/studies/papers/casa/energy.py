"""Dynamic power of the core's operators and memories: activity of the cycle model × published energies.

What it leaves out: power of a device at rest, clock, registers of the pipelines, pins and memory outside. So
it is no counterpart of a power read off a board or out of a vendor's tool, and no ratio is formed.
"""

from __future__ import annotations

import math
import sys
from functools import cache
from importlib import resources
from typing import Any

from ringmill.errors import CommandError, fail

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Row = dict[str, Any]

#: What every estimate says.
REMARK = "power of ours: estimate for operators and memories alone, see the note"


@cache
def figures() -> Row:
    """Return the published energies with their sources."""
    return tomllib.loads(resources.files(__package__).joinpath("energy.toml").read_text(encoding="utf-8"))


def _switching(nm: int, volts: float) -> float:
    """Energy of a gate by the fit of a node, on the scale of all fits."""
    node = figures()["node"]
    if str(nm) in node:
        a, b, c = node[str(nm)]
        return float(a * volts**2 + b * volts + c)
    fitted = sorted(int(name) for name in node if name.isdigit())
    below, above = max(n for n in fitted if n < nm), min(n for n in fitted if n > nm)
    share = math.log(above / nm) / math.log(above / below)
    return float(_switching(above, volts) ** (1 - share) * _switching(below, volts) ** share)


def scale(device: str) -> float:
    """Return the energy of a gate in a device's node and at its voltage over that of the published blocks.

    Raises
    ------
        CommandError: nothing is published here for the device.
    """
    known = figures()["device"]
    if device not in known:
        fail(
            CommandError,
            "NoEnergy",
            f"There are no energies for {device!r}; there are for {', '.join(known)}.",
            device=device,
        )
    blocks = _switching(45, figures()["node"]["volts_of_blocks"])
    return _switching(known[device]["nm"], known[device]["volts"]) / blocks


def operations(activity: Row, nbf: int) -> Row:
    """Count modular multiplications, additions and words of banks from the busy cycles of each unit.

    A transform unit has a multiplier for each butterfly and one for two that makes roots. It reads and writes
    two words a butterfly; the arithmetic unit reads two rows and writes one, of two words a butterfly.
    """
    transform, arithmetic = sum(activity["transform_busy"]), activity["arithmetic_busy"]
    return {
        "multiplications": transform * (nbf + math.ceil(nbf / 2)) + arithmetic * 2 * nbf,
        "additions": (transform + arithmetic) * 2 * nbf,
        "words": transform * 4 * nbf + arithmetic * 6 * nbf,
    }


def estimate(activity: Row, nbf: int, word_bits: int, device: str, mhz: float) -> Row:
    """Return energy and mean power of a program on a core: ``microjoules``, ``watts``, ``least``, ``most``.

    A modular multiplication is a product of two words and a reduction that costs as much.
    """
    reported, count = figures(), operations(activity, nbf)
    block, words = reported["block"], word_bits / 32
    fabric = count["multiplications"] * 2 * words**2 * block["multiply32"]
    fabric += count["additions"] * words * block["add32"]
    memory = count["words"] * word_bits / 64 * block["sram64"]
    picojoules = scale(device) * (reported["fabric"]["times"] * fabric + memory)
    watts = picojoules * 1e-6 * mhz / activity["cycles"]
    off = reported["uncertainty"]["times"]
    return {
        "microjoules": round(picojoules * 1e-6, 2),
        "watts": round(watts, 3),
        "least": round(watts / off, 3),
        "most": round(watts * off, 3),
    }


def note() -> str:
    """Return what the estimates are made of."""
    reported = figures()
    sources = "; ".join(reported[name]["source"] for name in ("block", "node", "fabric"))
    return (
        "Power of ours: busy cycles of each unit by the cycle model, times published energies "
        f"({sources}). It may be off by {reported['uncertainty']['times']} either way. Power at rest, clock, "
        "pipeline registers, pins and memory outside are not in it, so it is less than what a board draws; "
        "the papers do not say what theirs have in them."
    )
