"""Every exception that Ringmill raises, one class a family of broken rules.

The native module raises these same classes: ``code`` is the name of the Rust error variant.
``fields`` are its values: numbers, texts, ``bool``, ``None``, tuples of these. A program can act on an error
without parsing its sentence.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

__all__ = [
    "ApproximationError",
    "CommandError",
    "EncodingError",
    "ExploreError",
    "FileFormatError",
    "KernelError",
    "KeyMissingError",
    "LevelError",
    "MachineError",
    "MismatchError",
    "ModelError",
    "ParameterError",
    "ProgramError",
    "RemoteError",
    "ResultError",
    "RingmillError",
    "SecretError",
]


class RingmillError(Exception):
    """Base of all errors of this package.

    Attributes
    ----------
        message: the sentence shown to the user: what is wrong, both sides of it, and the remedy.
        code: short name of the broken rule, stable between versions.
        fields: the values the sentence speaks of, by name.
    """

    def __init__(self, message: str, code: str = "", fields: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).__name__
        self.fields: dict[str, Any] = dict(fields or {})

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("fields", {})
        if name in fields:
            return fields[name]
        raise AttributeError(f"{type(self).__name__} has no field {name!r}; it has {sorted(fields)}")

    def add_note(self, note: str, /) -> None:
        """Add a note to the traceback; one that names an argument names it in the message.

        The native module refuses an argument where its type is read, which knows no name; PyO3 adds that in a
        note.
        """
        named = re.fullmatch("while processing '(.+)'", note)
        if named and self.code == "WrongKind":
            self.fields["argument"] = named[1]
            self.message = self.message.replace("argument", f"argument {named[1]}", 1)
            self.args = (self.message,)
        else:  # as exceptions do from CPython 3.11 on
            self.__notes__ = [*self.__dict__.get("__notes__", ()), note]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.code, self.fields)


class ParameterError(RingmillError, ValueError):
    """Parameters that cannot be used: insecure, contradictory, or impossible for the ring."""


class ApproximationError(RingmillError, ValueError):
    """A function that cannot be replaced by a polynomial as asked."""


class EncodingError(RingmillError, ValueError):
    """Values that cannot be encoded: not finite, too many, too large, or of the wrong kind."""


class ExploreError(RingmillError, ValueError):
    """Constraints that no design meets, or names that an exploration does not know."""


class MismatchError(RingmillError, ValueError):
    """Two values that do not belong together: other parameters, keys, levels, scales or shapes."""


class ModelError(RingmillError, ValueError):
    """A trained model that cannot be evaluated encrypted, or data that it was not calibrated for."""


class LevelError(RingmillError, ValueError):
    """An operation needs more levels than the ciphertext has left."""


class KeyMissingError(RingmillError, LookupError):
    """An operation needs a key (relinearisation, rotation, conjugation) that was not made."""


class FileFormatError(RingmillError, ValueError):
    """Files that cannot be read or written, or that are not what they should be.

    Truncated, altered, swapped, or of another version.
    """


class ProgramError(RingmillError, ValueError):
    """An HE program that does not parse, does not verify, or does not fit its inputs."""


class MachineError(RingmillError, RuntimeError):
    """A machine that does not exist or cannot run this program."""


class RemoteError(RingmillError, RuntimeError):
    """A service that does not answer, or refuses.

    ``code`` is the service's own, ``status`` that of HTTP; what the service says in figures are fields.
    """


class ResultError(RingmillError, ArithmeticError):
    """Decrypted values beyond the bound that their computation relied on: they may be wrong."""


class SecretError(RingmillError, TypeError):
    """A secret would have left the process without an explicit call (pickle, copy)."""


class CommandError(RingmillError):
    """A command line that cannot be carried out."""


class KernelError(RingmillError, TypeError):
    """A kernel does something that has no meaning on encrypted values.

    ``file``, ``line`` and ``source`` name the line of the user's kernel.
    """

    @property
    def line(self) -> int:
        """1-based line of the kernel's source at fault; 0 when it is unknown."""
        return int(self.fields.get("line", 0))


def fail(error: type[RingmillError], code: str, message: str, **fields: Any) -> NoReturn:
    """Raise ``error`` with a stable ``code`` and its ``fields``."""
    raise error(message, code, fields)
