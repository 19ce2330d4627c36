"""The folder `board` of a core: standard names of AXI, scripts for Vivado, a module for LiteX, one file."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sample_designs import SMALL, small_kernel

from ringmill.project import write
from ringmill.project.make import make

FAMILIES = {
    "xcup": replace(SMALL, butterflies=1),
    "xc7": replace(SMALL, butterflies=1, family="xc7", tile="dsp48e1", bus_bits=128),
    "ecp5": replace(SMALL, butterflies=1, family="ecp5", tile="ecp5"),
}


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("board") / "cubic"
    write(small_kernel(), FAMILIES[family], out)
    return out


def ports(folder: Path) -> dict[str, tuple[str, int]]:
    """Direction and bits of each port of the wrapper."""
    text = (folder / "board" / "ringmill_axi.v").read_text()
    head = text[text.index("module ringmill_axi") : text.index(");")]
    found = re.findall(r"^\s*(input|output)\s+wire\s*(?:\[(\d+):0\])?\s*(\w+)", head, re.MULTILINE)
    return {name: (way, int(high or 0) + 1) for way, high, name in found}


def test_the_wrapper_has_the_ports_of_both_buses(folder: Path, family: str) -> None:
    bits = FAMILIES[family].bus_bits
    found = ports(folder)
    assert found["m_axi_wdata"] == ("output", bits)
    assert found["m_axi_wstrb"] == ("output", bits // 8)
    assert found["m_axi_rdata"] == ("input", bits)
    assert found["s_axi_araddr"] == ("input", 14)
    lite = {"awaddr", "awprot", "awvalid", "awready", "wdata", "wstrb", "wvalid", "wready", "bresp", "bvalid"}
    lite |= {"bready", "araddr", "arprot", "arvalid", "arready", "rdata", "rresp", "rvalid", "rready"}
    assert {name.removeprefix("s_axi_") for name in found if name.startswith("s_axi_")} == lite


@pytest.mark.skipif(shutil.which("verilator") is None, reason="needs Verilator")
def test_the_wrapper_is_clean_and_fits_the_core(folder: Path) -> None:
    words = dict(
        line.split(" := ", 1) for line in (folder / "core.mk").read_text().splitlines() if ":=" in line
    )
    done = subprocess.run(
        [
            *("verilator", "--lint-only", "-Wall", "-Wno-DECLFILENAME", "--top-module", "ringmill_axi"),
            *words["WAIVERS"].split(),
            *words["SOURCES"].split(),
            "board/ringmill_axi.v",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


class Tcl:
    """A Tcl interpreter in which every command that is not Tcl's own is written down."""

    def __init__(self) -> None:
        tkinter = pytest.importorskip("tkinter")
        self.calls: list[list[str]] = []
        self.tcl = tkinter.Tcl()
        self.tcl.createcommand("unknown", self._called)
        self.tcl.eval("proc puts {args} {}")

    def _called(self, *words: str) -> str:
        self.calls.append(list(words))
        # What the scripts look at: the state of a run.
        return "100%" if words[:2] == ("get_property", "PROGRESS") else f"<{' '.join(words)}>"

    def source(self, script: Path, *arguments: str) -> list[list[str]]:
        self.tcl.eval(f"set argc {len(arguments)}; set argv [list {' '.join(arguments)}]")
        self.tcl.eval(f"source {{{script}}}")
        return self.calls

    def named(self, word: str) -> list[list[str]]:
        return [call for call in self.calls if call[0] == word]


def test_vivados_scripts_run_in_an_interpreter_with_stand_ins(folder: Path, family: str) -> None:
    scripts = sorted(file.name for file in (folder / "board").glob("*.tcl"))
    own = {"xcup": ["ip.tcl", "sources.tcl", "zcu104.tcl"], "xc7": ["arty_a7.tcl", "ip.tcl", "sources.tcl"]}
    assert scripts == own.get(family, [])
    if not scripts:
        return
    packaging = Tcl()
    packaging.source(folder / "board" / "ip.tcl")
    read = packaging.named("read_verilog")
    sources = [line for line in (folder / "core.f").read_text().splitlines() if not line.startswith("//")]
    assert read[0][2].split() == [str(folder / name) for name in sources]
    assert read[1][1].split() == [str(folder / "board" / "ringmill_axi.v")]
    assert all(Path(name).is_file() for call in read for name in call[-1].split())
    assert packaging.named("ipx::save_core")
    other = Tcl()
    other.source(folder / "board" / "ip.tcl", "xc7k325tffg900-2")
    assert ["create_project", "-in_memory", "-part", "xc7k325tffg900-2"] in other.calls

    board = Tcl()
    (script,) = (name for name in scripts if name not in ("ip.tcl", "sources.tcl"))
    board.source(folder / "board" / script)
    text = (folder / "board" / script).read_text()
    cells = {call[-1] for call in board.named("create_bd_cell")}
    pins = re.findall(
        r"\b(\w+)/(\w+)\b", " ".join(" ".join(c) for c in board.calls if c[0].startswith("get_bd_"))
    )
    assert {cell for cell, _ in pins} <= cells | {"cpu_xlconcat", "Data"}, (
        "every pin is of a cell that was made"
    )
    known = ports(folder)
    of_core = {pin for cell, pin in pins if cell == "core"}
    assert {"irq", "s_axi"} <= of_core
    assert all(pin in known or any(name.startswith(f"{pin}_") for name in known) for pin in of_core)
    assert "Not run where this was written" in text
    assert ["launch_runs", "impl_1", "-to_step", "write_bitstream", "-jobs", "4"] in board.calls


