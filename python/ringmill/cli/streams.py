"""What a command prints: in the encoding that there is, to whom still reads it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

#: What a shell reports of a program that wrote to a closed pipe: 128 and SIGPIPE.
CLOSED_PIPE = 141


@contextmanager
def printing() -> Iterator[None]:
    """Let what is printed meanwhile arrive, or end the command.

    Quietly if its reader has gone, as ``head`` does, and with a message if the device is full.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout)
        raise SystemExit(CLOSED_PIPE) from None
    except OSError as error:
        _drop(sys.stdout)
        say(f"ringmill: standard output cannot be written: {error.strerror}. Free space, or write elsewhere.")
        raise SystemExit(1) from None


def say(sentence: str) -> None:
    """Print on standard error, if it is open to somebody."""
    if sys.stderr is None:  # where print() would take standard output
        return
    try:
        print(sentence, file=sys.stderr, flush=True)
    except OSError:
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    """Let what is left to print go nowhere: the interpreter flushes it at its end, and would complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
