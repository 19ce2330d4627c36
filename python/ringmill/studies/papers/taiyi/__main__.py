"""`python -m ringmill.studies.papers.taiyi`: simulates every row of the comparison and stores them."""

from __future__ import annotations

from pathlib import Path

from ringmill.atomic import write_text
from ringmill.studies.papers.taiyi import simulated
from ringmill.studies.stored import text_of


def main() -> int:
    """Simulate, and show each row as it is found."""
    shown = ("machine", "lanes", "method", "area_mm2", "ms", "refused")
    found = simulated.made(lambda row: print({name: row[name] for name in shown if name in row}, flush=True))
    write_text(Path(__file__).with_name(simulated.FILE), text_of(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
