"""``python -m ringmill.studies.demo``: the main job from end to end."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from ringmill.errors import RingmillError
from ringmill.progress import Show
from ringmill.studies.demo import machine, table
from ringmill.studies.demo.clinic import run_clinic
from ringmill.studies.demo.compared import run_papers
from ringmill.studies.demo.exploration import run_exploration
from ringmill.studies.demo.hardware import run_hardware
from ringmill.studies.demo.nine import run_nine


def main() -> int:
    """Run, print the table, write the report."""
    parser = argparse.ArgumentParser(prog="python -m ringmill.studies.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/report"), help="folder of the report")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    options = parser.parse_args()
    start = time.perf_counter()
    show: Show = "none" if options.quiet else "auto"
    try:
        clinic, job = run_clinic(options.out / "clinic", show)
        kernels = run_nine(show)
        hardware = run_hardware(show)
        compared = run_papers(show)
        explored = run_exploration(job, options.out / "core", show)
    except KeyboardInterrupt:
        print("interrupted; no report was written", file=sys.stderr)
        return 130
    except RingmillError as error:
        print(f"ringmill.studies.demo: {error.message}", file=sys.stderr)
        return 1
    from ringmill import __version__
    from ringmill.studies.demo.report import write

    results = {
        "version": __version__,
        "machine": machine.describe(),
        "clinic": clinic,
        "kernels": kernels,
        "hardware": hardware,
        "papers": compared,
        "exploration": explored,
    }
    page = write(results, options.out)
    table.show(results, page, time.perf_counter() - start)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
