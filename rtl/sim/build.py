"""The simulated core as a shared library, built once for each set of parameters and sources.

python -m rtl.sim.build --w 54 --nbf 4 --logn-max 13 --kind 1 --d 512      prints the path of librm_core.so
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, field, make_dataclass
from pathlib import Path

from rtl.tools.block import ROOT, RTL, declared, load, sources

BUILD = ROOT / "build" / "sim"
HERE = Path(__file__).resolve().parent
SOURCES = tuple(HERE / "src" / name for name in ("rm_core.cpp", "axi_memory.cpp"))
HEADERS = (
    *(
        HERE / "src" / name
        for name in ("rm_core.h", "rm_core_parameters.h", "axi_memory.h", "axi_port.h", "observer.h")
    ),
    RTL / "registers" / "generated" / "core_registers.h",
)

# --x-initial fast leaves registers without reset at 0; the blocks' own tests run with random values.
_VERILATOR = ("--cc", "--exe", "--build", "-j", "2", "-O3", "--x-assign", "fast", "--x-initial", "fast")
_QUIET = ("-Wno-fatal", "-Wno-lint", "-Wno-style")
# Hidden and not unique: several cores live in one process.
_CFLAGS = ("-O3", "-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-Wall")


class BuildError(Exception):
    """The library cannot be built; says what the tools said."""


#: What a core is built for, in the names of the top module, with the defaults that are declared.
Parameters = make_dataclass(
    "Parameters",
    [(p["rtl"], int, field(default=p["number"])) for p in declared() if p.get("simulated")],
    frozen=True,
)


@dataclass(frozen=True)
class Design:
    """Which top module, of which block, with which further files: the core, or a stand-in in tests."""

    top: str = "rm_compact_core"
    block: str = "core"
    files: tuple[Path, ...] = ()


def command(parameters: Parameters, design: Design, traces: bool, observes: bool, out: Path) -> list[str]:
    """Return the one command that makes the library."""
    files, waivers = sources(load(design.block))
    if observes:
        files = [*files, HERE / "src" / "rm_core_trace.sv"]
    values = asdict(parameters)
    defines = [f"-DP_{name}={value}" for name, value in values.items()]
    defines.append(f"-DRM_OBSERVE={int(observes)}")
    return [
        "verilator",
        *_VERILATOR,
        *_QUIET,
        *(["--trace-fst"] if traces else []),
        *(f"-G{name}={value}" for name, value in values.items()),
        "-CFLAGS",
        shlex.join([*_CFLAGS, *defines, f"-I{HERE / 'src'}"]),
        "-LDFLAGS",
        "-shared",
        "--Mdir",
        str(out),
        "--prefix",
        "Vtop",
        "--top-module",
        design.top,
        "-o",
        "librm_core.so",
        *map(str, [*waivers, *files, *design.files, *SOURCES]),
    ]


def digest(words: list[str]) -> str:
    """Hash of the command, of every file in it, and of the simulator."""
    state = hashlib.sha256("\0".join(words).replace(str(ROOT), "").encode())
    for path in sorted({*(Path(w) for w in words if w.startswith("/") and Path(w).is_file()), *HEADERS}):
        state.update(path.read_bytes())
    version = subprocess.run(["verilator", "--version"], capture_output=True, text=True, check=False)
    state.update(version.stdout.encode())
    return state.hexdigest()


def build(
    parameters: Parameters,
    design: Design | None = None,
    traces: bool = False,
    observes: bool = False,
    into: Path = BUILD,
) -> Path:
    """Return the library for these parameters and sources; build it if it does not exist."""
    design = design or Design()
    shape = "_".join(f"{name.lower()}{value}" for name, value in asdict(parameters).items())
    name = f"{design.top}_{shape}{'_trace' if traces else ''}{'_observe' if observes else ''}"
    key = digest(command(parameters, design, traces, observes, Path("OUT")))[:16]
    library = into / f"{name}_{key}" / "librm_core.so"
    into.mkdir(parents=True, exist_ok=True)
    # Two processes that want one library build it once.
    with (into / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if library.is_file():
            return library
        work = into / f"{name}_{key}.work"
        shutil.rmtree(work, ignore_errors=True)
        words = command(parameters, design, traces, observes, work)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = (done.stderr + done.stdout).splitlines()
            raise BuildError("\n".join([line for line in lines if "rror" in line][:8] or lines[-8:]))
        library.parent.mkdir(parents=True, exist_ok=True)
        os.replace(work / "librm_core.so", library)
        shutil.rmtree(work)
        for old in into.glob(f"{name}_" + "[0-9a-f]" * 16):
            if old != library.parent:
                shutil.rmtree(old, ignore_errors=True)
    return library


def main() -> int:
    """Build one library and print where it is."""
    parser = argparse.ArgumentParser(prog="python -m rtl.sim.build", description=__doc__)
    for name, value in asdict(Parameters()).items():
        parser.add_argument(f"--{name.lower().replace('_', '-')}", dest=name, type=int, default=value)
    parser.add_argument("--trace", action="store_true", help="with waves: slower")
    parser.add_argument("--observe", action="store_true", help="with the result of every instruction: slower")
    options = vars(parser.parse_args())
    traces, observes = options.pop("trace"), options.pop("observe")
    if "EDA_HOME" not in os.environ:
        parser.error("the hardware tools are not in the environment: scripts/eda.sh; . build/eda/env.sh")
    try:
        print(build(Parameters(**options), traces=traces, observes=observes))
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
