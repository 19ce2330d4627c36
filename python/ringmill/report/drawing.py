"""An HE program drawn as inline SVG: from its text, with repeated work folded together.

Thirty products that feed one sum are one box "multiply × 30", and the additions of a sum are one box. Data
flows downwards; the regions of the kernel are bands. Constants are not boxes: an operation that has a
plaintext operand says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from html import escape

_LINE = re.compile(r"^%(\w+) = (\w+)(?: (.*?))?(?: : (\w+).*?)?(?:\s*@ \"(?:[^\"\\]|\\.)*\":\d+)?$")
_OUTPUT = re.compile(r'^output "([^"]*)", %(\w+)')

_TITLES = {
    "input": "encrypted input",
    "add": "add",
    "sub": "subtract",
    "neg": "negate",
    "mul": "multiply",
    "square": "square",
    "rotate": "rotate",
    "conj": "conjugate",
    "sum": "sum slots",
    "lookup": "look up",
    "output": "result",
}


@dataclass
class _Value:
    """One operation of the program."""

    op: str
    args: list[str]
    plain: bool
    region: str
    note: str = ""


@dataclass
class _Box:
    """Operations folded together."""

    op: str
    plain: bool
    region: str
    count: int = 1
    note: str = ""
    sources: set[int] = field(default_factory=set)
    layer: int = 0
    x: float = 0.0


def read(text: str) -> dict[str, _Value]:
    """Operations of a traced program by name, constants left out; outputs are values too."""
    values: dict[str, _Value] = {}
    constants: set[str] = set()
    region = ""
    for line in text.splitlines():
        if line.startswith("region "):
            region = line[8:-1]
        elif match := _OUTPUT.match(line):
            values[f"output {match[1]}"] = _Value("output", [match[2]], False, "", match[1])
        elif match := _LINE.match(line):
            name, op, rest = match[1], match[2], match[3] or ""
            if op in ("const", "plain"):
                constants.add(name)
                continue
            operands = re.findall(r"%(\w+)", rest)
            args = [a for a in operands if a not in constants]
            number = re.search(r", (-?\d+)", rest)
            note = f"by {number[1]}" if op == "rotate" and number else ""
            note = f"{number[1]} terms" if op == "sum" and number else note
            note = f"in {number[1]} iterations" if op == "bootstrap" and number else note
            note = f"in {rest.count(',') - 1} entries" if op == "lookup" else note
            values[name] = _Value(op, args, len(args) < len(operands), region, note)
    return values


def fold(values: dict[str, _Value]) -> list[_Box]:
    """Boxes of operations that play the same part: chains of additions, then equal users and kind."""
    users: dict[str, list[str]] = defaultdict(list)
    for name, value in values.items():
        for arg in value.args:
            users[arg].append(name)
    group: dict[str, tuple[object, ...]] = {}
    for name in reversed(values):
        value = values[name]
        consumers = users[name]
        only = values[consumers[0]] if len(consumers) == 1 else None
        chained = only is not None and value.op == only.op == "add" and not value.plain and not only.plain
        if chained and only is not None and only.region == value.region:
            group[name] = group[consumers[0]]
        else:
            targets = tuple(sorted({str(group[user]) for user in consumers}))
            group[name] = (value.op, value.plain, value.region, value.note, targets)
    numbers: dict[tuple[object, ...], int] = {}
    boxes: list[_Box] = []
    for name, value in values.items():
        key = group[name]
        if key not in numbers:
            numbers[key] = len(boxes)
            boxes.append(_Box(value.op, value.plain, value.region, 0, value.note))
        box = boxes[numbers[key]]
        box.count += 1
        box.sources |= {numbers[group[arg]] for arg in value.args if group[arg] != key}
    return _merged(boxes)


def _merged(boxes: list[_Box]) -> list[_Box]:
    """Boxes that do the same to the same operands are one: the plaintext multiples of one power, say.

    Two boxes with equal sources never feed each other, so no cycle appears.
    """
    kept: dict[tuple[object, ...], int] = {}
    target: dict[int, int] = {}
    out: list[_Box] = []
    # Sources first: a chain of additions is numbered by its first one, before its last operands.
    for number in (n for row in _layers(boxes) for n in row):
        box = boxes[number]
        sources = {target[s] for s in box.sources}
        own = -1 if sources else number
        key = (box.op, box.plain, box.region, box.note, frozenset(sources), own)
        if key not in kept:
            kept[key] = len(out)
            out.append(_Box(box.op, box.plain, box.region, 0, box.note, sources))
        target[number] = kept[key]
        out[kept[key]].count += box.count
    return out


def _layers(boxes: list[_Box]) -> list[list[int]]:
    """Longest path from the inputs; a region starts below the one before it where data allows."""
    for _ in boxes:
        changed = False
        for box in boxes:
            layer = max((boxes[s].layer + 1 for s in box.sources), default=0)
            changed |= layer != box.layer
            box.layer = layer
        if not changed:
            break
    rows: list[list[int]] = [[] for _ in range(1 + max(box.layer for box in boxes))]
    for number, box in enumerate(boxes):
        rows[box.layer].append(number)
    return rows


_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 152, 40, 18, 34, 12


def _place(boxes: list[_Box], rows: list[list[int]]) -> float:
    """Centre every row and order it by its sources; returns the drawing's width."""
    width = max(len(row) for row in rows) * (_WIDTH + _GAP_X) - _GAP_X
    for row in rows:
        row.sort(key=lambda n: sum(boxes[s].x for s in boxes[n].sources) / max(1, len(boxes[n].sources)))
        start = (width - len(row) * (_WIDTH + _GAP_X) + _GAP_X) / 2
        for at, number in enumerate(row):
            boxes[number].x = start + at * (_WIDTH + _GAP_X) + _WIDTH / 2
    return width + 2 * _MARGIN


