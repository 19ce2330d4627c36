"""docs/area.md: what the stored syntheses say, as a page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rtl.tools.block import ROOT
from rtl.tools.synth import DATA, digest

FILE = ROOT / "docs" / "area.md"

Row = dict[str, Any]

KINDS = ["word Montgomery", "word Montgomery, sparse", "PRF-FIKO", "Montgomery", "Barrett", "NTT, any length"]
_LUT_UNITS = ["", ", transforms in LUTs", ", arithmetic in LUTs"]
TILES = ["LUTs", "18×18 (ECP5)", "24×17 (DSP48E1)", "26×17 (DSP48E2)"]

#: DSP blocks of a product as published or counted by others, by bits and flow; how they count.
_LITERATURE = [
    ("ecp5", 54, 9, "18×18 schoolbook"),
    ("ecp5", 60, 16, "18×18 schoolbook; 12 with Karatsuba"),
    ("xc7", 54, 10, "24×17 tiling"),
    ("xc7", 60, 11, "24×17 tiling"),
    ("xcup", 52, 6, "26×17, registered one by one"),
    ("xcup", 54, 10, "26×17 tiling"),
    ("xcup", 60, 10, "26×17 tiling"),
]

_HEAD = """# Area and frequency

Made from the rows in `rtl/synth/data` by `python -m rtl.tools page`; `python -m rtl.tools rows BLOCK` prints
them all, and `python -m rtl.tools synth BLOCK --missing` makes those that are not there. Each row holds the
versions of the tools and a digest of the sources it was made from.

What the figures are, and what they are not:

| flow | what was done | what it does not say |
|---|---|---|
| `ecp5`, routed | placed and routed, LFE5U-85F, grade 6, out of context: the only MHz here | pads, a board |
| `ecp5`, `xcup` | synthesised; `xcup` without any timing | frequency |
| `xc7` | synthesised; `path_ns` adds up the delays of cells alone | wires: no frequency follows from it |
| `asic45` | 45 nm cells before placement, no wire load, no clock tree; memories left out | layout, power |

