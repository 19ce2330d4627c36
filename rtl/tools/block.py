"""Reading `block.json`: what a block consists of, what it needs, and how it is tested."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "rtl"

_BLOCK_KEYS = {"about", "needs", "sources", "waivers", "lint", "tests", "formal", "synth"}
_TEST_KEYS = {
    "name",
    "top",
    "files",
    "harness",
    "params",
    "each",
    "run",
    "full",
    "verilator",
    "cflags",
    "long",
    "why",
}


def declared() -> list[dict[str, Any]]:
    """The parameters of the core as they are declared (`core/parameters.json`), the top's in its order."""
    read = json.loads((RTL / "core" / "parameters.json").read_text("utf-8"))
    found: list[dict[str, Any]] = read["parameters"]
    return found


class BlockError(Exception):
    """A block.json that says something impossible; names file and key."""


@dataclass(frozen=True)
class Test:
    """One simulator: a top module at given parameters with a C++ harness, and the runs made with it."""

    block: str
    name: str
    top: str
    harness: tuple[Path, ...]
    files: tuple[Path, ...]  # SystemVerilog beyond the sources of the block and its needs
    params: dict[str, str]
    run: tuple[tuple[str, ...], ...]  # arguments of each run of `make test`; none: only in test-full
    full: tuple[tuple[str, ...], ...]  # arguments of each run of `make test-full`
    verilator: tuple[str, ...]
    cflags: tuple[str, ...] = ()  # of the C++ compiler, after those of all tests

    @property
    def label(self) -> str:
        """block/name, as printed and as given on the command line."""
        return f"{self.block}/{self.name}"


@dataclass(frozen=True)
class Block:
    """A folder below rtl/ with a block.json."""

    name: str
    needs: tuple[str, ...]
    sources: tuple[Path, ...]
    waivers: tuple[Path, ...]
    lint: tuple[dict[str, object], ...]
    tests: tuple[Test, ...]
    formal: tuple[Path, ...]
    synth: tuple[dict[str, object], ...] = field(default=())


def _known(where: Path, got: dict[str, object], known: set[str]) -> None:
    for key in got:
        if key not in known:
            raise BlockError(f"{where}: unknown key {key!r}; known: {', '.join(sorted(known))}")


def _path(folder: Path, name: str) -> Path:
    path = (folder / name).resolve()
    if not path.is_file():
        raise BlockError(f"{folder / 'block.json'}: no file {name}")
    return path


def expand(each: dict[str, list[object]], params: dict[str, object]) -> list[tuple[str, dict[str, str]]]:
    """Return (suffix of the name, parameters) for every combination of `each`."""
    points = []
    for values in itertools.product(*each.values()):
        chosen = dict(zip(each, values, strict=True))
        suffix = "".join(f"_{key.lower()}{value}" for key, value in chosen.items())
        points.append((suffix, {k: str(v) for k, v in (params | chosen).items()}))
    return points


def _runs(spec: dict[str, object], key: str, default: list[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(str(line).split()) for line in spec.get(key, default))


def _tests(folder: Path, spec: dict[str, object]) -> list[Test]:
    _known(folder / "block.json", spec, _TEST_KEYS)
    run = () if spec.get("long") else _runs(spec, "run", [""])
    return [
        Test(
            block=folder.name,
            name=str(spec["name"]) + suffix,
            top=str(spec["top"]),
            harness=tuple(_path(folder, h) for h in spec["harness"]),
            files=tuple(_path(folder, f) for f in spec.get("files", [])),
            params=params,
            run=run,
            full=_runs(spec, "full", spec.get("run", [""])),
            verilator=tuple(spec.get("verilator", [])),
            cflags=tuple(str(spec.get("cflags", "")).split()),
        )
        for suffix, params in expand(spec.get("each", {}), spec.get("params", {}))
    ]


def load(name: str, root: Path = RTL) -> Block:
    """Read rtl/NAME/block.json."""
    folder = root / name
    file = folder / "block.json"
    if not file.is_file():
        raise BlockError(f"{file}: no such block; there are: {', '.join(names(root))}")
    spec = json.loads(file.read_text())
    _known(file, spec, _BLOCK_KEYS)
    return Block(
        name=name,
        needs=tuple(spec.get("needs", [])),
        sources=tuple(_path(folder, s) for s in spec["sources"]),
        waivers=tuple(_path(folder, w) for w in spec.get("waivers", [])),
        lint=tuple(spec.get("lint", [])),
        tests=tuple(t for one in spec.get("tests", []) for t in _tests(folder, one)),
        formal=tuple(_path(folder, f) for f in spec.get("formal", [])),
        synth=tuple(spec.get("synth", [])),
    )


def names(root: Path = RTL) -> list[str]:
    """Every folder with a block.json."""
    return sorted(file.parent.name for file in root.glob("*/block.json"))


def closure(block: Block, root: Path = RTL) -> list[Block]:
    """Return the block after everything it needs, each once, needs first."""
    order: list[Block] = []

    def visit(one: Block, path: tuple[str, ...]) -> None:
        if one.name in path:
            raise BlockError(f"rtl/{one.name}/block.json: needs itself through {' → '.join(path)}")
        if any(one.name == seen.name for seen in order):
            return
        for need in one.needs:
            visit(load(need, root), (*path, one.name))
        order.append(one)

    visit(block, ())
    return order


def sources(block: Block, root: Path = RTL) -> tuple[list[Path], list[Path]]:
    """Return (SystemVerilog files in order of compilation, waiver files) of a block with its needs."""
    blocks = closure(block, root)
    return [s for b in blocks for s in b.sources], [w for b in blocks for w in b.waivers]
