"""The hardware in the folder: sources, file lists, constraints."""

from __future__ import annotations

from ringmill._native import hardware_files
from ringmill.project.core import Core
from ringmill.project.fusesoc import core_file

#: Where files of the repository go in the folder, by how their path begins; the first that fits counts.
_PLACES = (
    ("LICENSE", "LICENSE"),
    ("rtl/registers/generated/core_registers.h", "driver/core_registers.h"),
    ("crates/machine/src/compact/registers.rs", "driver/registers.rs"),
    ("rtl/registers/generated/ringmill_core.xml", "registers/ringmill_core.xml"),
    ("docs/registers.md", "registers/README.md"),
    ("rtl/sim/src/", "sim/"),
    ("rtl/synth/", "synth/"),
    ("rtl/", "rtl/"),
)

_ORIGIN = "Written by `ringmill build`."


def _place(path: str) -> str:
    for start, target in _PLACES:
        if path.startswith(start):
            return target + path.removeprefix(start)
    raise AssertionError(f"no place for {path}")


#: A bank in block RAM, and the same module in UltraRAM.
_BANK, _ULTRA = "rtl/bank/src/rm_bank_ram.sv", "rtl/bank/ultra/rm_bank_ram.sv"


def sources(core: Core) -> dict[str, str]:
    """Every file of the core and its simulator by its place; sources in order of compilation."""
    files = {_place(path): text for path, text in hardware_files()}
    # The folder has one register header; the simulator's shell looks for it where the repository has it.
    shell = files["sim/rm_core.cpp"]
    files["sim/rm_core.cpp"] = shell.replace(
        '"../../registers/generated/core_registers.h"', '"../driver/core_registers.h"'
    )
    ultra = files.pop(_ULTRA)
    if core.banks != "ultra":
        return files
    # In the place of the other, since the list of sources keeps its order.
    instead = {_BANK: (_ULTRA, ultra)}
    return dict(instead.get(name, (name, text)) for name, text in files.items())


def _named(files: dict[str, str], suffix: str) -> list[str]:
    return [name for name in files if name.startswith("rtl/") and name.endswith(suffix)]


def lists(name: str, version: str, core: Core, files: dict[str, str]) -> dict[str, str]:
    """The list of sources, the FuseSoC core file, and what the Makefile reads."""
    verilog, waivers = _named(files, ".sv"), _named(files, ".vlt")
    parameters = core.parameters()
    made = {"core.f": f"// {_ORIGIN}\n" + "".join(f"{path}\n" for path in verilog)}
    made["core.mk"] = (
        f"# {_ORIGIN}\nSOURCES := {' '.join(verilog)}\nWAIVERS := {' '.join(waivers)}\n"
        f"FAMILY := {core.family}\n"
        f"PARAMETERS := {' '.join(f'{key}={value}' for key, value in parameters.items())}\n"
    )
    made[f"{name}.core"] = core_file(
        origin=_ORIGIN,
        name=f"ringmill:design:{name}:{version}",
        about=f"The compact core with the parameters of the kernel {name}",
        top="rm_compact_core",
        filesets={
            "rtl": verilog,
            "lint": waivers,
            "xdc": ["constraints/core.xdc"],
            "sdc": ["constraints/core.sdc"],
        },
        parameters={key: (value, "") for key, value in parameters.items()},
        verilator="-Wall, -fno-inline-funcs",
        tools={"vivado": ["rtl", "xdc"]},
    )
    return made


def constraints(core: Core) -> dict[str, str]:
    """Clock and reset for three families of tools; `docs/hardware.md` says why there is nothing else."""
    period = f"{1000 / core.clock_mhz:.3f}"
    pins = "Pins and I/O standards are the board's."
    clock = f"create_clock -name clk -period {period} [get_ports clk_i]\n"
    return {
        "constraints/core.sdc": f"# {_ORIGIN} {pins}\n{clock}set_false_path -from [get_ports rst_ni]\n",
        "constraints/core.xdc": (
            f"# {_ORIGIN} {pins}\n{clock}"
            "# rst_ni is asynchronous to assert; release it in step with clk_i.\n"
            "set_false_path -from [get_ports rst_ni]\n"
        ),
        "constraints/core.lpf": (
            f'# {_ORIGIN} {pins}\nFREQUENCY PORT "clk_i" {core.clock_mhz:g} MHZ;\n'
            'BLOCK PATH FROM PORT "rst_ni";\n'
        ),
    }
