"""One file of plain Verilog-2001 from SystemVerilog, by yosys with slang.

    python3 synth/plain.py ringmill_axi build/ringmill_axi.v W=54 NBF=4 … -- rtl/a.sv rtl/b.sv …

For tools that read no SystemVerilog. The hierarchy goes, memories stay memories, and registers keep their
asynchronous reset. `YOSYS` names another command. Plain Python, because `ringmill build` copies it into the
folder of a core.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cells import reading, yosys

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
    target = Path(out).resolve()
    beside, script, log = (target.with_suffix(ending) for ending in (".part", ".ys", ".log"))
    script.write_text(f"{reading(top, rest)}{STEPS.format(top=top, out=beside)}")
    yosys(target.parent, "plain Verilog is made", "-ql", str(log), str(script))
    text = beside.read_text()
    beside.replace(target)
    memories = len(re.findall(r"^\s*reg [^;=]*\]\s*;", text, re.MULTILINE))
    print(f"{out}: {len(text.splitlines()):,} lines, {memories} memories")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
