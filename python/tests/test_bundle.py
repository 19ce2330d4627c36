"""Bundles: whole or refused, whatever the bytes."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ringmill as rm
from ringmill import bundle
from ringmill.atomic import write_bytes
from ringmill.interop import openfhe, seal

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


# ---- what is read of a file --------------------------------------------------------------------------------

#: Opens files, each as its name says, with memory for little more than Python itself.
READER = """
import pathlib, resource, sys
import ringmill as rm
from ringmill import bundle
from ringmill.cli import arrays, inspect, read
from ringmill.interop import openfhe, seal

params = rm.Params.from_bits(10, [40] * 3, [40], 3, insecure=True)
theirs = rm.Params.from_primes(10, params.q, params.p, 3, scale_bits=40, rotations=3, insecure=True)
context = openfhe.context_of(rm.Params.from_bits(10, [40] * 3, [60], 3, insecure=True))
readers = {
    "bundle": lambda path: bundle.load(path, "arguments"),
    "values": lambda path: rm.Values.load(path, "arguments", params),
    "compiled": rm.Compiled.load,
    "client": rm.load_client,
    "inspect": inspect._of_bundle,
    "expanded": lambda path: rm.load_evaluation_keys(params, path),
    "seeded": lambda path: rm.load_evaluation_keys(params, path, memory="seeded"),
    "mapped": lambda path: rm.load_evaluation_keys(params, path, memory="mapped"),
    "public": lambda path: rm.keys.load_public(params, path),
    "encryption": lambda path: read.encryption_key(path, params),
    "secret": lambda path: rm.SecretKey.load(params, path),
    "ciphertext": lambda path: rm._native.Ciphertext.load(params, path),
    "json": lambda path: arrays.read(path, {"x": rm.vector(4)}),
    "npz": lambda path: arrays.read(path, {"x": rm.vector(4)}),
    "space": bundle.read_text_file,
    "parameters": rm.keys.load_params,
    "seal parameters": lambda path: seal.load_parameters(path, insecure=True),
    "seal secret": lambda path: seal.load_secret_key(theirs, path),
    "seal public": lambda path: seal.load_public_key(theirs, path),
    "seal relin": lambda path: seal.load_evaluation_keys(theirs, relin=path),
    "seal galois": lambda path: seal.load_evaluation_keys(theirs, galois=path),
    "seal ciphertext": lambda path: seal.load_ciphertext(theirs, path),
    "openfhe": lambda path: openfhe.load_context(path, insecure=True),
    "openfhe secret": lambda path: openfhe.load_secret_key(context, path),
    "openfhe public": lambda path: openfhe.load_public_key(context, path),
    "openfhe mult": lambda path: openfhe.load_evaluation_keys(context, mult=path),
    "openfhe automorphism": lambda path: openfhe.load_evaluation_keys(context, automorphism=path),
    "openfhe ciphertext": lambda path: openfhe.load_ciphertext(context, path),
}
rm.memory.room = lambda *_: None  # what it says of the file's length is no protection
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in map(pathlib.Path, sys.argv[1:]):
    try:
        readers[path.stem.removesuffix(" json")](path)
        outcome = "read"
    except rm.RingmillError as error:
        outcome = type(error).__name__
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    print(path.stem, outcome, megabytes, sep=":")
"""


def read_in_another_process(*paths: Path) -> list[tuple[str, str, int]]:
    """What each file is, what came of reading it, and the most MB that the process took so far."""
    command = [sys.executable, "-c", READER, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split(":") for line in done.stdout.splitlines()]
    return [(how, outcome, int(megabytes)) for how, outcome, megabytes in lines]


def head(data: bytes, length: int, path: Path) -> None:
    """A sparse file that begins with some bytes and is long; nobody's memory holds all of it."""
    path.write_bytes(data)
    os.truncate(path, length)


