"""Files of OpenFHE 1.6, CKKS, in JSON or the binary form.

The files of keys and ciphertexts begin with the whole crypto context, so everything here goes through a
`Context`. `load_context` takes it from any file, with the tag of the secret key where the file has one.
OpenFHE looks for keys by that tag, so what is written for a client has to carry the client's.

Contexts have key switching HYBRID, uniform ternary secrets and one prime a level. All scaling techniques are
read. Clients with FIXEDMANUAL decode with the nominal scale, so each rescale by q adds the relative error
|q/2^p − 1|, which predictions here do not include.
Readers see the form of a file by its first byte; writers take ``form``: "binary" or "json".
"""

from __future__ import annotations

from pathlib import Path

from ringmill._native import Ciphertext, EvaluationKeys, Params, PublicKey, SecretKey
from ringmill._native import OpenFheContext as Context
from ringmill.interop.source import Source, save, source
from ringmill.keys import save_foreign_secret

__all__ = [
    "Context",
    "context_of",
    "dump_ciphertext",
    "dump_context",
    "load_ciphertext",
    "load_context",
    "load_evaluation_keys",
    "load_public_key",
    "load_secret_key",
    "save_automorphism_keys",
    "save_ciphertext",
    "save_context",
    "save_mult_key",
    "save_public_key",
    "save_secret_key",
]

FORM = "binary"


def load_context(file: Source, *, insecure: bool = False) -> Context:
    """The crypto context of a file of any kind: bytes or a path, as for all readers here.

    Its ``params`` are the parameters, its ``tag`` that of the secret key, if the file has one.

    Raises
    ------
        FileFormatError: no file of OpenFHE 1.6, or a damaged one.
        MismatchError, ParameterError: a context that is not computed with here.
    """
    return Context.load(source(file), insecure)


def context_of(params: Params, tag: str = "") -> Context:
    """A context of OpenFHE for parameters that were chosen here: FIXEDMANUAL, of no stated security.

    Raises
    ------
        MismatchError: rotations by powers of 3, or special primes other than those that OpenFHE would take.
    """
    return Context.of(params).tagged(tag)


def dump_context(context: Context, *, form: str = FORM) -> bytes:
    """A context as a file."""
    return context.to_bytes(form)


def save_context(context: Context, path: str | Path, *, form: str = FORM) -> int:
    """Write `dump_context` to a file; returns its bytes."""
    return save(path, dump_context(context, form=form))


def load_secret_key(context: Context, file: Source) -> SecretKey:
    """A secret key from a file of ``PrivateKey``: for the client that owns it.

    Raises
    ------
        FileFormatError: another kind of file, or a damaged one.
        MismatchError: a key of another context.
    """
    return context.secret_key(source(file))


def save_secret_key(
    context: Context, secret: SecretKey, path: str | Path, *, overwrite: bool = False, form: str = FORM
) -> int:
    """Write a secret key as a file of ``PrivateKey`` that only its owner may read; returns its bytes.

    No copy of it stays in memory.

    Raises
    ------
        CommandError: the file exists, and ``overwrite`` is not set.
        MismatchError: a key of another context.
    """
    return save_foreign_secret(
        lambda file: context.save_secret_key(secret, file, form), Path(path), overwrite=overwrite
    )


def load_public_key(context: Context, file: Source) -> PublicKey:
    """A public key from a file of ``PublicKey``.

    Raises
    ------
        FileFormatError: another kind of file, or a damaged one.
        MismatchError: a key of another context.
    """
    return context.public_key(source(file))


def save_public_key(context: Context, key: PublicKey, path: str | Path, *, form: str = FORM) -> int:
    """Write a public key as a file of ``PublicKey``; returns its bytes."""
    return save(path, context.public_key_bytes(key, form))


def load_evaluation_keys(
    context: Context, mult: Source | None = None, automorphism: Source | None = None
) -> EvaluationKeys:
    """Evaluation keys from what ``SerializeEvalMultKey`` and ``SerializeEvalAutomorphismKey`` write.

    A program may need either or both. They compute like keys that were made here. Their uniform halves expand
    from no seed of ours, so their files here (version 5) hold both halves and are twice as large.

    Raises
    ------
        FileFormatError: another kind of file, or a damaged one.
        MismatchError: keys of another context, or of several secret keys.
    """
    files = [None if file is None else source(file) for file in (mult, automorphism)]
    return context.evaluation_keys(*files)


def save_mult_key(context: Context, keys: EvaluationKeys, path: str | Path, *, form: str = FORM) -> int:
    """Write the relinearisation key, for ``DeserializeEvalMultKey``; returns its bytes.

    Raises
    ------
        KeyMissingError: keys without one.
    """
    return save(path, context.mult_key_bytes(keys, form))


def save_automorphism_keys(
    context: Context, keys: EvaluationKeys, path: str | Path, *, form: str = FORM
) -> int:
    """Write the keys of rotations, for ``DeserializeEvalAutomorphismKey``; returns its bytes."""
    return save(path, context.automorphism_keys_bytes(keys, form))


def load_ciphertext(
    context: Context,
    file: Source,
    *,
    scale: str | None = None,
    magnitude: float | None = None,
    error_log2: float | None = None,
    slots: int | None = None,
) -> Ciphertext:
    """A ciphertext from a file of ``Ciphertext``.

    Args:
        context: its context.
        file: bytes or a path.
        scale: the exact scale as text. By default it is worked out from the file: a power of two, or one
            divided by primes of the chain, as rescaled products have.
        magnitude: bound on the size of a slot, 1 by default; predictions and refusals rely on it.
        error_log2: log2 of a bound on the error of a slot; that of a fresh encryption by default.
        slots: packed slots, those that the file says by default.

    Raises
    ------
        EncodingError: a scale that is not known exactly (code ``InexactScale``), or an invalid bound.
        FileFormatError: another kind of file, or a damaged one.
        MismatchError: a ciphertext of another context.
    """
    return context.ciphertext(source(file), scale, magnitude, error_log2, slots)


def dump_ciphertext(context: Context, cipher: Ciphertext, *, form: str = FORM) -> bytes:
    """A ciphertext as a file of ``Ciphertext``, with the tag of the context.

    Raises
    ------
        MismatchError: a ciphertext of another context.
    """
    return context.ciphertext_bytes(cipher, form)


def save_ciphertext(context: Context, cipher: Ciphertext, path: str | Path, *, form: str = FORM) -> int:
    """Write `dump_ciphertext` to a file; returns its bytes."""
    return save(path, dump_ciphertext(context, cipher, form=form))
