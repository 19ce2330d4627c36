"""The comparison with Nguyen, Kim and Lee as sheets of text."""

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


_NAMES: Cells = {"row": lambda row: str(row["row"]), "order": lambda row: str(row["order"])}

#: Of Tables I and II: what is used, and how fast it is.
_BOTH: Cells = {
    **_NAMES,
    "LUT": _paper("lut"),
    "ours": _ours("lut"),
    "FF": _paper("ff"),
    "ours, FF": _ours("ff"),
    "DSP": _paper("dsp"),
    "ours, DSP": _ours("dsp"),
    "BRAM": _paper("bram"),
    "ours, MB": _ours("ram_bytes", 1e6, 2),
    "cycles": _paper("cycles"),
    "ours, interval": _ours("interval"),
    "ready": _ours("latency_ready"),
    "Mbps": _paper("mbps_paper_rule"),
    "ours, Mbps": _ours("mbps_paper_rule"),
    "all bits": _paper("mbps_all_bits"),
    "ours, all bits": _ours("mbps_all_bits"),
}

_MULTIPLIER: Cells = {
    "kind": lambda row: str(row["row"]),
    "": lambda _: "",
    "DSP, full product": _paper("dsp_full_product"),
    "ours, DSP": _ours("dsp"),
    "ours, LUT": _ours("lut"),
    "ours, FF": _ours("ff"),
}

_MODES: Cells = {
    "mode": lambda row: str(row["mode"]),
    "order": lambda row: str(row["order"]),
    "N": lambda row: number(row["n"]),
    "words": lambda row: number(row["p"]),
    "interval": _ours("interval"),
    "ready": _ours("latency_ready"),
    "cold": _ours("latency_cold"),
    "multipliers": _ours("multipliers"),
    "DSP": _ours("dsp"),
    "MB": _ours("ram_bytes", 1e6, 2),
    "Mbps": _ours("mbps_paper_rule"),
    "all bits": _ours("mbps_all_bits"),
}


def sheets(rows: list[Row]) -> list[Sheet]:
    """Every table."""
    return [
        listed("Table I: one transform", rows, "I", _BOTH),
        listed("Fig. 2: the modular multiplier of 60 bits", rows, "Fig. 2", _MULTIPLIER),
        listed("Table II: encryption at N = 2^14", rows, "II", _BOTH),
        listed("Modes and sizes of ours", rows, "modes", _MODES),
    ]


def notes(_: Row) -> list[str]:
    """What holds for all figures."""
    return [
        "Ours: multipliers of 6 DSP blocks for NTT primes. Cycles are those of the schedule, which equal the"
        " RTL start by start at small N. Ready: start to last word, samples drawn ahead; cold: from the job.",
        "The paper takes its latency for the interval, and counts one of two ciphertext polynomials. Ours are"
        " counted by the interval, by that rule and with all polynomials that leave the engine.",
    ]
