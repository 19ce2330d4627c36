"""Duong and Lee: a pipelined key switch at N = 2^16, beside our chain of streaming transforms."""

from __future__ import annotations

from ringmill.studies.papers.duong_lee import rows, sheets
from ringmill.studies.papers.paper import Facts, Paper, Settings


def _facts(_settings: Settings) -> Facts:
    return {"rows": rows.rows()}


def _introduction(facts: Facts) -> str:
    row = next(row for row in facts["rows"] if row["table"] == 5)
    return (
        f"The tables of the paper whose key switch takes {row['paper']['cycles']:,} cycles. "
        f"Ours takes {row['ours']['interval']:,} with as many butterflies: what the transforms need at least."
    )


PAPER = Paper(
    name="duong-lee",
    subject="a pipelined key switch at N = 2^16",
    reference="Duong, Lee: “Pipelined Key Switching Accelerator Architecture for CKKS-Based Fully "
    "Homomorphic Encryption”",
    page="duong-lee.md",
    heading="Beside Duong and Lee",
    facts=_facts,
    sheets=sheets.sheets,
    introduction=_introduction,
    notes=sheets.notes,
)
