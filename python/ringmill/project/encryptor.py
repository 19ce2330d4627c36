"""The encryption engine of a client as a folder: `ringmill build KERNEL --machine encryptor`.

The folder stands alone: the RTL, the shell of its simulator, and a self-test with an oracle of its own, which
needs Python alone.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import string
from pathlib import Path
from typing import Any

from ringmill._native import Params, __version__, encryptor_files, hardware_files
from ringmill.atomic import writing
from ringmill.encryptor import build_command, lint_command, parameters
from ringmill.project.fusesoc import core_file
from ringmill.project.write import FORMAT, MANIFEST, VERSION, identifier, licensed, packaged, refuse, replace

#: What the manifest calls such a folder; one of a core names no kind.
KIND = "encryptor"
_ORIGIN = "Written by `ringmill build`."
_COPIED = {
    "Makefile": "encryptor/Makefile",
    "test/selftest.py": "encryptor/selftest.py",
    "test/check.py": "check.py",
}


def primes(params: Params, level: int) -> list[int]:
    """The primes of the limbs at a level, and the one that divides encryptions under the public key."""
    return [*params.q[: params.limbs(level)], params.p[0]]


def contents(name: str, params: Params, level: int) -> dict[str, bytes]:
    """Every file of the folder but the manifest; equal arguments give equal bytes.

    Raises
    ------
        MachineError: parameters that the engine is not built for.
    """
    built = parameters(params, level)
    sources = dict(encryptor_files())
    verilog = [place for place in sources if place.endswith(".sv")]
    waivers = [place for place in sources if place.endswith(".vlt")]
    called = identifier(name)
    facts = {
        "parameters": built,
        "level": level,
        "log_n": params.log_n,
        "primes": primes(params, level),
        "fingerprint": params.fingerprint,
    }
    lists = {
        "LICENSE": dict(hardware_files())["LICENSE"],
        "encryptor.f": f"// {_ORIGIN}\n" + "".join(f"{place}\n" for place in verilog),
        "encryptor.mk": (
            f"# {_ORIGIN}\nSOURCES := {' '.join(sources)}\n"
            f"BUILD := {shlex.join(build_command(built, [*sources]))}\n"
            f"LINT := {shlex.join(lint_command(built, [*waivers, *verilog]))}\n"
        ),
        f"{called}.core": core_file(
            origin=_ORIGIN,
            name=f"ringmill:encryptor:{called}:{__version__}",
            about=f"The encryption engine for the parameters of the kernel {name}",
            top="rm_encryptor",
            filesets={"rtl": verilog, "lint": waivers},
            parameters={key: (value, "") for key, value in built.items()},
            verilator="-Wall",
            tools={},
        ),
        "encryptor.json": json.dumps(facts, indent=1) + "\n",
        "README.md": _readme(name, params, level, built, called),
    }
    copied = {place: packaged(source) for place, source in _COPIED.items()}
    return {place: text.encode() for place, text in {**licensed({**sources, **copied}), **lists}.items()}


def _readme(name: str, params: Params, level: int, built: dict[str, int], called: str) -> str:
    return string.Template(packaged("encryptor/README.md")).substitute(
        name=name,
        version=__version__,
        params=f"`{params!r}`",
        level=level,
        n=1 << params.log_n,
        rows=1 << (params.log_n - built["LogP"]),
        limbs=built["Limbs"],
        shape=", ".join(f"{key} = {value}" for key, value in built.items()),
        file=called,
    )


def write(name: str, params: Params, level: int, out: Path, *, overwrite: bool = False) -> dict[str, bytes]:
    """Write the folder, whole or not at all; returns what it holds.

    Args:
        name: of the kernel, whose client it is for.
        params: the parameters.
        level: the level of the kernel's arguments.
        out: the folder, which must not exist unless it was written before and ``overwrite`` is set.
        overwrite: replace a folder that was written before.
    """
    refuse(out, overwrite)
    files = contents(name, params, level)
    files[MANIFEST] = _manifest(name, files)
    with writing(out):
        replace(out, files)
    return files


def _manifest(name: str, files: dict[str, bytes]) -> bytes:
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "ringmill": __version__,
        "kernel": name,
        "note": "Seeds and keys of test/ are drawn from a fixed number: they protect nothing.",
        "files": {place: hashlib.sha256(data).hexdigest() for place, data in sorted(files.items())},
    }
    return (json.dumps(content, indent=1) + "\n").encode()
