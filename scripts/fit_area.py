#!/usr/bin/env python3
"""Fits the explorer's area model to the stored syntheses, and says how well it predicts what it has not seen.

    .venv/bin/python scripts/fit_area.py            writes crates/explore/data/area.json; then draw it:
    .venv/bin/python -m ringmill.studies.validation.plot DATA OUT
        with DATA crates/explore/data/area.json and OUT docs/measured/area-model.svg
    .venv/bin/python scripts/fit_area.py --check    fails if that file is not what would be written

The model composes a core of what the RTL instantiates. Modular multipliers are taken by kind, width, tile and
family as they were synthesised. The logic around them is linear in features of the shape, with coefficients
that are not negative (scipy's NNLS). Block memories are not part of it: they are counted exactly.
docs/explorer.md has the formulas.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "rtl" / "synth" / "data"
FILE = ROOT / "crates" / "explore" / "data" / "area.json"

Row = dict[str, Any]

WIDTHS = (32, 36, 52, 54, 60)
KINDS = range(5)
#: PRF-FIKO for primes with ones at few places: above the other kinds, as `rm_modmul_pkg::prf_kind` has it.
PRF, FEW_ONES = 2, 8
#: Tiles of each family (`rm_modmul_pkg`).
TILES = {"xc7": (0, 2), "xcup": (0, 3), "ecp5": (0, 1), "asic45": (0,)}
#: What is fitted in each family. 7-series and UltraScale+ have the same LUT and are fitted together.
FITTED = {"xc7": ("lut", "ff"), "xcup": ("lut", "ff"), "ecp5": ("lut", "ff"), "asic45": ("area_um2",)}
POOLS = (("xc7", "xcup"), ("ecp5",), ("asic45",))
BLOCKS = ("ntt", "arith", "rest")
#: Weight, beside relative errors of rows, that holds a coefficient near the one expected: that of the other
#: families times the ratio of what is known. It matters only where no row determines the coefficient.
RIDGE = 1e-5
#: Square micrometres of 45 nm cells for a LUT's logic and for a flip-flop, until cells were synthesised: the
#: open library's flip-flop, and five gates of two inputs assumed for a LUT.
CELLS = {"lut": 8.0, "ff": 4.5}


def stored(block: str) -> list[Row]:
    """The rows of a block; none if it was never synthesised."""
    file = DATA / f"{block}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []


def amount(row: Row, resource: str) -> float:
    """LUTs include shift registers and distributed memory, which sit in them."""
    if resource == "lut":
        return float(row["lut"] + row.get("srl", 0) + row.get("lutram", 0))
    return float(row[resource])


# ---- multipliers --------------------------------------------------------------------------------


def multipliers() -> list[Row]:
    """Every kind, width and tile of every family: as synthesised, or estimated from the nearest that was."""
    rows = stored("modmul")
    found: dict[tuple[str, int, int, int], Row] = {}
    for row in rows:
        p = row["params"]
        few = p["Kind"] % FEW_ONES == PRF and p["Kind"] > FEW_ONES
        found[row["flow"], FEW_ONES if few else p["Kind"], p["Tile"], p["W"]] = row
    entries = []
    for family, kind in itertools.product(TILES, (*KINDS, FEW_ONES)):
        for tile, width in itertools.product(TILES[family], WIDTHS):
            entries.append(_multiplier(found, family, kind, tile, width))
    return [entry for entry in entries if entry is not None]


def _multiplier(found: dict[Any, Row], family: str, kind: int, tile: int, width: int) -> Row | None:
    few = {"few_ones": True} if kind == FEW_ONES else {}
    named = {"family": family, "kind": PRF if few else kind, **few, "tile": tile, "word_bits": width}
    names = [*FITTED[family], *([] if family == "asic45" else ["dsp"])]
    row = found.get((family, kind, tile, width))
    if row is not None:
        return {**named, **{n: amount(row, n) for n in names}, "measured": True}
    if few:
        return _few_ones(found, family, tile, width)
    near = _nearest(found, family, kind, tile, width)
    if near is None:
        if family != "asic45":
            return None
        luts = _multiplier(found, "xcup", kind, tile, width)
        assert luts is not None
        area = sum(factor * luts[name] for name, factor in CELLS.items())
        return {
            **named,
            "area_um2": round(area, 1),
            "measured": False,
            "source": f"assumed: {CELLS} um2 for what xcup takes",
        }
    (of_family, of_kind, of_tile, of_width), row = near
    estimate: Row = {}
    for name in names:
        # A product in LUTs grows with the square of the width; registers, and what is around blocks, with it.
        square = name in ("lut", "area_um2") and tile == 0
        value = amount(row, name) * (width / of_width) ** (2 if square else 1)
        estimate[name] = value * _kinds(found, kind, of_kind, "dsp" if square else name)
    if "dsp" in names:
        products = amount(row, "dsp") / max(_pieces(of_family, of_tile, of_width), 1)
        products *= _kinds(found, kind, of_kind, "dsp")
        estimate["dsp"] = float(round(products * _pieces(family, tile, width)))
    source = f"from kind {of_kind}, tile {of_tile}, {of_width} bits, {of_family}"
    return {**named, **{n: round(v, 1) for n, v in estimate.items()}, "measured": False, "source": source}


def _few_ones(found: dict[Any, Row], family: str, tile: int, width: int) -> Row | None:
    """What the multiplier for ones at any place takes, less what few places save at the nearest width."""
    entry = _multiplier(found, family, PRF, tile, width)
    if entry is None:
        return None
    widths = [key[3] for key in found if key[:3] == (family, FEW_ONES, tile)]
    near = min(widths, key=lambda other: abs(other - width), default=None)
    source = "that for ones at any place"
    if near is not None:
        few, general = found[family, FEW_ONES, tile, near], found[family, PRF, tile, near]
        for name in FITTED[family]:
            entry[name] = round(entry[name] * amount(few, name) / amount(general, name), 1)
        source += f", less what few places save at {near} bits"
    return {**entry, "few_ones": True, "measured": False, "source": source}


def _kinds(found: dict[Any, Row], kind: int, of_kind: int, resource: str) -> float:
    """How much more of a resource one kind takes than another, where both were synthesised with blocks.

    Of blocks it is the ratio of their products, which in LUTs cost what blocks cost.
    """
    if kind == of_kind:
        return 1.0
    pairs = [
        amount(row, resource) / amount(found[family, of_kind, tile, width], resource)
        for (family, other, tile, width), row in found.items()
        if other == kind and tile > 0 and resource in row and (family, of_kind, tile, width) in found
    ]
    return float(np.mean(pairs)) if pairs else 1.0


def _nearest(found: dict[Any, Row], family: str, kind: int, tile: int, width: int) -> Any:
    """The stored row most like a point: by kind, family, width in this order; blocks stay blocks."""

    def distance(key: tuple[str, int, int, int]) -> tuple[Any, ...]:
        of_family, of_kind, _, of_width = key
        alike = {"xc7": "xilinx", "xcup": "xilinx"}
        same = 0 if of_family == family else 1 if alike.get(of_family) == alike.get(family, family) else 2
        return (of_kind != kind, same, abs(of_width - width), of_family)

    keys = [
        key for key in found if (key[2] == 0) == (tile == 0) and (key[0] == "asic45") == (family == "asic45")
    ]
    best = min(keys, key=distance, default=None)
    return None if best is None else (best, found[best])


def _pieces(family: str, tile: int, width: int) -> int:
    """Blocks of one full product; leftovers of a few bits are multiplied in LUTs (rtl/modmul/README.md)."""
    if tile == 0:
        return 0
    a, b = {"ecp5": (18, 18), "xc7": (24, 17), "xcup": (26, 17)}[family]
    return _cut(width, a) * _cut(width, b)


def _cut(width: int, piece: int) -> int:
    strip = 12
    whole, rest = divmod(width, piece)
    return max(whole + (rest > strip), 1)


# ---- what is around them ------------------------------------------------------------------------


def features(nbf: int, width: int, bus: int) -> dict[str, float]:
    """The shape in numbers of like size."""
    row = nbf * width / 54.0
    return {
        "one": 1.0,
        "w": width / 54.0,
        "nbf_w": row,
        "nbf_w_log": row * math.log2(2 * nbf),
        "bus": bus / 512.0,
    }


#: Which features each block has; the bus ends in the memory system.
OF_BLOCK = {
    "ntt": ("one", "w", "nbf_w", "nbf_w_log"),
    "arith": ("one", "w", "nbf_w", "nbf_w_log"),
    "rest": ("one", "w", "nbf_w", "bus"),
}
COLUMNS = [(block, feature) for block in BLOCKS for feature in OF_BLOCK[block]]


def generators(nbf: int) -> int:
    """Multipliers that make roots, of one lane."""
    return min(max(1, nbf // 2), 4)


def composition(top: str, nbf: int) -> tuple[int, dict[str, int]]:
    """Multipliers of a top, and how often each block stands in it."""
    lane, columns = nbf + generators(nbf), 2 * nbf
    return {
        "rm_ntt_unit": (lane, {"ntt": 1}),
        "rm_arith_unit": (columns, {"arith": 1}),
        "rm_compact_core": (2 * lane + columns, {"ntt": 2, "arith": 1, "rest": 1}),
    }[top]


def samples(pool: Iterable[str]) -> list[Row]:
    """Every stored row of a pool of families that the model composes."""
    rows = [row for block in ("ntt", "arith", "core") for row in stored(block)]
    # Cores with blocks in one kind of units alone are held apart: a test compares them with the model.
    rows = [row for row in rows if "LUT_UNIT" not in row["params"]]
    known = [
        row
        for row in rows
        if row["flow"] in pool and row["top"] in ("rm_ntt_unit", "rm_arith_unit", "rm_compact_core")
    ]
    return [{**row, "point": _point(row)} for row in known]


def _point(row: Row) -> Row:
    p = {key.lower(): value for key, value in row["params"].items()}
    return {
        "w": p["w"],
        "nbf": p.get("nbf", 4),
        "kind": p["kind"],
        "tile": p.get("tile", 0),
        "bus": p.get("d", 512),
    }


def _equation(row: Row, resource: str, multiplier: Callable[..., float]) -> tuple[np.ndarray, float]:
    """Coefficients of the unknowns, and what they must add up to."""
    at = row["point"]
    count, blocks = composition(row["top"], at["nbf"])
    shape = features(at["nbf"], at["w"], at["bus"])
    line = np.array([blocks.get(block, 0) * shape[feature] for block, feature in COLUMNS])
    # A row that was composed says itself how many it had.
    count = row.get("parts", {}).get("multipliers", count)
    known = count * multiplier(row["flow"], at["kind"], at["tile"], at["w"], resource)
    return line, amount(row, resource) - known


def fit(rows: list[Row], resource: str, multiplier: Callable[..., float], prior: np.ndarray) -> np.ndarray:
    """Coefficients by least squares of relative errors, none negative, near the prior where rows are mute."""
    lines, rights = [], []
    for row in rows:
        line, right = _equation(row, resource, multiplier)
        weight = 1.0 / amount(row, resource)
        lines.append(line * weight)
        rights.append(max(right, 0.0) * weight)
    if not rows:
        return prior
    expected = prior * _ratio(rows, resource, multiplier, prior)
    held = np.eye(len(COLUMNS)) * RIDGE
    solution, _ = nnls(np.vstack([*lines, held]), np.concatenate([rights, RIDGE * expected]))
    return np.asarray(solution)


def _ratio(rows: list[Row], resource: str, multiplier: Callable[..., float], prior: np.ndarray) -> float:
    """How much more these rows take than the prior says, on average."""
    equations = [_equation(row, resource, multiplier) for row in rows]
    said = sum(float(line @ prior) for line, _ in equations)
    return max(sum(right for _, right in equations), 0.0) / said if said > 0 else 1.0


def predict(row: Row, resource: str, coefficients: np.ndarray, multiplier: Callable[..., float]) -> float:
    """What the model says of a row."""
    line, right = _equation(row, resource, multiplier)
    return float(line @ coefficients + amount(row, resource) - right)


def held_out(
    rows: list[Row], resource: str, multiplier: Callable[..., float], prior: np.ndarray
) -> list[Row]:
    """Each row predicted by a model that has not seen it; a row that alone determines a block is left out."""
    reported = []
    for at, row in enumerate(rows):
        others = rows[:at] + rows[at + 1 :]
        if not any(other["top"] == row["top"] for other in others):
            continue
        guess = predict(row, resource, fit(others, resource, multiplier, prior), multiplier)
        found = amount(row, resource)
        point = {"top": row["top"], "family": row["flow"], **row["point"], "resource": resource}
        reported.append(
            {**point, "measured": found, "predicted": round(guess, 1), "error": round(guess / found - 1, 4)}
        )
    return reported


# ---- the file -----------------------------------------------------------------------------------


def build() -> Row:
    """The contents of the file."""
    entries = multipliers()
    table = {(e["family"], e["kind"], e["tile"], e["word_bits"]): e for e in entries if "few_ones" not in e}

    def multiplier(family: str, kind: int, tile: int, width: int, resource: str) -> float:
        return float(table[family, kind, tile, width][resource])

    around, reported = [], []
    xilinx: dict[str, np.ndarray] = {}
    for pool in POOLS:
        rows = samples(pool)
        for resource in FITTED[pool[0]]:
            nothing = np.zeros(len(COLUMNS))
            prior = xilinx.get(resource, nothing)
            if resource == "area_um2":
                prior = sum((factor * xilinx[name] for name, factor in CELLS.items()), nothing)
            coefficients = fit(rows, resource, multiplier, prior)
            xilinx.setdefault(resource, coefficients)
            residuals = [
                abs(predict(r, resource, coefficients, multiplier) / amount(r, resource) - 1) for r in rows
            ]
            held = held_out(rows, resource, multiplier, prior)
            reported.extend(held)
            around.append(
                {
                    "families": list(pool),
                    "resource": resource,
                    "rows": len(rows),
                    "cores": sum(row["top"] == "rm_compact_core" for row in rows),
                    "worst_residual": round(max(residuals, default=0.0), 4) if rows else None,
                    "held_out_rows": len(held),
                    "held_out_worst": max((abs(h["error"]) for h in held), default=None),
                    "held_out_median": round(float(np.median([abs(h["error"]) for h in held])), 4)
                    if held
                    else None,
                    "coefficients": [
                        {"block": block, "feature": feature, "value": round(float(value), 2)}
                        for (block, feature), value in zip(COLUMNS, coefficients, strict=True)
                    ],
                }
            )
    tools = sorted(
        {row["tools"]["yosys"] for block in ("modmul", "ntt", "arith", "core") for row in stored(block)}
    )
    return {
        "schema": 1,
        "origin": f"fitted to {', '.join(tools)} syntheses of blocks and cores, not placed",
        "multipliers": entries,
        "around": around,
        "held_out": reported,
    }


def text() -> str:
    """The file: one entry a line, so that a new synthesis is a small change."""
    model = build()
    parts = []
    for key, value in model.items():
        if isinstance(value, list):
            lines = ",\n".join("  " + json.dumps(item) for item in value)
            parts.append(f'"{key}": [\n{lines}\n]' if value else f'"{key}": []')
        else:
            parts.append(f'"{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> int:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description="Fit the explorer's area model.")
    parser.add_argument("--check", action="store_true", help="fail if the tracked file is stale")
    options = parser.parse_args()
    if options.check:
        same = FILE.is_file() and FILE.read_text(encoding="utf-8") == text()
        print("the area model is current" if same else "stale: run scripts/fit_area.py")
        return 0 if same else 1
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
    for entry in json.loads(FILE.read_text(encoding="utf-8"))["around"]:
        held = (
            "no row to hold out"
            if entry["held_out_worst"] is None
            else f"held out {entry['held_out_worst']:.1%} at worst"
        )
        print(f"{'+'.join(entry['families'])} {entry['resource']}: {entry['rows']} rows, {held}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
