"""Bootstrapping by OpenFHE through its wheel: ``openfhe_boot_driver B [first]``.

B is the level budget of both transforms. With ``first`` slots go to coefficients before the modulus is
raised, which is its faster order. The levels of that transform are then at the bottom of the chain: a
ciphertext enters with them.

The ring, the levels left and the security are those of our side. Beyond that it has its best settings: hybrid
key switching, the encapsulated sparse secret, and the widest primes that 128 bits allow with six digits at
most. Primes of 59 bits take more than twelve digits and more than 15 GB of keys.
"""

from __future__ import annotations

import functools
import importlib.metadata
import itertools
import sys

import numpy as np
import openfhe

from benches.peers.protocol import Facts, Works, serve

LEVELS = 9
LOG_N = 16
DIGITS = 6
FIRST_BITS = 60


def context_of(budget: int, first: bool, slots: int) -> tuple[openfhe.CryptoContext, int, int]:
    """Return a context of the widest primes and, with them, the fewest digits; its depth; and their bits."""
    dist = openfhe.SecretKeyDist.SPARSE_ENCAPSULATED
    # In that order the levels of the first transform are left by one bootstrapping and taken by the next.
    taken = [budget, 0] if first else [budget, budget]
    depth = LEVELS + budget * first + openfhe.CryptoContext.GetBootstrapDepth(taken, dist)
    refused: Exception = ValueError("no primes to choose from")
    for bits, digits in itertools.product(range(59, 49, -1), range(2, DIGITS + 1)):
        parameters = openfhe.CCParamsCKKSRNS()
        parameters.SetSecretKeyDist(dist)
        parameters.SetSecurityLevel(openfhe.SecurityLevel.HEStd_128_classic)
        parameters.SetRingDim(1 << LOG_N)
        parameters.SetBatchSize(slots)
        parameters.SetMultiplicativeDepth(depth)
        parameters.SetFirstModSize(FIRST_BITS)
        parameters.SetScalingModSize(bits)
        parameters.SetScalingTechnique(openfhe.ScalingTechnique.FLEXIBLEAUTO)
        parameters.SetKeySwitchTechnique(openfhe.KeySwitchTechnique.HYBRID)
        parameters.SetNumLargeDigits(digits)
        try:
            return openfhe.GenCryptoContext(parameters), depth, bits
        except RuntimeError as error:
            refused = error
    raise refused


def prepare(budget: int, first: bool, which: str) -> tuple[Works, Facts]:
    """Works on an exhausted ciphertext, and facts of a run: ``full/2^16``, ``full-real/2^16``, ``2^8/2^16``.

    Messages are real numbers whatever ours are.
    """
    packed, _, ring = which.partition("/")
    packed = packed.removesuffix("-real")
    if ring != f"2^{LOG_N}":
        raise KeyError(which)
    slots = 1 << (LOG_N - 1 if packed == "full" else int(packed.removeprefix("2^")))
    context, depth, bits = context_of(budget, first, slots)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE", "ADVANCEDSHE", "FHE"):
        context.Enable(getattr(openfhe.PKESchemeFeature, feature))
    # Messages are made smaller by 2^correction. The peer's own choice (0) is refused where the base prime is
    # wider than the scale by more bits than that: below 53 bits it is set here.
    correction = 0 if bits > FIRST_BITS - 8 else FIRST_BITS - bits + 1
    context.EvalBootstrapSetup([budget, budget], [0, 0], slots, correction, True, first)
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    context.EvalBootstrapKeyGen(keys.secretKey, slots)

    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, slots)
    below = budget if first else 0
    plain = context.MakeCKKSPackedPlaintext(x.tolist(), 1, depth - 1 - below, None, slots)
    cipher = context.Encrypt(keys.publicKey, plain)

    fresh = context.EvalBootstrap(cipher)
    result = context.Decrypt(fresh, keys.secretKey)
    result.SetLength(slots)
    worst = np.max(np.abs(np.asarray(result.GetRealPackedValue()) - x))
    left = depth - below - fresh.GetLevel() - (fresh.GetNoiseScaleDeg() - 1)
    facts: Facts = {"bits": float(-np.log2(worst)), "levels_left": int(left)}
    return {"boot": lambda: context.EvalBootstrap(cipher)}, facts


if __name__ == "__main__":
    budget, first = int(sys.argv[1]), "first" in sys.argv[2:]
    order = "-first" if first else ""
    name = f"OpenFHE wheel {importlib.metadata.version('openfhe')}, {budget}-{budget}{order}"
    serve(name, functools.partial(prepare, budget, first))
