"""Cores of every kind: primes of each multiplier's class, a kernel over them, a built folder's self-test."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import ringmill as rm
from ringmill.compiled import Compiled
from ringmill.project import Core, write

LOG_N = 10


def _is_prime(n: int) -> bool:
    """Miller, Rabin; these bases decide every number below 2^64."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if any(n % p == 0 for p in bases):
        return n in bases
    twos = ((n - 1) & -(n - 1)).bit_length() - 1
    for base in bases:
        x = pow(base, (n - 1) >> twos, n)
        powers = [x := x if i == 0 else x * x % n for i in range(twos)]
        if powers[0] != 1 and n - 1 not in powers:
            return False
    return True


def in_class(q: int, multiplier: str, word: int) -> bool:
    """Whether a multiplier serves a prime, as ``rtl/modmul/README.md`` has it."""
    half = 1 << (word // 2)
    beyond, low = divmod(q - (1 << (word - 1)), half)
    if multiplier == "prf-fiko":
        return beyond == 0 < low
    if multiplier == "sparse-word-montgomery":
        return low == 1 and -(1 << 11) <= beyond < 1 << 11
    if multiplier == "ntt":
        near = (q - 1 - (1 << b) for b in range(26, word + 1))
        return q < 1 << word and any(d % (1 << 13) == 0 and -(1 << 12) <= d >> 13 < 1 << 12 for d in near)
    return q < 1 << word and (multiplier != "word-montgomery" or low == 1)


def primes(multiplier: str, word: int, count: int) -> list[int]:
    """Primes of ``word`` bits, 1 modulo 2N, of a multiplier's class."""
    rng = random.Random(f"{multiplier} {word}")
    steps = {"prf-fiko": 2 << LOG_N, "montgomery": 2 << LOG_N, "barrett": 2 << LOG_N, "ntt": 1 << 13}
    step = steps.get(multiplier, 1 << (word // 2))
    spans = {
        "prf-fiko": 1 << (word // 2),
        "sparse-word-montgomery": 1 << (11 + word // 2),
        "ntt": 1 << (12 + 13),
    }
    top = 1 << (word - 1)
    found: list[int] = []
    while len(found) < count:
        q = top + rng.randrange(0, spans.get(multiplier, top // 4), step) + 1
        if q not in found and _is_prime(q):
            assert in_class(q, multiplier, word)
            found.append(q)
    return found


@rm.kernel
def turned(x: Any, y: Any) -> Any:
    """A product, a rotation, a constant and a rescale: both kinds of key switch."""
    return x.rotate(1) * y + 0.25 - x


@cache
def kernel(multiplier: str, word: int) -> Compiled:
    """The kernel at toy parameters over primes of a multiplier's class."""
    *q, p = sorted(primes(multiplier, word, 4))  # P must be at least a digit
    # Primes of most classes lie next to 2^(word − 1), and q_0 must hold the sum.
    params = rm.Params.from_primes(LOG_N, q, [p], 3, scale_bits=word - 2, insecure=True)
    return turned.compile(rm.vector(8), rm.vector(8), params=params, magnitude=0.25)


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Make something in a built folder with nothing of this tree in reach but the tools."""
    names = ("PATH", "HOME", "EDA_HOME", "CARGO_HOME", "RUSTUP_HOME")
    keep = {name: os.environ[name] for name in names if name in os.environ}
    command = ["make", "-s", "OPT=-O1", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=keep)


def self_test(core: Core, folder: Path, library: Path | None = None) -> Path:
    """Build a folder for a core and run its self-test; return the simulator, for others of the same hardware.

    Its expected limbs are those of the reference machine, its cycles those of the cycle model.
    """
    compiled = kernel(core.multiplier, core.word_bits)
    write(compiled, core, folder)
    built = folder / "build" / "librm_core.so"
    if library is not None:
        built.parent.mkdir()
        shutil.copyfile(library, built)
    done = make(folder, "selftest")
    assert done.returncode == 0, f"{core}\n{done.stdout}{done.stderr}"
    image = core.image(compiled.plan)
    both = f"{image.first_cycles} and {image.cycles}"
    said = [line for line in done.stdout.splitlines() if line.startswith("PASS")]
    assert len(said) == 1, done.stdout
    assert said[0].endswith(f", {both} cycles, {both} by the model"), f"{core}\n{said[0]}"
    return built
