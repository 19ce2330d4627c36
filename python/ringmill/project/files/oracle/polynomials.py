"""Polynomials modulo a prime in Python's integers, and numbers as C takes them, for oracles of engines."""

from __future__ import annotations

from ctypes import Array, c_uint64
from itertools import count

Words = list[int]


def root_of(q: int, n: int) -> int:
    """A primitive root of order 2 n."""
    return next(r for x in count(2) if pow(r := pow(x, (q - 1) // (2 * n), q), n, q) == q - 1)


def values(a: Words, q: int, psi: int) -> Words:
    """The values at psi^(2 brv(k) + 1): remainders modulo x^h - r and x^h + r, again and again."""
    a, n = [x % q for x in a], len(a)
    blocks, size = [n], n  # x^size = psi^(exponent) in each block
    while size > 1:
        half = size // 2
        nexts: Words = []
        for at, exponent in enumerate(blocks):
            r, base = pow(psi, exponent // 2, q), at * size
            for i in range(base, base + half):
                t = a[i + half] * r
                a[i], a[i + half] = (a[i] + t) % q, (a[i] - t) % q
            nexts += [exponent // 2, exponent // 2 + n]
        blocks, size = nexts, half
    return a


def coefficients(a: Words, q: int, psi: int) -> Words:
    """The way back."""
    a, n = list(a), len(a)
    exponents = [n]
    levels: list[Words] = []
    while len(exponents) < n:
        levels.append(exponents)
        exponents = [y for x in exponents for y in (x // 2, x // 2 + n)]
    for blocks in reversed(levels):
        size = n // len(blocks)
        half = size // 2
        for at, exponent in enumerate(blocks):
            r, base = pow(psi, 2 * n - exponent // 2, q), at * size
            for i in range(base, base + half):
                x, y = a[i], a[i + half]
                a[i], a[i + half] = (x + y) % q, (x - y) * r % q
    by = pow(n, -1, q)
    return [x * by % q for x in a]


def words(numbers: Words) -> Array[c_uint64]:
    """Numbers as an array of C."""
    return (c_uint64 * len(numbers))(*numbers)