def _top(layer: int) -> float:
    return _MARGIN + 18 + layer * (_HEIGHT + _GAP_Y)


def _box_svg(box: _Box) -> str:
    x, y = box.x + _MARGIN - _WIDTH / 2, _top(box.layer)
    title = _TITLES.get(box.op, box.op) + (" × plaintext" if box.plain and box.op == "mul" else "")
    title = title + (" a constant" if box.plain and box.op in ("add", "sub") else "")
    note = f"× {box.count}" if box.count > 1 and box.op != "add" else box.note
    if box.op == "add" and box.count > 1:
        note = f"{box.count + 1} terms"
    shift = 0 if note else 5
    lines = [f'<text x="{x + _WIDTH / 2:.1f}" y="{y + 17 + shift:.1f}" class="op">{escape(title)}</text>']
    if note:
        lines.append(f'<text x="{x + _WIDTH / 2:.1f}" y="{y + 31:.1f}" class="note">{escape(note)}</text>')
    rect = f'<rect x="{x:.1f}" y="{y:.1f}" width="{_WIDTH}" height="{_HEIGHT}" rx="9"/>'
    return f'<g class="box {box.op}">{rect}{"".join(lines)}</g>'


def _edge_svg(start: _Box, end: _Box) -> str:
    x1, y1 = start.x + _MARGIN, _top(start.layer) + _HEIGHT
    x2, y2 = end.x + _MARGIN, _top(end.layer) - 2
    # Edges over several layers bow outwards, so that they pass beside the boxes between.
    bow = 0.0 if end.layer - start.layer == 1 else (_WIDTH * 0.62 if x1 >= x2 else -_WIDTH * 0.62)
    middle = (y2 - y1) * 0.5
    heavy = " heavy" if start.count > 1 and end.count > 1 and start.op != "add" else ""
    points = ((x1, y1), (x1 + bow, y1 + middle), (x2 + bow, y2 - middle), (x2, y2))
    first, *bends = (f"{x:.1f} {y:.1f}" for x, y in points)
    curve = f"M{first} C{' '.join(bends)}"
    return f'<path class="edge{heavy}" d="{curve}" marker-end="url(#arrow)"/>'


def _bands(boxes: list[_Box], rows: list[list[int]], width: float) -> list[str]:
    """Background of each run of layers that belongs to one region."""
    named = [next((boxes[n].region for n in row if boxes[n].region), "") for row in rows]
    out, start = [], 0
    for layer in range(1, len(rows) + 1):
        if layer < len(rows) and named[layer] == named[start]:
            continue
        if named[start]:
            y = _top(start) - 20
            height = (layer - start) * (_HEIGHT + _GAP_Y) - 6
            out.append(
                f'<g class="band"><rect x="3" y="{y:.1f}" width="{width - 6:.1f}" '
                f'height="{height:.1f}" rx="12"/>'
                f'<text x="14" y="{y + 15:.1f}">{escape(named[start])}</text></g>'
            )
        start = layer
    return out


def program_svg(text: str, title: str) -> str:
    """The drawing of a traced program."""
    boxes = fold(read(text))
    rows = _layers(boxes)
    width = max(_place(boxes, rows), 240)
    height = _top(len(rows)) - _GAP_Y + _MARGIN
    parts = _bands(boxes, rows, width)
    parts += [_edge_svg(boxes[s], box) for box in boxes for s in sorted(box.sources)]
    parts += [_box_svg(box) for box in boxes]
    opening = (
        f'<svg class="program" role="img" aria-label="{escape(title)}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:{width:.0f}px">'
    )
    return opening + "".join(parts) + "</svg>"
