"""What client and server agree on beside signature and parameters, and how a file says it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ringmill import bundle
from ringmill._native import Params
from ringmill.trace.signature import Signature

#: Rotations of the largest ring.
MOST_KEYS = 1 << 16


@dataclass(frozen=True, slots=True)
class Terms:
    """What client and server agree on beside signature and parameters.

    Attributes
    ----------
        magnitude: bound on the size of arguments.
        level, scale: where arguments are encrypted.
        taken: names of the ciphertexts that the program takes.
        relin, rotations, conjugation, encapsulation: the keys that it needs.
        forms: what each key has beside its base form.
        depth: rescales in a row, at most.
        precision: the bits that were asked for.
        encryption: the key that arguments are encrypted under: "public", "undivided" or "secret".
        errors: by output, log2 of the error of the worst slot.
        noise: the same of encryption alone, without that of approximations.
        bounds: by output, the bound on a slot.
    """

    magnitude: float
    level: int
    scale: str
    taken: tuple[str, ...]
    relin: bool
    rotations: tuple[int, ...]
    conjugation: bool
    encapsulation: bool
    forms: tuple[str, ...]
    depth: int
    precision: int
    encryption: str
    errors: Mapping[str, float]
    noise: Mapping[str, float]
    bounds: Mapping[str, float]

    @property
    def keys(self) -> int:
        """How many evaluation keys there are."""
        return self.relin + self.conjugation + self.encapsulation + len(self.rotations)

    @property
    def keys_needed(self) -> str:
        """The evaluation keys, as text."""
        parts = ["relinearisation"] if self.relin else []
        if self.rotations:
            parts.append("rotations by " + ", ".join(str(k) for k in self.rotations))
        parts += ["conjugation"] if self.conjugation else []
        parts += ["encapsulation"] if self.encapsulation else []
        parts += [f"each also as {', '.join(self.forms)}"] if parts and self.forms else []
        return "; ".join(parts) or "none"


#: What files say for each encryption: "public" is from before keys that divide, and is any public key.
WRITTEN = {"public": "divided", "undivided": "public", "secret": "secret"}
READ = {said: encryption for encryption, said in WRITTEN.items()}


def terms_of(facts: dict[str, Any], signature: Signature, params: Params) -> Terms:
    """What a file says, checked; ``ValueError`` and the like on anything else."""

    def need(name: str, kind: type, holds: Any = lambda _: True) -> Any:
        value = facts[name]
        if type(value) is not kind or not holds(value):
            raise ValueError(name)
        return value

    def texts(name: str, most: int) -> tuple[str, ...]:
        given = need(name, list, lambda them: len(them) <= most)
        if not all(isinstance(one, str) and len(one) <= 1 << 10 for one in given):
            raise ValueError(name)
        return tuple(given)

    def numbers(name: str, least: float, most: float) -> dict[str, float]:
        given = need(name, dict, lambda them: set(them) == set(signature.output_parts))
        found = {str(part): float(value) for part, value in given.items()}
        if not all(least < value < most for value in found.values()):
            raise ValueError(name)
        return found

    if set(facts) != set(Terms.__dataclass_fields__):
        raise ValueError("other facts than a client has")
    slots = params.slots
    rotations = need("rotations", list, lambda them: len(them) <= MOST_KEYS)
    if not all(type(k) is int and 0 < k < slots for k in rotations):
        raise ValueError("rotations")
    level = need("level", int, lambda level: 0 <= level <= params.max_level)
    taken = texts("taken", bundle.MAX_PARTS)
    if set(taken) - set(signature.input_parts):
        raise ValueError("taken")
    return Terms(
        magnitude=need("magnitude", float, lambda size: 0 < size < math.inf),
        level=level,
        scale=need("scale", str, lambda text: len(text) < 1 << 16),
        taken=taken,
        relin=need("relin", bool),
        rotations=tuple(rotations),
        conjugation=need("conjugation", bool),
        encapsulation=need("encapsulation", bool),
        forms=texts("forms", 16),
        depth=need("depth", int, lambda depth: 0 <= depth < 1 << 20),
        precision=need("precision", int, lambda bits: 0 <= bits <= 64),
        encryption=READ[need("encryption", str, lambda said: said in READ)],
        errors=numbers("errors", -1100, 1100),
        noise=numbers("noise", -1100, 1100),
        bounds=numbers("bounds", 0, math.inf),
    )
