"""Synthesis of the blocks with open tools: what each point of `block.json` costs, as rows of JSON.

A row holds the point, the tools with their versions, a digest of the sources it was made from, and the
figures of its flow (`rtl.tools.flows`). Points marked `"compose": true` consist of two parts:
`rtl.tools.compose`. Points with `"boxes"` are synthesised without these modules, which their row names. These
get rows too: `rtl.tools.boxes`. `added` gives the figures of all. `"zero"` names inputs of a box that are 0
wherever it stands, which a synthesis of the box alone cannot see.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import Lock

from rtl.synth.cells import overall
from rtl.tools import boxes, compose
from rtl.tools.block import ROOT, RTL, BlockError, expand, load, names, sources
from rtl.tools.flows import FLOWS, Row, versions, yosys

__all__ = ["DATA", "Point", "added", "code", "overall", "points", "run", "shares", "table"]

DATA = RTL / "synth" / "data"

_MERGING = Lock()

#: The top whose rows stand for a multiplier, which is one module a kind, and its parameters.
_MULTIPLIER, _OF_MULTIPLIER, _NTT_MULTIPLIER = "rm_modmul", ("Kind", "W", "Tile"), "rm_modmul_ntt"


@dataclass(frozen=True)
class Point:
    """One synthesis: a top of a block at given parameters through one flow."""

    block: str
    top: str
    params: dict[str, str]
    flow: str
    compose: bool = False
    boxes: tuple[str, ...] = ()
    zero: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def zeros(self) -> tuple[str, ...]:
        """The inputs of the top that are 0 wherever it stands."""
        return dict(self.zero).get(self.top, ())

    @property
    def label(self) -> str:
        """For a person, and for looking a row up."""
        parameters = " ".join(f"{k}={v}" for k, v in self.params.items())
        how = " composed" if self.compose else " boxed" if self.boxes else ""
        return f"{self.block}/{self.top} {self.flow} {parameters}{how}"


def points(chosen: list[str], flows: list[str]) -> list[Point]:
    """Every point of the `synth` entries of the chosen blocks, narrowed to `flows` when given."""
    return [
        Point(
            block,
            str(one["top"]),
            params,
            flow,
            bool(one.get("compose", False)),
            tuple(one.get("boxes", [])),
            tuple((top, tuple(inputs)) for top, inputs in one.get("zero", {}).items()),
        )
        for block in chosen or names()
        for one in load(block).synth
        for _, params in expand(one.get("each", {}), one.get("params", {}))
        for flow in one.get("flows", ["xc7"])
        if not flows or flow in flows
    ]


@cache
def digest(block: str) -> str:
    """Of the sources that a block is made from: rows of another digest are of an older state.

    Comments and white space have no part in it.
    """
    state = hashlib.sha256()
    for file in sources(load(block))[0]:
        state.update(code(file.read_text("utf-8")).encode())
    return state.hexdigest()[:12]


def code(source: str) -> str:
    """SystemVerilog with comments and white space as single spaces; strings stay as they are."""
    runs = r'("(?:\\.|[^"\\])*")|(?://[^\n]*|/\*.*?\*/|\s)+'
    return re.sub(runs, lambda run: run[1] or " ", source, flags=re.DOTALL).strip()


def _read(point: Point, boxed: tuple[str, ...] = ()) -> str:
    files, _ = sources(load(point.block))
    generics = "".join(f" -G {key}={value}" for key, value in point.params.items())
    boxes = "".join(f" --blackboxed-module {name}" for name in boxed)
    return f"read_slang{boxes} --top {point.top}{generics} " + " ".join(map(str, files))


def _flat(point: Point, seeds: tuple[int, ...]) -> Row:
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as where:
        return FLOWS[point.flow](_read(point), point.top, Path(where), seeds)


def _boxed(point: Point) -> Row:
    """A top without its boxes, and which these are."""
    files, _ = sources(load(point.block))
    of_module = {file.stem: file for file in files}
    missing = [name for name in point.boxes if name not in of_module]
    if missing:
        raise BlockError(f"rtl/{point.block}/block.json: {point.top} has boxes without a source: {missing}")
    top = point.top + "".join(f" -G {key}={value}" for key, value in point.params.items())
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
        where = Path(name)
        boxed = {module: of_module[module] for module in point.boxes if module != point.top}
        read, found = boxes.take_apart(" ".join(map(str, files)), top, boxed, where, yosys)
        for port in point.zeros:
            read += f"\ncd {point.top}\ndelete -port w:{port}\nsetundef -undriven -zero\ncd"
        row = FLOWS[point.flow](read, point.top, where, ())
    row["status"] = f"{row['status']}; boxes left out"
    if point.zeros:
        row["zero"] = list(point.zeros)
    return row | {
        "boxes": [{"top": box.module, "params": dict(box.params), "count": box.count} for box in found]
    }


@cache
def _owner(module: str) -> str:
    """The block that has the source of a module."""
    return next(name for name in names() if module in {file.stem for file in load(name).sources})


def _inside(point: Point, row: Row) -> list[Point]:
    """The boxes of a point as points of the blocks that have them; multipliers are those of `modmul`."""
    found = []
    for box in row.get("boxes", []):
        params = {name: str(value) for name, value in box["params"].items()}
        if box["top"] == _NTT_MULTIPLIER:
            params = {name: params[name] for name in _OF_MULTIPLIER}
            found.append(Point("modmul", _MULTIPLIER, params, point.flow))
        else:
            block = _owner(box["top"])
            there = {file.stem for file in sources(load(block))[0]}
            inner = tuple(name for name in point.boxes if name in there)
            found.append(replace(point, block=block, top=box["top"], params=params, boxes=inner))
    return found


def _parameter(point: Point, name: str) -> str:
    for given, value in point.params.items():
        if given.lower() == name.lower():
            return value
    raise BlockError(f"rtl/{point.block}/block.json: {point.top} is composed and does not say {name}")


@dataclass
class _Run:
    """What the points of one run share: parts that were made once."""

    rests: dict[str, tuple[Row, compose.Boxes]]

    def rest(self, point: Point) -> tuple[Row, compose.Boxes]:
        """A top without its multipliers, which is the same for every tiling."""
        params = {k: v for k, v in point.params.items() if k.lower() != "tile"}
        key = json.dumps([point.top, point.flow, params])
        if key not in self.rests:
            boxed = compose.MULTIPLIERS + (compose.MEMORIES if point.flow == "asic45" else ())
            with tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
                where = Path(name)
                yosys(f"{_read(point, boxed)}\nwrite_rtlil boxed.il\n", where, "read")
                boxes = compose.box(where / "boxed.il", boxed)
                self.rests[key] = FLOWS[point.flow]("read_rtlil boxed.il", point.top, where, ()), boxes
        return self.rests[key]

    def figures(self, point: Point, seeds: tuple[int, ...]) -> Row:
        """The figures of a point, by the way that it asks for; only the whole can be routed."""
        if point.boxes:
            return _boxed(point)
        if seeds or not point.compose:
            return _flat(point, seeds)
        rest, boxes = self.rest(point)
        return compose.add(rest, self.multiplier(point) if boxes.multipliers else {}, boxes)

    def multiplier(self, point: Point) -> Row:
        """One multiplier of a point, stored or made and stored."""
        params = {name: _parameter(point, name) for name in ("Kind", "W", "Tile")}
        apart = Point("modmul", "rm_modmul", params, point.flow)
        figures = _stored(apart)
        if figures is None:
            figures = _flat(apart, ())
            _merge(apart, figures)
        return figures


def run(
    chosen: list[str],
    flows: list[str],
    seeds: tuple[int, ...] = (),
    jobs: int = 1,
    want: str = "",
    missing: bool = False,
) -> int:
    """Synthesise and merge the rows into rtl/synth/data/BLOCK.json; return how many points failed.

    `missing` leaves out points whose row is there, made from the sources as they are.
    """
    work = [point for point in points(chosen, flows) if re.search(want, point.label)]
    if missing:
        work = [point for point in work if not _done(point, seeds)]
    (ROOT / "build").mkdir(exist_ok=True)
    for point in work:
        digest(point.block)  # of the sources as they are when they are read, not when the last point is done
    shared = _Run({})

    def one(point: Point) -> bool:
        try:
            row = shared.figures(point, seeds if point.flow == "ecp5" else ())
        except RuntimeError as error:
            print(f"FAIL {point.label}\n{error}", flush=True)
            return False
        hidden = ("status", "parts", "boxes", "zero")
        print(
            f"{point.label}: " + " ".join(f"{k}={v}" for k, v in row.items() if k not in hidden), flush=True
        )
        _merge(point, row)
        inside = _inside(point, row)
        return all(one(box) for box in inside if not _done(box, ()))

    with ThreadPoolExecutor(jobs) as pool:
        return sum(not done for done in pool.map(one, work))


def _rows(block: str) -> list[Row]:
    file = DATA / f"{block}.json"
    return json.loads(file.read_text()) if file.is_file() else []


def _whole(point: Point) -> Row:
    return {
        "top": point.top,
        "flow": point.flow,
        "params": {k: int(v) if v.isdigit() else v for k, v in point.params.items()},
    }


def _key(row: Row) -> str:
    return json.dumps(
        [row["top"], row["flow"], row["params"], "parts" in row, "boxes" in row], sort_keys=True
    )


def _beside(row: Row, rows: list[Row]) -> list[Row]:
    """The rows that stay when one comes: not its own, nor of older sources one that was made otherwise.

    What was placed and routed, in an hour, stays until it is routed again.
    """

    def stays(old: Row) -> bool:
        if any(old[name] != row[name] for name in ("top", "flow", "params")):
            return True
        if "seeds" in old and "seeds" not in row:
            return True
        return _key(old) != _key(row) and old.get("sources") == row["sources"]

    return [old for old in rows if stays(old)]


def _stored(point: Point) -> Row | None:
    """The figures of a point as they were stored, if the sources are still the same."""
    wanted = _whole(point) | {"sources": digest(point.block)}
    for row in _rows(point.block):
        same = all(row.get(name) == value for name, value in wanted.items())
        if same and ("parts" in row, "boxes" in row) == (point.compose, bool(point.boxes)):
            return {k: v for k, v in row.items() if k not in (*wanted, "tools")}
    return None


def _done(point: Point, seeds: tuple[int, ...]) -> bool:
    """Whether a point's row is there, with every seed that is asked for."""
    if not seeds or point.flow != "ecp5":
        return _stored(point) is not None
    row = _stored(replace(point, compose=False))
    return row is not None and {str(seed) for seed in seeds} <= set(row.get("seeds", {}))


