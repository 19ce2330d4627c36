"""The comparison with Nguyen, Kim and Lee as sheets of text."""

from __future__ import annotations

from typing import Any

from ringmill.studies.papers.sheets import Cells, Sheet, listed, number, our_figure, paper_figure

Row = dict[str, Any]


_NAMES: Cells = {"row": lambda row: str(row["row"]), "order": lambda row: str(row["order"])}

#: Of Tables I and II: what is used, and how fast it is.
_BOTH: Cells = {
    **_NAMES,
    "LUT": paper_figure("lut"),
    "ours": our_figure("lut"),
    "FF": paper_figure("ff"),
    "ours, FF": our_figure("ff"),
    "DSP": paper_figure("dsp"),
    "ours, DSP": our_figure("dsp"),
    "BRAM": paper_figure("bram"),
    "ours, MB": our_figure("ram_bytes", 1e6, 2),
    "cycles": paper_figure("cycles"),
    "ours, interval": our_figure("interval"),
    "ready": our_figure("latency_ready"),
    "Mbps": paper_figure("mbps_paper_rule"),
    "ours, Mbps": our_figure("mbps_paper_rule"),
    "all bits": paper_figure("mbps_all_bits"),
    "ours, all bits": our_figure("mbps_all_bits"),
}

_MULTIPLIER: Cells = {
    "kind": lambda row: str(row["row"]),
    "": lambda _: "",
    "DSP, full product": paper_figure("dsp_full_product"),
    "ours, DSP": our_figure("dsp"),
    "ours, LUT": our_figure("lut"),
    "ours, FF": our_figure("ff"),
}

_MODES: Cells = {
    "mode": lambda row: str(row["mode"]),
    "order": lambda row: str(row["order"]),
    "N": lambda row: number(row["n"]),
    "words": lambda row: number(row["p"]),
    "interval": our_figure("interval"),
    "message": our_figure("latency_message"),
    "ready": our_figure("latency_ready"),
    "cold": our_figure("latency_cold"),
    "multipliers": our_figure("multipliers"),
    "DSP": our_figure("dsp"),
    "MB": our_figure("ram_bytes", 1e6, 2),
    "Mbps": our_figure("mbps_paper_rule"),
    "all bits": our_figure("mbps_all_bits"),
}


#: Where the area goes.
_AREA: Cells = {
    "build": lambda row: str(row["mode"]),
    "part": lambda row: str(row["row"]),
    "times": our_figure("count"),
    "LUT": our_figure("lut"),
    "FF": our_figure("ff"),
    "DSP": our_figure("dsp"),
    "BRAM": our_figure("bram36"),
}


def sheets(rows: list[Row]) -> list[Sheet]:
    """Every table."""
    return [
        listed("Table I: one transform", rows, "I", _BOTH),
        listed("Fig. 2: the modular multiplier of 60 bits", rows, "Fig. 2", _MULTIPLIER),
        listed("Table II: encryption at N = 2^14", rows, "II", _BOTH),
        listed("Where the area of ours goes", rows, "area", _AREA),
        listed("Modes and sizes of ours", rows, "modes", _MODES),
    ]


def notes(_: Row) -> list[str]:
    """What holds for all figures."""
    return [
        "Ours: multipliers of 6 DSP blocks for NTT primes. Cycles are those of the schedule, which equal the"
        " RTL start by start at small N. To the last word: from the first row of the message; ready: from the"
        " start, samples drawn ahead; cold: from the job.",
        "The paper takes its latency for the interval, and counts one of two ciphertext polynomials. Ours are"
        " counted by the interval, by that rule and with all polynomials that leave the engine.",
    ]
