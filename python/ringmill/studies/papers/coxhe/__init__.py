"""coxHE: parameters and hardware explored together, beside our explorer."""

from __future__ import annotations

from typing import Any

from ringmill.studies.papers.coxhe import model_rows, rows, sheets
from ringmill.studies.papers.paper import Facts, Paper, Settings


def _facts(_settings: Settings) -> Facts:
    found = rows.stored()
    for row in found["rows"]:
        row["remarks"] = _remarks(row)
    found["rows"] += model_rows.rows()
    return found


def _remarks(row: dict[str, Any]) -> list[str]:
    """Say of a row with a design whether there is one, and whether its clock was measured."""
    if row["table"] not in ("I", "III", "co-design", "Fig. 5c"):
        return []
    if not row["ours"]:
        return ["no design of ours keeps the row's error, security and resources"]
    return ["clock of ours not routed"] if "not routed" in row["ours"].get("clock_origin", "") else []


def _introduction(facts: Facts) -> str:
    gains = "".join(
        f" On the {board.upper()} co-design is {gain:.2f} times faster than fixed parameters."
        for board, gain in facts["gains"].items()
    )
    return (
        "The tables of the paper that explores parameters and hardware together. Each row is explored here "
        f"for the same board, error and security.{gains}"
    )


PAPER = Paper(
    name="coxhe",
    subject="from a kernel and a device to parameters and hardware",
    reference="Han, Zhu, Lou, Zhou, Guo, Ju: “coxHE: A software-hardware co-design framework for FPGA "
    "acceleration of homomorphic computation”",
    page="coxhe.md",
    heading="Beside coxHE",
    facts=_facts,
    sheets=sheets.sheets,
    introduction=_introduction,
    notes=sheets.notes,
)