A *composed* row is the sum of two syntheses: the modular multipliers, made once, and everything around them.
A row *without its boxes* leaves out modules that have rows of their own, which the stored row names.
† marks a row of sources older than those in the tree. yosys and Vivado count LUTs differently. *Overall* is
the usual figure LUT/16 + FF/8 + 102.4·DSP + 56·BRAM.
"""


def _kind(code: int) -> str:
    """The name of a multiplier by its number, as `prf_kind` and `ntt_kind` of `rm_modmul_pkg` make it."""
    family, ones, word = code % 8, code // 8 * 2 + 1, code // 16
    if code == family:
        return KINDS[family]
    if family == KINDS.index("PRF-FIKO"):
        return f"PRF-FIKO, ones at {ones.bit_count()} places"
    return f"NTT, {word % 32}-bit words" + (", any length" if word >= 32 else "")


def _table(columns: list[str], rows: Iterable[list[str]]) -> str:
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _core_point(row: Row) -> list[str]:
    p = row["params"]
    tiling = TILES[p["TILE"]] + _LUT_UNITS[p.get("LUT_UNIT", 0)]
    return [f"2^{p['LOGN_MAX']}, {p['NBF']}", str(p["W"]), _kind(p["KIND"]), tiling, str(p["D"])]


_POINT = ["N, Nbf", "W", "multiplier", "tiling", "bus"]


def _routed(rows: list[Row]) -> Iterator[list[str]]:
    for row in rows:
        if "seeds" in row:
            seeds = ", ".join(f"{fmax:.1f}" if fmax else "not routed" for fmax in row["seeds"].values())
            figures = [_number(row[name]) for name in ("comb", "ff", "dsp", "ebr")]
            yield [*_what(row), *figures, f"{row['fmax_mhz']:.1f}", seeds]


def _cores(rows: list[Row], flow: str) -> Iterator[list[str]]:
    chosen = [row for row in rows if row["flow"] == flow]
    for row in sorted(chosen, key=lambda r: (r["params"]["LOGN_MAX"], r["params"]["NBF"], r["overall"])):
        luts = row["lut"] + row["srl"] + row["lutram"]
        figures = [_number(v) for v in (luts, row["ff"], row["dsp"], row["bram36"], row["overall"])]
        share = "flat"
        if "parts" in row:
            mine = row["parts"]["multipliers"] * row["parts"]["each"]["overall"]
            share = f"{row['parts']['multipliers']}, {100 * mine / row['overall']:.0f}%"
        yield [*_core_point(row), *figures, share + row["mark"]]


def _parameters(row: Row) -> str:
    return " ".join(f"{name}={value}" for name, value in row["params"].items())


def _by_size(rows: list[Row], *flows: str) -> list[Row]:
    """The rows of some flows, the shapes of one top from small to large."""
    chosen = [row for row in rows if row["flow"] in flows]
    tops = list(dict.fromkeys(row["top"] for row in chosen))

    def size(row: Row) -> tuple[Any, ...]:
        p = {name.lower(): value for name, value in row["params"].items()}
        named = [p.get(name, p.get(other, 0)) for name, other in _SIZES]
        return (tops.index(row["top"]), row["flow"], *named, sorted(p.items()), "parts" in row)

    return sorted(chosen, key=size)


#: What orders shapes, and how else a top calls it.
_SIZES = [("w", "w"), ("logn_max", "lognmax"), ("nbf", "nbf")]


def _what(row: Row) -> list[str]:
    """A top at its parameters, and whether multipliers were added to it, or boxes left out."""
    composed = bool(row.get("parts", {}).get("multipliers"))
    how = ", composed" if composed else ", without its boxes" if row.get("boxes") else ""
    return [row["top"] + how + row["mark"], _parameters(row)]


def _fpga(rows: list[Row]) -> Iterator[list[str]]:
    for row in _by_size(rows, "xc7", "xcup"):
        luts = row["lut"] + row["srl"] + row["lutram"]
        figures = [_number(v) for v in (luts, row["ff"], row["dsp"], row["bram36"], row["overall"])]
        yield [row["flow"], *_what(row), *figures, _number(row.get("path_ns"), 2)]


def _ecp5(rows: list[Row]) -> Iterator[list[str]]:
    for row in _by_size(rows, "ecp5"):
        yield [*_what(row), *(_number(row[name]) for name in ("lut", "ff", "dsp", "ebr"))]


def _cells(rows: list[Row]) -> Iterator[list[str]]:
    for row in _by_size(rows, "asic45"):
        figures = [_number(row["area_um2"]), _number(row.get("memory_bits"))]
        yield [*_what(row), *figures, _number(row["min_period_ns"], 2)]


def _around(rows: list[Row], core: Row) -> float | None:
    """The overall area of a block as it stands in a core, without its multipliers; none without a row."""
    want = {name.lower(): value for name, value in core["params"].items()}
    want["lognmax"] = want["logn_max"]
    for row in sorted(rows, key=lambda row: "parts" not in row):  # whole units hold multipliers too
        params = {name.lower(): value for name, value in row["params"].items() if name.lower() != "tile"}
        if row["flow"] == core["flow"] and all(want[name] == value for name, value in params.items()):
            return float(row.get("parts", {}).get("rest", row)["overall"])
    return None


def _where(cores: list[Row], blocks: dict[str, list[Row]]) -> Iterator[list[str]]:
    """Where the area of a core goes, for those of which every block has a row."""
    for row in _by_size(cores, "xc7"):
        times = {"ntt": 2, "arith": 1, "bank": 1, "memory": 1}
        found = {name: _around(blocks.get(name, []), row) for name in times}
        if "parts" not in row or None in found.values():
            continue
        parts = [row["parts"]["multipliers"] * row["parts"]["each"]["overall"]]
        parts += [times[name] * (area or 0.0) for name, area in found.items()]
        parts.append(row["overall"] - sum(parts))
        shares = [f"{100 * part / row['overall']:.0f}%" for part in parts]
        yield [*_core_point(row)[:1], _core_point(row)[3], _number(row["overall"]), *shares]


def _products(rows: list[Row]) -> Iterator[list[str]]:
    for flow, bits, theirs, how in _LITERATURE:
        found = [
            r
            for r in rows
            if r["flow"] == flow and r["params"]["W"] == bits and r["params"]["Kind"] in (0, 1) and r["dsp"]
        ]
        if found:
            least = min(found, key=lambda r: r["dsp"])
            yield [flow, str(bits), str(least["dsp"]), str(theirs), how]


def _multipliers(rows: list[Row]) -> Iterator[list[str]]:
    for row in sorted(
        rows, key=lambda r: (r["flow"], r["params"]["W"], r["params"]["Kind"], r["params"]["Tile"])
    ):
        p = row["params"]
        luts = row.get("lut", 0) + row.get("srl", 0) + row.get("lutram", 0)
        delay = row.get("path_ns") or row.get("min_period_ns")
        yield [
            row["flow"] + row["mark"],
            str(p["W"]),
            _kind(p["Kind"]),
            TILES[p["Tile"]],
            _number(luts or None),
            _number(row["ff"]),
            _number(row.get("dsp")),
            _number(row.get("overall"), 1),
            _number(row.get("area_um2")),
            _number(delay, 2),
        ]


def _rows(data: Path, block: str) -> list[Row]:
    """The rows of a block, each with the mark of older sources where it is of such."""
    file = data / f"{block}.json"
    rows = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    now = digest(block)
    return [row | {"mark": "" if row.get("sources") == now else " †"} for row in rows]


_DEVICE = ["LUT", "FF", "DSP", "BRAM", "overall"]
_ROUTED = ["top", "parameters", "COMB", "FF", "MULT18", "EBR", "MHz, median", "MHz, each seed"]
_CORES = [*_POINT, *_DEVICE, "multipliers, their share"]
_WHERE = ["N, Nbf", "tiling", "overall", "multipliers", "two transform units", "arithmetic unit", "banks"]
_WHERE += ["memory path", "issue, registers, between blocks"]
_CELLS = ["top", "parameters", "µm²", "bits of memory left out", "ns"]
_MULTIPLIERS = ["flow", "W", "kind", "tiling", "LUT", "FF", "DSP", "overall", "µm²", "ns"]


def _sections(data: Path) -> Iterator[tuple[str, list[str], Iterator[list[str]]]]:
    multipliers, cores = _rows(data, "modmul"), _rows(data, "core")
    names = ("ntt", "streaming_ntt", "pipelined", "arith", "bank", "memory", "registers")
    of_block = {name: _rows(data, name) for name in names}
    blocks = [row for rows in of_block.values() for row in rows]
    every = [*cores, *blocks]
    yield "Routed on the LFE5U-85F", _ROUTED, _routed([*every, *multipliers])
    yield "Cores, UltraScale+ (synthesised)", _CORES, _cores(cores, "xcup")
    yield "Cores, 7-series (synthesised)", _CORES, _cores(cores, "xc7")
    yield "Where the area of a core goes (7-series, overall)", _WHERE, _where(cores, of_block)
    yield "Cores and blocks, ECP5", ["top", "parameters", "LUT", "FF", "MULT18", "EBR"], _ecp5(every)
    yield "Cores and blocks, 45 nm cells", _CELLS, _cells(every)
    yield "Blocks, 7-series and UltraScale+", ["flow", "top", "parameters", *_DEVICE, "ns"], _fpga(blocks)
    how = ["flow", "bits", "here", "elsewhere", "how elsewhere"]
    yield "DSP blocks of a full product", how, _products(multipliers)
    yield "Modular multipliers", _MULTIPLIERS, _multipliers(multipliers)


def text(data: Path = DATA) -> str:
    """Return the page; sections without a row are left out."""
    made = [(title, columns, list(rows)) for title, columns, rows in _sections(data)]
    return _HEAD + "".join(
        f"\n## {title}\n\n{_table(columns, rows)}" for title, columns, rows in made if rows
    )


def files() -> dict[Path, str]:
    """Return the page by its place."""
    return {FILE: text()}
