"""What the report of a board's bitstream says, for a person: python3 rtl/boards/show.py REPORT [--store].

`--store` keeps the report beside this file, where a test compares its digest with the sources.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Bits a cycle that the DRAM of a board brings, where they are fewer than those of the design's device.
NARROW = {"ulx3s": 16}


def lines(report: dict) -> list[str]:
    """Clocks, cells, and runs a second, each with where it comes from."""
    cycles, mhz = report["core"]["cycles"], report["mhz"]
    rate = f"{cycles:,} cycles by the cycle model"
    if report["board"] in NARROW:
        rate += (
            f" with 128 bits of memory a cycle; this board brings {NARROW[report['board']]}, and takes longer"
        )
    else:
        rate += f": {1e6 * mhz / cycles:.1f} runs a second at {mhz:g} MHz"
    minutes = ", ".join(f"{step} {time}" for step, time in report["minutes"].items())
    used = ", ".join(f"{one['used']:,} of {one['of']:,} {cell}" for cell, one in report["used"].items())
    clocks = [
        f"{clock}: {one['reached_mhz']} MHz reached, {one['asked_mhz']} asked for"
        for clock, one in report["clocks"].items()
    ]
    return [
        f"board     {report['board']}, core {report['core']['parameters']}",
        *(f"clock     {clock} (routed here)" for clock in clocks),
        f"cells     {used} (routed here)",
        f"program   {rate}",
        f"minutes   {minutes}, seed {report['seed']}",
        f"tools     {', '.join(f'{name} {version}' for name, version in report['tools'].items())}",
        f"bitstream {report['bitstream']['bytes']:,} bytes, SHA-256 {report['bitstream']['sha256'][:16]}…",
        "never run on a board",
    ]


def main() -> None:
    """Print a report, and keep it if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    report = json.loads(options.report.read_text())
    print("\n".join(lines(report)))
    if options.store:
        shutil.copy(options.report, HERE / f"{report['board']}.json")


if __name__ == "__main__":
    main()
