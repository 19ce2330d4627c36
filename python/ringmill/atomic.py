"""Files that appear whole or not at all: written beside the target, flushed, then moved over it."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from ringmill.errors import CommandError, FileFormatError, fail


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


def _replaceable(target: Path) -> None:
    """Raise what is wrong with a path over which no file can be moved, before any of several moves."""
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "It is a device or a pipe")


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other writers of a folder out under this lock; a writer that holds it already is not waited for.

    The lock ends with the process. On a system without locks for the folder no lock is taken; files are still
    created exclusively.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        descriptor = -1
    try:
        if descriptor >= 0:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                fail(
                    CommandError,
                    "FolderBusy",
                    f"Another process is writing keys to {folder}. Choose another folder, or try again "
                    "when it is done.",
                    path=str(folder),
                )
            except OSError:
                pass
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


#: What a file system says that has no hard links.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def _claim(temporary: Path, path: Path) -> None:
    """Move a complete file to a path where nothing is: of two who do, one finds that there is."""
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        temporary.replace(path)
    else:
        temporary.unlink()


class Together:
    """Files that are all on disk before the first of them takes its place."""

    def __init__(self) -> None:
        self._moves: list[tuple[Path, Path, Callable[[], NoReturn] | None]] = []

    def beside(self, path: Path, mode: int = 0o600, taken: Callable[[], NoReturn] | None = None) -> Path:
        """An empty file beside ``path``, for one who writes and flushes it himself.

        A link keeps leading where it does: the file is beside what it leads to. Where ``taken`` is given, the
        file takes no place that is taken by then; that is called instead.
        """
        with writing(path):
            target = Path(os.path.realpath(path))
            _replaceable(target)
            temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
            # The system takes the process's umask off the mode; Python could only read it by changing it.
            descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
            self._moves.append((temporary, target, taken))
            os.close(descriptor)
        return temporary

    def write(self, path: Path, data: bytes, *, secret: bool = False) -> None:
        """The bytes that ``path`` shall hold. A secret file is readable by its owner only."""
        temporary = self.beside(path, 0o600 if secret else 0o666)
        with writing(path), temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def move(self) -> None:
        """Let the files take their places, in the order in which they were begun.

        Those that must be new come first: where one is not, nothing has changed yet.
        """
        for temporary, path, taken in sorted(self._moves, key=lambda move: move[2] is None):
            with writing(path):
                try:
                    temporary.replace(path) if taken is None else _claim(temporary, path)
                except FileExistsError:
                    if taken is None:
                        raise
                    taken()

    def remove(self) -> None:
        """Remove what has not taken its place."""
        for temporary, *_ in self._moves:
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
