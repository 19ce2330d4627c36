"""The core of a built folder behind buses that are not of this project: cocotbext-axi drives and answers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cores import primes
from hardware_tools import have
from sample_designs import SMALL, small_kernel

import ringmill as rm
from ringmill.project import Core, write
from ringmill.project.make import make

needs_cocotb = pytest.mark.skipif(
    not have("cocotb, cocotbext.axi", "verilator"),
    reason="needs cocotb, cocotbext-axi and Verilator: scripts/eda.sh",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cocotb") / "cubic"
    write(small_kernel(), SMALL, out)
    return out


def _run(folder: Path, simulator: str) -> subprocess.CompletedProcess[str]:
    """The runner with a Python that has no packages."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "test/cocotb_run.py", simulator, "build/cocotb", "board/ringmill_axi.v"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(shutil.which("verilator") is None, reason="needs Verilator")
def test_without_cocotb_the_target_says_what_is_missing(folder: Path) -> None:
    done = _run(folder, "verilator")
    assert done.returncode == 1
    assert done.stderr.startswith("cocotb and cocotbext.axi cannot be imported by ")
    assert "pip install cocotb cocotbext-axi" in done.stderr
    assert not (folder / "build").exists()


def test_a_simulator_that_is_not_known_or_not_there_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = _run(folder, "vcs")
    assert done.returncode == 1
    assert done.stderr == "SIM=vcs: there are verilator and icarus\n"
    monkeypatch.setenv("PATH", str(folder))
    done = _run(folder, "icarus")
    assert done.returncode == 1
    assert done.stderr.startswith("iverilog is not on the path")


@pytest.mark.long
@needs_cocotb
def test_the_program_gives_its_bits_through_cocotbext_axi_with_and_without_stalls(folder: Path) -> None:
    done = make(folder, "selftest-cocotb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS 3 of 3 tests" in done.stdout
    quiet, stalled = (int(line.split()[0]) for line in done.stdout.splitlines() if "cycles with" in line)
    assert quiet < stalled, "stalls cost time"


@pytest.mark.long
@needs_cocotb
def test_a_wrapper_that_takes_accesses_while_its_core_is_in_reset_is_found(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("build"))
    wrapper = copy / "board" / "ringmill_axi.v"
    text = wrapper.read_text()
    assert text.count(" & released;") == 3
    wrapper.write_text(text.replace(" & released;", ";"))
    monkeypatch.setenv("ONLY", "program")
    done = make(copy, "selftest-cocotb")
    assert done.returncode != 0
    assert "AssertionError: no answer to a read of 0x0 for 1000 cycles" in done.stdout, (
        done.stdout + done.stderr
    )


#: The least core, and a program without transforms: Icarus runs a thousand cycles a second.
LEAST = Core(
    word_bits=32,
    butterflies=1,
    log_n_max=10,
    moduli=2,
    multiplier="sparse-word-montgomery",
    family="ecp5",
    tile="lut",
    bus_bits=64,
)


@rm.kernel
def plus(x: Any, y: Any) -> Any:
    return x + y


@pytest.mark.long
@needs_cocotb
@pytest.mark.skipif(
    shutil.which("iverilog") is None or shutil.which("yosys") is None, reason="needs Icarus and yosys"
)
def test_another_simulator_computes_the_same_from_the_netlist_of_yosys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    q, p = sorted(primes(LEAST.multiplier, LEAST.word_bits, 2))
    params = rm.Params.from_primes(10, [q], [p], 1, scale_bits=24, insecure=True)
    out = tmp_path / "plus"
    write(plus.compile(rm.vector(8), rm.vector(8), params=params, magnitude=0.25), LEAST, out)
    monkeypatch.setenv("SIM", "icarus")
    monkeypatch.setenv("ONLY", "program")
    done = make(out, "selftest-cocotb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS 1 of 1 tests" in done.stdout