def test_a_run_of_vivado_that_fails_ends_the_script(folder: Path, family: str) -> None:
    if family != "xcup":
        return
    board = Tcl()
    board.tcl.createcommand("get_property", lambda *words: "37%")
    with pytest.raises(Exception, match="did not end"):
        board.source(folder / "board" / "zcu104.tcl")
    assert not board.named("write_hw_platform")


class _Signals:
    """Stands for a bus of LiteX: every field of every channel is a name."""

    def __init__(self, path: str = "") -> None:
        self.path = path

    def __getattr__(self, name: str) -> _Signals:
        return _Signals(f"{self.path}.{name}")

    def __getitem__(self, part: slice) -> _Signals:
        return _Signals(f"{self.path}[{part.stop}]")

    def __invert__(self) -> _Signals:
        return _Signals(f"~{self.path}")

    def eq(self, other: Any) -> tuple[Any, Any]:
        return self, other


class _Specials(list[Any]):
    def __iadd__(self, other: Any) -> _Specials:  # type: ignore[misc,override]
        self.append(other)
        return self


@pytest.fixture
def litex(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for the packages that the module imports."""

    class LiteXModule:
        def __new__(cls, *_args: Any, **_more: Any) -> Any:
            made = super().__new__(cls)
            made.comb, made.specials = _Specials(), _Specials()  # type: ignore[attr-defined]
            return made

    class EventManager:
        def finalize(self) -> None:
            """Nothing is to be done."""

    def module(name: str, **content: Any) -> None:
        for end in range(1, name.count(".") + 2):
            part = ".".join(name.split(".")[:end])
            if part not in sys.modules:
                monkeypatch.setitem(sys.modules, part, types.ModuleType(part))
        for key, value in content.items():
            setattr(sys.modules[name], key, value)

    module("litedram.frontend.axi", LiteDRAMAXI2Native=lambda *a, **k: ("to memory", a, k))
    module("litex.gen", LiteXModule=LiteXModule)
    module("litex.soc.integration.soc", SoCRegion=lambda **k: k)
    bus = types.SimpleNamespace(
        AXILiteInterface=lambda **k: _Signals("bus"),
        AXIInterface=lambda **k: _Signals(f"memory{k['data_width']}"),
    )
    module("litex.soc.interconnect", axi=bus)
    module(
        "litex.soc.interconnect.csr_eventmanager",
        EventManager=EventManager,
        EventSourceLevel=lambda: _Signals("event"),
    )
    module(
        "migen",
        ClockSignal=lambda domain: _Signals(f"clock {domain}"),
        ResetSignal=lambda domain: _Signals(f"reset {domain}"),
        Signal=lambda *_: _Signals("signal"),
        Instance=lambda name, **k: (name, k),
    )


def test_the_module_for_litex_connects_every_port_the_right_way(
    folder: Path, family: str, litex: None
) -> None:
    source = (folder / "board" / "litex_module.py").read_text()
    ast.parse(source)
    names: dict[str, Any] = {}
    exec(compile(source, "litex_module.py", "exec"), names)
    files: list[tuple[str, str]] = []
    platform = types.SimpleNamespace(add_source=lambda name, language: files.append((name, language)))
    made = names["Ringmill"](platform, folder)
    ((top, connected),) = made.specials
    assert top == "ringmill_axi"
    known = ports(folder)
    ways = {"input": "i", "output": "o"}
    assert set(connected) == {f"{ways[way]}_{name}" for name, (way, _) in known.items()}
    for port, wire in connected.items():
        found = re.fullmatch(r"[io]_([sm])_axi_(aw|w|b|ar|r)(\w+)", port)
        if found and found[3] != "addr":
            bus = "bus" if found[1] == "s" else f"memory{FAMILIES[family].bus_bits}"
            assert wire.path == f"{bus}.{found[2]}.{found[3]}", port
    assert all(Path(name).is_file() for name, _ in files)
    assert files[-1][1] == "verilog"


@pytest.mark.long
@pytest.mark.skipif(
    shutil.which("verilator") is None or shutil.which("yosys") is None, reason="needs the tools"
)
def test_the_self_test_passes_on_plain_verilog_with_its_memories(folder: Path, family: str) -> None:
    if family == "ecp5":
        return
    done = make(folder, "selftest-verilog")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout
    text = (folder / "build" / "ringmill_core.v").read_text()
    rows = 1 << (SMALL.log_n_max - 1)
    banks = re.findall(
        rf"reg \[\d+:0\] \\i_engine\.i_banks\.g_bank\[\d\]\.i_ram\.mem +\[{rows - 1}:0\];", text
    )
    assert len(banks) == 6, "six banks of whole rows"
    assert not re.search(r"^\s*\$\w+ ", text, re.MULTILINE), "no cell of yosys is left"
    done = make(folder, "verilog")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "module ringmill_axi" in (folder / "build" / "ringmill_axi.v").read_text()
