"""An HE program interpreter that shares no code with the tracer: text in, NumPy slots out.

Written from docs/he-program.md alone. Slow and plain on purpose.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

_DEFINITION = re.compile(r"^%(\w+) = (\w+) ?(.*)$")
_PLACE = re.compile(r'\s*@ "(?:[^"\\]|\\.)*":\d+$')


def _table(body: str, slots: int) -> np.ndarray[Any, Any]:
    values = ast.literal_eval(body)
    numbers = [complex(*v) if isinstance(v, tuple) else complex(v) for v in values]
    assert len(numbers) == slots, f"a table of {len(numbers)} numbers in {slots} slots"
    return np.array(numbers)


def _constant(text: str, tables: dict[str, Any], slots: int) -> np.ndarray[Any, Any]:
    if text.startswith("@"):
        return tables[text[1:]]
    if text.startswith("["):
        return _table(text, slots)
    value = ast.literal_eval(text)
    return np.full(slots, complex(*value) if isinstance(value, tuple) else complex(value))


def interpret(text: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """Run a traced program on slot vectors; returns slot vectors by output name.

    Promises (``within``) are held against every slot.
    """
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    header = re.fullmatch(r"he @[A-Za-z_][\w.]* traced slots (\d+)(?: lanes (\d+))?", lines[0])
    assert header
    if header[2]:
        return _lane_by_lane(text, inputs, int(header[2]))
    assert lines[-1] == "end"
    slots = int(header[1])
    assert slots & (slots - 1) == 0
    tables: dict[str, Any] = {}
    values: dict[str, Any] = {}
    plain: set[str] = set()
    outputs: dict[str, Any] = {}
    for line in lines[1:-1]:
        if line.startswith("region "):
            continue
        if line.startswith("data "):
            match = re.fullmatch(r"data @(\w+) (real|complex) (\[.*\])", line)
            assert match
            tables[match[1]] = _table(match[3], slots)
            continue
        line, _, within = _PLACE.sub("", line).partition(" within ")
        if line.startswith("output "):
            match = re.fullmatch(r'output "([^"]*)", %(\w+)', line)
            assert match
            assert match[2] not in plain
            assert match[1] not in outputs
            outputs[match[1]] = values[match[2]]
            continue
        match = _DEFINITION.match(line)
        assert match, line
        target, op, rest = match.groups()
        assert target not in values, f"%{target} defined twice"
        if op == "input":
            values[target] = np.asarray(inputs[ast.literal_eval(rest)], dtype=complex)
            assert values[target].shape == (slots,)
        elif op == "const":
            values[target] = _constant(rest, tables, slots)
            plain.add(target)
        elif op == "lookup":
            match = re.fullmatch(r"%(\w+), (\[.*\]), (-?\d+)(?:, [\d.e-]+)?", rest)
            assert match
            entries = np.array(ast.literal_eval(match[2]))
            numbers = np.rint(values[match[1]].real).astype(int)
            values[target] = entries[(numbers - int(match[3])) % len(entries)].astype(complex)
        else:
            names = re.findall(r"%(\w+)", rest)
            numbers = [int(n) for n in re.findall(r"(?<![%\w])-?\d+", rest)]
            assert any(n not in plain for n in names), f"{op} of plaintexts: {line}"
            values[target] = _apply(op, [values[n] for n in names], numbers, slots)
        if within:
            largest = np.max(np.abs(values[target]))
            assert largest <= float(within) * (1 + 1e-9), f"{largest} breaks {line} within {within}"
    return outputs


def _lane_by_lane(text: str, inputs: dict[str, Any], lanes: int) -> dict[str, Any]:
    """Each record alone: slot i of record b stands in slot i·lanes + b."""
    one = text.replace(f" lanes {lanes}\n", "\n", 1)
    runs = [interpret(one, {name: slots[b::lanes] for name, slots in inputs.items()}) for b in range(lanes)]
    return {name: np.stack([run[name] for run in runs], axis=1).ravel() for name in runs[0]}


def _apply(op: str, args: list[Any], numbers: list[int], slots: int) -> Any:
    if op == "add":
        return args[0] + args[1]
    if op == "sub":
        return args[0] - args[1]
    if op == "mul":
        return args[0] * args[1]
    if op == "square":
        return args[0] * args[0]
    if op == "neg":
        return -args[0]
    if op == "conj":
        return args[0].conj()
    if op == "rotate":
        return np.roll(args[0], -numbers[0])
    assert op == "sum", op
    count, stride = numbers[0], (numbers[1] if len(numbers) > 1 else 1)
    assert 1 <= count <= slots
    assert stride != 0
    i = np.arange(slots)
    return sum(args[0][(i + j * stride) % slots] for j in range(count))
