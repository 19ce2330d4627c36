"""Noise that hides the error of a result: of published decryptions, and of results that leave a server.

A published value is the message plus an error that depends on the secret key. Gaussian noise of deviation

    σ = √(12·τ) · 2^(λ/2) · ‖e‖

for τ published decryptions, with ‖e‖ a bound on the Euclidean norm of all errors of one, leaves an attacker
λ bits of statistical security beside the security of the scheme (Li, Micciancio, Schultz and Sorrell, CRYPTO
2022, section 4.4). docs/algorithms/error.md derives it.

Numbers are rounded to a grid of a power of two and noise is drawn on it as whole numbers, so that no digit of
a sum of floating-point numbers shows either.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill._checks.integers import whole
from ringmill._native import Ciphertext, PublicKey
from ringmill.errors import ParameterError, fail

# Decryptions of one key that are published, at most, and bits of statistical security.
MOST = 1 << 40
LEAST_BITS, BITS, MOST_BITS = 10, 30, 80
# log2 of how much finer the grid is than the mean error of a number: rounding adds this part to the norm.
GRID = 4
# The probability 2^−20 of predictions, log2.
PREDICTED = -20


def hold_reserve(error: float, bound: float, option: str) -> None:
    """Refuse noise that nothing of a result remains beside.

    Args:
        error: log2 of how far a number may be off with the noise.
        bound: on numbers.
        option: what asks for the noise.
    """
    if error > math.log2(bound):
        fail(
            ParameterError,
            "NoReserve",
            f"With noise for {option} a number may be off by 2^{error:.1f}, which is more than it can be. "
            f"Compile with {option}, which reserves the precision.",
            error_log2=error,
            bound=bound,
        )


def hold_count(flooding: Flooding | None, runs: int, option: str) -> None:
    """Refuse noise for fewer decryptions than a batch takes."""
    if flooding and flooding.decryptions < runs:
        fail(
            ParameterError,
            "Batch",
            f"These records take {runs} ciphertexts of each result, and {option}={flooding.decryptions} "
            f"counts fewer. Give {option}={runs} or more: all of them, together.",
            runs=runs,
            decryptions=flooding.decryptions,
        )


@dataclass(frozen=True, slots=True)
class Flooding:
    """For how many decryptions, and with how many bits of statistical security."""

    decryptions: int
    statistical: int = BITS

    @classmethod
    def of(cls, publish: object, statistical: object) -> Flooding:
        """Checked numbers.

        Raises
        ------
            ParameterError: numbers that are not possible.
        """
        what = "publish, the number of published decryptions,"
        return cls._of(what, publish, statistical)

    @classmethod
    def of_results(cls, sanitise: object, statistical: object) -> Flooding | None:
        """Checked numbers for results of one model that clients get; ``True`` is one result.

        Raises
        ------
            ParameterError: numbers that are not possible.
        """
        if isinstance(sanitise, bool):
            return cls._of("", 1, statistical) if sanitise else None
        return cls._of("sanitise, the number of results of one model,", sanitise, statistical)

    @classmethod
    def _of(cls, what: str, number: object, statistical: object) -> Flooding:
        count = whole(ParameterError, what, number, 1, MOST)
        bits = whole(ParameterError, "The bits of statistical security", statistical, LEAST_BITS, MOST_BITS)
        return cls(count, bits)

    @property
    def factor(self) -> float:
        """How much larger the deviation is than the norm of the error."""
        return float(math.sqrt(12.0 * self.decryptions) * 2.0 ** (self.statistical / 2))

    def deviation(self, norm: float) -> float:
        """The deviation of the noise of each number, for errors up to a Euclidean norm."""
        return self.factor * norm * (1 + 2.0**-GRID)

    def worst(self, count: int, failure: float = 2.0**PREDICTED) -> float:
        """How many deviations the largest of ``count`` numbers is away, but for a probability."""
        return math.sqrt(2.0 * math.log(2.0 * count / failure))

    def norm(self, errors: Mapping[str, float], counts: Mapping[str, int]) -> float:
        """A bound on the norm of all errors of one decryption that fails with probability 2^−λ at most.

        Args:
            errors: by ciphertext, a bound on the worst number's error that fails with probability 2^−20.
            counts: by ciphertext, the numbers that are published of it.
        """
        total = sum(counts[name] * errors[name] ** 2 for name in counts)
        most = max(counts.values(), default=1)
        # A bound on normal numbers that fails more seldom is larger by this, and other ones grow less.
        rarer = self.worst(most, 2.0**-self.statistical) / self.worst(most)
        return math.sqrt(total) * max(rarer, 1.0)

    def bits(self, counts: Mapping[str, int]) -> float:
        """log2 of what the worst published number errs by, for errors of 1 before."""
        deviation = self.deviation(self.norm(dict.fromkeys(counts, 1.0), counts))
        return math.log2(1.0 + deviation * self.worst(sum(counts.values())))

    def sanitising(self, log_n: int, count: int) -> float:
        """log2 of what the worst of ``count`` slots of a sanitised result errs by, for errors of 1 before."""
        return math.log2(1.0 + self.factor * 2.0 ** (log_n / 2) * self.worst(count))


def sanitised(
    results: Mapping[str, Ciphertext],
    public: PublicKey,
    flooding: Flooding,
    bounds: Mapping[str, float],
    *,
    job: bytes | None = None,
) -> dict[str, Ciphertext]:
    """Results plus fresh encryptions of zero, and noise that floods their errors.

    The coefficients of the error of a ciphertext of n slots, off by t at most, have a norm up to t·√(N/2n) in
    units of 1/scale, where coefficients that no slot counts err as much as the others.

    Args:
        results: the ciphertexts, by name.
        public: the public key of the secret key that they are under.
        flooding: for how many results of one model, and with how many bits.
        bounds: by name, the bound on a slot.
        job: the seed of all randomness, fresh for each job; for tests alone.
    """
    secret, out = os.urandom(32) if job is None else job, {}
    for name, cipher in results.items():
        n = 1 << cipher.params.log_n
        norm = 2.0 ** (cipher.scale_log2 + cipher.error_log2) * math.sqrt(n / (2 * cipher.slots))
        deviation = max(flooding.factor * norm, 1.0)
        for_noise, for_zero = _derived(secret, "noise of " + name), _derived(secret, "zero of " + name)
        # A coefficient is a mean of slots; 12 deviations are beyond any noise that is drawn.
        largest = 12.0 * deviation + bounds[name] * 2.0**cipher.scale_log2
        params = cipher.params
        modulus = math.prod(params.q[: params.limbs(cipher.level)])
        missing = math.log2(2.0 * largest) - math.log2(modulus)
        if missing > 0:
            fail(
                ParameterError,
                "NoRoom",
                f"The noise that hides the error of {name!r} exceeds its modulus by {missing:.0f} bits. "
                f"Compile with sanitise={flooding.decryptions}, which reserves the precision for it.",
                result=name,
            )
        out[name] = public.sanitise(cipher, gaussian(n, deviation, for_noise), deviation, for_zero)
    return out


def flood(
    slots: Mapping[str, NDArray[np.complex128]],
    flooding: Flooding,
    norm: float,
    *,
    real: bool,
    seed: bytes | None = None,
) -> dict[str, NDArray[np.complex128]]:
    """Decrypted slots plus noise, on a grid; imaginary parts of real ones are dropped.

    ``norm`` bounds the error of what is published of them. ``seed`` is for tests alone.
    """
    secret, deviation = os.urandom(32) if seed is None else seed, flooding.deviation(norm)
    count = sum(len(values) * (1 if real else 2) for values in slots.values())
    grid = 2.0 ** (math.floor(math.log2(norm / math.sqrt(count))) - GRID)
    out = {}
    for name, values in slots.items():
        parts = [values.real] if real else [values.real, values.imag]
        noise = gaussian(len(parts) * len(values), deviation / grid, _derived(secret, name))
        sums = [
            np.rint(part / grid) + own for part, own in zip(parts, np.split(noise, len(parts)), strict=True)
        ]
        out[name] = (sums[0] * grid + (0 if real else 1j * sums[1] * grid)).astype(np.complex128)
    return out


def gaussian(count: int, deviation: float, seed: bytes) -> NDArray[np.int64]:
    """Rounded normal numbers of a deviation, expanded from a seed of 32 bytes.

    Pairs by the transform of Box and Muller (1958) from 64 bits each: the tail is cut beyond 9.4 deviations,
    where it has a probability of 2^−67. Deviations are up to 2^48, so that rounding in binary64 is far finer
    than the whole numbers.
    """
    if not 0 < deviation <= 2.0**48:
        fail(
            ParameterError,
            "Deviation",
            f"Noise of deviation {deviation:.3g} cannot be drawn: 2^48 is the most. "
            "Publish fewer decryptions, or ask for fewer bits.",
            deviation=deviation,
        )
    pairs: int = (count + 1) // 2
    words = np.frombuffer(hashlib.shake_256(seed).digest(16 * pairs), dtype="<u8")
    # In (0, 1]: no logarithm of zero.
    uniform = (words[:pairs].astype(np.float64) + 1.0) * 2.0**-64
    angle = words[pairs:].astype(np.float64) * (2.0**-64 * 2.0 * np.pi)
    radius = deviation * np.sqrt(-2.0 * np.log(np.minimum(uniform, 1.0)))
    both = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    found: NDArray[np.int64] = np.rint(both[:count]).astype(np.int64)
    return found


def _derived(seed: bytes, name: str) -> bytes:
    """A seed of its own for each ciphertext."""
    return hashlib.blake2b(name.encode(), key=seed[:64], digest_size=32, person=b"rm flooding").digest()


def published(signature: Any) -> dict[str, int]:
    """Numbers that are published of each ciphertext of the results."""
    each = 1 if signature.real else 2
    return {
        part: each * math.prod(layout.shape) * max(signature.lanes, 1)
        for result in signature.outputs.values()
        for part, layout in zip(result.parts, result.layouts, strict=True)
    }
