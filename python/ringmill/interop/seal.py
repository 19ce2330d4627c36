"""Files of SEAL 4.0 to 4.4, CKKS.

SEAL has slots in the order of powers of 3, so its parameters have ``rotations`` 3: everything that belongs to
them is refused where parameters with 5 are used. Its digits of key switching are single primes, with one
special prime. Every version from 4.0 and every compression is read, and what holds seeds.

Writers take ``version`` ("4.0" to "4.4") and ``compression`` ("none", "zlib" or "zstd"); "4.3" without
compression is what most builds of SEAL read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill import _native
from ringmill._native import Ciphertext, EvaluationKeys, Params, PublicKey, SecretKey
from ringmill.errors import FileFormatError, MachineError, fail
from ringmill.interop.source import Source, save, source
from ringmill.keys import save_foreign_secret

if TYPE_CHECKING:
    from ringmill.encryptor import Encryptor

VERSION, COMPRESSION, GENERATOR = "4.3", "none", "blake2xb"


def load_parameters(file: Source, *, scale_bits: int | None = None, insecure: bool = False) -> Params:
    """Parameters from a file of ``EncryptionParameters``.

    Args:
        file: bytes or a path, as for all readers here.
        scale_bits: log2 of the scale that values are encrypted with, which SEAL's parameters do not say; the
            size of the last data prime by default.
        insecure: accept less than 128 bits of security.

    Raises
    ------
        FileFormatError: another kind of file, version or scheme, or a damaged one.
        MismatchError, ParameterError: parameters that are not computed with here.
    """
    return _native.seal_parameters(source(file), scale_bits, insecure)


def dump_parameters(params: Params, *, version: str = VERSION, compression: str = COMPRESSION) -> bytes:
    """Parameters as a file of ``EncryptionParameters``.

    Raises
    ------
        MismatchError: parameters that SEAL has not: rotations by powers of 5, several special primes, or
            digits of several primes.
    """
    return _native.seal_parameters_bytes(params, version, compression)


def save_parameters(
    params: Params, path: str | Path, *, version: str = VERSION, compression: str = COMPRESSION
) -> int:
    """Write `dump_parameters` to a file; returns its bytes."""
    return save(path, dump_parameters(params, version=version, compression=compression))


def load_secret_key(params: Params, file: Source) -> SecretKey:
    """A secret key from a file of ``SecretKey``: for the client that owns it.

    Raises
    ------
        FileFormatError: another kind of file, or a damaged one.
        MismatchError: a key of other parameters.
    """
    return _native.seal_secret_key(params, source(file))


def save_secret_key(
    secret: SecretKey,
    path: str | Path,
    *,
    overwrite: bool = False,
    version: str = VERSION,
    compression: str = COMPRESSION,
) -> int:
    """Write a secret key as a file of ``SecretKey`` that only its owner may read; returns its bytes.

    Uncompressed, no copy of it stays in memory; compressors keep some of it.

    Raises
    ------
        CommandError: the file exists, and ``overwrite`` is not set.
        MismatchError: parameters that SEAL has not.
    """

    def save(file: Path) -> None:
        _native.seal_save_secret_key(secret, file, version, compression)

    return save_foreign_secret(save, Path(path), overwrite=overwrite)


def load_public_key(params: Params, file: Source) -> PublicKey:
    """A public key from a file of ``PublicKey``.

    Raises
    ------
        FileFormatError: another kind of file, or a damaged one.
        MismatchError: a key of other parameters.
    """
    return _native.seal_public_key(params, source(file))


def save_public_key(
    secret: SecretKey, path: str | Path, *, version: str = VERSION, compression: str = COMPRESSION
) -> int:
    """Draw a public key for SEAL and write it as a file of ``PublicKey``; returns its bytes.

    SEAL encrypts modulo the special prime too, for which the public keys here have no residues: so it takes
    the secret key.
    """
    return save(path, _native.seal_new_public_key_bytes(secret, version, compression))


def load_evaluation_keys(
    params: Params, relin: Source | None = None, galois: Source | None = None
) -> EvaluationKeys:
    """Evaluation keys from files of ``RelinKeys`` and ``GaloisKeys``; a program may need either or both.

    They compute like keys that were made here. Their uniform halves expand from no seed of
    ours, so their files here (version 5) hold both halves and are twice as large.

    Raises
    ------
        FileFormatError: another kind of file, or a damaged one.
        MismatchError: keys of other parameters.
    """
    files = [None if file is None else source(file) for file in (relin, galois)]
    return _native.seal_evaluation_keys(params, *files)


def save_relin_keys(
    keys: EvaluationKeys, path: str | Path, *, version: str = VERSION, compression: str = COMPRESSION
) -> int:
    """Write the relinearisation key as a file of ``RelinKeys``; returns its bytes.

    Raises
    ------
        KeyMissingError: keys without one.
    """
    return save(path, _native.seal_relin_keys_bytes(keys, version, compression))


def save_galois_keys(
    keys: EvaluationKeys, path: str | Path, *, version: str = VERSION, compression: str = COMPRESSION
) -> int:
    """Write the keys of rotations and conjugation as a file of ``GaloisKeys``; returns its bytes."""
    return save(path, _native.seal_galois_keys_bytes(keys, version, compression))


def load_ciphertext(
    params: Params,
    file: Source,
    *,
    scale: str | None = None,
    magnitude: float | None = None,
    error_log2: float | None = None,
    slots: int | None = None,
) -> Ciphertext:
    """A ciphertext from a file of ``Ciphertext``.

    Args:
        params: the parameters that it was encrypted under.
        file: bytes or a path.
        scale: the exact scale as text. By default it is worked out from the file: a power of two, or one
            divided by primes of the chain, as rescaled products have.
        magnitude: bound on the size of a slot, 1 by default; predictions and refusals rely on it.
        error_log2: log2 of a bound on the error of a slot; that of a fresh encryption by default.
        slots: packed slots, N/2 by default; fewer are right only where the slots repeat so soon.

    Raises
    ------
        EncodingError: a scale that is not known exactly (code ``InexactScale``), or an invalid bound.
        FileFormatError: another kind of file, or a damaged one.
        MismatchError: a ciphertext of other parameters.
    """
    return _native.seal_ciphertext(params, source(file), scale, magnitude, error_log2, slots)


def dump_ciphertext(cipher: Ciphertext, *, version: str = VERSION, compression: str = COMPRESSION) -> bytes:
    """A ciphertext as a file of ``Ciphertext``.

    Raises
    ------
        MismatchError: parameters that SEAL has not.
    """
    return _native.seal_ciphertext_bytes(cipher, version, compression)


def save_ciphertext(
    cipher: Ciphertext, path: str | Path, *, version: str = VERSION, compression: str = COMPRESSION
) -> int:
    """Write `dump_ciphertext` to a file; returns its bytes."""
    return save(path, dump_ciphertext(cipher, version=version, compression=compression))


def encrypt_plaintext(
    public: PublicKey,
    file: Source,
    *,
    seed: bytes | None = None,
    generator: str = GENERATOR,
    scale: str | None = None,
    magnitude: float | None = None,
    machine: Encryptor | None = None,
    level: int | None = None,
) -> Ciphertext:
    """Encrypt a file of ``Plaintext`` as SEAL does: the same residues for the same seed of its generator.

    Args:
        public: a key of these parameters, with all its primes: of ``load_public_key`` or ``keygen``.
        file: bytes or a path. A plaintext below the top level is divided by the prime above, as SEAL does it.
        seed: 64 bytes, for which SEAL has eight words of 64 bits; by default from the system. It serves one
            encryption alone.
        generator: "blake2xb", SEAL's own, or "shake256".
        scale: the exact scale as text, as for ``load_ciphertext``.
        magnitude: bound on the size of a slot, 1 by default.
        machine: a ``ringmill.encryptor.Encryptor``, whose generator is "blake2xb"; software by default.
        level: of the plaintext, which the machine is built for; the top level by default.

    Raises
    ------
        FileFormatError: another kind of file, or a damaged one.
        MachineError: what the machine does not do.
        MismatchError: a key of other parameters than the plaintext, or one that does not divide.
        ParameterError: a seed that has not 64 bytes, or an unknown generator.
    """
    drawn = os.urandom(64) if seed is None else seed
    if machine is not None:
        if generator != GENERATOR:
            fail(
                MachineError,
                "EncryptorGenerator",
                f'The encryption engine draws from "{GENERATOR}", and generator={generator!r} was given. '
                "Leave machine= out.",
                generator=generator,
            )
        top = public.params.max_level
        return machine.encrypt_seal(
            public,
            file,
            drawn,
            level=top if level is None else level,
            scale=scale,
            magnitude=magnitude,
        )
    return _native.seal_encrypt(public, source(file), drawn, generator, scale, magnitude)


def load_plaintext(params: Params, file: Source, *, scale: str | None = None) -> NDArray[np.complex128]:
    """The N/2 numbers that a file of ``Plaintext`` encodes.

    Raises
    ------
        EncodingError: a scale that is not known exactly.
        FileFormatError: another kind of file, or a damaged one.
        MismatchError: a plaintext of other parameters.
    """
    return _native.seal_plaintext(params, source(file), scale)


def dump_plaintext(
    params: Params,
    values: ArrayLike,
    *,
    level: int | None = None,
    scale: str | None = None,
    version: str = VERSION,
    compression: str = COMPRESSION,
) -> bytes:
    """Numbers as a file of ``Plaintext``, in N/2 slots, by default at the top level and the default scale.

    Raises
    ------
        EncodingError: numbers that are not finite, too many or too large for the level.
        MismatchError: parameters that SEAL has not.
    """
    array = np.asarray(values, dtype=np.complex128)
    if array.ndim != 1:
        fail(
            FileFormatError,
            "NotAVector",
            f"A plaintext holds a vector, and an array of shape {array.shape} was given. Give one dimension.",
        )
    bound = float(np.abs(array).max(initial=0.0)) or 1.0
    return _native.seal_plaintext_bytes(params, array, level, scale, bound, version, compression)


def save_plaintext(
    params: Params,
    values: ArrayLike,
    path: str | Path,
    *,
    level: int | None = None,
    scale: str | None = None,
    version: str = VERSION,
    compression: str = COMPRESSION,
) -> int:
    """Write `dump_plaintext` to a file; returns its bytes."""
    style = {"version": version, "compression": compression}
    return save(path, dump_plaintext(params, values, level=level, scale=scale, **style))
