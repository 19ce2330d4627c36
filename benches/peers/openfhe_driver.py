"""OpenFHE through its wheel: hybrid key switching at the dnum of the set, one thread."""

from __future__ import annotations

import importlib.metadata

import numpy as np
import openfhe

from benches.peers.protocol import Works, close, serve
from benches.peers.sets import SETS


def prepare(which: str) -> Works:
    """Context, keys and inputs of one set, and its works."""
    choice = SETS[which]
    parameters = openfhe.CCParamsCKKSRNS()
    parameters.SetRingDim(1 << choice.log_n)
    parameters.SetBatchSize(1 << (choice.log_n - 1))
    parameters.SetMultiplicativeDepth(choice.limbs - 1)
    parameters.SetFirstModSize(choice.first)
    parameters.SetScalingModSize(choice.middle)
    parameters.SetScalingTechnique(openfhe.ScalingTechnique.FIXEDMANUAL)
    parameters.SetKeySwitchTechnique(openfhe.KeySwitchTechnique.HYBRID)
    parameters.SetNumLargeDigits(choice.dnum)
    # It chooses special primes of 60 bits: sets III and V50 then exceed its 128-bit table by some bits.
    parameters.SetSecurityLevel(openfhe.SecurityLevel.HEStd_NotSet)
    context = openfhe.GenCryptoContext(parameters)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE"):
        context.Enable(getattr(openfhe.PKESchemeFeature, feature))
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    context.EvalRotateKeyGen(keys.secretKey, [1])

    slots = 1 << (choice.log_n - 1)
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-1, 1, slots).tolist(), rng.uniform(-1, 1, slots).tolist()
    plain = context.MakeCKKSPackedPlaintext(x)
    a = context.Encrypt(keys.publicKey, plain)
    b = context.Encrypt(keys.publicKey, context.MakeCKKSPackedPlaintext(y))
    product = context.EvalMultNoRelin(a, b)
    switched = context.Relinearize(product)

    def decrypted(value: object) -> list[float]:
        result = context.Decrypt(value, keys.secretKey)
        result.SetLength(slots)
        return result.GetRealPackedValue()

    close(decrypted(switched), np.multiply(x, y), 1e-4)
    close(decrypted(context.EvalRotate(a, 1)), np.roll(x, -1), 1e-4)

    def keygen() -> object:
        fresh = context.KeyGen()
        context.EvalMultKeyGen(fresh.secretKey)
        return fresh

    return {
        "relin": lambda: context.Relinearize(product),
        "rotate": lambda: context.EvalRotate(a, 1),
        "rescale": lambda: context.Rescale(switched),
        "mul_ct_ct": lambda: context.EvalMultNoRelin(a, b),
        "mul_relin": lambda: context.EvalMult(a, b),
        "encode": lambda: context.MakeCKKSPackedPlaintext(x),
        "encrypt": lambda: context.Encrypt(keys.publicKey, plain),
        "keygen": keygen,
    }


if __name__ == "__main__":
    serve(f"OpenFHE wheel {importlib.metadata.version('openfhe')}", prepare)
