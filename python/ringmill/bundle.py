"""Bundles: several named byte strings in one file, for kernels, encrypted arguments and results.

A bundle is a ZIP archive without compression: ``header.json`` first, then one entry a part. Reading is
bounded: entries are counted and measured before a byte of them is read, compressed entries are refused, and a
file that is larger than its entries is not read.
The header lists every part with its digest, and a file must be what Ringmill writes, byte for byte:
an archive can hold comments, dates and hidden entries, which nothing protects. Ciphertexts and keys carry
their own checks inside.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ringmill.atomic import write_bytes
from ringmill.errors import FileFormatError, fail

#: Version 2: what arguments and results carry of their kernel follows from public facts.
VERSION = 2
MAX_PARTS = 1 << 14
MAX_PART_BYTES = 1 << 31
_HEADER = "header.json"
_HEADER_BYTES = 1 << 24
# The list of parts at the end of an archive, and what stands before a part, with names of any length.
_LIST_BYTES = 1 << 24
_ENTRY_BYTES = 1 << 9
# Texts, which announce no length, are read up to this size.
_TEXT_BYTES = 1 << 27
# ZIP stores a date; a fixed one makes equal contents equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def digest(data: bytes) -> str:
    """Return the hash that identifies parts and kernels."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Bundle:
    """Contents of a bundle: what it is, facts about it, and its parts."""

    kind: str
    facts: dict[str, Any]
    parts: dict[str, bytes]
    version: int = VERSION

    def to_bytes(self) -> bytes:
        """The file's bytes; equal bundles give equal bytes."""
        buffer = io.BytesIO()
        digests = {name: digest(data) for name, data in self.parts.items()}
        header = {"format": f"ringmill-{self.kind}", "version": self.version, **self.facts, "parts": digests}
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            for name, data in {_HEADER: json.dumps(header).encode(), **self.parts}.items():
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), data)
        return buffer.getvalue()

    def save(self, path: str | Path, *, secret: bool = False) -> int:
        """Write the bundle atomically; returns its size in bytes."""
        data = self.to_bytes()
        write_bytes(Path(path), data, secret=secret)
        return len(data)


def refuse_damaged(path: str, why: str) -> NoReturn:
    """Raise the error of a file that is not whole."""
    fail(
        FileFormatError,
        "Damaged",
        f"{path} is damaged: {why}. Transfer or create it again.",
        path=path,
    )


