"""HE program text (docs/he-program.md) of a traced graph."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ringmill.trace.graph import Graph, Node

Table = NDArray[np.complex128]

_PLACES = re.compile(r' @ "(?:[^"\\]|\\.)*":\d+$', re.MULTILINE)


def _number(value: complex) -> str:
    """A finite number as the grammar writes it: real, or (re, im)."""
    if value.imag == 0:
        return repr(value.real)
    return f"({value.real!r}, {value.imag!r})"


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def data_line(name: str, table: Table) -> str:
    """The ``data`` line that defines a named table."""
    if np.all(table.imag == 0):
        return f"data @{name} real [{', '.join(repr(float(x)) for x in table.real)}]"
    pairs = ", ".join(f"({float(z.real)!r}, {float(z.imag)!r})" for z in table)
    return f"data @{name} complex [{pairs}]"


def tables(graph: Graph) -> dict[str, Table]:
    """The vector constants that the program uses, by the names the text gives them."""
    live = [graph.nodes[i] for i in graph.live()]
    vectors = [node.value for node in live if isinstance(node.value, np.ndarray)]
    return {f"c{number}": vector for number, vector in enumerate(vectors)}


def _operands(node: Node, name: dict[int, str]) -> str:
    operands = ", ".join(name[a] for a in node.args)
    if node.op == "rotate":
        return f"{operands}, {node.step}"
    if node.op == "sum":
        return f"{operands}, {node.count}" + (f", {node.step}" if node.step != 1 else "")
    if node.op == "bootstrap" and node.count:
        return f"{operands}, {node.count}"
    if node.table is not None:
        return f"{operands}, {node.table.text}"
    return operands


def _place(node: Node) -> str:
    within = "" if node.within is None else f" within {node.within!r}"
    if node.where is None or node.where.line == 0:
        return within
    file = node.where.file.rsplit("/", 1)[-1]
    return f"{within} @ {_string(file)}:{node.where.line}"


def program_lines(graph: Graph, name: str, *, with_data: bool) -> Iterator[str]:
    """The lines of the program; ``with_data`` makes it stand alone."""
    yield f"he @{name} traced slots {graph.slots}"
    if with_data:
        for table, vector in tables(graph).items():
            yield data_line(table, vector)
    names: dict[int, str] = {}
    vectors = 0
    region = ""
    for number, index in enumerate(graph.live()):
        node = graph.nodes[index]
        names[index] = f"%{number}"
        if node.region != region:
            region = node.region
            yield f"region {_string(region)}"
        if node.op == "input":
            yield f"{names[index]} = input {_string(node.name)}{_place(node)}"
        elif node.op == "const":
            if isinstance(node.value, np.ndarray):
                yield f"{names[index]} = const @c{vectors}{_place(node)}"
                vectors += 1
            else:
                yield f"{names[index]} = const {_number(complex(node.value or 0))}{_place(node)}"
        else:
            yield f"{names[index]} = {node.op} {_operands(node, names)}{_place(node)}"
    for label, index in graph.outputs:
        yield f"output {_string(label)}, {names[index]}"
    yield "end"


def program_text(graph: Graph, name: str, *, with_data: bool = True) -> str:
    """The whole program as text."""
    return "\n".join(program_lines(graph, name, with_data=with_data)) + "\n"


def in_lanes(text: str, lanes: int) -> str:
    """A traced program over ``lanes`` records at once: each has slots of its own in every ciphertext."""
    if lanes == 1:
        return text
    head, line, rest = text.partition("\n")
    return f"{head} lanes {lanes}{line}{rest}"


def without_places(text: str) -> str:
    """A program without the lines of source that it came from: what it computes, wherever it stands."""
    return _PLACES.sub("", text)