def _merge(point: Point, figures: Row) -> None:
    row = _whole(point) | {"tools": versions(), "sources": digest(point.block)} | figures
    file = DATA / f"{point.block}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    with _MERGING:
        rows = sorted([*_beside(row, _rows(point.block)), row], key=_key)
        file.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")


#: What `added` adds up.
_COUNTS = ("lut", "srl", "lutram", "ff", "dsp", "bram36")


def shares(top: str, params: dict[str, int], flow: str = "xcup") -> list[Row]:
    """The counts of what a top consists of: itself without its boxes, then each box as often as it is there.

    `params` may say more than a row does, which then holds for them all. Where no row is of the sources as
    they are, one of older sources stands in, which docs/area.md marks.

    Raises
    ------
        LookupError: a part that was not synthesised.
    """
    if top == _NTT_MULTIPLIER:
        top, params = _MULTIPLIER, {name: params[name] for name in _OF_MULTIPLIER}
    row = _row_of(top, params, flow)
    found = [{"top": top, "count": 1, **{name: row[name] for name in _COUNTS}}]
    for part in row.get("boxes", []):
        one, count = added(part["top"], part["params"], flow), part["count"]
        counts = {name: count * one[name] for name in _COUNTS}
        found.append({"top": part["top"], "params": part["params"], "count": count, **counts})
    return found


