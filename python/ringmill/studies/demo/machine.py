"""What the report says about the machine it ran on."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from ringmill._native import isa


def processor() -> str:
    """What the machine calls its processor."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def describe() -> dict[str, Any]:
    """CPU, threads, kernels chosen, Python."""
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": processor(), "threads": threads, "isa": isa(), "python": platform.python_version()}
