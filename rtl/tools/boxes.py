"""A top without modules that are synthesised apart, whose figures are added to those of what is left.

Each module is left out with its ports as they are at its parameters. So one top may have boxes of several
widths, and boxes may have boxes: an engine is its control, limbs and samplers; a limb is its sums and its
multipliers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

_CELL = re.compile(r"^  cell \\(\w+) (.*)$")
_PARAMETER = re.compile(r"^ *parameter \\(\w+)(?: (.*))?$")
_DECLARED = re.compile(r"^\s*parameter\s[^=;]*?(\w+)\s*=", re.MULTILINE)


class Box(NamedTuple):
    """A module that was left out, at the parameters that it declares, and how often it is there."""

    module: str
    params: tuple[tuple[str, int], ...]
    count: int

    def name(self, number: int) -> str:
        """What the module at these parameters is called in the netlist."""
        return f"{self.module}__{number}"


def declared(source: str) -> list[str]:
    """The parameters of a module's text, without those that follow from others."""
    return _DECLARED.findall(source)


def _number(text: str) -> int:
    """A parameter as yosys writes it: `54`, or `1'1`."""
    return int(text.split("'")[1], 2) if "'" in text else int(text)


def _sections(netlist: str) -> Iterable[list[str]]:
    """A netlist cut before each cell and module, with the attributes that precede it, and after `end`."""
    section: list[str] = []
    held: list[str] = []
    for line in netlist.splitlines():
        if line.lstrip().startswith("attribute "):
            held.append(line)
            continue
        if _CELL.match(line) or line.startswith("module "):
            yield section
            section = []
        section += [*held, line]
        held = []
        if line.strip() == "end":
            yield section
            section = []
    yield section


def strip(netlist: str, boxed: dict[str, list[str]]) -> tuple[str, list[Box]]:
    """Return the netlist with boxed modules under names of their own, without parameters; and these boxes.

    `boxed` has the declared parameters of each module.
    """
    kept: list[str] = []
    count: Counter[tuple[str, tuple[tuple[str, int], ...]]] = Counter()
    numbers: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}
    inside = False  # the definition of a box
    for section in _sections(netlist):
        head = next((line for line in section if not line.lstrip().startswith("attribute ")), "")
        if head.startswith("module "):
            inside = head.split()[1].lstrip("\\") in boxed
        cell = _CELL.match(head)
        if inside:
            inside = "end" not in section
        elif cell and cell[1] in boxed:
            found = [match for line in section if (match := _PARAMETER.match(line))]
            values = {match[1]: _number(match[2]) for match in found if match[1] in boxed[cell[1]]}
            which = cell[1], tuple(sorted(values.items()))
            number = numbers.setdefault(which, len(numbers))
            count[which] += 1
            name = Box(*which, 0).name(number)
            kept += [
                f"  cell \\{name} {cell[2]}" if line == head else line
                for line in section
                if not _PARAMETER.match(line)
            ]
        else:
            kept += section
    return "\n".join(kept) + "\n", [Box(*which, count[which]) for which in numbers]


def stub(box: Box, number: int, read: str) -> str:
    """A script that makes the ports of a box a netlist; `read` reads the sources, without a top."""
    generics = "".join(f" -G {name}={value}" for name, value in box.params)
    name = box.name(number)
    return (
        f"{read} --top {box.module}{generics}\nblackbox \\{box.module}\n"
        f"rename \\{box.module} {name}\nwrite_rtlil {name}.il\n"
    )


def plain(netlist: str) -> str:
    """A stub without the parameters that its ports have been made of."""
    return "\n".join(line for line in netlist.splitlines() if not _PARAMETER.match(line)) + "\n"


def take_apart(
    read: str, top: str, boxed: dict[str, Path], where: Path, yosys: Callable[[str, Path, str], None]
) -> tuple[str, list[Box]]:
    """Return what reads a top without its boxes, and these; `read` names sources, `top` has its parameters.

    `boxed` has the source of each module. Files stand in `where`.
    """

    def without(one: str = "") -> str:
        left_out = "".join(f" --blackboxed-module {name}" for name in boxed if name != one)
        return f"read_slang{left_out} {read}"

    yosys(f"{without()} --top {top}\nwrite_rtlil boxed.il\n", where, "read")
    file = where / "boxed.il"
    text, boxes = strip(
        file.read_text(), {name: declared(source.read_text("utf-8")) for name, source in boxed.items()}
    )
    file.write_text(text)
    for number, box in enumerate(boxes):
        yosys(stub(box, number, without(box.module)), where, box.name(number))
        made = where / f"{box.name(number)}.il"
        made.write_text(plain(made.read_text()))
    names = ["boxed.il", *(f"{box.name(number)}.il" for number, box in enumerate(boxes))]
    return "\n".join(f"read_rtlil {name}" for name in names), boxes
