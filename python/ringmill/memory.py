"""How much memory there is, and a refusal in time where it will not do."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from ringmill import _native
from ringmill._native import Params
from ringmill.errors import MachineError, RingmillError, fail

_GIGABYTE = 1e9

# What takes less is begun without asking.
_SMALL = float(1 << 26)

_MEMORY, _GROUP, _PROCESS = Path("/proc/meminfo"), Path("/sys/fs/cgroup"), Path("/proc/self/statm")


def available() -> float:
    """Bytes that this process may still take: the least of what is free and of what its limits leave.

    Its limits are that of its control group and that of its addresses (``ulimit -v``).
    """
    limits = []
    for limit in (_free, _left_to_the_group, _left_of_addresses):
        # Other systems say it elsewhere, or not at all.
        with contextlib.suppress(OSError, ValueError, KeyError):
            limits.append(limit())
    return min(limits, default=float("inf"))


def _free() -> float:
    return 1024.0 * int(_figures(_MEMORY)["MemAvailable:"])


def _left_to_the_group() -> float:
    most = (_GROUP / "memory.max").read_text().strip()
    if most == "max":
        return float("inf")
    # The system can free the memory of cached files.
    figures = _figures(_GROUP / "memory.stat")
    files = int(figures["active_file"]) + int(figures["inactive_file"])
    return float(int(most) - int((_GROUP / "memory.current").read_text()) + files)


def _left_of_addresses() -> float:
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return float("inf")
    return float(most - int(_PROCESS.read_text().split()[0]) * resource.getpagesize())


def _figures(path: Path) -> dict[str, str]:
    """Figures that a system file has a line each for."""
    return dict(line.split()[:2] for line in path.read_text().splitlines())


def held() -> float:
    """Bytes that this process has taken at most so far; a process gives little of it back."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most if sys.platform == "darwin" else 1024 * most)


def of_keys(params: Params, count: int, forms: Iterable[str] = (), *, seeded: bool = False) -> float:
    """Bytes of evaluation keys with these forms on this machine: digits, times two, times all primes.

    Of seeded ones half is kept, packed, beside the one that is being made.
    """
    named = [_native.form_bytes(params, str(form)) for form in forms]
    # An invalid form is refused elsewhere.
    key = float(sum(bytes or 0 for bytes in [_native.form_bytes(params), *named]))
    return key + count * key * packed(params) if seeded else count * key


def packed(params: Params) -> float:
    """The share of a key's bytes that its half takes when its words are packed."""
    half = params.dnum * sum(prime.bit_length() for prime in params.q + params.p) << params.log_n
    return half / 8 / of_keys(params, 1)


def room(what: str, parts: dict[str, float], fits: dict[str, Callable[[], float]]) -> None:
    """Refuse a call that needs more than there is, which would end the process; asks for large ones only."""
    if sum(parts.values()) >= _SMALL:
        check(what, parts, None, fits)


def check(
    what: str,
    parts: dict[str, float],
    limit: float | None,
    fits: dict[str, Callable[[], float]],
    error: type[RingmillError] = MachineError,
) -> None:
    """Refuse work that needs more than there is.

    Args:
        what: the work.
        parts: bytes it needs, by what for.
        limit: bytes it may take; what is available when ``None``.
        fits: other ways to do it and what works out their bytes, the best first.
        error: the family of the refusal.
    """
    limit = available() if limit is None else limit
    needed = sum(parts.values())
    if needed <= limit:
        return
    each = ", ".join(f"{name} {size / _GIGABYTE:.1f}" for name, size in parts.items())
    sizes = ((name, size()) for name, size in fits.items())
    way = next((f"{name}, {size / _GIGABYTE:.1f} GB" for name, size in sizes if size <= limit), None)
    fail(
        error,
        "Memory",
        f"{what} needs about {needed / _GIGABYTE:.1f} GB ({each}), and may take {limit / _GIGABYTE:.1f} GB. "
        + (
            f"This would fit: {way}."
            if way
            else f"{'Nothing smaller fits; use' if fits else 'Use'} a machine with more memory."
        ),
        needed=needed,
        limit=limit,
    )
