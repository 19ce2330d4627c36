"""Encrypting, decrypting, and measuring the error of vectors at the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill import _native
from ringmill._checks.arguments import checked
from ringmill._checks.integers import whole
from ringmill._checks.ownership import of_kind, one_secret, that_bootstraps
from ringmill._checks.results import plausible
from ringmill._native import Comparison, MachineSpec, Params, PublicKey, SecretKey
from ringmill.ciphertext.operands import vector_of
from ringmill.ciphertext.vector import Ciphertext
from ringmill.client.machine import CPU, ENGINE, engine_of
from ringmill.errors import EncodingError, LevelError
from ringmill.keys import Keys
from ringmill.trace.spec import same_shape

if TYPE_CHECKING:
    from ringmill.encryptor import Encryptor


def encrypt(
    values: ArrayLike,
    keys: Keys,
    *,
    slots: int | None = None,
    level: int | None = None,
    magnitude: float | None = None,
    key: PublicKey | SecretKey | None = None,
    machine: str | MachineSpec | Encryptor = CPU,
) -> Ciphertext:
    """Encrypt a vector of numbers.

    Args:
        values: real or complex numbers, at most as many as the parameters have slots.
        keys: from ``keygen``.
        slots: packed slots, a power of two; the least that holds the values by default.
        level: products that shall remain; all by default. The scale is the one that products have there.
        magnitude: bound on the size of the values, 1 if none is declared. It is public: the ciphertext
            carries it, and nothing else of the values.
        key: encrypt with this key instead of the secret one, as a public key for which others encrypt.
        machine: where operations on the result run, as "cpu:threads=4" or a value of ``rm.machines``. With
            "encryptor", or an ``Encryptor()`` that notes its cycles, the simulated encryption engine
            encrypts, and operations run on the processor.

    Raises
    ------
        EncodingError: values that are not finite, too many, beyond the bound, or too large for the scale.
        MachineError: parameters or keys that the encryption engine does not do, or no simulator.
        MismatchError: keys of another kind; a ``key`` of other parameters, or of another secret key.
    """
    alone = "Give what rm.keygen made; a single key encrypts by its own method: key.encrypt(values)."
    of_kind("rm.encrypt()", "keys", keys, (Keys,), alone)
    if key is not None:
        of_kind("rm.encrypt()", "key", key, (PublicKey, SecretKey), "Left out, it is keys.secret.")
    array = vector_of("values", values)
    if level is not None:
        level = whole(LevelError, "The level", level, 0, keys.params.max_level)
    scale = keys.params.scale_at(keys.params.max_level if level is None else level)
    if slots is not None:
        slots = whole(EncodingError, "The number of slots", slots, 1, keys.params.slots)
    encrypting = key or keys.secret
    if encrypting.params == keys.params:
        one_secret("key to encrypt with", encrypting, "keys to compute with", keys)
    packing: dict[str, Any] = {"slots": slots, "magnitude": magnitude, "scale": scale}
    engine: Encryptor | None = None
    if machine == ENGINE or not isinstance(machine, (str, MachineSpec)):
        # Imported where it is used alone: it takes the files of other libraries along.
        from ringmill.encryptor import Encryptor

        if machine == ENGINE or isinstance(machine, Encryptor):
            engine, machine = engine_of(machine), CPU
    if engine is None:
        native = encrypting.encrypt(array, level=level, **packing)
    else:
        at = keys.params.max_level if level is None else level
        native = engine.encrypt(encrypting, array, level=at, **packing)
    return Ciphertext(native, keys.evaluator(machine), len(array), real=not np.any(array.imag), clean=True)


@checked
def bootstrap_keys(params: Params, slots: int, *, real: bool = True) -> dict[str, Any]:
    """What ``keygen`` has to make for ``Ciphertext.bootstrap``: ``keygen(params, **bootstrap_keys(…))``.

    Args:
        params: parameters that bootstrap, as ``Params.bootstrapping`` gives them.
        slots: packed slots of the ciphertexts, a power of two from 4 to N/2.
        real: whether their values are real, which takes fewer keys.

    Raises
    ------
        ProgramError: code ``Depth``, for parameters of too few levels to bootstrap.
    """
    slots = whole(EncodingError, "The number of slots", slots, 1, params.slots)
    with that_bootstraps(params, slots):
        rotations = _native.bootstrap_rotations(params, slots, real)
    return {"relin": True, "rotations": rotations, "conjugation": True, "encapsulation": True}


def _decrypted(
    call: str, cipher: Ciphertext, secret: SecretKey | Keys, engine: Encryptor | None = None
) -> NDArray[np.complex128]:
    """All slots of a vector, in software or by an engine."""
    other = (
        "Results of a kernel are for compiled.decrypt, native ciphertexts for the secret key's own method."
    )
    of_kind(call, "cipher", cipher, (Ciphertext,), other)
    of_kind(call, "secret", secret, (SecretKey, Keys), "Only the secret key decrypts: keys.secret.")
    key = secret.secret if isinstance(secret, Keys) else secret
    return engine.decrypt(key, cipher.native) if engine else key.decrypt(cipher.native)


@checked
def decrypt(
    cipher: Ciphertext, secret: SecretKey | Keys, *, check: bool = True, machine: str | Encryptor = CPU
) -> NDArray[Any]:
    """Decrypt a vector; real when everything that went into it was real.

    Args:
        cipher: the vector.
        secret: the secret key.
        check: hold the values to the bound that the computation relied on.
        machine: "encryptor", or an ``Encryptor()`` that notes its cycles: the simulated encryption engine.

    Raises
    ------
        MachineError: another machine; parameters, keys or ciphertexts that the engine does not do.
        MismatchError: no ciphertext, or no key that decrypts; a ciphertext of other parameters, or under
            another secret key.
        ResultError: values beyond the bound that the computation relied on, unless ``check`` is false.
    """
    values = _decrypted("rm.decrypt()", cipher, secret, engine_of(machine))[: cipher.length]
    if check:
        plausible(values, cipher.native)
    return values.real.copy() if cipher.real else values


def measure_error(cipher: Ciphertext, secret: SecretKey | Keys, expected: ArrayLike) -> Comparison:
    """Decrypt a vector whose values are known, and hold its error to the predicted one.

    Args:
        cipher: the vector.
        secret: the secret key.
        expected: what it should hold, a number for each element.

    Returns the predicted and the measured error of the worst element (log2) and which it is (``slot``);
    ``holds`` says whether the prediction was enough, as it is but once in a million ciphertexts. Of a real
    vector real parts are compared, as `decrypt` gives them.

    Raises
    ------
        EncodingError: expected values that are no finite numbers.
        MismatchError: as ``decrypt``; another number of expected values.
    """
    slots = _decrypted("rm.measure_error()", cipher, secret)
    if cipher.real:
        slots = slots.real.astype(np.complex128)
    wanted = slots.copy()  # what stands beside the elements is not compared
    wanted[: cipher.length] = same_shape("the vector", expected, (cipher.length,))
    return cipher.native.compare(slots, wanted)
