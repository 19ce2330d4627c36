"""The service's binary: where it may be."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from ringmill.errors import CommandError, fail

NAME = "ringmill-serve"

#: An environment variable that names it.
VARIABLE = "RINGMILL_SERVE"


def find() -> Path:
    """The binary.

    The one that the environment names, else the one beside Python's scripts, the newest that cargo built in
    the checkout, or the one on the path.

    Raises
    ------
        CommandError: code ``NoBinary``.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if _runs(Path(named)):
            return Path(named)
        _missing(f"{VARIABLE} names {named}, which is no program")
    beside = Path(sysconfig.get_path("scripts")) / NAME
    if _runs(beside):
        return beside
    checkout = Path(__file__).resolve().parents[3]
    built = [checkout / "target" / profile / NAME for profile in ("release", "full", "debug")]
    found = [path for path in built if _runs(path)]
    if found:
        return max(found, key=lambda path: path.stat().st_mtime)
    on_path = shutil.which(NAME)
    if on_path:
        return Path(on_path)
    return _missing(f"there is no {NAME}")


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _missing(why: str) -> Path:
    fail(
        CommandError,
        "NoBinary",
        f"The service cannot start: {why}. Install ringmill[serve], build it in the checkout "
        f"with `make serve`, or set {VARIABLE} to its path.",
    )
