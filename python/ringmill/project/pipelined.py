"""The key-switch engine as a folder: `ringmill build KERNEL --machine pipelined`.

It is built for a kernel's parameters, at every level of its chain; options of the machine say the rest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ringmill._native import MachineSpec, Params, pipelined_files, pipelined_hardware, pool_timetable
from ringmill.project import engine, ports
from ringmill.project.engine import Engine

#: The machine whose engine is here.
MACHINE = "pipelined"
_POOL = "rm_pool_key_switch"
_SHELL = "rtl/pipelined/sim"
# A row of a timetable: kind, unit, modulus, part, age.
Row = tuple[int, int, int, int, int]


def engine_of(name: str, params: Params, machine: MachineSpec) -> Engine:
    """The engine for a kernel's parameters; what the machine leaves out is what these need.

    Raises
    ------
        MachineError: options that exclude each other, parameters that the engine does not serve.
    """
    text, top, generics, multiplier, factor_bits, aux = pipelined_hardware(machine, params, name)
    built, limbs = dict(generics), len(params.q)
    alpha = -(-limbs // params.dnum)
    tables = _timetables(built, limbs, len(params.p), alpha, multiplier) if top == _POOL else {}
    if tables:
        built["Depth"] = max(64, 1 << (max(map(len, tables.values())) - 1).bit_length())
    sources = dict(pipelined_files())
    seeded = machine.options.get("keys") == "seeded"
    facts: dict[str, Any] = {
        "machine": text,
        "top": top,
        "parameters": built,
        "log_n": params.log_n,
        "alpha": alpha,
        "factor_bits": factor_bits,
        "primes": {"limbs": params.q, "special": params.p},
        "aux": {"limbs": aux[:limbs], "special": aux[limbs:]},
        "timetables": {str(level): rows for level, rows in tables.items()},
        "fingerprint": params.fingerprint,
    }
    return Engine(
        kind="engine",
        kernel=name,
        about=f"The key-switch engine for the parameters of the kernel {name}",
        top=top,
        built=built,
        defines={"FactorBits": factor_bits},
        sources=sources,
        shell=_SHELL,
        library="librm_key_switch.so",
        copied={"test/selftest.py": "pipelined/switches.py"},
        facts=facts,
        readme="pipelined/README.md",
        said={
            "params": f"`{params!r}`",
            "machine": f"`{text}`",
            "set": f"{limbs} limbs, {len(params.p)} special primes, {params.dnum} digits of {alpha} limbs",
            "shape": f"`{top}`, " + ", ".join(f"{key} = {value}" for key, value in built.items()),
            "n": params.log_n,
            "top": top,
            "keys": _SEEDED if seeded else "Both halves of keys come from memory.",
        },
        others={
            "ports.md": f"# Ports of {top}\n\nThe head of its source is their contract.\n\n"
            + ports.table(sources[f"rtl/pipelined/src/{top}.sv"]),
            **{
                f"timetables/{level}.txt": "".join(" ".join(map(str, row)) + "\n" for row in rows)
                for level, rows in tables.items()
            },
        },
    )


_SEEDED = (
    "The machine's `keys=seeded` is a count of estimates, not hardware: **this engine takes both halves of "
    "its keys from memory**."
)


def _timetables(
    built: dict[str, int], limbs: int, special: int, alpha: int, multiplier: int
) -> dict[int, list[Row]]:
    """The timetable of every level, by its limbs, with moduli as the build numbers them."""
    pool = (built["LogNMax"], multiplier, built["Units"], built["Feeds"], built["Sums"])

    def numbered(row: Row, level: int) -> Row:
        kind, unit, modulus, part, age = row
        return kind, unit, modulus + (built["Limbs"] - level) * (modulus >= level), part, age

    return {
        level: [
            numbered(row, level) if row[0] else row for row in pool_timetable(pool, (level, special, alpha))
        ]
        for level in range(1, limbs + 1)
    }


def write(
    name: str, params: Params, machine: MachineSpec, out: Path, *, overwrite: bool = False
) -> dict[str, bytes]:
    """Write the folder, whole or not at all; returns what it holds.

    Args:
        name: of the kernel.
        params: its parameters.
        machine: a machine ``pipelined``; sizes that it leaves out are those of the parameters.
        out: the folder, which must not exist unless it was written before and ``overwrite`` is set.
        overwrite: replace a folder that was written before.
    """
    return engine.write(engine_of(name, params, machine), out, overwrite=overwrite)
