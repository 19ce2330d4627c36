"""`ringmill params`: parameters by name, by depth, or by what a bootstrapping leaves."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

from ringmill._native import Params
from ringmill.errors import CommandError, fail

Facts = dict[str, Any]

#: The options of each way to request parameters.
_OPTIONS: dict[str | None, tuple[str, ...]] = {
    None: (),
    "name": (),
    "depth": ("scale_bits", "integer_bits", "slots", "security", "word"),
    "levels": (
        *("bits", "iterations", "scale_bits", "wide_bits", "slots", "log_n"),
        *("transforms", "arcsine", "insecure", "word"),
    ),
}


def params(options: Namespace) -> Facts:
    """Show parameters."""
    way, constraints = _given(options)
    match way:
        case None:
            return {name: repr(Params.named(name)) for name in Params.names()}
        case "name":
            chosen = Params.named(options.name)
        case "depth":
            chosen = Params.by_need(depth=options.depth, **constraints)
        case _:
            chosen = Params.bootstrapping(options.levels, **constraints)
    return {
        "log_n": chosen.log_n,
        "slots": chosen.slots,
        "levels": chosen.max_level,
        "primes": json.dumps(chosen.levels),
        "security": chosen.security,
        "log_q": round(chosen.log_q, 1),
        "log_p": round(chosen.log_p, 1),
        "dnum": chosen.dnum,
        "scale": f"2^{chosen.scale_bits}",
        "q": json.dumps(chosen.q),
        "p": json.dumps(chosen.p),
        **_bootstraps(chosen),
        "fingerprint": chosen.fingerprint,
        "rationale": chosen.rationale or _why(chosen, way),
    }


def _why(chosen: Params, way: str | None) -> str:
    """Why these, where the parameters do not say so themselves."""
    if way == "name":
        return "a named set"
    if chosen.insecure:
        return "the smallest ring for this bootstrapping, below 128 bits of security: for trials only"
    return "the smallest ring for this bootstrapping"


def _given(options: Namespace) -> tuple[str | None, dict[str, Any]]:
    """Return the way in which parameters are requested, and the options given for it."""
    ways = [way for way in ("name", "depth", "levels") if getattr(options, way) is not None]
    if len(ways) > 1:
        fail(
            CommandError,
            "BadOption",
            f"--{ways[0]} and --{ways[1]} are two ways to ask for parameters. Give one of them.",
        )
    way = ways[0] if ways else None
    every = dict.fromkeys(_OPTIONS["depth"] + _OPTIONS["levels"])
    given = {name: getattr(options, name) for name in every if getattr(options, name) is not None}
    for name in given:
        if name not in _OPTIONS[way]:
            option = name.replace("_", "-")
            with_it = " or ".join(f"--{other}" for other, names in _OPTIONS.items() if name in names)
            fail(CommandError, "BadOption", f"--{option} goes with {with_it}. Add it, or leave it out.")
    return way, given


def _bootstraps(chosen: Params) -> Facts:
    """What a bootstrapping gives, for parameters that are laid out for one."""
    facts = chosen.bootstraps
    if facts is None:
        return {}
    rounds = "" if facts["iterations"] == 1 else f" by {facts['iterations']} iterations"
    sine = "with" if facts["arcsine"] else "without"
    often = "never" if facts["failure"] == 0 else f"once in {1 / facts['failure']:.2g}"
    return {
        "bootstrapping": f"from level {facts['start']}, leaves {facts['levels']} levels, "
        f"{facts['bits']} bits in the worst slot{rounds}, fails {often}; "
        f"{facts['transforms']} levels each way, {sine} the arcsine; through a secret of weight "
        f"{facts['sparse_weight']} modulo 2^{facts['sparse_log_q']:.1f}"
    }
