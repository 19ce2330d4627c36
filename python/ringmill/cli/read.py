"""Keys from the files that the command line is given."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from ringmill._native import EvaluationKeys, Params, PublicKey, SecretKey
from ringmill.cli.streams import say
from ringmill.client import ClientSide, load_client
from ringmill.errors import CommandError, FileFormatError, fail
from ringmill.keys import load_evaluation_keys, load_public, load_secret


@contextmanager
def named(path: str) -> Iterator[None]:
    """Name the file in what the native module says of its bytes alone."""
    try:
        yield
    except FileFormatError as error:
        if "path" in error.fields:
            raise
        fail(FileFormatError, error.code, f"{path}: {error.message}", **{**error.fields, "path": path})


def client(path: str) -> ClientSide:
    """What a client needs of a kernel: its client file, or the kernel file that both sides share."""
    try:
        return load_client(path)
    except FileFormatError as error:
        if error.fields.get("found") != "ringmill-kernel" or find_spec("ringmill.compiled") is None:
            raise
    from ringmill.compiled import Compiled

    return Compiled.load(path)


def secret(params: Params, path: str) -> SecretKey:
    """The secret key of a file."""
    with named(path):
        found = load_secret(params, path)
    warn_if_open(path)
    return found


def warn_if_open(path: str) -> None:
    """Say on standard error that a secret key is open to other users; `keygen` writes none so."""
    mode = Path(path).stat().st_mode & 0o777
    if mode & 0o077:
        close = f"chmod 600 {shlex.quote(path)}"
        say(
            f"ringmill: {path} is a secret key that is open to other users (mode {mode:o}). Close it: {close}"
        )


def encryption_key(path: str, params: Params) -> PublicKey | SecretKey:
    """The key of a file to encrypt with, whichever it is."""
    try:
        return secret(params, path)
    except FileFormatError as error:
        if error.code != "Kind":
            raise
    with named(path):
        return load_public(params, path)


def evaluation_keys(path: str, params: Params, memory: str) -> EvaluationKeys:
    """The evaluation keys of a file, with those of the forms beside it."""
    try:
        with named(path):
            return load_evaluation_keys(params, path, memory=memory)
    except FileFormatError as error:
        if error.fields.get("found") != "SecretKey":
            raise
        fail(
            CommandError,
            "SecretOnServer",
            f"{path} is a secret key; evaluation needs none and reads none. "
            "Give evaluation.keys, and keep the secret key with the client.",
            path=path,
        )
