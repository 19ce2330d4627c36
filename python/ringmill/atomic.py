"""Files that appear whole or not at all: written beside the target, flushed, then moved over it."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from ringmill.errors import FileFormatError, fail


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say in one sentence which path could not be written and why."""
    try:
        yield
    except OSError as error:
        unwritable(path, error.strerror or str(error))


def unwritable(path: Path, reason: str) -> NoReturn:
    """Refuse a path that cannot be written; ``reason`` is what the system says."""
    fail(
        FileFormatError,
        "Unwritable",
        f"{path} cannot be written: {reason}. Choose another place, or make way there.",
        path=str(path),
        reason=reason,
    )


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, unless it is there."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


class Together:
    """Files that are all on disk before the first of them takes its place."""

    def __init__(self) -> None:
        self._moves: list[tuple[Path, Path]] = []

    def beside(self, path: Path) -> Path:
        """An empty file beside ``path``, for one who writes and flushes it himself."""
        with writing(path):
            # A file cannot be moved over a folder; that is known before any of them moves.
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            self._moves.append((Path(name), path))
            os.close(descriptor)
        return Path(name)

    def write(self, path: Path, data: bytes, *, secret: bool = False) -> None:
        """The bytes that ``path`` shall hold. A secret file is readable by its owner only."""
        temporary = self.beside(path)
        with writing(path):
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            # mkstemp gives 0600; other files follow the process's umask.
            if not secret:
                mask = os.umask(0)
                os.umask(mask)
                temporary.chmod(0o666 & ~mask)

    def move(self) -> None:
        """Let the files take their places, in the order in which they were begun."""
        for temporary, path in self._moves:
            with writing(path):
                temporary.replace(path)

    def remove(self) -> None:
        """Remove what has not taken its place."""
        for temporary, _ in self._moves:
            temporary.unlink(missing_ok=True)


@contextmanager
def together() -> Iterator[Together]:
    """Write several files; one that cannot be written leaves all of them as they were.

    All are on disk before the first takes its place. If one cannot take it, those before it have.
    """
    files = Together()
    try:
        yield files
        files.move()
    except BaseException:
        files.remove()
        raise


def can_write(path: Path) -> None:
    """Refuse a path that could not be written now, by making and removing a file beside it."""
    files = Together()
    files.beside(path)
    files.remove()


def write_bytes(path: Path, data: bytes, *, secret: bool = False) -> None:
    """Replace ``path`` by ``data`` in one step. A secret file is readable by its owner only."""
    with together() as files:
        files.write(path, data, secret=secret)


def write_text(path: Path, text: str) -> None:
    """Replace ``path`` by UTF-8 text in one step."""
    write_bytes(path, text.encode())
