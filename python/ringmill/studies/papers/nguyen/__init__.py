"""Nguyen, Kim and Lee: encryption on a pipelined transform, beside our engine of streaming transforms."""

from __future__ import annotations

from ringmill.studies.papers.nguyen import rows, sheets
from ringmill.studies.papers.paper import Facts, Paper, Settings


def _facts(_settings: Settings) -> Facts:
    return {"rows": rows.rows()}


def _introduction(facts: Facts) -> str:
    row = next(row for row in facts["rows"] if row["table"] == "II")
    cycles = row["paper"]["cycles"]
    return (
        f"The tables of the paper whose encryption takes {cycles:,} cycles. "
        f"Ours begins one every {row['ours']['interval']:,}, which is what two words a cycle need at least."
    )


PAPER = Paper(
    name="nguyen",
    subject="encryption as a pipeline of streaming transforms",
    reference="Nguyen, Kim, Lee: “CKKS-Based Homomorphic Encryption Architecture using Parallel NTT "
    "Multiplier”",
    page="nguyen.md",
    heading="Beside Nguyen, Kim and Lee",
    facts=_facts,
    sheets=sheets.sheets,
    introduction=_introduction,
    notes=sheets.notes,
)
