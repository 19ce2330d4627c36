"""`python -m ringmill.studies.papers.taiyi_parameters`: prices Table IV over digits and stores the prices."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ringmill.atomic import write_text
from ringmill.studies.papers.taiyi_parameters import sweep


def main() -> int:
    """Price every chain by the shipped costs, whatever this machine was calibrated to."""
    os.environ["RINGMILL_COSTS"] = os.devnull + "/none"
    found = sweep.made(lambda row: print(row, flush=True))
    write_text(Path(__file__).with_name(sweep.FILE), json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
