"""One file of plain Verilog-2001 from SystemVerilog, by yosys with slang.

    python3 synth/plain.py ringmill_axi build/ringmill_axi.v W=54 NBF=4 … -- rtl/a.sv rtl/b.sv …

For tools that read no SystemVerilog. The hierarchy goes, memories stay memories, and registers keep their
asynchronous reset. `YOSYS` names another command. Plain Python, because `ringmill build` copies it into the
folder of a core.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

#: What follows the reading of the sources. `opt -full` makes one write enable of a row of equal ones, so that
#: memories are written as vendors' tools infer them.
STEPS = """\
hierarchy -check -top {top}
proc
flatten
opt -full
opt_reduce -full
memory -nomap
bwmuxmap
opt -full
opt_clean -purge
write_verilog -noattr {out}
"""


def main(argv: list[str]) -> int:
    """Write the file; nothing is left of one that could not be written."""
    top, out, *rest = argv
    cut = rest.index("--")
    target = Path(out).resolve()
    beside = target.with_suffix(".part")
    generics = "".join(f" -G {one}" for one in rest[:cut])
    sources = " ".join(str(Path(name).resolve()) for name in rest[cut + 1 :])
    script = target.with_suffix(".ys")
    script.write_text(f"read_slang --top {top}{generics} {sources}\n{STEPS.format(top=top, out=beside)}")
    command = [
        *shlex.split(os.environ.get("YOSYS", "yosys")),
        "-ql",
        str(target.with_suffix(".log")),
        str(script),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit(
            f"`{command[0]}` is not here; plain Verilog is made by yosys with slang, YOSYS names the command"
        ) from None
    if done.returncode != 0:
        lines = [
            line for line in (done.stdout + done.stderr).splitlines() if "rror" in line or "No such" in line
        ]
        raise SystemExit(f"{shlex.join(command)} failed: " + "; ".join(lines[:5]))
    text = beside.read_text()
    beside.replace(target)
    memories = len(re.findall(r"^\s*reg [^;=]*\]\s*;", text, re.MULTILINE))
    print(f"{out}: {len(text.splitlines()):,} lines, {memories} memories")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
