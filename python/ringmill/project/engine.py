"""A folder of an engine beside the compact core: its sources, what `make` reads, its manifest.

The folder stands alone: the RTL, the shell of its simulator, and a self-test with an oracle of its own, which
needs Python alone.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import string
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringmill._native import __version__, hardware_files
from ringmill.atomic import writing
from ringmill.project.fusesoc import core_file
from ringmill.project.write import FORMAT, MANIFEST, VERSION, identifier, licensed, packaged, refuse, replace
from ringmill.verilated import build_command, lint_command

_ORIGIN = "Written by `ringmill build`."
_COPIED = {
    "Makefile": "engine.mk",
    "test/polynomials.py": "oracle/polynomials.py",
    "test/check.py": "check.py",
}


@dataclass(frozen=True)
class Engine:
    """An engine for a kernel's parameters, and what its folder says."""

    #: What the manifest calls such a folder, and how files of it begin; one of a core names no kind.
    kind: str
    kernel: str
    about: str
    top: str
    #: The parameters of the top module, and what the shell must know beside them.
    built: dict[str, int]
    defines: dict[str, int]
    #: Waivers, sources in order of compilation, and the shell.
    sources: dict[str, str]
    shell: str
    library: str
    #: What is copied from the package beside what every engine has, by its place.
    copied: dict[str, str]
    #: `kind`.json.
    facts: dict[str, Any]
    #: What README.md, a text of the package, is filled with.
    readme: str
    said: dict[str, Any]
    #: Further files.
    others: dict[str, str]


def contents(engine: Engine) -> dict[str, bytes]:
    """Every file of the folder but the manifest; equal arguments give equal bytes."""
    sources = engine.sources
    verilog = [place for place in sources if place.endswith(".sv")]
    waivers = [place for place in sources if place.endswith(".vlt")]
    called = identifier(engine.kernel)
    build = build_command(
        engine.top,
        engine.built,
        [*sources],
        shell=engine.shell,
        library=engine.library,
        defines=engine.defines,
    )
    lint = lint_command(engine.top, engine.built, [*waivers, *verilog])
    said = {"name": engine.kernel, "version": __version__, "file": called, **engine.said}
    lists = {
        "LICENSE": dict(hardware_files())["LICENSE"],
        f"{engine.kind}.f": f"// {_ORIGIN}\n" + "".join(f"{place}\n" for place in verilog),
        "sources.mk": (
            f"# {_ORIGIN}\nSOURCES := {' '.join(sources)}\nLIBRARY := {engine.library}\n"
            f"BUILD := {shlex.join(build)}\nLINT := {shlex.join(lint)}\n"
        ),
        f"{called}.core": core_file(
            origin=_ORIGIN,
            name=f"ringmill:{engine.kind}:{called}:{__version__}",
            about=engine.about,
            top=engine.top,
            filesets={"rtl": verilog, "lint": waivers},
            parameters={key: (value, "") for key, value in engine.built.items()},
            verilator="-Wall",
            tools={},
        ),
        f"{engine.kind}.json": json.dumps(engine.facts, indent=1) + "\n",
        "README.md": string.Template(packaged(engine.readme)).substitute(said),
        **engine.others,
    }
    copied = {place: packaged(source) for place, source in {**_COPIED, **engine.copied}.items()}
    return {place: text.encode() for place, text in {**licensed({**sources, **copied}), **lists}.items()}


def write(engine: Engine, out: Path, *, overwrite: bool = False) -> dict[str, bytes]:
    """Write the folder, whole or not at all; returns what it holds.

    Args:
        engine: what is written.
        out: the folder, which must not exist unless it was written before and ``overwrite`` is set.
        overwrite: replace a folder that was written before.
    """
    refuse(out, overwrite)
    files = contents(engine)
    files[MANIFEST] = _manifest(engine, files)
    with writing(out):
        replace(out, files)
    return files


def _manifest(engine: Engine, files: dict[str, bytes]) -> bytes:
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": engine.kind,
        "ringmill": __version__,
        "kernel": engine.kernel,
        "note": "Seeds and keys of test/ are drawn from a fixed number: they protect nothing.",
        "files": {place: hashlib.sha256(data).hexdigest() for place, data in sorted(files.items())},
    }
    return (json.dumps(content, indent=1) + "\n").encode()
