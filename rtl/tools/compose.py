"""Large tops in two parts: their modular multipliers synthesised apart, once, and everything around them.

A multiplier has registers at its outputs and takes operands from registers, so almost nothing is lost or won
at the cut. A core of eight butterflies has 40 equal ones, which need not be synthesised 40 times, nor again
for another tiling. For 45 nm cells memories are left out too, with the pointers inside them: they would
become flip-flops, while a chip has macros.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from rtl.synth.cells import overall

#: What `rm_modmul` is made of, one module a kind: only the ports that the kind uses, so unused constants go.
MULTIPLIERS = ("rm_modmul_p2", "rm_modmul_prf", "rm_modmul_montgomery", "rm_modmul_barrett", "rm_modmul_ntt")
#: Memories of a limb, of twiddle factors, of moduli and their roots, of rows on their way from off chip.
MEMORIES = ("rm_bank_ram", "rm_ntt_twiddle_table", "rm_modulus_table", "rm_mem_row_fifo")

_CELL = re.compile(r"^\s*cell \\(\w+) ")
_MODULE = re.compile(r"^\s*module \\(\w+)$")
_PARAMETER = re.compile(r"^\s*parameter \\(\w+)(?: (.*))?$")

#: Figures that are no counts: of two parts in series of registers, the worse one holds.
_WORST = ("path_ns", "min_period_ns")


class Boxes(NamedTuple):
    """What was left out of a netlist."""

    multipliers: int
    memory_bits: int


def _number(text: str) -> int:
    """A parameter as yosys writes it: `54`, or `1'1`."""
    return int(text.split("'")[1], 2) if "'" in text else int(text)


def _bits(name: str, parameters: dict[str, int]) -> int:
    if name == "rm_ntt_twiddle_table":
        return parameters["Nbf"] * parameters["W"] << parameters["AddrW"]
    if name == "rm_modulus_table":  # q, its constant of two bits more, and sixteen roots of each modulus
        return parameters["Mods"] * (18 * parameters["W"] + 2)
    return parameters["Width"] * parameters["Depth"]


def strip(netlist: str, boxed: tuple[str, ...]) -> tuple[str, Boxes]:
    """Return the netlist with plain black boxes, and what they stand for.

    yosys takes a box with parameters for something still to be elaborated, so they are read off and removed.
    """
    kept, found, current = [], [], None
    for line in netlist.splitlines():
        start = _CELL.match(line) or _MODULE.match(line)
        if start:
            current = None
            if start.group(1) in boxed:
                current = {}
                if _CELL.match(line):
                    found.append((start.group(1), current))
        elif line.strip() == "end":
            current = None
        parameter = _PARAMETER.match(line)
        if current is not None and parameter:
            if parameter.group(2) is not None:
                current[parameter.group(1)] = _number(parameter.group(2))
            continue
        kept.append(line)
    kinds = Counter((name, tuple(sorted(p.items()))) for name, p in found if name in MULTIPLIERS)
    if len(kinds) > 1:
        raise ValueError(f"multipliers of different kinds in one design: {sorted(kinds)}")
    bits = sum(_bits(name, parameters) for name, parameters in found if name in MEMORIES)
    return "\n".join(kept) + "\n", Boxes(sum(kinds.values()), bits)


def box(il: Path, boxed: tuple[str, ...]) -> Boxes:
    """Make the boxes of a netlist in a file plain."""
    text, boxes = strip(il.read_text(), boxed)
    il.write_text(text)
    return boxes


def add(rest: dict[str, Any], multiplier: dict[str, Any], boxes: Boxes) -> dict[str, Any]:
    """Return the figures of the whole from those of its parts; `multiplier` may be empty."""
    # A multiplier that was routed too says more of itself than can be added up.
    multiplier = {name: value for name, value in multiplier.items() if name in rest}
    whole = dict(rest)
    for name, value in multiplier.items():
        if name in _WORST:
            whole[name] = max((v for v in (rest.get(name), value) if v is not None), default=None)
        elif isinstance(value, int):
            whole[name] = rest[name] + boxes.multipliers * value
        elif isinstance(value, float):
            whole[name] = round(rest[name] + boxes.multipliers * value, 1)
    if "overall" in whole:
        luts = int(whole["lut"]) + int(whole["srl"]) + int(whole["lutram"])
        whole["overall"] = overall(luts, int(whole["ff"]), int(whole["dsp"]), float(whole["bram36"]))
    if boxes.multipliers:
        whole["status"] = f"{rest['status']}; multipliers synthesised apart and added"
    whole["parts"] = {
        "multipliers": boxes.multipliers,
        "each": {k: v for k, v in multiplier.items() if k != "status"},
        "rest": {k: v for k, v in rest.items() if k != "status"},
    }
    if boxes.memory_bits:
        whole["memory_bits"] = boxes.memory_bits
        whole["status"] = f"{whole['status']}; memories of {boxes.memory_bits} bits left out"
    return whole
