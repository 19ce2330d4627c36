"""What an input of a module can reach: which outputs depend on it, bit by bit, over registers and memories.

The netlist is yosys's, flat, as `write_json` has it. Nothing goes on through cells and nets that are cut.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Netlist = dict[str, Any]
Bit = int

#: Cells whose output bit i depends on bit i of these inputs, and on all other inputs.
_BY_BIT = {
    "$and": "AB",
    "$or": "AB",
    "$xor": "AB",
    "$xnor": "AB",
    "$not": "A",
    "$mux": "AB",
    "$pos": "A",
    "$bwmux": "ABS",
}


def _by_bit(kind: str) -> tuple[str, str]:
    """The inputs that an output depends on by bits, and that output; none of other cells."""
    if "dff" in kind or kind in ("$ff", "$dlatch", "$adlatch"):
        return "D", "Q"
    return _BY_BIT.get(kind, ""), "Y"


def _bits(wires: Iterable[Any]) -> list[Bit]:
    return [wire for wire in wires if isinstance(wire, int)]


def _edges(cell: Netlist) -> Iterator[tuple[Bit, Bit]]:
    ports, ways = cell["connections"], cell["port_directions"]
    names, out = _by_bit(cell["type"])
    inputs = {name: wires for name, wires in ports.items() if ways[name] != "output"}
    outputs = [bit for name, wires in ports.items() if ways[name] != "input" for bit in _bits(wires)]
    for name, wires in inputs.items():
        # An operand of fewer bits is extended by its last one.
        if name in names and names and len(wires) >= len(ports[out]):
            pairs = zip(wires, ports[out], strict=False)
            yield from ((a, b) for a, b in pairs if isinstance(a, int) and isinstance(b, int))
        elif cell["type"] == "$pmux" and name == "B":
            width = len(ports["Y"])
            for i, wire in enumerate(wires):
                if isinstance(wire, int) and isinstance(ports["Y"][i % width], int):
                    yield wire, ports["Y"][i % width]
        elif cell["type"] == "$pmux" and name == "A":
            pairs = zip(wires, ports["Y"], strict=True)
            yield from ((a, b) for a, b in pairs if isinstance(a, int) and isinstance(b, int))
        elif cell["type"] == "$mem_v2" and name == "WR_DATA":
            width = int(cell["parameters"]["WIDTH"], 2)
            for i, wire in enumerate(wires):
                if isinstance(wire, int):
                    yield from ((wire, b) for b in _bits(ports["RD_DATA"][i % width :: width]))
        else:
            yield from ((a, b) for a in _bits(wires) for b in outputs)


def reached(
    module: Netlist,
    start: str,
    cut_cell: Callable[[str], bool] = lambda kind: False,
    cut_nets: Iterable[str] = (),
) -> set[str]:
    """The outputs that depend on an input port, or on a net of this name.

    `cut_cell` says of a type of cell whether it is cut; `cut_nets` are names of nets.
    """
    nexts: dict[Bit, set[Bit]] = defaultdict(set)
    for cell in module["cells"].values():
        if not cut_cell(cell["type"]):
            for a, b in _edges(cell):
                nexts[a].add(b)
    stop = {bit for name in cut_nets for bit in _bits(module["netnames"][name]["bits"])}
    seen = set(_bits(module["netnames"][start]["bits"]))
    left = list(seen)
    while left:
        for bit in nexts[left.pop()]:
            if bit not in seen and bit not in stop:
                seen.add(bit)
                left.append(bit)
    outputs = ((name, port) for name, port in module["ports"].items() if port["direction"] == "output")
    return {name for name, port in outputs if seen & set(_bits(port["bits"]))}
