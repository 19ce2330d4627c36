"""A simulation as a page: where cycles went, what each unit did, and a timeline to move and zoom in."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Facts = dict[str, Any]
Span = tuple[str, str, int, int]

#: Rows of a table of counters that would be longer.
_PARTS = 24


def packed(spans: Iterable[Span], cycles: int) -> str:
    """Spans as JSON for the page: a row a unit, three numbers a span, labels once each."""
    labels: dict[str, int] = {}
    rows: dict[str, list[tuple[int, int, int]]] = {}
    for unit, what, start, end in spans:
        label = labels.setdefault(what, len(labels))
        rows.setdefault(unit, []).append((start, end - start, label))
    units = sorted(rows)
    flat = [[number for span in sorted(rows[unit]) for number in span] for unit in units]
    data = {"cycles": cycles, "units": units, "rows": flat, "labels": list(labels)}
    # In a script element only "</" ends the text.
    return json.dumps(data, separators=(",", ":")).replace("</", "<\\/")


def _share(count: int, cycles: int) -> str:
    return f"{100 * count / cycles:.1f} %" if cycles else ""


def tables(facts: Facts) -> list[Facts]:
    """What the page shows in rows: parts of the run, units, energy, counters."""
    cycles = facts["cycles"] or 0
    parts = [(name, f"{count:,}", _share(count, cycles)) for name, count in facts["parts"][:_PARTS]]
    units = [(name, f"{100 * share:.1f} %") for name, share in facts["utilisation"].items()]
    energy = [(name, f"{1e3 * joules:.3g} mJ") for name, joules in facts["energy"]]
    counters = [(name.replace("_", " "), f"{count:,}") for name, count in facts["counters"].items()]
    return [
        {
            "title": "Where every cycle went",
            "about": "Every cycle counts once.",
            "names": ("what", "cycles", "share"),
            "rows": parts,
        },
        {
            "title": "Units at work",
            "about": "The part of the cycles in which each unit and channel works.",
            "names": ("unit", "at work"),
            "rows": units,
        },
        {
            "title": "Energy",
            "about": "As far as figures are known.",
            "names": ("what", "energy"),
            "rows": energy,
        },
        {"title": "Counters", "about": "All that was counted.", "names": ("what", "count"), "rows": counters},
    ]


def tiles(facts: Facts) -> list[tuple[str, str]]:
    """The three bounds, where the machine states them."""
    names = {
        "bound_work": "cycles of work alone",
        "bound_off_chip": "cycles of transfers alone",
        "bound_critical_path": "cycles of the critical path",
    }
    counters = facts["counters"]
    return [(names[name], f"{counters[name]:,}") for name in names if name in counters]
