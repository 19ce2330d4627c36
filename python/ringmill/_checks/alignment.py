"""Encrypted vectors of the prompt brought to one level and one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ringmill._checks.ownership import one_secret
from ringmill.errors import LevelError, MismatchError, fail

if TYPE_CHECKING:
    from ringmill.ciphertext.arithmetic import Arithmetic
    from ringmill.ciphertext.facts import Facts

Vector = TypeVar("Vector", bound="Arithmetic")


def of_one_context(left: tuple[str, Facts], right: tuple[str, Facts]) -> None:
    """Refuse two named vectors of different parameters, or of different secret keys."""
    (a, x), (b, y) = left, right
    if x.params != y.params:
        fail(
            MismatchError,
            "ParamsMismatch",
            f"The {a} has parameters {x.params!r}, the {b} {y.params!r}. Use ciphertexts of one context.",
            left=x.params.fingerprint,
            right=y.params.fingerprint,
        )
    one_secret(a, x, b, y)


def together(vectors: list[Vector]) -> list[Vector]:
    """The same vectors at one level and one scale, those of the first that is lowest.

    Where others are as low at another scale, that level goes into changing theirs.
    """
    level = min(vector.level for vector in vectors)
    lowest = next(vector for vector in vectors if vector.level == level)
    apart = [vector for vector in vectors if vector.level == level and vector.scale != lowest.scale]
    if apart and level == 0:
        fail(
            LevelError,
            "ScalesApart",
            f"One vector has scale {lowest.scale}, another one {apart[0].scale}, and no level is left to "
            "bring them together. Add them a level above, or drop levels later.",
            left=lowest.scale,
            right=apart[0].scale,
        )
    level -= bool(apart)
    return [vector._brought(lowest, level) for vector in vectors]
