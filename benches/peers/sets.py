"""The parameter sets that every side is measured at.

A chain is ``first`` bits for the base prime, then ``middle`` bits for each prime that a rescale drops. SEAL
and TenSEAL know one special prime only (dnum = number of ciphertext limbs); OpenFHE and Ringmill take
``dnum``.
"""

from __future__ import annotations

from typing import NamedTuple


class Set(NamedTuple):
    """Sizes in bits; ``limbs`` counts ciphertext primes; ``dnum`` counts key-switch digits."""

    log_n: int
    limbs: int
    first: int
    middle: int
    special: int
    dnum: int
    log_scale: int


SETS = {
    "II": Set(log_n=13, limbs=4, first=44, middle=43, special=44, dnum=4, log_scale=40),
    "III": Set(log_n=14, limbs=8, first=49, middle=48, special=49, dnum=8, log_scale=40),
    "IV": Set(log_n=15, limbs=14, first=50, middle=46, special=50, dnum=3, log_scale=46),
    "V": Set(log_n=16, limbs=24, first=55, middle=52, special=55, dnum=3, log_scale=50),
    "V50": Set(log_n=16, limbs=28, first=50, middle=49, special=50, dnum=4, log_scale=48),
}
