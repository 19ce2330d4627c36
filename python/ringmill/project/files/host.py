"""The kernel on the core of this folder, from Python: `make host`, then `python host/host.py`.

`Core` is a machine for `Compiled.evaluate`; the package `ringmill` encrypts and decrypts.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parents[1]
_PATIENCE = 1 << 32


class Core:
    """The core with this folder's program, through the C driver."""

    def __init__(self, library: Path, where: str = "") -> None:
        self.layout: dict[str, Any] = json.loads((HERE / "program" / "layout.json").read_text())
        self._library = ctypes.CDLL(str(library))
        for name in ("ringmill_host_open", "ringmill_host_core"):
            getattr(self._library, name).restype = ctypes.c_void_p
        self._library.ringmill_meaning.restype = ctypes.c_char_p
        code = ctypes.c_int()
        instructions = (HERE / "program" / "instructions.bin").read_bytes()
        self._host = ctypes.c_void_p(
            self._library.ringmill_host_open(where.encode() or None, instructions, ctypes.byref(code))
        )
        self._check(code.value)
        self._core = ctypes.c_void_p(self._library.ringmill_host_core(self._host))
        self._there: dict[int, bytes] = {}

    def _check(self, code: int) -> None:
        if code:
            raise RuntimeError(self._library.ringmill_meaning(code).decode())

    def __call__(self, program: str, inputs: list[bytes]) -> list[bytes]:
        """Run limbs; what did not change since the last run, keys and constants, is not put again."""
        if hashlib.sha256(program.encode()).hexdigest() != self.layout["limb_program_sha256"]:
            raise RuntimeError("this is another program than the folder's")
        for number, limb in enumerate(inputs):
            digest = hashlib.sha256(limb).digest()
            if self._there.get(number) != digest:
                self._check(self._library.ringmill_put(self._core, number, limb))
                self._there[number] = digest
        self._check(self._library.ringmill_run(self._core, ctypes.c_uint64(_PATIENCE)))
        outputs = []
        for number in range(len(self.layout["outputs"])):
            words = ctypes.create_string_buffer(8 << self.layout["log_n"])
            self._check(self._library.ringmill_get(self._core, number, words))
            outputs.append(words.raw)
        return outputs

    @property
    def cycles(self) -> int:
        """Of the last run."""
        value = ctypes.c_uint64()
        self._check(self._library.ringmill_counter(self._core, 0, ctypes.byref(value)))
        return value.value

    def close(self) -> None:
        """Give the core back."""
        self._library.ringmill_host_close(self._host)


def main() -> int:
    """Run the kernel with fresh keys on random arguments, here and on the CPU, and compare the bits."""
    import ringmill as rm

    parser = argparse.ArgumentParser(prog="host.py", description=__doc__)
    parser.add_argument("--library", type=Path, default=HERE / "build" / "libhost_sim.so")
    parser.add_argument("--where", default="", help="the device, in the words of the platform")
    options = parser.parse_args()
    compiled = rm.Compiled.load(HERE / "program" / "kernel")
    rng = np.random.default_rng()
    size = compiled.plan.magnitude
    arguments = {
        name: rng.uniform(-size, size, spec.shape) for name, spec in compiled.signature.inputs.items()
    }
    keys = compiled.keygen(insecure=True)  # for random arguments alone
    encrypted = compiled.encrypt(keys, arguments)
    core = Core(options.library, options.where)
    start = time.perf_counter()
    found = compiled.evaluate(keys, encrypted, machine=core)
    seconds = time.perf_counter() - start
    expected = compiled.evaluate(keys, encrypted)
    same = {n: c.to_bytes() for n, c in found.parts.items()} == {
        n: c.to_bytes() for n, c in expected.parts.items()
    }
    print(f"{core.cycles} cycles ({seconds:.2f} s here); the bits of the CPU: {'yes' if same else 'NO'}")
    print(compiled.decrypt(keys, found))
    core.close()
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
