"""What others take: a FuseSoC core file and lists of sources, made from the blocks."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from rtl.tools.block import RTL, declared, load, sources

TOP = "rm_compact_core"
CORE_FILE = RTL / "compact_core.core"
LIST_FILE = RTL / "compact_core.f"
# Engines, each with a list of its sources.
ENGINES = ("encryptor", "pipelined")
ORIGIN = "Made from the blocks' block.json by `python -m rtl.tools package`."


def _said(parameter: dict[str, Any]) -> str:
    """What a parameter is, and what it may be."""
    values = parameter.get("values")
    if values is None:
        return f"{parameter['about']}: {parameter['least']} to {parameter['most']}"
    numbered = (v if isinstance(v, int) else f"{at} {v}" for at, v in enumerate(values))
    return f"{parameter['about']}: {', '.join(map(str, numbered))}"


#: Parameters of the top, with what they say.
PARAMETERS = {p["rtl"]: (p["number"], _said(p)) for p in declared() if "rtl" in p}


def _text() -> ModuleType:
    """How core files are written: of the Python package, whose folder `ringmill build` makes has one too."""
    path = RTL.parent / "python" / "ringmill" / "project" / "fusesoc.py"
    spec = importlib.util.spec_from_file_location("ringmill_fusesoc", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _core(files: list[Path], waivers: list[Path]) -> str:
    def names(paths: list[Path]) -> list[str]:
        return [str(path.relative_to(RTL)) for path in paths]

    written: str = _text().core_file(
        origin=ORIGIN,
        name="ringmill:core:compact_core:0.1.0",
        about="CKKS accelerator core: limb programs over AXI4, scaled by the number of butterflies",
        top=TOP,
        filesets={"rtl": names(files), "lint": names(waivers)},
        parameters=PARAMETERS,
        verilator="-Wall",
        tools={},
    )
    return written


def files() -> dict[Path, str]:
    """Return the files and what they hold."""
    found, waivers = sources(load("core"))
    return {CORE_FILE: _core(found, waivers), LIST_FILE: _listing(found), **dict(map(_engine, ENGINES))}


def _engine(name: str) -> tuple[Path, str]:
    """The list of an engine: waivers, what the simulator takes before the sources, and these."""
    found, lint = sources(load(name))
    place = RTL / name
    return place / f"{name}.f", _listing([*lint, place / "test" / "shared.vlt", *found])


def _listing(paths: list[Path]) -> str:
    return f"// {ORIGIN}\n" + "".join(f"{path.relative_to(RTL)}\n" for path in paths)
