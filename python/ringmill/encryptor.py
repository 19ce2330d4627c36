"""The encryption engine of a client, simulated: ``machine="encryptor"`` of ``encrypt`` and ``decrypt``.

Its RTL (rtl/encryptor) runs under Verilator, on the caller's message and keys, and draws its samples itself.
The ciphertexts are those of software for the same randomness. An engine is built once for a degree, limbs and
their widths, and kept in the user's cache. A build takes minutes, an encryption seconds.

    engine = Encryptor()
    arguments = compiled.encrypt(keys.public, x=x, machine=engine)
    engine.cycles                                  # of each ciphertext
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ringmill import _native
from ringmill._native import Ciphertext, Params, PublicKey, SecretKey, encryptor_files
from ringmill.atomic import write_text
from ringmill.client.machine import CPU, ENGINE
from ringmill.encryptor_schedule import DECRYPT, DIVIDED, PUBLIC, SEAL, SYMMETRIC, Engine
from ringmill.errors import MachineError, fail
from ringmill.interop.source import Source, source
from ringmill.trace.spec import Slots
from ringmill.verilated import build_command

#: log2 of the degrees that the engine is built for, and the least bits of a word; primes have at most 60.
DEGREES, LEAST_WORD = (10, 15), 36
#: `rm_modmul_pkg`'s Montgomery multiplier, which serves every odd prime.
_MONTGOMERY = 3
#: Cycles of its products (`rm_modmul_pkg`).
_MONTGOMERY_LATENCY = 11
#: The module, the folder of its shell, and the library that both make.
TOP, SHELL, LIBRARY = "rm_encryptor", "rtl/encryptor/sim", "librm_encryptor.so"


class Encryptor:
    """The simulated encryption engine, a machine of ``encrypt`` and ``decrypt`` that notes its cycles."""

    def __init__(self) -> None:
        #: Cycles of each job so far, from its handshake to the last word of the result.
        self.cycles: list[int] = []
        self._built: dict[tuple[tuple[str, int], ...], _native.Encryptor] = {}
        # The build and the mode of each job.
        self._jobs: list[tuple[dict[str, int], int]] = []

    def __repr__(self) -> str:
        return f"Encryptor({len(self.cycles)} jobs, {sum(self.cycles)} cycles)"

    def encrypt(self, key: PublicKey | SecretKey, values: Slots, *, level: int, **packing: Any) -> Ciphertext:
        """As ``key.encrypt``.

        Raises
        ------
            MachineError: parameters or keys that the engine does not do, or no simulator.
        """
        engine, built = self._engine(key.params, level)
        cipher, cycles = engine.encrypt(key, values, level=level, **packing)
        public = DIVIDED if isinstance(key, PublicKey) and key.divides else PUBLIC
        self._note(built, SYMMETRIC if isinstance(key, SecretKey) else public, cycles)
        return cipher

    def encrypt_seal(
        self,
        key: PublicKey,
        file: Source,
        seed: bytes,
        *,
        level: int,
        scale: str | None = None,
        magnitude: float | None = None,
    ) -> Ciphertext:
        """As ``ringmill.interop.seal.encrypt_plaintext`` with the generator "blake2xb".

        Raises
        ------
            MachineError: parameters or keys that the engine does not do, or no simulator.
        """
        engine, built = self._engine(key.params, level, seal=True)
        cipher, cycles = engine.encrypt_seal(key, source(file), seed, scale, magnitude)
        self._note(built, SEAL, cycles)
        return cipher

    def decrypt(self, key: SecretKey, cipher: Ciphertext) -> Slots:
        """As ``key.decrypt``.

        Raises
        ------
            MachineError: parameters, keys or ciphertexts that the engine does not do, or no simulator.
        """
        engine, built = self._engine(key.params, cipher.level)
        slots, cycles = engine.decrypt(key, cipher)
        self._note(built, DECRYPT, cycles)
        return slots

    def report(self, path: str | Path) -> int:
        """Write a page that shows which unit works when for the jobs so far; returns its bytes.

        It follows the schedule that the RTL is held to, with jobs one behind the other. Of jobs on several
        builds it shows those of the last one. Needs Matplotlib and Jinja2, which are the extra ``report``.

        Raises
        ------
            MachineError: no job so far.
            CommandError: what the page is made with is not installed.
        """
        if not self._jobs:
            fail(
                MachineError,
                "EncryptorIdle",
                "The encryption engine has run no job, so there is nothing to report. Encrypt or decrypt "
                "with it first.",
            )
        from ringmill.explorer.result import can_report

        can_report()
        from ringmill.report import render_simulation
        from ringmill.report.engine import reported

        last = self._jobs[-1][0]
        jobs = zip(self._jobs, self.cycles, strict=True)
        modes, cycles = zip(*((mode, count) for (built, mode), count in jobs if built == last), strict=True)
        facts, spans = reported(modelled(last), modes, cycles)
        text = render_simulation(facts, spans, _native.__version__)
        write_text(Path(path), text)
        return len(text.encode())

    def _note(self, built: dict[str, int], mode: int, cycles: int) -> None:
        self._jobs.append((built, mode))
        self.cycles.append(cycles)

    def _engine(
        self, params: Params, level: int, *, seal: bool = False
    ) -> tuple[_native.Encryptor, dict[str, int]]:
        built = parameters(params, level, seal=seal)
        shape = tuple(sorted(built.items()))
        if shape not in self._built:
            self._built[shape] = _native.Encryptor(str(library(built)))
        return self._built[shape], built


def modelled(built: Mapping[str, int]) -> Engine:
    """The model of an engine's cycles, of what it is built with."""
    return Engine(
        limbs=built["Limbs"],
        log_n=built["LogNMax"],
        multiplier_latency=_MONTGOMERY_LATENCY,
        log_p=built["LogP"],
        doubles=built["Doubles"],
        extra=bool(built["Extra"]),
    )


