"""Taiyi's machine, and the field's, by a simulation that counts all traffic."""

from __future__ import annotations

from ringmill.studies.papers.figures import read_figures
from ringmill.studies.papers.paper import Facts, Paper, Settings
from ringmill.studies.papers.taiyi import rows, sheets, simulated


def _facts(_settings: Settings) -> Facts:
    found = rows.rows(read_figures(__package__), simulated.stored())
    return {"rows": found, "notes": list(sheets.NOTES)}


def _introduction(facts: Facts) -> str:
    best = [row["ours"]["ms"] for row in facts["rows"] if row["table"] == "ours"]
    return (
        "Bootstrappings on Taiyi's machine and others, simulated instruction by instruction with all "
        "of their traffic. "
        f"Within Taiyi's area a machine of our own takes {min(best):.2f} ms for 9 levels of 40 bits."
    )


PAPER = Paper(
    name="taiyi",
    subject="the machine, its applications, and the field's accelerators on one scale",
    reference="Fan, Deng, Tian, Hu, Chang, Hou, Meng, Zhang: “Taiyi: A high-performance CKKS accelerator for "
    "Practical Fully Homomorphic Encryption”",
    page="taiyi-machine.md",
    heading="Large machines",
    facts=_facts,
    sheets=sheets.sheets,
    introduction=_introduction,
    notes=lambda facts: facts["notes"],
)
