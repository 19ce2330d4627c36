"""The word that was meant."""

from __future__ import annotations

import difflib
from typing import Any


def near(word: Any, known: tuple[str, ...]) -> str:
    """Return the known word closest in spelling, as a question in brackets; empty if no word is close."""
    spelled = str(word).lower()
    found = difflib.get_close_matches(spelled.replace("-", "_"), known, 1)
    found = found or difflib.get_close_matches(spelled, known, 1)
    return f" (did you mean {found[0]!r}?)" if found else ""
