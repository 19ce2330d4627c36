"""Taiyi's choice of parameters, beside what exact key switching takes."""

from __future__ import annotations

from ringmill.studies.papers.figures import read_figures
from ringmill.studies.papers.paper import Facts, Paper, Settings
from ringmill.studies.papers.taiyi_parameters import applications, rows, sheets


def _facts(_settings: Settings) -> Facts:
    found = rows.rows(rows.stored()) + applications.rows(read_figures(__package__))
    return {"rows": found, "notes": list(sheets.NOTES)}


def _introduction(_facts: Facts) -> str:
    return (
        "Taiyi's choice of parameters beside what exact key switching takes, in multiplications of words for "
        "each coefficient."
    )


PAPER = Paper(
    name="taiyi-parameters",
    subject="KLSS key switching, and the number of limbs a digit by level",
    reference="Fan, Deng, Tian, Hu, Chang, Hou, Meng, Zhang: “Taiyi: A high-performance CKKS accelerator for "
    "Practical Fully Homomorphic Encryption”",
    page="taiyi.md",
    heading="Key switching: methods and parameters",
    facts=_facts,
    sheets=sheets.sheets,
    introduction=_introduction,
    notes=lambda facts: facts["notes"],
)
