"""Checks of calls besides parameters: objects of the right kind, values that fit the modulus, one secret key.

A value that wraps around, or one under another key, decrypts to other numbers, and at low levels to plausible
ones. Keys and ciphertexts carry the identity of their secret key. Where one is not known, as in files from
before it was written, nothing is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from ringmill.errors import LevelError, MismatchError, ProgramError, fail

if TYPE_CHECKING:
    from ringmill._native import Ciphertext, Params


class Owned(Protocol):
    """What belongs to a secret key."""

    @property
    def identity(self) -> str | None:
        """The identity of the secret key, if it is known."""


def of_kind(call: str, name: str, given: object, wanted: tuple[type, ...], remedy: str) -> None:
    """Refuse what is of another kind than ``call`` takes as the argument ``name``, and say what to do."""
    if isinstance(given, wanted):
        return
    *others, last = (kind.__name__ for kind in wanted)
    kinds = f"{', '.join(others)} or {last}" if others else last
    found = type(given).__name__
    if found in (*others, last):  # the native class of that name
        found = f"{type(given).__module__}.{found}"
    fail(
        MismatchError,
        "WrongKind",
        f"{call} takes {kinds} for {name}, not {found}. {remedy}",
        argument=name,
        expected=kinds,
        found=found,
    )


def has_room(cipher: Ciphertext) -> None:
    """Refuse values that the modulus of their level may not hold."""
    missing = -cipher.headroom_log2
    if missing > 0:
        fail(
            LevelError,
            "WrapsAround",
            f"Values up to {cipher.magnitude:.3g} at level {cipher.level} exceed half of the modulus by "
            f"{missing:.1f} bits and may have wrapped around. Compute at a higher level, scale values down, "
            "take parameters with more integer bits, or promise a closer bound first: x.within(bound).",
            magnitude=cipher.magnitude,
            level=cipher.level,
            bits=missing,
        )


def one_secret(left: str, a: Owned, right: str, b: Owned) -> None:
    """Refuse two named things of different secret keys."""
    if a.identity is None or b.identity is None or a.identity == b.identity:
        return
    fail(
        MismatchError,
        "KeysMismatch",
        f"The {left} and the {right} are of different secret keys, {a.identity} and {b.identity}: nothing "
        "would decrypt what they give together. Use keys and ciphertexts of one secret key.",
        left=left,
        left_identity=a.identity,
        right=right,
        right_identity=b.identity,
    )


@contextmanager
def that_bootstraps(params: Params, slots: int) -> Iterator[None]:
    """Say of parameters that are not laid out for bootstrapping, and are too few levels for it, what are."""
    try:
        yield
    except ProgramError as error:
        if error.code != "Depth" or params.bootstraps is not None:
            raise
        fail(
            ProgramError,
            "Depth",
            f"These parameters do not bootstrap: that takes more than the {params.max_level} levels of their "
            f"chain. Take some that do, as rm.Params.bootstrapping(levels, slots={slots}).",
            needed=error.needed,
            available=error.available,
        )
