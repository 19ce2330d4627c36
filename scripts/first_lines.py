#!/usr/bin/env python3
"""Runs the first lines of Python in README.md, as a reader would: what an installed wheel must do."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main() -> int:
    """Run the block; an exception is the failure."""
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if block is None:
        print("README.md has no block of Python", file=sys.stderr)
        return 1
    # A file of its own: a kernel's source is read from where it stands.
    source = Path(sys.argv[1] if len(sys.argv) > 1 else "first_lines_of_readme.py")
    source.write_text(block.group(1), encoding="utf-8")
    exec(compile(block.group(1), str(source), "exec"), {"__name__": "__main__"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
