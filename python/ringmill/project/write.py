"""The folder: everything is made in memory, written beside the target, and moved into place at once."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import string
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from ringmill._native import CoreImage, __version__
from ringmill.atomic import writing
from ringmill.compiled import Compiled
from ringmill.errors import CommandError, MachineError, fail
from ringmill.project import board, hardware, layout, vectors
from ringmill.project.core import Core

FORMAT = "ringmill-project"
VERSION = 1
MANIFEST = "manifest.json"

#: What is copied as it is.
_COPIED = {
    "Makefile": "Makefile",
    "driver/ringmill_core.h": "ringmill_core.h",
    "driver/ringmill_core.c": "ringmill_core.c",
    "driver/ringmill_core.rs": "ringmill_core.rs",
    "driver/ringmill_host.h": "ringmill_host.h",
    "driver/ringmill_host.c": "ringmill_host.c",
    "driver/platform_sim.c": "platform_sim.c",
    "driver/platform_board.c": "platform_board.c",
    "driver/platform_bare.c": "platform_bare.c",
    "driver/platform_uartbone.c": "platform_uartbone.c",
    "sim/soc.cpp": "soc.cpp",
    "board/route.py": "board/route.py",
    "host/host.py": "host.py",
    "host/check.py": "check.py",
    "test/selftest.c": "selftest.c",
    "test/selftest.rs": "selftest.rs",
    "test/cocotb_axi.py": "cocotb_axi.py",
    "test/cocotb_run.py": "cocotb_run.py",
}


#: How a comment begins and ends, by the ending of a file's name.
_COMMENTS = {
    **dict.fromkeys((".sv", ".v", ".rs", ".cpp", ".vlt"), ("// ", "")),
    **dict.fromkeys((".c", ".h"), ("/* ", " */")),
    **dict.fromkeys((".py", ".tcl", "Makefile"), ("# ", "")),
}
_LICENCE = "SPDX-License-Identifier: Apache-2.0"


def licensed(files: dict[str, str]) -> dict[str, str]:
    """Sources of this project with the line that names their licence; a program is its author's."""

    def line(place: str) -> str:
        begin, end = next((c for ending, c in _COMMENTS.items() if place.endswith(ending)), ("", ""))
        return f"{begin}{_LICENCE}{end}\n" if begin else ""

    return {place: line(place) + text for place, text in files.items()}


def packaged(name: str) -> str:
    """A file that is copied as it is."""
    return resources.files("ringmill.project").joinpath("files", name).read_text(encoding="utf-8")


def identifier(name: str) -> str:
    """A kernel's name as tools take it."""
    return re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_") or "kernel"


def contents(compiled: Compiled, core: Core, design: dict[str, Any] | None = None) -> dict[str, bytes]:
    """Every file of the folder but the manifest; equal arguments give equal bytes."""
    image = core.image(compiled.plan)
    name = identifier(compiled.name)
    sources = hardware.sources(core)
    texts = {
        **licensed(
            {
                **sources,
                **{place: packaged(source) for place, source in _COPIED.items()},
                **board.files(compiled.name, core, sources, image.cycles),
            }
        ),
        **hardware.lists(name, __version__, core, sources),
        **hardware.constraints(core),
        "driver/layout.h": layout.c_header(core, image),
        "driver/layout.c": layout.c_source(core, image),
        "driver/layout.rs": layout.rust(core, image),
        "program/layout.json": layout.to_json(core, image),
        "program/instructions.txt": image.listing,
        "program/limb.rml": image.limb_program,
        "design.json": json.dumps(design or {"core": core.to_json()}, indent=1) + "\n",
        "README.md": _readme(compiled, core, image, name),
    }
    made = vectors.make(compiled, image)
    if image.emulate(made.inputs) != made.expected:
        fail(
            MachineError,
            "Emulated",
            f"On an emulated core like this the program of {compiled.name!r} does not give the bits of the "
            "reference machine, and so no folder is written. Please report the kernel and the core.",
            kernel=compiled.name,
        )
    binary = {
        "program/instructions.bin": image.instructions,
        "program/kernel": compiled.to_bytes(),
        "test/inputs.bin": made.inputs,
        "test/expected.bin": made.expected,
        "test/values.json": made.values.encode(),
    }
    return {**{place: text.encode() for place, text in texts.items()}, **binary}


def _readme(compiled: Compiled, core: Core, image: CoreImage, name: str) -> str:
    shape = ", ".join(f"{key} = {value}" for key, value in core.parameters().items())
    return string.Template(packaged("README.md")).substitute(
        name=compiled.name,
        file=name,
        version=__version__,
        params=f"`{compiled.params!r}`",
        shape=f"`rm_compact_core`, {shape} ({core.multiplier})",
        clock=f"{core.clock_mhz:g}",
        cycles=image.cycles,
        milliseconds=f"{image.cycles / core.clock_mhz / 1000:.3f}",
        memory=f"{image.memory} bytes",
        n=1 << image.log_n,
        table=layout.summary(image),
        factor=image.factor_bits,
    )


def _manifest(compiled: Compiled, core: Core, files: dict[str, bytes]) -> bytes:
    content = {
        "format": FORMAT,
        "version": VERSION,
        "ringmill": __version__,
        "kernel": compiled.name,
        "program": compiled.digest,
        "core": core.to_json(),
        "test_seed": vectors.SEED.hex(),
        "note": "Keys and encryptions in test/ follow from test_seed: they protect nothing.",
        "files": {place: hashlib.sha256(data).hexdigest() for place, data in sorted(files.items())},
    }
    return (json.dumps(content, indent=1) + "\n").encode()


def refuse(out: Path, overwrite: bool) -> None:
    """Refuse a place without a folder around it, of another's files, or written before."""
    if not out.parent.is_dir():
        fail(
            CommandError,
            "NoFolder",
            f"{out} cannot be written: the folder {out.parent} does not exist. Make it first.",
            path=str(out),
        )
    if not out.exists():
        return
    ours = (out / MANIFEST).is_file() and f'"{FORMAT}"' in (out / MANIFEST).read_text(errors="replace")
    if not ours:
        fail(
            CommandError,
            "Exists",
            f"{out} exists and is no folder that ringmill build wrote. Choose another place.",
            path=str(out),
        )
    if not overwrite:
        fail(
            CommandError,
            "Exists",
            f"{out} was written before. Choose another folder, or give --overwrite.",
            path=str(out),
        )


def write(
    compiled: Compiled,
    core: Core,
    out: Path,
    *,
    design: dict[str, Any] | None = None,
    overwrite: bool = False,
) -> dict[str, bytes]:
    """Write the folder, whole or not at all; returns what it holds.

    Args:
        compiled: the kernel.
        core: the hardware.
        out: the folder, which must not exist unless it was written before and ``overwrite`` is set.
        design: where both came from, kept as ``design.json``.
        overwrite: replace a folder that was written before.
    """
    refuse(out, overwrite)
    files = contents(compiled, core, design)
    files[MANIFEST] = _manifest(compiled, core, files)
    with writing(out):
        replace(out, files)
    return files


def replace(out: Path, files: dict[str, bytes]) -> None:
    """Put a folder of these files in the place of what is there."""
    work = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}."))
    try:
        for place, data in files.items():
            path = work / "new" / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if out.exists():
            os.replace(out, work / "old")
        os.replace(work / "new", out)
    except BaseException:
        if not out.exists() and (work / "old").exists():
            os.replace(work / "old", out)
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
