"""Primes, for what is read and laid out in Python."""

from __future__ import annotations


def is_prime(number: int) -> bool:
    """Whether a number is a prime.

    By Miller and Rabin; these bases decide up to 3.3·10^24 (Sorenson and Webster, 2017).
    """
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if any(number % base == 0 for base in bases):
        return number in bases
    twos = ((number - 1) & (1 - number)).bit_length() - 1

    def passes(base: int) -> bool:
        x = pow(base, (number - 1) >> twos, number)
        return x == 1 or any(pow(x, 1 << i, number) == number - 1 for i in range(twos))

    return all(passes(base) for base in bases)
