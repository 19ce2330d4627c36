"""Key switches on our core for the comparison with HEAX and coxHE."""

from __future__ import annotations

from functools import cache

from ringmill._native import compact_cycles

#: Ring and size of the core; slots do not depend on them much.
LOG_N, BUTTERFLIES, EFFORT = 13, 4, 4000


@cache
def key_switch(moduli: int) -> tuple[int, int]:
    """Cycles over `moduli` ciphertext primes with one special prime, and cycles of a slot."""
    reported = compact_cycles(
        "key_switch",
        log_n=LOG_N,
        butterflies=BUTTERFLIES,
        limbs=moduli,
        special=1,
        dnum=moduli,
        effort=EFFORT,
    )
    return int(reported["cycles"]), int(reported["slot"])
