"""Every paper beside ours, in the short time of the main job."""

from __future__ import annotations

from typing import Any

from ringmill.progress import Show, steps
from ringmill.studies.papers import papers


def run_papers(show: Show) -> dict[str, Any]:
    """Return the facts of every paper by its name."""
    known, found = papers(), {}
    with steps("papers", len(known), show) as step:
        for name, paper in known.items():
            step(f"beside {name}")
            found[name] = paper.facts(paper.brief)
    return found
