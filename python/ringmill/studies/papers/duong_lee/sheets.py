"""The comparison with Duong and Lee as sheets of text."""

from __future__ import annotations

from typing import Any

from ringmill.studies.papers.sheets import Cells, Sheet, listed, our_figure, paper_figure

Row = dict[str, Any]


#: Of every table with resources.
_RESOURCES: Cells = {
    "row": lambda row: str(row["row"]),
    "": lambda _: "",
    "LUT": paper_figure("lut"),
    "ours": our_figure("lut"),
    "FF": paper_figure("ff"),
    "ours, FF": our_figure("ff"),
    "DSP": paper_figure("dsp"),
    "ours, DSP": our_figure("dsp"),
    "BRAM": paper_figure("bram", 1),
    "URAM": paper_figure("uram"),
    "ours, MB": our_figure("ram_bytes", 1e6, 1),
}


#: Of every table with cycles.
_CLOCKS: Cells = {
    "row": lambda row: str(row["row"]),
    "": lambda _: "",
    "cycles": paper_figure("cycles"),
    "ours, interval": our_figure("interval"),
    "ours, latency": our_figure("latency"),
    "alone": our_figure("latency_alone"),
    "Mbps": paper_figure("mbps_paper_rule"),
    "ours, Mbps": our_figure("mbps_paper_rule"),
    "Mbps, all bits": paper_figure("mbps_all_bits"),
    "ours, all bits": our_figure("mbps_all_bits"),
}

_SETS: Cells = {
    "limbs, special, digits": lambda row: ", ".join(map(str, row["set"])),
    "": lambda _: "",
    "bound": our_figure("bound"),
    "interval": our_figure("interval"),
    "latency": our_figure("latency"),
    "alone": our_figure("latency_alone"),
    "MB off chip": our_figure("bytes_off_chip", 1e6, 1),
}

_MEMORIES: Cells = {
    "memory": lambda row: row["row"],
    "": lambda _: "",
    "build": lambda row: "chain" if row["build"] == "streams" else "pool",
    "interval": our_figure("interval"),
    "MB off chip": our_figure("bytes_off_chip", 1e6, 1),
    "Mbps": our_figure("mbps_paper_rule"),
}


def sheets(rows: list[Row]) -> list[Sheet]:
    """Every table."""
    return [
        listed("Table 2: the whole module", rows, 2, _RESOURCES),
        listed("Table 3: ModRai by modules", rows, 3, _RESOURCES),
        listed("Table 4: ModSwi by modules", rows, 4, _RESOURCES),
        listed("Table 5: cycles at N = 2^16", rows, 5, _CLOCKS),
        listed("Table 6: throughput", rows, 6, _CLOCKS),
        listed(
            "Fig. 7: off chip",
            rows,
            "Fig. 7",
            {
                "row": lambda r: r["row"],
                "": lambda _: "",
                "keys, KB": paper_figure("key_kbytes"),
                "ciphertext, KB": paper_figure("ciphertext_kbytes"),
                "ours, MB": our_figure("bytes_off_chip", 1e6, 1),
            },
        ),
        listed("Sets of ours, N = 2^16, ten units in place", rows, "sets", _SETS),
        listed("Memory off chip, at 236 MHz", rows, "memory", _MEMORIES),
    ]


def notes(_: Row) -> list[str]:
    """What holds for all figures."""
    return [
        "Ours: words of 60 bits for all moduli, multipliers of 6 DSP blocks. Cycles are those of schedules."
        " Those of the chain and of the pool equal the RTL start by start, at small N.",
        "The paper's 67,168 cycles are the interval; its latency is about twice that. Its Mbps count the four"
        " ciphertext primes of 213 bits; with the special one they are 273.",
    ]
