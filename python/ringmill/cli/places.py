"""Where a verb writes, checked before it works."""

from __future__ import annotations

from pathlib import Path

from ringmill.atomic import can_write
from ringmill.errors import CommandError, fail


def to_write(path: str) -> Path:
    """A file to write: its folder must exist, and take files, before any work is done."""
    target = Path(path)
    if not target.parent.is_dir():
        fail(
            CommandError,
            "NoFolder",
            f"{path} cannot be written: the folder {target.parent} does not exist. Make it first.",
            path=path,
        )
    if target.is_dir():
        fail(
            CommandError,
            "IsFolder",
            f"{path} cannot be written: it is a folder. Give the name of a file.",
            path=path,
        )
    can_write(target)
    return target
