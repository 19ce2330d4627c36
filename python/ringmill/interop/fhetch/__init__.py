"""FHETCH traces (`.fhetch`): operations on residue polynomials, one a line, as limb programs and back.

``load`` reads a trace that Niobium's recorder or ``write`` has written; what it gives runs and is simulated
as any other limb program. ``write`` is the other way. Reading goes line by line, and is bounded.
"""

from __future__ import annotations

from ringmill.interop.fhetch.grammar import KNOWN, OPERATIONS
from ringmill.interop.fhetch.read import load
from ringmill.interop.fhetch.trace import Group, Trace
from ringmill.interop.fhetch.write import write

__all__ = ["Group", "Trace", "load", "page", "write"]


def page() -> str:
    """Return the table of operations in ``docs/interop.md``."""
    rows = [f"| `{name}` | {KNOWN.get(name, 'no: ' + why)} |" for name, why in OPERATIONS.items()]
    return "\n".join(["| operation | covered |", "|---|---|", *rows, ""])
