"""Nguyen, Kim and Lee's tables beside ours, a row for each printed row, and our engine's modes and sizes.

The paper's figures are in `figures.toml`. Ours are in `ours.json`: the schedule and counts of
`rtl/encryptor`, and blocks that were synthesised. `python -m rtl.encryptor.figures` writes it, and a test
compares.
"""

from __future__ import annotations

from typing import Any

from ringmill.studies.papers.figures import read_figures
from ringmill.studies.stored import read_stored

Row = dict[str, Any]

N, P = 1 << 14, 2
#: Bits of the primes of a ciphertext, and of the extra prime that the paper divides by.
WIDTHS, EXTRA = [60, 48, 48, 48], 60
#: Ciphertext polynomials that a mode hands out: the others are expanded from a seed by the reader.
PARTS = {"engine": 2, "engine+special": 2, "seal": 2, "symmetric": 1, "keygen": 1, "decrypt": 1}

MODEL = "cycles by the schedule, which equals the RTL; multipliers of 6 DSP blocks and words counted"
COUNTED = "cycles in closed form, which equal the RTL; multipliers of 6 DSP blocks and words counted"
SYNTHESISED = "synthesised for UltraScale+, not routed"
COMPOSED = "LUTs, flip-flops and DSP blocks of every module, synthesised for UltraScale+ one by one and added"
UNCLOCKED = "ours at the paper's clock; no build of ours was routed"
ALONE = "another device, size and modulus; shown alone"


def stored() -> Row:
    """Ours, as they are stored."""
    return read_stored(__package__, "ours.json")


def mbps(n: int, bits: int, cycles: float, clock_mhz: float) -> float:
    """Megabits a second of a polynomial of n coefficients of `bits` bits every `cycles`."""
    return n * bits * clock_mhz / cycles


def rules(n: int, bits: int, parts: int, cycles: float, clock_mhz: float) -> Row:
    """Throughput by the paper's rule, which counts one polynomial, and with all bits of the result."""
    return {
        "clock_mhz": clock_mhz,
        "mbps_paper_rule": round(mbps(n, bits, cycles, clock_mhz)),
        "mbps_all_bits": round(mbps(n, parts * bits, cycles, clock_mhz)),
    }


def _row(table: object, name: str, paper: Row, ours: Row, *remarks: str, **more: Any) -> Row:
    row = {"table": table, "row": name, "n": N, "p": P, "widths": WIDTHS, "mode": "engine", "order": "eval"}
    return {**row, **more, "paper": paper, "ours": ours, "remarks": list(remarks)}


def _blocks(found: Row) -> Row:
    """Counts of a synthesis; none of those that were not made."""
    if not found:
        return {}
    return {
        "lut": found["lut"] + found["srl"] + found["lutram"],
        "ff": found["ff"],
        "ram_bytes": round(found["bram36"] * 36864 / 8),
    }


def _engine(of: Row, clock_mhz: float) -> Row:
    names = (
        "interval",
        "latency_message",
        "latency_ready",
        "latency_cold",
        "multipliers",
        "dsp",
        "ram_bytes",
    )
    speed = rules(of["n"], sum(WIDTHS), PARTS[of["mode"]], of["interval"], clock_mhz)
    blocks = of.get("composed", {})
    origin = f"{MODEL}; {COMPOSED}" if blocks else MODEL
    return {**{name: of[name] for name in names if name in of}, **blocks, **speed, "origin": origin}


def _transforms(printed: Row, ours: list[Row]) -> list[Row]:
    """Table I: what the paper prints of its transform, and ours in either order."""
    cycles = printed["latency_us"] * printed["clock_mhz"]
    speed = rules(N, printed["prime_bits"], 1, cycles, printed["clock_mhz"])
    paper = {**printed, "cycles": round(cycles), **speed}
    found = []
    for of in ours:
        blocks = _blocks(of["synthesised"])
        own = {name: of[name] for name in ("interval", "latency_ready", "multipliers", "dsp", "ram_bytes")}
        origin = f"{COUNTED}; {SYNTHESISED}" if blocks else COUNTED
        speed = rules(N, 60, 1, of["interval"], printed["clock_mhz"])
        remarks = [UNCLOCKED, f"{of['dsp_barrett']:,} DSP blocks with our Barrett multiplier"]
        name = "this work" if of["order"] == "eval" else "the same, in the pipeline's own order"
        row = {**own, **blocks, **speed, "origin": origin}
        fields = {"mode": "transform", "widths": [60], "order": of["order"]}
        found.append(_row("I", name, paper if of["order"] == "eval" else {}, row, *remarks, **fields))
    return found[::-1]


def _other(printed: Row) -> Row:
    fields = {
        "mode": "transform",
        "order": "–",
        "n": 1 << printed["log_n"],
        "widths": [printed["prime_bits"]],
    }
    return _row("I", printed["row"], printed, {}, ALONE, **fields)


def _multiplier(printed: Row, of: Row) -> Row:
    ours = {**_blocks(of), "dsp": of["dsp"], "origin": SYNTHESISED}
    return _row(
        "Fig. 2", of["kind"], printed, ours, "the paper prints the full product alone", mode="multiplier"
    )


def _part(of: Row) -> Row:
    """A part of an engine, which stands there `count` times."""
    ours = {name: of[name] for name in ("count", "lut", "ff", "dsp", "bram36")}
    return _row("area", of["part"], {}, {**ours, "origin": SYNTHESISED}, mode=of["build"])


def rows() -> list[Row]:
    """Every row."""
    printed, ours = read_figures(__package__), stored()
    two = printed["table2"]
    clock = two["clock_mhz"]
    cycles = two["latency_us"] * clock
    paper = {**two, "cycles": round(cycles), **rules(N, sum(WIDTHS), 2, cycles, clock)}
    same, short = (
        next(of for of in ours["engines"] if (of["mode"], of["n"], of["p"]) == (mode, N, P))
        for mode in ("engine+special", "engine")
    )
    found = [
        *(
            _row(
                "I", of["row"], of, {}, ALONE, mode="transform", n=1 << of["log_n"], widths=[of["prime_bits"]]
            )
            for of in printed["table1"][:-1]
        ),
        *_transforms(printed["table1"][-1], ours["transforms"]),
        *(
            _multiplier(printed["multiplier"] if of["kind"] == "Barrett" else {}, of)
            for of in ours["multipliers"]
        ),
        _row(
            "II",
            "encryption",
            paper,
            _engine(same, clock),
            UNCLOCKED,
            f"an extra prime of {EXTRA} bits in both",
            "a build without expansions of seeds, as the paper's; nothing of it is left out",
            mode="engine+special",
        ),
        _row("II", "the same, without the extra prime", {}, _engine(short, clock), UNCLOCKED),
    ]
    found += [_part(of) for of in ours["area"]]
    for of in ours["engines"]:
        fields = {name: of[name] for name in ("n", "p", "mode", "order")}
        slow = ["the generator of random bits sets the interval"] * (of["interval"] * of["p"] > of["n"])
        found.append(_row("modes", of["mode"], {}, _engine(of, clock), *slow, **fields))
    return found
