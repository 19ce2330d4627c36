"""`ringmill build`: a folder that stands alone, the same bytes every time, a core with the right bits."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from cores import make
from sample_designs import SMALL, design_of, small_kernel, version_2

import ringmill as rm
from ringmill import cli
from ringmill._native import hardware_files, multipliers
from ringmill.compiled import Compiled
from ringmill.project import Core, hardware, simulator, vectors, write
from ringmill.project.design import read
from ringmill.project.simulator import verilator

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return small_kernel()


@pytest.fixture(scope="module")
def folder(compiled: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("project") / "cubic"
    write(compiled, SMALL, out)
    return out


def test_equal_designs_give_equal_bytes(compiled: Any, folder: Path, tmp_path: Path) -> None:
    again = write(compiled, SMALL, tmp_path / "again")
    for place, data in again.items():
        assert (folder / place).read_bytes() == data, place
    found = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert found - {"build"} == set(again)


def test_the_manifest_lists_every_file_with_its_hash(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    for place, digest in manifest["files"].items():
        assert hashlib.sha256((folder / place).read_bytes()).hexdigest() == digest
    done = subprocess.run([sys.executable, "host/check.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "protect nothing" in manifest["note"]
    assert manifest["test_seed"] == vectors.SEED.hex()


def test_sources_of_the_project_name_their_licence_and_programs_none(folder: Path) -> None:
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    carried = [folder / "Makefile", folder / "host/host.py"]
    carried += [*folder.glob("rtl/**/*.sv"), *folder.glob("sim/*")]
    carried += [path for path in folder.glob("driver/*") if path.stem != "layout"]
    assert len(carried) > 60
    for path in carried:
        assert "SPDX-License-Identifier: Apache-2.0" in path.read_text().partition("\n")[0], path
    for path in (*folder.glob("driver/layout.*"), *folder.glob("program/*.txt"), folder / "design.json"):
        assert "SPDX" not in path.read_text()


def test_a_changed_a_missing_and_a_new_file_are_found(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("build"))
    (copy / "core.f").write_text("")
    (copy / "rtl" / "extra.sv").write_text("")
    (copy / "design.json").unlink()
    done = subprocess.run([sys.executable, "host/check.py"], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 1
    said = done.stdout.splitlines()
    assert said == ["changed: core.f", "missing: design.json", "not in the manifest: rtl/extra.sv"]


def test_the_module_carries_the_sources_of_this_tree(folder: Path) -> None:
    carried = dict(hardware_files())
    listed = (ROOT / "rtl" / "compact_core.f").read_text().splitlines()[1:]
    ultra = "rtl/bank/ultra/rm_bank_ram.sv"  # in place of another, for cores that ask for it
    assert [name for name in carried if name.endswith(".sv")] == [*(f"rtl/{name}" for name in listed), ultra]
    for name, text in carried.items():
        assert (ROOT / name).read_text() == text, f"{name}: build the extension again"
    assert (folder / "core.f").read_text().splitlines()[1:] == [f"rtl/{name}" for name in listed]


def test_the_map_for_buses_and_the_header_for_drivers_agree(folder: Path) -> None:
    space = {"x": "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"}
    blocks = ElementTree.parse(folder / "registers" / "ringmill_core.xml").findall(".//x:addressBlock", space)
    assert [block.findtext("x:usage", namespaces=space) for block in blocks] == [None, "memory"]

    def number(node: ElementTree.Element, name: str) -> int:
        return int(str(node.findtext(f"x:{name}", namespaces=space)).removeprefix("'h"), 16)

    found = {"MODULUS": number(blocks[1], "baseAddress")}
    assert number(blocks[0], "range") == found["MODULUS"], "blocks do not overlap"
    for register in blocks[0].findall("x:register", space) + blocks[0].findall("x:registerFile", space):
        found[str(register.findtext("x:name", namespaces=space))] = number(register, "addressOffset")
    header = (folder / "driver" / "core_registers.h").read_text()
    places = re.findall(r"#define CORE_REG_([A-Z0-9_]+) (0x[0-9a-f]+)u", header)
    sizes = re.compile(r"_(VALUE|SHIFT|MASK|STRIDE|COUNT)$")
    known = {name: int(at, 16) for name, at in places if not sizes.search(name)}
    assert found == known


def test_multipliers_have_the_numbers_of_the_hardware() -> None:
    package = (ROOT / "rtl/modmul/src/rm_modmul_pkg.sv").read_text()
    numbers = {name: int(at) for name, at in re.findall(r"int unsigned Kind(\w+)\s*=\s*(\d+);", package)}
    names = {
        "P2": "word-montgomery",
        "P2Sparse": "sparse-word-montgomery",
        "Prf": "prf-fiko",
        "Montgomery": "montgomery",
        "Barrett": "barrett",
        "Ntt": "ntt",
    }
    assert {names[name]: at for name, at in numbers.items()} == {
        name: at for at, name in enumerate(multipliers())
    }


def test_the_vectors_are_those_of_the_kernel(compiled: Any, folder: Path) -> None:
    values = json.loads((folder / "test" / "values.json").read_text())
    x, y = (np.array(values["arguments"][name]) for name in ("x", "y"))
    error = np.max(np.abs((x * y + 0.25) * x - np.array(values["results"]["out"])))
    assert 0 < error < 2.0 ** values["predicted_error_log2"]["out"]


def test_a_design_file_is_built(compiled: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps(design_of(compiled))
    (tmp_path / "design.json").write_text(text)
    design = read(tmp_path / "design.json")
    assert design.compiled.params == compiled.params
    assert design.core.tile == "ecp5"
    command = ["build", str(tmp_path / "design.json"), "--out", str(tmp_path / "out"), "--json"]
    assert cli.main(command) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["bytes"] > 8 * 1024 * 38  # inputs and expected outputs
    assert reported["files"] == len(json.loads((tmp_path / "out" / "manifest.json").read_text())["files"]) + 1
    assert 'FREQUENCY PORT "clk_i" 80 MHZ' in (tmp_path / "out" / "constraints" / "core.lpf").read_text()
    assert json.loads((tmp_path / "out" / "design.json").read_text()) == json.loads(text)
    assert cli.main(command) == 1
    assert cli.main([*command, "--overwrite"]) == 0
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_design_files_of_before_are_read_and_unknown_ones_refused(compiled: Any, tmp_path: Path) -> None:
    file = tmp_path / "design.json"
    now = json.loads(json.dumps(design_of(compiled)))
    older = version_2(now)
    hardware = {name: value for name, value in older["hardware"].items() if name != "family"}
    for before in (older, {**older, "schema": 1, "hardware": hardware}):
        file.write_text(json.dumps(before))
        design = read(file)
        assert (design.core.family, design.core.butterflies, design.content) == ("ecp5", 1, now)
    for content, code in (
        ({**now, "schema": 4}, "Schema"),
        ({**older, "hardware": hardware}, "DesignFile"),
        ({**now, "hardware": {}}, "DesignFile"),
        ({**now, "machine": "compact:butterflies=3"}, "DesignFile"),
    ):
        file.write_text(json.dumps(content))
        with pytest.raises(rm.FileFormatError, match=r"design\.json: ") as refused:
            read(file)
        assert (refused.value.code, refused.value.path) == (code, str(file))


def test_nothing_is_left_of_a_folder_that_could_not_be_written(
    compiled: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(compiled, SMALL, tmp_path / "out")
    before = (tmp_path / "out" / "manifest.json").read_bytes()
    real: Callable[..., int] = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if self.name == "expected.bin":
            raise OSError("no space left on device")
        return real(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(rm.FileFormatError, match="out cannot be written: no space"):
        write(compiled, Core(butterflies=2, log_n_max=10, moduli=4), tmp_path / "out", overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "manifest.json").read_bytes() == before


@pytest.mark.skipif(not verilator(), reason="the hardware tools are not in the environment")
def test_the_self_test_passes_in_the_folder_alone_and_can_fail(compiled: Any, folder: Path) -> None:
    done = make(folder, "selftest", "selftest-rust", "host", "board")
    assert done.returncode == 0, done.stdout + done.stderr
    # The cycle model is exact.
    passed = [line for line in done.stdout.splitlines() if line.startswith("PASS 2 output limbs")]
    assert len(passed) == 2
    image = SMALL.image(compiled.plan)
    both = f"{image.first_cycles} and {image.cycles}"
    assert all(line.endswith(f", {both} cycles, {both} by the model") for line in passed), done.stdout
    host = subprocess.run([sys.executable, "host/host.py"], cwd=folder, capture_output=True, text=True)
    assert host.returncode == 0, host.stderr
    assert "the bits of the CPU: yes" in host.stdout
    vectors_file = folder / "test" / "expected.bin"
    kept = vectors_file.read_bytes()
    vectors_file.write_bytes(kept[:4096] + bytes([kept[4096] ^ 1]) + kept[4097:])
    broken = make(folder, "selftest")
    vectors_file.write_bytes(kept)
    assert broken.returncode != 0
    assert "FAIL output limb 0, word 512" in broken.stderr


@pytest.mark.skipif(not verilator(), reason="the hardware tools are not in the environment")
def test_a_kernel_runs_on_the_simulated_rtl(compiled: Compiled) -> None:
    keys = compiled.keygen()
    given = compiled.encrypt(keys, x=np.linspace(-1, 1, 8), y=np.linspace(1, 0, 8))
    results = [
        compiled.evaluate(keys, given, machine=machine) for machine in ("cpu", "verilator:butterflies=1")
    ]
    first, second = ({name: c.to_bytes() for name, c in r.parts.items()} for r in results)
    assert first == second
    small = rm.machines.verilator(butterflies=1)
    library = simulator.library(compiled, small)
    before = library.stat().st_mtime_ns
    assert simulator.library(compiled, small).stat().st_mtime_ns == before, "built once"


def test_a_larger_core_that_is_there_is_taken_before_one_is_built(
    compiled: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    built: list[dict[str, str]] = []

    def keep(target: Path, files: dict[str, str], *_: object) -> Path:
        parameters = files["core.mk"].partition("PARAMETERS := ")[2].split()
        built.append(dict(pair.split("=") for pair in parameters))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
        return target

    monkeypatch.setattr(simulator, "keep", keep)
    monkeypatch.setattr(simulator, "hold_verilator", lambda *_: None)
    machine = rm.machines.verilator
    larger = simulator.library(compiled, machine(butterflies=1, word=60, log_n=13))
    largest = simulator.library(compiled, machine(butterflies=1, word=60, log_n=15))
    assert larger != largest
    assert simulator.library(compiled, machine(butterflies=1)) == larger
    assert simulator.library(compiled, machine(butterflies=1, word=60)) == larger
    assert [(core["W"], core["LOGN_MAX"]) for core in built] == [("60", "13"), ("60", "15")]
    # What is named stays, and so does what else makes another core.
    for other in (
        machine(butterflies=1, log_n=11),
        machine(butterflies=1, word=54),
        machine(butterflies=2),
        machine(butterflies=1, moduli=8),
        machine(butterflies=1, bus=128),
    ):
        assert simulator.library(compiled, other) not in (larger, largest)
    assert len(built) == 7
    # The smallest of several.
    assert simulator.library(compiled, machine(butterflies=1)).is_file()
    assert len(built) == 7


def test_a_build_says_how_long_it_took(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def build(work: Path) -> None:
        (work / "made").write_text((work / "source").read_text())

    with caplog.at_level("INFO", logger="ringmill"):
        simulator.keep(tmp_path / "kept", {"source": "x"}, build, "made", "thing")
    assert (tmp_path / "kept").read_text() == "x"
    assert re.fullmatch(r"build thing: \d+\.\d{3} s", caplog.messages[-1]), caplog.messages


@pytest.mark.skipif(not verilator(), reason="the hardware tools are not in the environment")
def test_the_environment_names_the_simulated_core_of_machine_compact(
    compiled: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = compiled.keygen()
    given = compiled.encrypt(keys, x=np.linspace(-1, 1, 8), y=np.linspace(1, 0, 8))
    expected = compiled.evaluate(keys, given).to_bytes()
    monkeypatch.setenv(
        "RINGMILL_CORE_LIBRARY", str(simulator.library(compiled, rm.machines.verilator(butterflies=1)))
    )
    fresh = Compiled.from_bytes(compiled.to_bytes())  # what is lowered for a machine is kept
    assert fresh.evaluate(keys, given, machine="compact").to_bytes() == expected
    with pytest.raises(rm.MachineError, match="built for butterflies=1, and butterflies=2 is asked for"):
        fresh.evaluate(keys, given, machine="compact:butterflies=2")
    for missing in (tmp_path / "none.so", tmp_path):
        monkeypatch.setenv("RINGMILL_CORE_LIBRARY", str(missing))
        with pytest.raises(rm.MachineError, match=re.escape(str(missing))):
            Compiled.from_bytes(compiled.to_bytes()).evaluate(keys, given, machine="compact")


def test_without_a_simulator_the_machine_says_what_it_needs(
    compiled: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(rm.MachineError, match="needs Verilator") as caught:
        compiled.executable("verilator:butterflies=16")
    assert caught.value.code == "NoSimulator"


@pytest.mark.skipif(not shutil.which("yosys"), reason="the hardware tools are not in the environment")
def test_a_bank_in_ultra_memory_differs_by_its_attribute_alone() -> None:
    def read(folder: str) -> str:
        return (ROOT / "rtl/bank" / folder / "rm_bank_ram.sv").read_text()

    def words(text: str) -> list[str]:
        """What is synthesised, without attributes."""
        for dropped in (r"`ifndef SYNTHESIS.*?`endif", r"//[^\n]*", r"\(\* .*? \*\)"):
            text = re.sub(dropped, "", text, flags=re.DOTALL)
        return text.split()

    assert words(read("ultra")) == words(read("src"))
    assert '(* ram_style = "ultra" *)' in read("ultra")


def test_banks_in_ultra_memory_are_synthesised_as_such(tmp_path: Path) -> None:
    core = Core(banks="ultra")
    files = hardware.sources(core)
    for place, text in files.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text, encoding="utf-8")
    verilog = [
        place
        for place in files
        if place.endswith(("rm_isa_pkg.sv", "rm_core_pkg.sv"))
        or ("rtl/bank/" in place and place.endswith(".sv"))
    ]
    parameters = (f"W={core.word_bits}", f"Nbf={core.butterflies}", f"LogNMax={core.log_n_max}")
    subprocess.run(
        [
            sys.executable,
            "synth/cells.py",
            "xcup",
            "rm_bank_array",
            "cells.json",
            *parameters,
            "--",
            *verilog,
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    cells = json.loads((tmp_path / "cells.json").read_text(encoding="utf-8"))
    row, rows = 2 * core.butterflies * core.word_bits, (1 << core.log_n_max) // (2 * core.butterflies)
    assert cells["uram"] == 6 * -(-row // 72) * -(-rows // 4096), "AMD UG573: 72 x 4096"
    assert cells["bram36"] == 0


def test_the_folder_says_what_it_needs_and_what_there_is_to_type(folder: Path) -> None:
    places = (folder / "README.md", folder / "Makefile", ROOT / "docs" / "build.md")
    text, makefile, page = (place.read_text(encoding="utf-8") for place in places)
    versions = [set(re.findall(r"Verilator (\d[\d.]*) or newer", said)) for said in (text, makefile, page)]
    assert versions[0] == versions[1] == versions[2]
    assert len(versions[0]) == 1
    targets = set(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split())
    # The files are checked without make, and what is built needs no line to be removed by.
    assert targets - {"check", "clean"} == set(re.findall(r"\bmake ([a-z0-9-]+)", text))


def test_a_verilator_too_old_is_named(folder: Path, tmp_path: Path) -> None:
    old = tmp_path / "verilator"
    old.write_text(
        "#!/bin/sh\n"
        '[ "$*" = --version ] && echo "Verilator 5.006 2023-01-22" && exit\n'
        'echo "%Error: Invalid option" >&2; exit 1\n'
    )
    old.chmod(0o755)
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("build"))
    env = {**os.environ, "MAKEFLAGS": "", "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["make", "-s", "host"], cwd=copy, capture_output=True, text=True, check=False, env=env
    )
    assert done.returncode != 0
    assert "needs Verilator 5.048 or newer" in done.stderr
    assert "found: Verilator 5.006 2023-01-22" in done.stderr


def test_a_design_may_leave_arguments_out(tmp_path: Path) -> None:
    """The folder's vectors name every argument; what no result needs is none of the core's inputs."""
    params = rm.Params.from_bits(10, [50, 40, 40], [50], 3, insecure=True)
    kernel = rm.kernel(lambda x, y: (x @ np.array([0.5, 0.0])) ** 2)
    compiled = kernel.compile(rm.matrix(8, 2, packing="columns"), rm.vector(8), params=params)
    image = SMALL.image(compiled.plan)
    made = vectors.make(compiled, image)
    values = json.loads(made.values)
    x = np.array(values["arguments"]["x"])
    assert np.shape(values["arguments"]["y"]) == (8,)
    assert np.allclose(values["results"]["out"], (x[:, 0] / 2) ** 2, atol=1e-6)
    assert {place[0][:3] for _, place in image.inputs if place[0].startswith(("x", "y"))} == {"x_0"}