def added(top: str, params: dict[str, int], flow: str = "xcup") -> Row:
    """The counts of a top with all of its boxes: the sum of its shares."""
    parts = shares(top, params, flow)
    return {name: sum(part[name] for part in parts) for name in _COUNTS}


def _row_of(top: str, params: dict[str, int], flow: str) -> Row:
    """The row of a top that says most of these parameters, and nothing else: of present sources if any is."""
    found = [
        (row.get("sources") == digest(block), row)
        for block in names()
        for row in _rows(block)
        if (row["top"], row["flow"]) == (top, flow) and row["params"].items() <= params.items()
    ]
    if not found:
        raise LookupError(f"no row of {top} with {params} for {flow}")
    _, best = max(found, key=lambda of: (of[0], len(of[1]["params"]), "boxes" in of[1]))
    return best


def table(chosen: list[str]) -> None:
    """Print the stored rows, the smallest of each flow first."""
    for block in chosen or [file.stem for file in sorted(DATA.glob("*.json"))]:
        rows = _rows(block)
        rows.sort(key=lambda r: (r["flow"], r["top"], r.get("overall", r.get("area_um2", r.get("lut", 0)))))
        for row in rows:
            point = " ".join(f"{key}={value}" for key, value in row["params"].items())
            hidden = ("flow", "top", "params", "tools", "status", "parts", "boxes", "zero", "sources")
            figures = " ".join(f"{k}={v}" for k, v in row.items() if k not in hidden and v not in (0, None))
            notes = [word for word, name in (("composed", "parts"), ("boxed", "boxes")) if name in row]
            notes += ["of older sources"] if row.get("sources") != digest(block) else []
            print(
                f"{row['flow']:<6} {row['top']} {point:<24} {figures}"
                + (f"  ({', '.join(notes)})" if notes else "")
            )
