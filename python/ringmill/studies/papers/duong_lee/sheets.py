"""The comparison with Duong and Lee as sheets of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ringmill.studies.papers.sheets import Sheet, listed, number

Row = dict[str, Any]
Cells = dict[str, Callable[[Row], str]]


def _paper(name: str, digits: int = 0) -> Callable[[Row], str]:
    return lambda row: number(row["paper"].get(name), digits)


def _ours(name: str, scale: float = 1, digits: int = 0) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        found = row["ours"].get(name)
        return number(None if found is None else found / scale, digits)

    return text


#: Of every table with resources.
_RESOURCES: Cells = {
    "row": lambda row: str(row["row"]),
    "": lambda _: "",
    "LUT": _paper("lut"),
    "ours": _ours("lut"),
    "FF": _paper("ff"),
    "ours, FF": _ours("ff"),
    "DSP": _paper("dsp"),
    "ours, DSP": _ours("dsp"),
    "BRAM": _paper("bram", 1),
    "URAM": _paper("uram"),
    "ours, MB": _ours("ram_bytes", 1e6, 1),
}


#: Of every table with cycles.
_CLOCKS: Cells = {
    "row": lambda row: str(row["row"]),
    "": lambda _: "",
    "cycles": _paper("cycles"),
    "ours, interval": _ours("interval"),
    "ours, latency": _ours("latency"),
    "alone": _ours("latency_alone"),
    "Mbps": _paper("mbps_paper_rule"),
    "ours, Mbps": _ours("mbps_paper_rule"),
    "Mbps, all bits": _paper("mbps_all_bits"),
    "ours, all bits": _ours("mbps_all_bits"),
}

_SETS: Cells = {
    "limbs, special, digits": lambda row: ", ".join(map(str, row["set"])),
    "": lambda _: "",
    "bound": _ours("bound"),
    "interval": _ours("interval"),
    "latency": _ours("latency"),
    "alone": _ours("latency_alone"),
    "MB off chip": _ours("bytes_off_chip", 1e6, 1),
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
                "keys, KB": _paper("key_kbytes"),
                "ciphertext, KB": _paper("ciphertext_kbytes"),
                "ours, MB": _ours("bytes_off_chip", 1e6, 1),
            },
        ),
        listed("Sets of ours, N = 2^16, ten units in place", rows, "sets", _SETS),
    ]


def notes(_: Row) -> list[str]:
    """What holds for all figures."""
    return [
        "Ours: words of 60 bits for all moduli, multipliers of 6 DSP blocks. Cycles are those of schedules."
        " That of the chain equals the RTL start by start; that of a pool is a model whose units are RTL.",
        "The paper's 67,168 cycles are the interval; its latency is about twice that. Its Mbps count the four"
        " ciphertext primes of 213 bits; with the special one they are 273.",
    ]
