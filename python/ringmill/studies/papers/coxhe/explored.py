"""Exploring for a comparison: the paper's kernels on its boards, and set II as it is."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

from ringmill._native import Params
from ringmill.compiled import compile_traced
from ringmill.errors import ExploreError
from ringmill.explorer import Exploration, devices, explore, machine_fields
from ringmill.project.design import core_of
from ringmill.studies.papers.coxhe.rows import FIXED, Constraints, kernel

Row = dict[str, Any]

#: Multipliers that serve primes of no special form, as those of set II are.
ANY_PRIME = ["montgomery", "barrett"]


def boards() -> Row:
    """Resources of every stored device by its name."""
    return {name: device["resources"] for name, device in devices().items()}


def _toml(table: Row, title: str = "") -> str:
    """A device as the file that says the same."""
    plain = {k: v for k, v in table.items() if not isinstance(v, dict) and v is not None}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items()]
    inner = [_toml(value, key) for key, value in table.items() if isinstance(value, dict)]
    return "\n".join([*([f"\n[{title}]"] if title else []), *lines, *inner])


def limited(board: str, within: tuple[tuple[str, float], ...]) -> str:
    """The device of a board that has no more than these resources."""
    device = copy.deepcopy(devices()[board])
    device["name"] = f"{board}-limited"
    for name, most in within:
        device["resources"][name] = most
    return _toml(device) + "\n"


def _explored(constraints: Constraints) -> Exploration:
    with tempfile.TemporaryDirectory() as folder:
        device = constraints.board
        if constraints.within:
            file = Path(folder) / "device.toml"
            file.write_text(limited(constraints.board, constraints.within), encoding="utf-8")
            device = str(file)
        return explore(
            kernel(constraints.kernel),
            device,
            max_error=constraints.max_error,
            security=constraints.security,
            seconds=0.0,
            progress="none",
        )


def figures(design: Row) -> Row:
    """What a row of a comparison says of a design."""
    p, h, known = design["parameters"], machine_fields(design), design["predicted"]
    used = {name: figure["value"] for name, figure in known["resources"].items()}
    return {
        "latency_ms": known["latency_ms"]["value"],
        "cycles": known["cycles"]["value"],
        "clock_mhz": known["frequency_mhz"]["value"],
        "clock_origin": known["latency_ms"]["origin"]["source"],
        "error": known["error"]["value"],
        "security": known["security_level"] or 0,
        "security_bits": round(known["security_bits"]["value"], 1),
        "dsp": used.get("dsp"),
        "lut": used.get("lut"),
        "ff": used.get("ff"),
        "bram": used.get("bram36"),
        "uram": used.get("uram"),
        "pintra_or_nbf": h["butterflies"],
        "n": 1 << p["log_n"],
        "primes": [q.bit_length() for q in (*p["q"], *p["p"])],
        "dnum": p["dnum"],
        "multiplier": h["multiplier"],
        "word_bits": h["word_bits"],
        "bus_bits": h["bus_bits"],
    }


def best(constraints: Constraints) -> Row | None:
    """Return our fastest design that keeps the constraints; `None` if no design does."""
    try:
        return figures(_explored(constraints).best)
    except ExploreError as error:
        if error.code == "Infeasible":
            return None
        raise


def fixed(letter: str, board: str) -> Row:
    """Set II on the fastest core of the board that serves its ring and its primes."""
    row = kernel(letter)
    params = Params.named(FIXED)
    space = {"log_n": [params.log_n], "multipliers": ANY_PRIME, "words": [52, 54, 60]}
    found = explore(row, board, max_error=1.0, security=0, space=space, seconds=0.0, progress="none").best
    moduli = max(machine_fields(found)["moduli"], len(params.q) + len(params.p))
    core = core_of(found, moduli=moduli, policy="throughput")
    compiled = compile_traced(row.trace(), params=params)
    cycles = core.image(compiled.plan).first_cycles
    return {
        "latency_ms": cycles / found["predicted"]["frequency_mhz"]["value"] / 1e3,
        "cycles": cycles,
        "error": 2.0 ** max(compiled.predicted_error.values()),
        "security": params.security,
        "start_level": compiled.plan.start_level,
        "pintra_or_nbf": core.butterflies,
        "multiplier": core.multiplier,
        "word_bits": core.word_bits,
    }
