"""Times of the CPU machine, measured in place, for the same sets of key switching."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

from ringmill import ciphertext, keys
from ringmill._native import Evaluator, Params
from ringmill.studies.demo.machine import processor
from ringmill.studies.papers.casa.rows import Measured, Point, Row

#: Seconds spent on one figure; the least time of a run counts, which a busy machine disturbs least.
SECONDS = 0.3


@cache
def _microseconds(n: int, limbs: int, special: int, dnum: int, word_bits: int) -> float:
    """Time a rotation by one slot at the top level: an automorphism and a key switch, on one thread.

    Sets of wide primes may be insecure at this degree: they encrypt nothing here.
    """
    log_n = n.bit_length() - 1
    params = Params.from_bits(log_n, [word_bits] * limbs, [word_bits] * special, dnum, insecure=True)
    made = keys.keygen(params, relin=False, rotations=[1])
    # Every slot differs: a vector of equal slots is rotated by doing nothing.
    cipher = ciphertext.encrypt(np.linspace(0.0, 1.0, params.slots), made).native
    evaluator = Evaluator(made.evaluation, "cpu:threads=1")
    evaluator.rotate(cipher, 1)  # lowers the program and fills the caches
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        evaluator.rotate(cipher, 1)
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def timer(*, word_bits: int) -> Measured:
    """Return the function from a point to its time; no machine runs CASA's own sequence."""

    def measured(point: Point) -> Row | None:
        if point.sequence != "hybrid" or point.operation != "key_switch":
            return None
        best = _microseconds(point.n, *point.set, word_bits)
        return {
            "us": round(best, 1),
            "per_second": round(1e6 / best, 1),
            "what": "rotation (automorphism and key switch), one thread, least of several",
            "processor": processor(),
        }

    return measured
