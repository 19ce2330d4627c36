"""Where a verb writes, checked before it works."""

from __future__ import annotations

from pathlib import Path

from ringmill._native import identify_file
from ringmill.atomic import can_write
from ringmill.errors import CommandError, FileFormatError, fail


def to_write(path: str, *read: str | Path | None) -> Path:
    """A file to write, which must be possible before any work is done.

    Its folder must exist, and take files. What nothing gives back is not written over: a secret key, and the
    files ``read`` by the same command.
    """
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
    if target.is_file() and _is_secret(target):
        fail(
            CommandError,
            "SecretExists",
            f"{path} is a secret key, and what it encrypted could not be decrypted any more. "
            "Choose another place, or remove it first.",
            path=path,
        )
    if any(_same(target, Path(other)) for other in read if other):
        fail(
            CommandError,
            "OverInput",
            f"{path} is read by this command, which would write over it. Choose another place.",
            path=path,
        )
    can_write(target)
    return target


def _is_secret(path: Path) -> bool:
    try:
        return bool(identify_file(path)["kind"] == "secret key")
    except FileFormatError:
        return False


def _same(one: Path, other: Path) -> bool:
    """Whether two names lead to one file, by links too; what is not there is no other file's."""
    try:
        return one.samefile(other)
    except OSError:
        return False