def encryptor_of(machine: object) -> Encryptor:
    """The engine that ``machine=`` of ``encrypt`` and ``decrypt`` names.

    Raises
    ------
        MachineError: any other machine.
    """
    if isinstance(machine, Encryptor):
        return machine
    if str(machine) == ENGINE:
        return Encryptor()
    fail(
        MachineError,
        "NotAClientMachine",
        f'Encryption and decryption run on machine "{CPU}" or "{ENGINE}", or on an Encryptor(), but the '
        f"machine is {machine!r}. Leave machine= out for software.",
        machine=repr(machine),
    )


def parameters(params: Params, level: int, *, seal: bool = False) -> dict[str, int]:
    """What an engine for a level is built with, by the names of its top module.

    It has the first special prime, by which encryptions under the public key are divided. One for SEAL has
    the prime above the level in its place.
    """
    least, most = DEGREES
    if not least <= params.log_n <= most:
        fail(
            MachineError,
            "EncryptorDegree",
            f"The encryption engine is built for N from 2^{least} to 2^{most}, and these parameters have "
            f"N = 2^{params.log_n}. Encrypt in software: leave machine= out.",
            log_n=params.log_n,
        )
    limbs = params.limbs(level)
    q = [prime.bit_length() for prime in params.q[:limbs]]
    above = (params.q + params.p)[limbs] if seal else params.p[0]
    bits = max(*q, above.bit_length())
    rest = max(q[1:], default=bits)
    return {
        "Limbs": len(q),
        "W": max(LEAST_WORD, bits),
        "WRest": max(LEAST_WORD, rest),
        "Kind": _MONTGOMERY,
        "KindRest": _MONTGOMERY,
        "LogP": 1,
        "LogNMax": params.log_n,
        "LogNMin": params.log_n,
        "Doubles": 10,
        "Seeded": int(not seal),
        "Extra": 1,
        "Seal": int(seal),
    }


def library(built: Mapping[str, int]) -> Path:
    """The library of an engine, built if it is missing.

    It stands in the user's cache (`XDG_CACHE_HOME`) under a name that says what it was made of.
    """
    from ringmill.project.simulator import hold_verilator, keep, kept

    files = dict(encryptor_files())
    command = build_command(TOP, built, [*files], shell=SHELL, library=LIBRARY)
    digest = hashlib.blake2b("\0".join(command).encode(), digest_size=12)
    for place, text in files.items():
        digest.update(f"{place}\0{text}\0".encode())
    target = kept("encryptors") / f"{digest.hexdigest()}.so"
    if target.is_file():
        return target
    hold_verilator(ENGINE, "Software encrypts without it: leave machine= out.")

    def build(work: Path) -> None:
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = (done.stderr + done.stdout).splitlines()
            said = next((line for line in lines if "rror" in line), "it said nothing")
            fail(MachineError, "Simulator", f"The simulated encryption engine does not build: {said}.")

    return keep(target, files, build, f"build/{LIBRARY}", "simulated encryption engine")
