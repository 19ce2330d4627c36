"""Lattigo through the shared library in the wheel of Orion: the special primes of the set, one thread.

The library is called by ctypes. It has one scheme at a time and names plaintexts and ciphertexts by
numbers. It offers a product with its relinearisation, not each alone, and a rescale in place only: so
neither ``relin`` nor ``rescale`` is here. Messages are 32-bit floats.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
from ctypes import POINTER, c_char_p, c_float, c_int, c_ulong, c_void_p

import numpy as np

from benches.peers.protocol import Works, close, serve
from benches.peers.sets import SETS

_STANDARD = (b"standard", b"", b"none")


class _Floats(ctypes.Structure):
    _fields_ = (("data", POINTER(c_float)), ("length", c_ulong))


def _library() -> ctypes.CDLL:
    # The package itself needs PyTorch, so it is found and not imported.
    files = importlib.metadata.files("orion-fhe") or []
    found = next(file for file in files if file.name == "lattigo-linux.so")
    library = ctypes.CDLL(str(found.locate()))
    ints = (POINTER(c_int), c_int)
    library.NewScheme.argtypes = (c_int, *ints, *ints, c_int, c_int, c_char_p, c_char_p, c_char_p)
    library.Encode.argtypes = (POINTER(c_float), c_int, c_int, c_ulong)
    library.Decode.argtypes = (c_int,)
    library.Decode.restype = _Floats
    library.FreeCArray.argtypes = (c_void_p,)
    return library


_lattigo = _library()


def _ints(values: list[int]) -> tuple[object, int]:
    return (c_int * len(values))(*values), len(values)


def encode(values: object, level: int, scale: float) -> int:
    """Return the number of a new plaintext of `values`, a ctypes array of floats."""
    return int(_lattigo.Encode(values, len(values), level, int(scale)))  # type: ignore[arg-type]


def decode(plaintext: int) -> np.ndarray:
    """Return the slots of a plaintext, real parts."""
    found = _lattigo.Decode(plaintext)
    values = np.ctypeslib.as_array(found.data, (found.length,)).copy()
    _lattigo.FreeCArray(ctypes.cast(found.data, c_void_p))
    return values


class Transient:
    """The number of a ciphertext or plaintext that is deleted with this object: outside the clock."""

    def __init__(self, number: int, *, plain: bool = False) -> None:
        self.number = number
        self._plain = plain

    def __del__(self) -> None:
        (_lattigo.DeletePlaintext if self._plain else _lattigo.DeleteCiphertext)(self.number)


def prepare(which: str) -> Works:
    """Scheme, keys and inputs of one set, and its works."""
    choice = SETS[which]
    middle = [choice.middle] * (choice.limbs - 1)
    special = [choice.special] * choice.digit
    # Ternary secrets of a fixed weight are all that this interface offers: two thirds of the coefficients.
    weight = 2 * (1 << choice.log_n) // 3
    chain, extra = _ints([choice.first, *middle]), _ints(special)
    _lattigo.DeleteScheme()
    _lattigo.NewScheme(choice.log_n, *chain, *extra, choice.log_scale, weight, *_STANDARD)
    for step in ("NewKeyGenerator", "GenerateSecretKey", "GeneratePublicKey", "GenerateRelinearizationKey"):
        getattr(_lattigo, step)()
    for step in ("GenerateEvaluationKeys", "NewEncoder", "NewEncryptor", "NewDecryptor"):
        getattr(_lattigo, step)()
    # `NewEvaluator` makes keys for all powers of two, of which one rotation is measured.
    _lattigo.NewEvaluator()

    slots, level, scale = 1 << (choice.log_n - 1), choice.limbs - 1, 2.0**choice.log_scale
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-1, 1, slots), rng.uniform(-1, 1, slots)
    floats = (c_float * slots)(*x)
    plain = encode(floats, level, scale)
    a = _lattigo.Encrypt(plain)
    b = _lattigo.Encrypt(encode((c_float * slots)(*y), level, scale))

    def decrypted(number: int) -> np.ndarray:
        return decode(_lattigo.Decrypt(number))

    close(decrypted(_lattigo.MulRelinCiphertextNew(a, b)), x * y, 1e-4)
    close(decrypted(_lattigo.RotateNew(a, 1)), np.roll(x, -1), 1e-4)
    return {
        "mul_relin": lambda: Transient(_lattigo.MulRelinCiphertextNew(a, b)),
        "rotate": lambda: Transient(_lattigo.RotateNew(a, 1)),
        "encode": lambda: Transient(encode(floats, level, scale), plain=True),
        "decode": lambda: decode(plain),
        "encrypt": lambda: Transient(_lattigo.Encrypt(plain)),
    }


if __name__ == "__main__":
    serve("Lattigo 6.2.0", prepare)
