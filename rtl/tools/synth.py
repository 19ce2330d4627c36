"""Synthesis of the blocks with open tools: what each point of `block.json` costs, as rows of JSON.

A row holds the point, the tools with their versions, a digest of the sources it was made from, and the
figures of its flow (`rtl.tools.flows`). Points marked `"compose": true` consist of two parts:
`rtl.tools.compose`.
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
from rtl.tools import compose
from rtl.tools.block import ROOT, RTL, BlockError, expand, load, names, sources
from rtl.tools.flows import FLOWS, Row, versions, yosys

__all__ = ["DATA", "Point", "code", "overall", "points", "run", "table"]

DATA = RTL / "synth" / "data"

_MERGING = Lock()


@dataclass(frozen=True)
class Point:
    """One synthesis: a top of a block at given parameters through one flow."""

    block: str
    top: str
    params: dict[str, str]
    flow: str
    compose: bool = False

    @property
    def label(self) -> str:
        """For a person, and for looking a row up."""
        parameters = " ".join(f"{k}={v}" for k, v in self.params.items())
        return f"{self.block}/{self.top} {self.flow} {parameters}" + (" composed" if self.compose else "")


def points(chosen: list[str], flows: list[str]) -> list[Point]:
    """Every point of the `synth` entries of the chosen blocks, narrowed to `flows` when given."""
    return [
        Point(block, str(one["top"]), params, flow, bool(one.get("compose", False)))
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
        hidden = ("status", "parts")
        print(
            f"{point.label}: " + " ".join(f"{k}={v}" for k, v in row.items() if k not in hidden), flush=True
        )
        _merge(point, row)
        return True

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
    return json.dumps([row["top"], row["flow"], row["params"], "parts" in row], sort_keys=True)


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
        if same and ("parts" in row) == point.compose:
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


def table(chosen: list[str]) -> None:
    """Print the stored rows, the smallest of each flow first."""
    for block in chosen or [file.stem for file in sorted(DATA.glob("*.json"))]:
        rows = _rows(block)
        rows.sort(key=lambda r: (r["flow"], r["top"], r.get("overall", r.get("area_um2", r.get("lut", 0)))))
        for row in rows:
            point = " ".join(f"{key}={value}" for key, value in row["params"].items())
            hidden = ("flow", "top", "params", "tools", "status", "parts", "sources")
            figures = " ".join(f"{k}={v}" for k, v in row.items() if k not in hidden and v not in (0, None))
            notes = [word for word in ("composed",) if "parts" in row]
            notes += ["of older sources"] if row.get("sources") != digest(block) else []
            print(
                f"{row['flow']:<6} {row['top']} {point:<24} {figures}"
                + (f"  ({', '.join(notes)})" if notes else "")
            )
