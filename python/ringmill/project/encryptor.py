"""The encryption engine of a client as a folder: `ringmill build KERNEL --machine encryptor`."""

from __future__ import annotations

from pathlib import Path

from ringmill._native import Params, encryptor_files
from ringmill.encryptor import LIBRARY, SHELL, TOP, parameters
from ringmill.project import engine
from ringmill.project.engine import Engine


def primes(params: Params, level: int) -> list[int]:
    """The primes of the limbs at a level, and the one that divides encryptions under the public key."""
    return [*params.q[: params.limbs(level)], params.p[0]]


def engine_of(name: str, params: Params, level: int) -> Engine:
    """The engine for a kernel's parameters.

    Raises
    ------
        MachineError: parameters that the engine is not built for.
    """
    built = parameters(params, level)
    return Engine(
        kind="encryptor",
        kernel=name,
        about=f"The encryption engine for the parameters of the kernel {name}",
        top=TOP,
        built=built,
        defines={},
        sources=dict(encryptor_files()),
        shell=SHELL,
        library=LIBRARY,
        copied={"test/selftest.py": "encryptor/selftest.py"},
        facts={
            "parameters": built,
            "level": level,
            "log_n": params.log_n,
            "primes": primes(params, level),
            "fingerprint": params.fingerprint,
        },
        readme="encryptor/README.md",
        said={
            "params": f"`{params!r}`",
            "level": level,
            "n": 1 << params.log_n,
            "rows": 1 << (params.log_n - built["LogP"]),
            "limbs": built["Limbs"],
            "shape": ", ".join(f"{key} = {value}" for key, value in built.items()),
        },
        others={},
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
    return engine.write(engine_of(name, params, level), out, overwrite=overwrite)
