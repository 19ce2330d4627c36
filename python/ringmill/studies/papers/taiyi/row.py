"""A row of the comparison, and the names that rows share."""

from __future__ import annotations

from typing import Any

from ringmill.studies.papers.taiyi.programs import OUR_BITS, OUR_LEVELS

Row = dict[str, Any]

#: What a row of a simulation has of ours.
FIGURES = ("ms", "cycles", "bytes_keys", "bytes_spilled", "bytes_off_chip", "energy_j")
PAPERS, OURS = "bootstrapping, the paper's", "bootstrapping, ours"
#: Bits of precision of a bootstrapping of ours.
PRECISION = 22


def row(
    table: str,
    name: str,
    *,
    machine: str | None = None,
    workload: str | None = None,
    method: str | None = None,
    correct: bool = True,
    paper: Row | None = None,
    ours: Row | None = None,
    why: str = "",
) -> Row:
    """Return a row with every field."""
    return {
        "table": table,
        "row": name,
        "machine": machine,
        "workload": workload,
        "method": method,
        "correct": correct,
        "paper": paper or {},
        "ours": ours or {},
        "why": why,
        "remarks": [] if correct else ["not a correct computation"],
    }


def figures_of(reported: Row, *, paper_shape: bool) -> Row:
    """Return what a row has of a simulation; the paper reports no precision for its own levels."""
    levels, bits = (17, 36) if paper_shape else (OUR_LEVELS, OUR_BITS)
    found = {name: reported.get(name) for name in FIGURES}
    return {
        **found,
        "levels": levels,
        "level_bits": levels * bits,
        "precision_bits": None if paper_shape else PRECISION,
        "bandwidth_tb_s": 1.0,
    }
