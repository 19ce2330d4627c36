"""What boards need beside the core: standard names of AXI, scripts for Vivado, a module for LiteX."""

from __future__ import annotations

import string
from collections.abc import Mapping
from importlib import resources

from ringmill.project.core import Core

#: Parts for which the core is packaged unless another one is named, by family.
PARTS = {"xcup": "xczu7ev-ffvc1156-2-e", "xc7": "xc7a100tcsg324-1"}

#: What each family gets.
_ALWAYS = ("ringmill_axi.v", "litex_module.py", "soc.py", "pcie.py")
_VIVADO = {"xcup": "zcu104.tcl", "xc7": "arty_a7.tcl"}


def files(name: str, core: Core, sources: Mapping[str, str], cycles: int) -> dict[str, str]:
    """The files of the folder `board`, by their places; `cycles` are those of one run of the program."""
    generics = ",\n".join(f"    .{key:<8}({value})" for key, value in core.parameters().items())
    facts = {
        "name": name,
        "generics": generics,
        "data_bits": str(core.bus_bits),
        "data_high": str(core.bus_bits - 1),
        "strobe_high": str(core.bus_bits // 8 - 1),
        "mhz": f"{core.clock_mhz:g}",
        "parameters": " ".join(f"{key}={value}" for key, value in core.parameters().items()),
        "cycles": str(cycles),
        "family": core.family,
        "part": PARTS.get(core.family, ""),
        "systemverilog": "\n".join(f"  {place} \\" for place in sources if place.endswith(".sv")),
    }
    vivado = ("sources.tcl", "ip.tcl", _VIVADO[core.family]) if core.family in _VIVADO else ()
    return {f"board/{file}": _filled(file, facts) for file in (*_ALWAYS, *vivado)}


def _filled(file: str, facts: Mapping[str, str]) -> str:
    text = resources.files("ringmill.project").joinpath("files", "board", file).read_text(encoding="utf-8")
    return string.Template(text).substitute(facts)
