"""The simulator that a built folder needs."""

from __future__ import annotations

import subprocess


def verilator() -> bool:
    """Whether the environment has a Verilator that builds the core.

    5.048 takes the option that keeps functions whole, without which the package for Python miscompiles
    some; 5.006, which Debian 12 ships, does not. The Makefile of a built folder asks the same way.
    """
    try:
        asked = subprocess.run(
            ["verilator", "-fno-inline-funcs", "--version"], capture_output=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0
