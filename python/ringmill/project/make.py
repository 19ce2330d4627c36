"""`make` in a folder that `ringmill build` wrote."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

Done = subprocess.CompletedProcess[str]


def make(folder: Path, target: str) -> Done:
    """Make a target, silently, whatever make may have started this process."""
    return subprocess.run(
        ["make", "-s", target],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MAKEFLAGS": ""},
    )


def last_words(done: Done) -> str:
    """What a tool said last, for a message; what make says of itself is left out."""
    said = [line for line in (done.stderr or done.stdout).strip().splitlines() if not line.startswith("make")]
    return said[-1] if said else "it said nothing"