def parse(data: bytes, kind: str, path: str) -> Bundle:
    """Read a bundle of the given kind; ``path`` is for messages."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        _refuse_archive(path, kind)
    with _whole(path):
        return _parse(data, kind, path)


def _refuse_archive(path: str, kind: str) -> NoReturn:
    fail(
        FileFormatError,
        "NotABundle",
        f"{path} is not a whole Ringmill {kind} file: its archive is truncated or of another kind. "
        "Transfer or create it again.",
        path=path,
        expected=kind,
    )


@contextmanager
def _whole(path: str) -> Iterator[None]:
    """Say of an archive that cannot be read that it is damaged."""
    try:
        yield
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        refuse_damaged(path, str(error) or type(error).__name__)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        if isinstance(error, FileFormatError):
            raise
        refuse_damaged(path, f"its header cannot be read ({type(error).__name__})")


def _refuse_kind(path: str, kind: str, found: str) -> NoReturn:
    fail(
        FileFormatError,
        "WrongKind",
        f"{path} holds {found.removeprefix('ringmill-') or 'something else'}, but {kind} is wanted. "
        "Check the order of the files.",
        path=path,
        expected=kind,
        found=found,
    )


def _parse(data: bytes, kind: str, path: str) -> Bundle:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        names = [entry.filename for entry in entries]
        if _HEADER not in names:
            _refuse_kind(path, kind, "")
        if names[0] != _HEADER or len(set(names)) != len(names) or len(names) > MAX_PARTS:
            refuse_damaged(path, "its list of parts is not one that Ringmill writes")
        for entry in entries:
            limit = _HEADER_BYTES if entry.filename == _HEADER else MAX_PART_BYTES
            stored = entry.compress_type == zipfile.ZIP_STORED and entry.file_size == entry.compress_size
            if not stored or entry.file_size > min(limit, len(data)):
                refuse_damaged(path, f"part {entry.filename!r} has an impossible size")
        header = json.loads(archive.read(_HEADER))
        if not isinstance(header, dict):
            refuse_damaged(path, "its header is not a list of facts")
        found = str(header.pop("format", ""))
        if found != f"ringmill-{kind}":
            _refuse_kind(path, kind, found)
        version = header.pop("version", None)
        if type(version) is not int or not 1 <= version <= VERSION:
            fail(
                FileFormatError,
                "Version",
                f"{path} has version {version!r}, this Ringmill reads 1 to {VERSION}. Create it again.",
                path=path,
                version=version,
            )
        digests = header.pop("parts", None)
        parts = {name: archive.read(name) for name in names[1:]}
        if digests != {name: digest(data) for name, data in parts.items()}:
            refuse_damaged(path, "its parts are not the ones that its header lists")
    read = Bundle(kind, header, parts, version)
    if read.to_bytes() != data:
        refuse_damaged(path, "it holds more than its parts, or they are not packed as Ringmill packs them")
    return read


def load(path: str | Path, kind: str) -> Bundle:
    """Read a bundle file."""
    return parse(read_packed(path, kind), kind, str(path))


def read_packed(path: str | Path, kind: str) -> bytes:
    """Bytes of a bundle file: no more than the parts that it lists."""
    with opened(path) as file:
        if not file.seekable():
            return _up_to(file, path, MAX_PART_BYTES)
        size = file.seek(0, os.SEEK_END)
        if not _list_is_short(file, size):
            _refuse_archive(str(path), kind)
        with _whole(str(path)), zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            listed = sum(entry.file_size + 2 * len(entry.orig_filename) + _ENTRY_BYTES for entry in entries)
        if size > listed + _ENTRY_BYTES:
            refuse_damaged(str(path), "it holds more than its parts")
        file.seek(0)
        return _up_to(file, path, size)


def _list_is_short(file: io.FileIO, size: int) -> bool:
    """Whether a file ends as bundles do, with a list of parts that can be read."""

    def end(back: int, signature: bytes, form: str, place: int) -> int | None:
        file.seek(max(size - back, 0))
        record = file.read(struct.calcsize(form) + place)
        found = record[:4] == signature and len(record) == struct.calcsize(form) + place
        return int(struct.unpack_from(form, record, place)[0]) if found else None

    length = end(22, b"PK\5\6", "<I", 12)
    if end(42, b"PK\6\7", "<Q", 8) is not None:  # of more than 4 GB
        length = end(98, b"PK\6\6", "<Q", 40)
    return length is not None and length <= _LIST_BYTES


def unreadable(path: str | Path, reason: str) -> NoReturn:
    """Refuse a path that cannot be read; ``reason`` is what the system says."""
    fail(
        FileFormatError,
        "Unreadable",
        f"{path} cannot be read: {reason}. Check the path.",
        path=str(path),
    )


@contextmanager
def opened(path: str | Path) -> Iterator[io.FileIO]:
    """A file to read, with an error that names it."""
    try:
        # Unbuffered: it may be a secret key, of which a buffer would keep more than is read.
        with Path(path).open("rb", buffering=0) as file:
            yield file
    except OSError as error:
        unreadable(path, error.strerror or str(error))


def read_text_file(path: str | Path, most: int = _TEXT_BYTES) -> bytes:
    """Bytes of a text, with an error that names the file; one beyond all sense is not read."""
    with opened(path) as file:
        return _up_to(file, path, min(most, _TEXT_BYTES))


def _up_to(file: io.FileIO, path: str | Path, most: int) -> bytes:
    """What is left of a file, which must be no more than ``most``."""
    data = bytearray()
    while piece := file.read(min(1 << 20, most + 1 - len(data))):
        data += piece
    if len(data) > most:
        fail(
            FileFormatError,
            "TooLarge",
            f"{path} has more than {most} bytes, which no such file has. Check the path.",
            path=str(path),
            most=most,
        )
    return bytes(data)


def is_bundle(path: str | Path) -> bool:
    """Whether a file begins as bundles do, and no key does."""
    with opened(path) as file:
        return file.read(2) == b"PK"


def kind_of(path: str | Path) -> str:
    """The kind that a bundle says it is of; empty if it is no bundle."""
    broken = (KeyError, ValueError, RecursionError, zipfile.BadZipFile, RuntimeError, EOFError, OverflowError)
    with opened(path) as file:
        if not zipfile.is_zipfile(file):
            return ""
        try:
            with zipfile.ZipFile(file) as archive:
                if archive.getinfo(_HEADER).file_size > _HEADER_BYTES:
                    return ""
                header = json.loads(archive.read(_HEADER))
        except broken:
            return ""
    return str(header.get("format", "")).removeprefix("ringmill-") if isinstance(header, dict) else ""


def refuse_other(path: str, facts: Mapping[str, Any], digest: str, kernel: str) -> NoReturn:
    """Refuse values that were made for another program."""
    fail(
        FileFormatError,
        "OtherProgram",
        f"{path} was made for kernel {facts.get('kernel')!r} with another program "
        f"({facts.get('program')!s:.8}) than {kernel!r} here ({digest:.8}). Encrypt the arguments again "
        "for this kernel file.",
        path=path,
        expected=digest,
        found=facts.get("program"),
    )
