"""Duong and Lee's tables beside ours, a row for each printed row, and other sets on a pool of units.

The paper's figures are in `figures.toml`. Ours are in `ours.json`: the schedules and counts of
`rtl/pipelined`, and blocks that were synthesised. `python -m rtl.pipelined.figures` writes it, and a test
compares.
"""

from __future__ import annotations

from typing import Any

from ringmill.studies.papers.figures import read_figures
from ringmill.studies.stored import read_stored

Row = dict[str, Any]

N = 1 << 16
#: Limbs, special primes, digits of the paper's example, and the bits of its primes, the special one last.
SET = [4, 1, 4]
WIDTHS = [60, 51, 51, 51, 60]

MODEL = "cycles by the schedule, which equals the RTL; multipliers of 6 DSP blocks and words counted"
MEMORY = "cycles by machine pipelined: starts wait for their bytes, which one memory moves in their order"
POOL = "cycles by the model of the pool, which equals the RTL; multipliers, DSP blocks and words counted"
SYNTHESISED = "blocks synthesised for UltraScale+, not routed"


def stored() -> Row:
    """Ours, as they are stored."""
    return read_stored(__package__, "ours.json")


def mbps(bits: int, cycles: float, clock_mhz: float) -> float:
    """Megabits a second of a key switch every `cycles`, with N coefficients of `bits`."""
    return N * bits * clock_mhz / cycles


def rules(widths: list[int], cycles: float, clock_mhz: float) -> Row:
    """Throughput by the paper's rule, which leaves the special prime out, and with all bits."""
    return {
        "clock_mhz": clock_mhz,
        "mbps_paper_rule": round(mbps(sum(widths[:-1]), cycles, clock_mhz)),
        "mbps_all_bits": round(mbps(sum(widths), cycles, clock_mhz)),
    }


def _row(table: object, name: str, paper: Row, ours: Row, *remarks: str, **more: Any) -> Row:
    row = {"table": table, "row": name, "n": N, "set": SET, "widths": WIDTHS, "build": "streams"}
    return {**row, **more, "paper": paper, "ours": ours, "remarks": list(remarks)}


#: What stands in the place of each of the paper's modules: the part of ours, and how many.
_COUNTERPARTS = {
    (3, "INTT"): ("transform", 1),
    (3, "MOD"): ("rm_ks_lift", 4),
    (3, "NTT q0123"): ("transform", 3),
    (3, "NTT qsp"): ("transform", 1),
    (3, "MAR q0"): ("rm_ks_bank", 1),
    (3, "MAR q123"): ("rm_ks_bank", 3),
    (3, "MAR qsp"): ("rm_ks_bank", 1),
}


def _module(table: int, printed: Row, ours: Row) -> Row:
    name = printed["module"]
    if name == "ModRai":
        return _row(table, name, printed, {"dsp": ours["streams"]["dsp"], "origin": MODEL}, "all of ours")
    if (table, name) not in _COUNTERPARTS:
        return _row(table, name, printed, {}, "the units of Table 3, in other cycles")
    part, count = _COUNTERPARTS[table, name]
    if part == "transform":
        used = ours["streams"]["multipliers"]
        dsp = (used["butterflies"] + used["twiddle factors"]) // 5 * 6
        return _row(table, name, printed, {"dsp": count * dsp, "origin": MODEL})
    block = ours["blocks"][part]
    counts = {
        "lut": count * (block["lut"] + block["srl"] + block["lutram"]),
        "ff": count * block["ff"],
        "dsp": count * block["dsp"],
        "ram_bytes": round(count * block["bram36"] * 36864 / 8),
    }
    return _row(table, name, printed, {**counts, "origin": SYNTHESISED})


def rows() -> list[Row]:
    """Every row."""
    printed, ours = read_figures(__package__), stored()
    chain = ours["streams"]
    cycles = {
        name: chain[name] for name in ("bound", "interval", "latency", "latency_alone", "bytes_off_chip")
    }
    counts = {name: chain[name] for name in ("dsp", "ram_bytes")}
    five, six, text = printed["table5"], printed["table6"], printed["text"]
    theirs = rules(WIDTHS, five["cycles"], five["clock_mhz"])
    clock = {**cycles, **rules(WIDTHS, chain["interval"], five["clock_mhz"]), "origin": MODEL}
    unclocked = "ours at the paper's clock; no build of ours was routed"
    unsynthesised = "transforms of this size are not synthesised yet, so LUTs and flip-flops are left out"
    found = [
        _row(
            2,
            "twiddle factors stored",
            printed["table2"]["stored"],
            {**chain["with_tables"], "origin": MODEL},
            "ours counted as if tables stood in the place of the generators",
        ),
        _row(
            2,
            "twiddle factors generated",
            printed["table2"]["generated"],
            {**counts, "origin": MODEL},
            unsynthesised,
        ),
        _row(2, "Xilinx XCU250", printed["table2"]["device"], {}, "the device"),
        *(_module(3, module, ours) for module in printed["table3"]),
        *(_module(4, module, ours) for module in printed["table4"]),
        _row(5, "key switch", {**five, **theirs}, clock, unclocked),
        _row(6, "HEAX", six["heax"], {}, "another device, N = 2^13"),
        _row(6, "this work", {**six["this"], **theirs}, {**counts, **clock}, unclocked),
        _row(
            "Fig. 7",
            "keys and a ciphertext",
            text,
            {"bytes_off_chip": chain["bytes_off_chip"], "origin": MODEL},
        ),
    ]
    for of in ours["pool"]["sets"]:
        own = {name: value for name, value in of.items() if name != "set"}
        remark = f"{own['interval'] / own['bound'] - 1:.2%} above the bound of the transforms"
        row = _row("sets", "a pool of ten", {}, {**own, "origin": POOL}, remark, build="uniform")
        found.append({**row, "set": of["set"], "widths": [60] * sum(of["set"][:2])})
    return found + [_memory(of) for of in ours["memories"]]


def _memory(of: Row) -> Row:
    name = f"{of['memory']}, keys {of['keys']}"
    build = "uniform" if of["build"] == "pool" else of["build"]
    own = {key: of[key] for key in ("interval", "bytes_off_chip", "clock_mhz")}
    own |= rules(WIDTHS, own["interval"], own["clock_mhz"])
    remarks = [f"{of['mb_a_second']:,} MB/s"]
    if of["keys"] == "seeded":
        remarks.append("one half of the keys is expanded on chip, which is counted, not built")
    return _row("memory", name, {}, {**own, "origin": MEMORY}, *remarks, build=build)
