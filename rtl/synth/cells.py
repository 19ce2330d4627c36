"""Cells of a top by yosys with slang, by device family: what a synthesis runs, and how its cells are counted.

    python3 synth/cells.py xcup rm_compact_core build/cells.json W=54 NBF=4 … -- rtl/a.sv rtl/b.sv …

writes the figures of a core as JSON and prints them; `YOSYS` names another command, `yosys -m slang` for one
without slang inside. Plain Python, because `ringmill build` copies it into the folder of a core.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

__all__ = ["FAMILIES", "Row", "cells", "figures", "overall", "reading", "script", "total", "yosys"]

Row = dict[str, object]

#: For each family: its synthesis, the options of `stat`, and its DSP block.
FAMILIES = {
    "xc7": ("synth_xilinx -family xc7 -flatten -abc9 -noiopad -noclkbuf", "-tech xilinx ", "DSP48E1"),
    "xcup": ("synth_xilinx -family xcup -flatten -abc9 -noiopad -noclkbuf", "-tech xilinx ", "DSP48E2"),
    "ecp5": ("synth_ecp5 -abc9", "", "MULT18X18D"),
}


def script(family: str, top: str) -> str:
    """Return what follows the reading of the sources; cells are counted into `stat.json`."""
    synthesis, reported, _ = FAMILIES[family]
    return f"{synthesis} -top {top}\ntee -q -o stat.json stat -json {reported}-top {top}\n"


def cells(stat: Path, top: str) -> tuple[dict[str, int], Row]:
    """Return how often each cell occurs, and the whole entry of the top."""
    text = stat.read_text()
    modules = json.loads(text[text.index("{") :])["modules"]
    module = modules.get(f"\\{top}") or modules[top]
    found = {}
    for name, value in module["num_cells_by_type"].items():
        found[name.lstrip("\\")] = value["count"] if isinstance(value, dict) else value
    return found, module


def total(found: dict[str, int], pattern: str) -> int:
    """Count the cells whose whole name matches."""
    return sum(count for name, count in found.items() if re.fullmatch(pattern, name))


def overall(lut: int, ff: int, dsp: int, bram36: float) -> float:
    """Return CASA's area: LUT/16 + FF/8 + 102.4 DSP + 56 BRAM (of 36 kbit)."""
    return round(lut / 16 + ff / 8 + 102.4 * dsp + 56 * bram36, 1)


def figures(family: str, found: dict[str, int]) -> Row:
    """Return LUTs, flip-flops, DSP blocks and memories out of the cells of a top."""
    dsp = found.get(FAMILIES[family][2], 0)
    if family == "ecp5":
        carry, ram = found.get("CCU2C", 0), found.get("TRELLIS_DPR16X4", 0)
        return {
            "lut": found.get("LUT4", 0) + 2 * carry + 4 * ram,  # a carry cell sits on two LUTs
            "lut4": found.get("LUT4", 0),
            "ccu2c": carry,
            "ff": found.get("TRELLIS_FF", 0),
            "dsp": dsp,
            "ebr": found.get("DP16KD", 0) + found.get("PDPW16KD", 0),
        }
    lut, srl = total(found, r"LUT[1-6]"), total(found, r"SRL.*")
    ram = total(found, r"RAM\d+(X\d+)?[SDM].*")
    ff = total(found, r"FD[CPRS]E(_1)?|LD[CP]E")
    bram = total(found, r"RAMB36E\d") + total(found, r"RAMB18E\d") / 2
    area = overall(lut + srl + ram, ff, dsp, bram)
    row: Row = {"lut": lut, "srl": srl, "lutram": ram, "ff": ff, "dsp": dsp, "bram36": bram, "overall": area}
    ultra = found.get("URAM288", 0)
    return {**row, "uram": ultra} if ultra else row


def reading(top: str, rest: list[str]) -> str:
    """Return the line of a script that reads a top from the arguments `PARAMETER=VALUE… -- SOURCE…`."""
    cut = rest.index("--")
    generics = "".join(f" -G {one}" for one in rest[:cut])
    sources = " ".join(str(Path(name).resolve()) for name in rest[cut + 1 :])
    return f"read_slang --top {top}{generics} {sources}\n"


def yosys(where: Path, work: str, *arguments: str) -> str:
    """What yosys prints; ends the program with its errors if it fails. `work` says what it is for."""
    command = [*shlex.split(os.environ.get("YOSYS", "yosys")), *arguments]
    try:
        done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit(
            f"`{command[0]}` is not here; {work} by yosys with slang, YOSYS names the command"
        ) from None
    if done.returncode != 0:
        lines = [
            line for line in (done.stdout + done.stderr).splitlines() if "rror" in line or "No such" in line
        ]
        raise SystemExit(f"{shlex.join(command)} failed: " + "; ".join(lines[:5]))
    return done.stdout


def main(argv: list[str]) -> int:
    """Synthesise one top and keep its figures."""
    family, top, out, *rest = argv
    if family not in FAMILIES:
        raise SystemExit(f"no synthesis for {family}; there are {', '.join(FAMILIES)}")
    target = Path(out).resolve()
    where, work = target.parent, "the cells are counted"
    (where / "cells.ys").write_text(f"{reading(top, rest)}{script(family, top)}")
    version = yosys(where, work, "-V").split(" (")[0].strip()
    yosys(where, work, "-ql", "cells.log", "cells.ys")
    row = figures(family, cells(where / "stat.json", top)[0])
    row |= {"family": family, "tool": version, "status": "synthesised, not placed, not routed"}
    beside = target.with_suffix(".part")
    beside.write_text(json.dumps(row, indent=1) + "\n")
    beside.replace(target)
    print(
        f"{family} by {version}: "
        + ", ".join(f"{k} {v}" for k, v in row.items() if isinstance(v, int | float))
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
