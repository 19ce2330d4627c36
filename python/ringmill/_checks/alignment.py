"""Encrypted vectors of the prompt brought to one level and one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringmill._checks.ownership import one_secret
from ringmill.errors import LevelError, MismatchError, fail

if TYPE_CHECKING:
    from ringmill.ciphertext import Ciphertext


def of_one_context(left: tuple[str, Ciphertext], right: tuple[str, Ciphertext]) -> None:
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


def together(vectors: list[Ciphertext]) -> list[Ciphertext]:
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
