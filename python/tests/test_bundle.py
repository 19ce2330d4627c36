"""Bundles: whole or refused, whatever the bytes."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ringmill as rm
from ringmill import bundle
from ringmill.atomic import write_bytes

GOOD = bundle.Bundle("values", {"kernel": "k", "program": "d"}, {"x.0": b"\x00\x01" * 40, "x.1": b""})
DATA = GOOD.to_bytes()
GOLDEN = "cdce893bc35d07a4a6fb17477c18d2e9e4ea55b3009331464ee3299c539843a8"


def test_round_trip(tmp_path: Path) -> None:
    size = GOOD.save(tmp_path / "v")
    assert size == len(DATA) == (tmp_path / "v").stat().st_size
    assert bundle.load(tmp_path / "v", "values") == GOOD
    assert GOOD.to_bytes() == DATA


@settings(max_examples=400, deadline=None)
@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
@example(0, 1)
def test_no_changed_byte_is_accepted_as_something_else(at: int, change: int) -> None:
    mutated = bytearray(DATA)
    mutated[at] ^= change
    with pytest.raises(rm.FileFormatError):
        bundle.parse(bytes(mutated), "values", "f")


@settings(max_examples=100, deadline=None)
@given(st.binary(min_size=1, max_size=99))
def test_bytes_before_or_behind_are_refused(more: bytes) -> None:
    for data in more + DATA, DATA + more:
        with pytest.raises(rm.FileFormatError):
            bundle.parse(data, "values", "f")


def test_an_archive_that_others_packed_is_refused() -> None:
    """The same parts with a comment or other dates."""
    for comment, date in ((b"hello", (1980, 1, 1, 0, 0, 0)), (b"", (2026, 11, 24, 12, 0, 0))):
        buffer = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(DATA)) as old, zipfile.ZipFile(buffer, "w") as new:
            new.comment = comment
            for name in old.namelist():
                new.writestr(zipfile.ZipInfo(name, date), old.read(name))
        with pytest.raises(rm.FileFormatError, match="f is damaged: it holds more than its parts") as caught:
            bundle.parse(buffer.getvalue(), "values", "f")
        assert caught.value.code == "Damaged"


def test_bundles_are_what_they_always_were() -> None:
    """Every Python writes the same bytes: those of 3.10 to 3.13, so that each reads what others wrote."""
    assert hashlib.sha256(DATA).hexdigest() == GOLDEN


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(DATA) - 1))
def test_truncated_bundles_are_refused(length: int) -> None:
    with pytest.raises(rm.FileFormatError):
        bundle.parse(DATA[:length], "values", "f")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(rm.FileFormatError):
        bundle.parse(data, "values", "f")


def test_kind_and_version_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(rm.FileFormatError, match="holds values, but kernel is wanted") as caught:
        bundle.parse(DATA, "kernel", "f")
    assert caught.value.code == "WrongKind"
    monkeypatch.setattr(bundle, "VERSION", 1)
    with pytest.raises(rm.FileFormatError, match="has version 2, this Ringmill reads 1 to 1"):
        bundle.parse(DATA, "values", "f")


def test_bundles_of_version_1_are_read() -> None:
    old = bundle.Bundle("values", {"a": 1}, {"part": b"123"}, version=1)
    assert bundle.parse(old.to_bytes(), "values", "f") == old


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f"
    write_bytes(path, b"old")

    def broken(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(rm.FileFormatError, match="f cannot be written: disk full"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_secret_files_are_for_their_owner_only(tmp_path: Path) -> None:
    write_bytes(tmp_path / "s", b"x", secret=True)
    write_bytes(tmp_path / "p", b"x")
    assert (tmp_path / "s").stat().st_mode & 0o077 == 0
    assert (tmp_path / "p").stat().st_mode & 0o400


def test_other_files_follow_the_umask_which_nobody_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the whole process's: what another thread made meanwhile would be open to all."""
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as changed:
            changed.delattr("os.umask")
            write_bytes(tmp_path / "s", b"x", secret=True)
            write_bytes(tmp_path / "p", b"x")
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in "sp"] == [0o600, 0o640]


def test_a_link_leads_where_it_did(tmp_path: Path) -> None:
    for folder in "here", "there":
        (tmp_path / folder).mkdir()
    link, there = tmp_path / "here" / "link", tmp_path / "there" / "file"
    link.symlink_to("../there/file")
    for data in b"first", b"second":  # to nothing yet, and to a file
        write_bytes(link, data)
        assert link.is_symlink()
        assert there.read_bytes() == data
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["file", "link"]
