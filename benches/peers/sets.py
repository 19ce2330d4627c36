"""The parameter sets that every side is measured at.

A chain is ``first`` bits for the base prime, then ``middle`` bits for each prime that a rescale drops. SEAL
and TenSEAL know one special prime only (dnum = number of ciphertext limbs); OpenFHE, Lattigo and Ringmill
take ``dnum``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Set(NamedTuple):
    """Sizes in bits; ``limbs`` counts ciphertext primes; ``dnum`` counts key-switch digits."""

    log_n: int
    limbs: int
    first: int
    middle: int
    special: int
    dnum: int
    log_scale: int

    @property
    def log_q(self) -> int:
        """Bits of the ciphertext modulus."""
        return self.first + self.middle * (self.limbs - 1)

    @property
    def digit(self) -> int:
        """Limbs of the largest digit."""
        return math.ceil(self.limbs / self.dnum)


SETS = {
    "II": Set(log_n=13, limbs=4, first=44, middle=43, special=44, dnum=4, log_scale=40),
    "III": Set(log_n=14, limbs=8, first=49, middle=48, special=49, dnum=8, log_scale=40),
    "IV": Set(log_n=15, limbs=14, first=50, middle=46, special=50, dnum=3, log_scale=46),
    "V": Set(log_n=16, limbs=24, first=55, middle=52, special=55, dnum=3, log_scale=50),
    "V50": Set(log_n=16, limbs=28, first=50, middle=49, special=50, dnum=4, log_scale=48),
}

#: Greatest log2 PQ of 128 bits against classical attacks, ternary secrets, by log2 N: by the standard
#: (2018) up to 2^15, where it allows more, and by the guidelines (Bossuat et al., 2024) beyond.
LIMIT_128 = {13: 218, 14: 438, 15: 881, 16: 1747}


def parameters(name: str, peer: str) -> dict[str, Any] | None:
    """What one peer's context of a set has, as far as it can be chosen or is documented.

    Returns
    -------
        ``log_n``, ``limbs``, ``special`` primes and ``special_bits`` of each, ``dnum``, ``log_pq``, and
        whether security is below 128 bits (``beyond_128``); None for a work of no set, and for a library
        that does not say.
    """
    choice = SETS.get(name)
    if choice is None or peer == "desilo":
        return None
    special, bits, dnum = choice.digit, choice.special, choice.dnum
    if peer in ("seal", "tenseal"):
        special, dnum = 1, choice.limbs
    elif peer == "openfhe":  # as many primes of 60 bits as hold the largest digit
        bits = 60
        special = math.ceil((choice.first + choice.middle * (choice.digit - 1)) / bits)
    log_pq = choice.log_q + special * bits
    return {
        "log_n": choice.log_n,
        "limbs": choice.limbs,
        "special": special,
        "special_bits": bits,
        "dnum": dnum,
        "log_pq": log_pq,
        "beyond_128": log_pq > LIMIT_128[choice.log_n],
    }
