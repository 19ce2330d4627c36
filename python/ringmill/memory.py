"""How much memory there is, and a refusal in time where it will not do."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from pathlib import Path

from ringmill.errors import CommandError, fail

_GIGABYTE = 1e9


def available() -> float:
    """Bytes that this process may still take: what is free, or what its control group leaves if less."""
    limits = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                limits.append(1024.0 * int(line.split()[1]))
        group = Path("/sys/fs/cgroup")
        most = (group / "memory.max").read_text().strip()
        if most != "max":
            limits.append(float(int(most) - int((group / "memory.current").read_text())))
    except (OSError, ValueError):
        pass  # Other systems say it elsewhere, or not at all.
    return min(limits, default=float("inf"))


def held() -> float:
    """Bytes that this process has taken at most so far; a process gives little of it back."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most if sys.platform == "darwin" else 1024 * most)


def check(
    what: str, parts: dict[str, float], limit: float | None, fits: dict[str, Callable[[], float]]
) -> None:
    """Refuse work that needs more than there is.

    Args:
        what: the work.
        parts: bytes it needs, by what for.
        limit: bytes it may take; what is available when ``None``.
        fits: other ways to do it and what works out their bytes, the best first.
    """
    limit = available() if limit is None else limit
    needed = sum(parts.values())
    if needed <= limit:
        return
    told = ", ".join(f"{name} {size / _GIGABYTE:.1f}" for name, size in parts.items())
    sizes = ((name, size()) for name, size in fits.items())
    way = next((f"{name}, {size / _GIGABYTE:.1f} GB" for name, size in sizes if size <= limit), None)
    fail(
        CommandError,
        "Memory",
        f"{what} needs about {needed / _GIGABYTE:.1f} GB ({told}), and may take {limit / _GIGABYTE:.1f} GB. "
        + (
            f"This would fit: {way}."
            if way
            else f"{'Nothing smaller fits; use' if fits else 'Use'} a machine with more memory."
        ),
        needed=needed,
        limit=limit,
    )
