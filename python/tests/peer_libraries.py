"""Other libraries, each in an environment of its own, by `scripts/peers.sh`, which `make test` calls."""

from __future__ import annotations

import json
import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def run_peer(library: str, script: str, verb: str, folder: Path, *arguments: Any) -> None:
    """Run a script of ``python/tests/peers`` with the interpreter that has the library."""
    home = ROOT / "build" / "peers" / library
    if not (home / ".complete").exists():
        if platform.machine() != "x86_64":
            pytest.skip(f"{library} has no wheel for {platform.machine()}")
        pytest.fail(f"{library} is not installed: scripts/peers.sh installs it, as make test does")
    command = [home / "bin" / "python", ROOT / "python" / "tests" / "peers" / f"{script}.py", verb, folder]
    done = subprocess.run([*map(str, command), *map(json.dumps, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
