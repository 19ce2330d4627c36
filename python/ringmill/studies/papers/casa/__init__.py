"""CASA: a compact core scaled by one number, beside ours."""

from __future__ import annotations

from ringmill.studies.papers.casa import measure, sheets
from ringmill.studies.papers.paper import Facts, Paper, Settings


def _introduction(_facts: Facts) -> str:
    return (
        "The paper's core beside the compact core: area, cycles of key switching and of operations, and "
        "tables that the paper does not have."
    )


PAPER = Paper(
    name="casa",
    subject="a compact core with one scaling parameter",
    reference="He, Oliva Madrigal, Koç, Bao, Xie: “CASA: A Compact and Scalable Accelerator for Approximate "
    "Homomorphic Encryption”",
    page="casa.md",
    heading="Beside CASA",
    facts=measure.beside,
    sheets=sheets.sheets,
    introduction=_introduction,
    notes=lambda facts: [sheets.origin(facts["rows"], facts["area_origin"])],
    # Half of the minute that the whole comparison takes.
    brief=Settings(effort=60_000),
)
