"""`python -m ringmill.studies.papers.taiyi_parameters`: prices Table IV over digits and stores the prices."""

from __future__ import annotations

import os
from pathlib import Path

from ringmill.atomic import write_text
from ringmill.studies.papers.taiyi_parameters import sweep
from ringmill.studies.stored import text_of


def main() -> int:
    """Price every chain by the shipped costs, whatever this machine was calibrated to."""
    os.environ["RINGMILL_COSTS"] = os.devnull + "/none"
    found = sweep.made(lambda row: print(row, flush=True))
    write_text(Path(__file__).with_name(sweep.FILE), text_of(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
