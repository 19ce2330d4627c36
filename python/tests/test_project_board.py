"""The stored report of a board's bitstream is of the sources as they are; a report says what was routed."""

from __future__ import annotations

import dataclasses
import json
import re
import runpy
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hardware_tools import have
from sample_designs import SMALL, small_kernel

from ringmill.project import design, write
from ringmill.project.make import make

ROOT = Path(__file__).resolve().parents[2]
BOARDS = ROOT / "rtl" / "boards"
STORED: dict[str, Any] = json.loads((BOARDS / "ecpix5.json").read_text())
REPORTS = [
    pytest.param(json.loads(path.read_text()), id=path.stem)
    for path in sorted(BOARDS.glob("*.json"))
    if path.stem != "score"
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `make board` builds, with its plain Verilog."""
    out = tmp_path_factory.mktemp("board") / "score"
    chosen = design.read(BOARDS / "score.json")
    write(chosen.compiled, chosen.core, out, design=chosen.content)
    return out


def _route(folder: Path) -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(folder / "board" / "route.py")))


@pytest.mark.skipif(not have("sys", "yosys"), reason="needs yosys: scripts/eda.sh")
@pytest.mark.parametrize("report", REPORTS)
def test_the_stored_report_is_of_these_sources(folder: Path, report: dict[str, Any]) -> None:
    done = make(folder, "verilog")
    assert done.returncode == 0, done.stderr
    assert _route(folder).sources(folder) == report["sources"], "make it anew: rtl/boards/README.md"
    (parameters,) = (
        line.partition(" := ")[2]
        for line in (folder / "core.mk").read_text().splitlines()
        if line.startswith("PARAMETERS")
    )
    assert report["core"]["parameters"] == parameters


@pytest.mark.parametrize("report", REPORTS)
def test_every_clock_of_the_stored_report_reaches_what_was_asked_for(report: dict[str, Any]) -> None:
    clocks = report["clocks"].values()
    assert any(one["asked_mhz"] >= 60 for one in clocks)
    assert all(one["reached_mhz"] >= one["asked_mhz"] for one in clocks)
    assert all(one["used"] <= one["of"] for one in report["used"].values())


def _routed(folder: Path, achieved: float) -> None:
    """LiteX's script as a stand-in: it makes what the tools make."""
    clock = {"achieved": achieved, "constraint": 60.0024}
    count = {"used": 1, "available": 2}
    names = ("TRELLIS_COMB", "TRELLIS_FF", "MULT18X18D", "DP16KD", "TRELLIS_IO", "EHXPLLL")
    timing = {"fmax": {"a$glbnet$sys_clk": clock}, "utilization": dict.fromkeys(names, count)}
    (folder / "build_it.sh").write_text(
        f"set -e\ntouch it.json it.config\necho bits > it.bit\necho '{json.dumps(timing)}' > timing.json\n"
    )


def test_a_clock_that_is_too_slow_leaves_no_bitstream(folder: Path, tmp_path: Path) -> None:
    route = _route(folder)
    _routed(tmp_path, 59.9)
    with pytest.raises(route.RouteError, match=r"clock sys_clk reaches 59\.9 of 60\.0 MHz with seed 3"):
        route.bitstream(tmp_path, "it", 60, 3)
    assert not (tmp_path / "it.bit").exists()


def test_a_tool_that_fails_is_quoted_and_old_files_do_not_stay(folder: Path, tmp_path: Path) -> None:
    route = _route(folder)
    (tmp_path / "it.bit").write_text("old")
    (tmp_path / "timing.json").write_text("{}")
    (tmp_path / "build_it.sh").write_text("echo 'ERROR: no such cell'\necho later\nexit 1\n")
    with pytest.raises(route.RouteError, match="yosys failed: ERROR: no such cell"):
        route.bitstream(tmp_path, "it", 60, 1)
    assert not (tmp_path / "it.bit").exists()
    assert not (tmp_path / "timing.json").exists()


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the 7 series."""
    out = tmp_path_factory.mktemp("card") / "cubic"
    write(small_kernel(), dataclasses.replace(SMALL, family="xc7", tile="dsp48e1"), out)
    return out


#: Reads a word at each address of the window, and says where on the bus.
WALK = """
from litex.soc.interconnect import wishbone
from migen import Module, run_simulation
from pcie import moved
seen = wishbone.Interface()
bus, wires = moved(seen)
module = Module()
module.comb += wires
def walk():
    for at in (0, 4, (1 << 27) - 4, 1 << 27, (1 << 27) + 0x3ffc, (1 << 28) + 8):
        yield seen.adr.eq(at >> 2)
        yield
        print(hex(4 * (yield bus.adr)))
run_simulation(module, walk())
"""


@pytest.mark.skipif(not have("litex"), reason="needs LiteX: scripts/eda.sh")
def test_a_window_shows_memory_below_and_registers_above(card: Path) -> None:
    done = subprocess.run(
        ["python3", "-c", WALK], cwd=card / "board", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    ends = ["0x40000000", "0x40000004", "0x47fffffc"]
    assert done.stdout.split() == [*ends, "0x90000000", "0x90003ffc", "0x40000008"]


def test_a_folder_for_another_device_is_refused(folder: Path, card: Path) -> None:
    for where, script, board, device in (
        (card, ["soc.py", "ecpix5"], "ecp5", "ecpix5"),
        (card, ["soc.py", "ulx3s"], "ecp5", "ecp5-85"),
        (folder, ["pcie.py"], "xc7", "artix7-200t"),
    ):
        words = ["python3", f"board/{script[0]}", *script[1:], "build/refused"]
        done = subprocess.run(words, cwd=where, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert f"has one of {board}: ringmill explore … --device {device}," in done.stderr
        assert not (where / "build" / "refused").exists()


#: Of a block that LiteX's wires go to and that Vivado knows.
XILINX = {
    *("BUFG", "BUFGCTRL", "DNA_PORT", "FDCE", "FDPE", "IBUFDS", "IBUFDS_GTE2", "IDELAYCTRL", "IDELAYE2"),
    *("IOBUF", "IOBUFDS", "ISERDESE2", "MMCME2_ADV", "OBUFDS", "OSERDESE2", "PLLE2_ADV", "XADC", "pcie_s7"),
}
#: How LiteX and yosys write: widths, time units, and assignments in combinational blocks.
STYLE = ("ALWNEVER", "COMBDLY", "MULTIDRIVEN", "TIMESCALEMOD", "UNOPTFLAT", "WIDTHEXPAND", "WIDTHTRUNC")


@pytest.mark.long
@pytest.mark.skipif(
    not have("litex, litex_boards, litepcie", "verilator", "yosys", "riscv64-unknown-elf-gcc"),
    reason="needs LiteX's boards: scripts/eda.sh --board",
)
def test_the_system_of_a_card_is_written_and_linted(card: Path) -> None:
    done = make(card, "acorn")
    assert done.returncode == 0, done.stderr
    gateware = card / "build" / "acorn" / "gateware"
    script = (gateware / "ringmill_acorn.tcl").read_text()
    assert "CONFIG.Bar0_Size {256}" in script
    files = re.findall(r"^read_verilog \{(.*)\}$", script, re.M)
    assert len(files) == 3
    waived = [f"-Wno-{name}" for name in STYLE]
    lint = subprocess.run(
        [
            "verilator",
            "--lint-only",
            "--error-limit",
            "1000",
            *waived,
            "--top-module",
            "ringmill_acorn",
            *files,
        ],
        cwd=gateware,
        capture_output=True,
        text=True,
        check=False,
    )
    found = [line for line in lint.stderr.splitlines() if line.startswith("%")]
    missing = {line.rpartition("module: ")[2].strip("'") for line in found if "MODMISSING" in line}
    assert missing == XILINX
    assert not [line for line in found if "MODMISSING" not in line and "Exiting" not in line]


@pytest.mark.long
@pytest.mark.skipif(
    not have("litex, litex_boards", "yosys", "nextpnr-ecp5", "riscv64-unknown-elf-gcc"),
    reason="needs LiteX's boards: scripts/eda.sh --board",
)
def test_the_bitstream_is_made_again(folder: Path) -> None:
    done = make(folder, "ecpix5")
    assert done.returncode == 0, done.stderr
    report = json.loads((folder / "build" / "ecpix5" / "report.json").read_text())
    assert report["sources"] == STORED["sources"]
    bits = folder / "build/ecpix5/gateware/ringmill_ecpix5.bit"
    assert bits.stat().st_size == report["bitstream"]["bytes"]
    # Yosys and nextpnr do the same with the same sources and seed; dates are in the software alone.
    if report["tools"] == STORED["tools"]:
        assert report["used"] == STORED["used"]
