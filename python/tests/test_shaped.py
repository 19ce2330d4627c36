"""Programs of a paper's shape: instructions by the formulas of key switching, and their simulation."""

from __future__ import annotations

import math

import pytest

from ringmill._native import MachineSpec, estimate_program
from ringmill.errors import MachineError
from ringmill.studies.shaped.bootstrap import Shape, written
from ringmill.studies.shaped.operations import Operations, hybrid
from ringmill.studies.shaped.switching import Hybrid, Klss, Method, Switcher, groups
from ringmill.studies.shaped.text import primes


def _switch(limbs: int, special: int, method: Method, t_word: int = 36) -> Switcher:
    """One key switch of a polynomial, at a degree that has enough primes."""
    s = Operations("switch", 12, limbs, special, lambda _: method, t_word=t_word)
    poly = s.ciphertext("x", limbs)[1]
    s.switched(limbs, s.raised(poly, method), "key", method)
    return s


@pytest.mark.parametrize(
    ("limbs", "special", "alpha"), [(39, 7, 7), (38, 7, 7), (20, 7, 7), (6, 2, 2), (5, 5, 5), (1, 1, 1)]
)
def test_instructions_are_those_of_the_formulas(limbs: int, special: int, alpha: int) -> None:
    count = _switch(limbs, special, Hybrid(alpha)).counts
    digits = math.ceil(limbs / alpha)
    # (beta + 2)(l + K) transforms, 2·beta·(l + K) products with a key.
    assert count["ntt"] + count["intt"] == (digits + 2) * (limbs + special)
    assert count["dot_key"] == 2 * digits * (limbs + special)
    assert count["sub_mul_const"] == 2 * limbs

    block = max(1, alpha - 1)
    method = Klss(alpha, block)
    s = _switch(limbs, special, method)
    t, blocks = s.least_t(limbs, method), math.ceil((limbs + special) / block)
    # l and beta·a' to T, 2·beta~·a' back, 2·l of the result.
    assert s.counts["ntt"] + s.counts["intt"] == limbs + digits * t + 2 * blocks * t + 2 * limbs
    assert s.counts["dot_key"] == 2 * digits * blocks * t


def test_t_holds_its_sums() -> None:
    s = Switcher("bound", 16, 39, 7)
    for alpha, block in ((7, 7), (4, 6), (1, 1), (13, 2)):
        method = Klss(alpha, block)
        product = 1 << (36 * s.least_t(39, method))
        # Products of a digit and a block, N of them in a coefficient; alpha·beta sums of uncentred digits.
        least = (1 << (36 * (alpha + block))) * (2 << 16) * alpha * math.ceil(39 / alpha)
        assert least <= product < least << 36


def test_groups_cover_all_limbs_once() -> None:
    for limbs in range(1, 20):
        for size in range(1, 20):
            assert [i for group in groups(limbs, size) for i in group] == list(range(limbs))


def test_primes_are_primes() -> None:
    found = primes(20, 8, 12)
    assert found == sorted(found, reverse=True)
    sieve = [n for n in range(2, 1 << 20) if n % 512 == 1 and all(n % d for d in range(2, math.isqrt(n) + 1))]
    assert found == sieve[::-1][:12]
    with pytest.raises(ValueError, match=r"primes of 12 bits are 1 modulo 2\^11"):
        primes(12, 10, 5)


def test_a_bootstrapping_is_read_and_simulated() -> None:
    small = Shape(hybrid(2), log_n=12, limbs=12, special=2, radices=(1, 1), products=(1, 2))
    program = written(small)
    assert program.levels == 12 - 1 - 2 * 2 - 2
    facts = estimate_program(program.text, MachineSpec("file:taiyi"))
    scaled = program.counts["scale"]
    assert facts["counters"]["ntt_instructions"] == program.counts["ntt"] + program.counts["intt"]
    assert facts["counters"]["ip_used"] == program.counts["dot_key"] << 12
    # Scalings join the transform before them; each is read.
    assert scaled > 0
    with pytest.raises(MachineError, match="words have 28"):
        estimate_program(program.text, MachineSpec("file:craterlake"))


def test_the_papers_shape_has_its_levels() -> None:
    program = written(Shape(hybrid(7)))
    # Table V: 21 levels of 38 are spent.
    assert program.levels == 38 - 21
    # 12 maps: radices 8 and 4 have 15 and 7 diagonals, in 4 + 3 and 3 + 2 hoisted and single rotations.
    assert program.counts["automorphism"] > 0
