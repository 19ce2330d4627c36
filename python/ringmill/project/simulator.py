"""The core's RTL under Verilator: whether it can be built here; libraries of cores, built once and kept."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringmill._native import MachineSpec, __version__, core_options, core_sizes
from ringmill.atomic import make_folder, writing
from ringmill.errors import MachineError, fail
from ringmill.log import done
from ringmill.progress import share
from ringmill.project import hardware
from ringmill.project.core import Core
from ringmill.project.make import last_words, make
from ringmill.switching import LIBRARIES

if TYPE_CHECKING:
    from ringmill.compiled.managed import Managed

#: Entries of the largest modulus table.
_MODULI = 32


def verilator() -> bool:
    """Whether the environment has a Verilator that builds the core.

    5.048 takes the option that keeps functions whole, without which the package for Python miscompiles
    some; 5.006, which Debian 12 ships, does not. The Makefile of a built folder asks the same way.
    """
    try:
        asked = subprocess.run(
            ["verilator", "-fno-inline-funcs", "--version"], capture_output=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


def _core_of(compiled: Managed, machine: MachineSpec) -> Core:
    """The core that a machine is, and that kernels alike share.

    What the machine leaves out is for any program over a kernel's degree and width of primes.
    """
    params = compiled.params
    bits = max(q.bit_length() for q in [*params.q, *params.p])
    # KLSS has primes of its own.
    words, own = core_sizes()["words"], compiled.switching in ("hybrid", *LIBRARIES)
    word = next(w for w in words if w >= bits) if own else words[-1]
    needed: dict[str, Any] = {"word_bits": word, "log_n_max": max(params.log_n, 10), "moduli": _MODULI}
    fields = {option: field for field, option in core_options()}
    asked = {fields[option]: value for option, value in machine.options.items() if option in fields}
    return Core(**{**needed, **asked})


def kept(what: str) -> Path:
    """Where simulators of a kind are kept."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "ringmill" / what


#: Multipliers for any prime below 2^word, so that a core of longer words serves as well.
_ANY_PRIME = ("montgomery", "barrett")


def _larger(core: Core, machine: MachineSpec) -> Iterator[Core]:
    """The cores that run what a core runs, itself first, then by size: what the machine names stays."""
    given, sizes = machine.options, core_sizes()
    longer = "word" not in given and core.multiplier in _ANY_PRIME
    words = [w for w in sizes["words"] if w >= core.word_bits] if longer else [core.word_bits]
    most = core.log_n_max if "log_n" in given else max(sizes["log_n"])
    for log_n_max, word_bits in itertools.product(range(core.log_n_max, most + 1), words):
        yield replace(core, log_n_max=log_n_max, word_bits=word_bits)


def _files(core: Core) -> tuple[dict[str, str], Path]:
    """What a core is made of, and where its library is kept."""
    files = hardware.sources(core)
    files |= hardware.lists("core", __version__, core, files)
    files["Makefile"] = resources.files("ringmill.project").joinpath("files/Makefile").read_text("utf-8")
    digest = hashlib.blake2b(digest_size=12)
    for place, text in sorted(files.items()):
        digest.update(f"{place}\0{text}\0".encode())
    return files, kept("cores") / f"{digest.hexdigest()}.so"


def library(compiled: Managed, machine: MachineSpec) -> Path:
    """The library of the simulated core of a machine for a kernel: that of a larger core, or a new one.

    It stands in the user's cache (`XDG_CACHE_HOME`) under a name that says what it was made of. A core whose
    degree or word is larger is taken where the machine leaves these out; the smallest, if there are several.
    """
    core = _core_of(compiled, machine)
    for larger in _larger(core, machine):
        _, target = _files(larger)
        if target.is_file():
            return target
    core.image(compiled.plan)  # refuses what no core can be built for, or cannot run, in its own words
    hold_verilator("verilator", '"compact" emulates the same instructions without it.')

    def build(work: Path) -> None:
        made = make(work, "build/librm_core.so")
        if made.returncode != 0:
            fail(MachineError, "Simulator", f"The simulated core does not build: {last_words(made)}.")

    files, target = _files(core)
    return keep(target, files, build, "build/librm_core.so", f"simulated core for N <= 2^{core.log_n_max}")


def hold_verilator(machine: str, instead: str) -> None:
    """Refuse a machine that is simulated where there is no simulator; ``instead`` says what does without."""
    if not verilator():
        fail(
            MachineError,
            "NoSimulator",
            f'Machine "{machine}" needs Verilator 5.048 or newer, make and a C++ compiler, and no such '
            f"Verilator is on the path; scripts/eda.sh of Ringmill installs it. {instead}",
        )


def keep(target: Path, files: Mapping[str, str], build: Callable[[Path], None], made: str, what: str) -> Path:
    """Build in a folder of its own, which has the files, and put what is made there where it is kept.

    A terminal shows that something is built, and the log says how long it took.
    """
    make_folder(target.parent)
    with writing(target):
        work = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        for place, text in files.items():
            (work / place).parent.mkdir(parents=True, exist_ok=True)
            (work / place).write_text(text, encoding="utf-8")
        with share(f"build the {what}: a minute or two"), done("build", what):
            build(work)
        os.replace(work / made, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target
