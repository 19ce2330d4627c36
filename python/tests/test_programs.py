"""Programs as files: what is read back is what was written, and nothing else is taken."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

import ringmill as rm
from ringmill import _native, programs
from ringmill.cli import main


@pytest.fixture(scope="module")
def compiled() -> rm.Compiled:
    @rm.kernel
    def layer(x):  # type: ignore[no-untyped-def]
        return x @ np.random.default_rng(5).uniform(-1, 1, (64, 64))

    params = rm.Params.from_bits(10, [50, 40, 40], [50], 3, insecure=True)
    return layer.compile(rm.vector(64), params=params)


def test_a_limb_program_is_read_back_from_both_forms(compiled: rm.Compiled, tmp_path: Path) -> None:
    program = compiled.limb_program()
    text = compiled.plan.limb_program(compiled.switching, "cpu")
    assert program.to_text() == text
    assert len(program) == len(re.findall(r"^  (?:%|store)", text, re.MULTILINE))
    assert program.moduli == [int(q) for q in re.findall(r"modulus \w+ = (\d+)", text)]
    assert [name for name, _, _ in program.inputs] == re.findall(r"input \w+ (\w+) :", text)
    compact, plain = tmp_path / "compact", tmp_path / "plain"
    assert programs.save(program, compact) == compact.stat().st_size
    assert programs.save(program, plain, text=True) == len(text.encode())
    assert plain.read_text() == text
    assert compact.read_bytes() == program.to_bytes()
    assert compact.stat().st_size < plain.stat().st_size / 3
    for path in (compact, plain):
        assert programs.load(path) == program
        assert programs.load(path).to_text() == text
    assert _native.LimbProgram.from_bytes(program.to_bytes()) == program
    assert _native.LimbProgram.parse(text) == program
    # Functions take both.
    for machine in ("cpu", "compact"):
        assert _native.estimate_program(program, machine) == _native.estimate_program(text, machine)


def test_what_is_no_program_is_refused(compiled: rm.Compiled, tmp_path: Path) -> None:
    data = compiled.limb_program().to_bytes()
    path = tmp_path / "program"
    for content, code in (
        (data[:-1], "Cut"),
        (data + b"\0", "Malformed"),
        (b"RMLIMB\0\x02" + data[8:], "Version"),
        (b"he @x traced slots 1", "NoProgram"),
        (b"", "NoProgram"),
        (b"\xff\xfe", "NoProgram"),
    ):
        path.write_bytes(content)
        with pytest.raises(rm.FileFormatError) as refused:
            programs.load(path)
        assert refused.value.code == code
    path.write_text("limb x : 2^4 {\n")
    with pytest.raises(rm.ProgramError, match="Line 1: "):
        programs.load(path)
    with pytest.raises(rm.FileFormatError):
        programs.load(tmp_path / "none")


def test_vectors_stand_apart_by_their_digests(compiled: rm.Compiled, tmp_path: Path) -> None:
    outline, tables = tmp_path / "program", tmp_path / "tables"
    size = programs.save_apart(compiled, outline, tables)
    assert size == outline.stat().st_size + tables.stat().st_size
    text = outline.read_text()
    digests = re.findall(r'table "([0-9a-f]{64})"', text)
    assert len(set(digests)) > 20
    assert len(text) < len(compiled.program) / 5
    assert programs.joined(text, tables) == compiled.program
    # The same from the text.
    again = tmp_path / "again"
    programs.save_apart(compiled.program, again, tmp_path / "tables2")
    assert again.read_bytes() == outline.read_bytes()
    assert (tmp_path / "tables2").read_bytes() == tables.read_bytes()

    other = tmp_path / "other"
    programs.save_apart(
        'he @x traced slots 2\n%x = input "x"\n%1 = const [1.0, 2.0]\n%2 = mul %x, %1\noutput "y", %2\nend\n',
        tmp_path / "small",
        other,
    )
    with pytest.raises(rm.ProgramError) as missing:
        programs.joined(text, other)
    assert missing.value.code == "MissingTable"
    assert missing.value.fields["digest"] == digests[0]
    damaged = bytearray(tables.read_bytes())
    damaged[-1] ^= 1
    other.write_bytes(damaged)
    with pytest.raises(rm.FileFormatError) as wrong:
        programs.joined(text, other)
    assert wrong.value.code == "Digest"
    assert wrong.value.fields["digest"] in digests


def test_the_command_writes_every_form(
    compiled: rm.Compiled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel, compact, text = (str(tmp_path / name) for name in ("kernel", "compact", "text"))
    compiled.save(kernel)
    assert main(["program", kernel, "--out", compact]) == 0
    assert main(["program", compact, "--out", text, "--form", "text"]) == 0
    assert Path(text).read_text() == compiled.limb_program().to_text()
    again = str(tmp_path / "again")
    assert main(["program", text, "--out", again]) == 0
    assert (
        hashlib.sha256(Path(again).read_bytes()).digest()
        == hashlib.sha256(Path(compact).read_bytes()).digest()
    )
    outline, tables, whole = (str(tmp_path / name) for name in ("outline", "tables", "whole"))
    managed = ["--form", "managed"]
    assert main(["program", kernel, "--out", outline, *managed, "--tables", tables]) == 0
    assert main(["program", outline, "--out", whole, *managed, "--with-tables", tables]) == 0
    assert Path(whole).read_text() == compiled.program
    capsys.readouterr()
    assert main(["simulate", compact, "--machine", "cpu", "--json"]) == 0
    found = capsys.readouterr().out
    assert main(["simulate", text, "--machine", "cpu", "--json"]) == 0
    assert found.replace(compact, text) == capsys.readouterr().out
    for wrong in (
        ["program", kernel, "--out", again, "--tables", tables],
        ["program", compact, "--out", again, "--machine", "cpu"],
        ["program", kernel, "--out", again, *managed, "--with-tables", tables],
        ["program", tables, "--out", again],
    ):
        assert main(wrong) == 1


def test_a_kernel_for_a_small_chip_gives_the_same_bits(tmp_path: Path) -> None:
    @rm.kernel
    def map_of(x):  # type: ignore[no-untyped-def]
        matrix = np.random.default_rng(1).uniform(-1, 1, (64, 64)) / 64
        return (x * x) @ matrix + x

    params = rm.Params.from_bits(10, [50, 40, 40, 40, 40], [50, 50], 3, insecure=True)
    plain = map_of.compile(rm.vector(64), params=params)
    small = map_of.compile(rm.vector(64), params=params, capacity=16)
    assert plain.ways == []
    first, taken = small.ways[0], next(way for way in small.ways if way["chosen"])
    assert not any(first[name] for name in ("recompute", "by_primes", "by_cost"))
    assert taken["off_chip"] == min(way["off_chip"] for way in small.ways) < first["off_chip"]
    # As counted by itself.
    program = small.limb_program()
    assert program.to_text() != plain.limb_program().to_text()
    moved = _native.program_traffic(program, 16, False, True, taken["by_cost"], False)
    assert moved["off_chip"] == taken["off_chip"]
    written = plain.work(capacity=16)["traffic"]
    assert written["off_chip"] == first["off_chip"]
    assert "Of" in str(small)
    assert "16 limbs" in str(small)

    keys = small.keygen(insecure=True)
    arguments = plain.encrypt(keys, x=np.linspace(-1, 1, 64))
    results = [
        kernel.evaluate(keys, arguments, machine=machine).to_bytes()
        for kernel in (plain, small)
        for machine in ("cpu", "reference")
    ]
    assert len(set(results)) == 1
    path = tmp_path / "kernel"
    small.save(path)
    again = rm.Compiled.load(path)
    assert again.capacity == small.capacity
    assert again.ways == small.ways
    assert plain.switched("klss").capacity is None
    assert small.switched("klss").capacity == small.capacity

    with pytest.raises(rm.ProgramError) as refused:
        map_of.compile(rm.vector(64), params=params, capacity="2 limbs")
    assert refused.value.code == "Least"
    least = refused.value.fields["least"]
    assert map_of.compile(rm.vector(64), params=params, capacity=least).ways
    with pytest.raises(rm.ParameterError, match="The capacity is"):
        map_of.compile(rm.vector(64), params=params, capacity="much")