def files_of_every_kind(folder: Path) -> dict[str, bytes]:
    """A good file of each kind that is read."""
    params = rm.Params.from_bits(10, [40] * 3, [40], 3, insecure=True)
    keys = rm.keygen(params, rotations=[1])
    compiled = rm.kernel(lambda x: x + x).compile(rm.vector(4), params=params)
    arguments = compiled.encrypt(keys, x=[0, 1, 0, 1])
    values = arguments.to_bytes()
    compiled.save(client=folder / "client", server=folder / "server")
    files = {
        **dict.fromkeys(["bundle", "values", "inspect"], values),
        "compiled": compiled.to_bytes(),
        "client": (folder / "client").read_bytes(),
        **dict.fromkeys(["expanded", "seeded", "mapped"], keys.evaluation.to_bytes()),
        **dict.fromkeys(["public", "encryption"], keys.public.to_bytes()),
        "secret": keys.secret.export_secret(),
        "ciphertext": next(iter(arguments.parts.values())).to_bytes(),
        "parameters": params.to_bytes(),
        "npz": compressed("(4,)", 32),
    }
    theirs = rm.Params.from_primes(10, params.q, params.p, 3, scale_bits=40, rotations=3, insecure=True)
    keys = rm.keygen(theirs, rotations=[1])
    writers = {
        "secret": partial(seal.save_secret_key, keys.secret),
        "public": partial(seal.save_public_key, keys.secret),
        "relin": partial(seal.save_relin_keys, keys.evaluation),
        "galois": partial(seal.save_galois_keys, keys.evaluation),
        "ciphertext": partial(seal.save_ciphertext, rm.encrypt([0.5], keys).native),
    }
    files["seal parameters"] = seal.dump_parameters(theirs)
    for name, write in writers.items():
        write(folder / name)
        files[f"seal {name}"] = (folder / name).read_bytes()
        (folder / name).unlink()
    context = openfhe.context_of(rm.Params.from_bits(10, [40] * 3, [60], 3, insecure=True))
    keys = rm.keygen(context.params, rotations=[1])
    for form, suffix in ("binary", ""), ("json", " json"):
        files[f"openfhe{suffix}"] = openfhe.dump_context(context, form=form)
        writers = {
            "secret": partial(openfhe.save_secret_key, context, keys.secret, form=form),
            "public": partial(openfhe.save_public_key, context, keys.public, form=form),
            "mult": partial(openfhe.save_mult_key, context, keys.evaluation, form=form),
            "automorphism": partial(openfhe.save_automorphism_keys, context, keys.evaluation, form=form),
            "ciphertext": partial(
                openfhe.save_ciphertext, context, rm.encrypt([0.5], keys).native, form=form
            ),
        }
        for name, write in writers.items():
            write(folder / name)
            files[f"openfhe {name}{suffix}"] = (folder / name).read_bytes()
            (folder / name).unlink()
    return files


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory by getrusage in kilobytes")
def test_no_reader_takes_more_than_what_is_announced(tmp_path: Path) -> None:
    files = files_of_every_kind(tmp_path)
    good = [tmp_path / f"{how}.npz" if how == "npz" else tmp_path / how for how in files]
    for path, data in zip(good, files.values(), strict=True):
        path.write_bytes(data)
    for how, outcome, megabytes in read_in_another_process(*good):
        assert (outcome, megabytes < 64) == ("read", True), how
    # Texts announce nothing: they have a limit of their own, and come last.
    files |= {"json": b'{"x": [0]}', "space": b"{}"}
    for end in (b"", files["values"]):  # as a whole archive after the hole
        paths = [tmp_path / f"{how}.json" for how in files if how != "npz"]
        for path in paths:
            head(files[path.stem], 40 << 30, path)
            with path.open("ab") as file:
                file.write(end)
        outcomes = read_in_another_process(*paths)
        assert len(outcomes) == len(paths)
        for how, outcome, megabytes in outcomes:
            assert outcome == "FileFormatError", how
            assert megabytes < (512 if how in ("json", "space") else 64), how


def compressed(shape: str, zeros: int, dtype: str = "<f8") -> bytes:
    """An archive of one array of zeros, by the description of the format: magic, version, head, numbers."""
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as part:
        part.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
        for _ in range(zeros >> 20):
            part.write(bytes(1 << 20))
        part.write(bytes(zeros % (1 << 20)))
    return buffer.getvalue()


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory by getrusage in kilobytes")
def test_arrays_are_read_no_further_than_the_kernel_takes_them(tmp_path: Path) -> None:
    """A small archive that unpacks to 400 MB: of another shape, of texts that long, or after four numbers."""
    path, much = tmp_path / "npz.npz", 400 << 20
    files = {
        "EncodingError": compressed(f"({much // 8},)", much),
        "FileFormatError": compressed("(4,)", much, f"<U{much // 16}"),
        "read": compressed("(4,)", much),
    }
    for outcome, data in files.items():
        assert len(data) < 1 << 20
        path.write_bytes(data)
        [(_, found, megabytes)] = read_in_another_process(path)
        assert found == outcome
        assert megabytes < 64, outcome


@pytest.mark.parametrize("size", [0, 1, 21, 22, 23, 41, 42, 97, 98, 200])
def test_files_shorter_than_any_list_are_refused(size: int, tmp_path: Path) -> None:
    for data in (
        b"\0" * size,
        DATA[-size:] if size else b"",
        (b"PK\5\6" * 60)[:size],
        (b"PK\6\7" * 60)[:size],
    ):
        (tmp_path / "f").write_bytes(data)
        with pytest.raises(rm.FileFormatError):
            bundle.load(tmp_path / "f", "values")


def test_a_list_that_announces_more_than_any_is_not_read(tmp_path: Path) -> None:
    """The length of the list of parts, in an archive of up to 4 GB and in a larger one."""
    start = bytearray(DATA)
    start[-10:-6] = (1 << 31).to_bytes(4, "little")
    long = DATA[:-22] + b"PK\6\6" + bytes(36) + (1 << 40).to_bytes(8, "little") + bytes(8)
    for data in bytes(start), long + b"PK\6\7" + bytes(16) + DATA[-22:]:
        (tmp_path / "f").write_bytes(data)
        with pytest.raises(rm.FileFormatError, match="is not a whole Ringmill values file"):
            bundle.load(tmp_path / "f", "values")
