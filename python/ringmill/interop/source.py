"""Where files of other libraries are read from and written to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from ringmill.atomic import write_bytes
from ringmill.errors import MismatchError, fail

Source: TypeAlias = bytes | str | Path


def source(given: object) -> bytes | str:
    """Bytes as they are, a path as text."""
    if isinstance(given, bytes):
        return given
    if isinstance(given, (bytearray, memoryview)):
        return bytes(given)
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    fail(
        MismatchError,
        "NotASource",
        f"A file is wanted, and {type(given).__name__} was given. Give its bytes, or its path.",
    )


def save(path: str | Path, data: bytes) -> int:
    """Write a file atomically; returns its bytes."""
    write_bytes(Path(path), data)
    return len(data)
