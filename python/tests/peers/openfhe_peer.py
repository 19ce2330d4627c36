"""A client and a checker on OpenFHE: run by the tests with the interpreter that has it.

`openfhe_peer.py client FOLDER SPEC STEPS` makes keys and writes what a client sends, in both forms;
`openfhe_peer.py read FOLDER SLOTS` decrypts `result.ct` with `secret.key` into `result.npy`;
`openfhe_peer.py made FOLDER STEP SLOTS` computes with keys and ciphertexts that were made elsewhere.

`openfhe_peer.py operations FOLDER SPEC STEPS` is `client`, and computes: one file an operation.
"""

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import openfhe as fhe

FORMS = {"json": fhe.JSON, "binary": fhe.BINARY}


def client(folder, spec, steps, operations=False):
    parameters = fhe.CCParamsCKKSRNS()
    parameters.SetSecurityLevel(fhe.HEStd_NotSet)
    parameters.SetRingDim(spec["n"])
    parameters.SetMultiplicativeDepth(spec["depth"])
    parameters.SetScalingModSize(spec["scale_bits"])
    parameters.SetFirstModSize(spec["first_bits"])
    parameters.SetScalingTechnique(getattr(fhe, spec["scaling"]))
    parameters.SetNumLargeDigits(spec["digits"])
    parameters.SetBatchSize(spec["slots"])
    parameters.SetKeySwitchTechnique(getattr(fhe, spec.get("switching", "HYBRID")))
    cc = fhe.GenCryptoContext(parameters)
    for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE):
        cc.Enable(feature)
    keys = cc.KeyGen()
    cc.EvalMultKeyGen(keys.secretKey)
    cc.EvalRotateKeyGen(keys.secretKey, steps)
    rng = np.random.default_rng(5)
    for name in "xy":
        values = rng.uniform(-1, 1, spec["slots"])
        np.save(folder / f"{name}.npy", values)
        cipher = cc.Encrypt(keys.publicKey, cc.MakeCKKSPackedPlaintext(list(values)))
        for form, kind in FORMS.items():
            fhe.SerializeToFile(str(folder / f"{name}.{form}"), cipher, kind)
        if name == "x":
            first = cipher
    if operations:
        computed(folder, cc, keys.secretKey, (first, cipher), steps)
    product = cc.EvalMult(first, cipher)
    if spec["scaling"] == "FIXEDMANUAL":
        product = cc.Rescale(product)
    for form, kind in FORMS.items():
        fhe.SerializeToFile(str(folder / f"xy.{form}"), product, kind)
        fhe.SerializeToFile(str(folder / f"context.{form}"), cc, kind)
        fhe.SerializeToFile(str(folder / f"public.{form}"), keys.publicKey, kind)
        fhe.SerializeToFile(str(folder / f"secret.{form}"), keys.secretKey, kind)
        assert cc.SerializeEvalMultKey(str(folder / f"mult.{form}"), kind, "")
        assert cc.SerializeEvalAutomorphismKey(str(folder / f"automorphism.{form}"), kind, "")


def computed(folder, cc, secret, factors, steps):
    x, y = factors
    # Conjugation has no operation of its own: its automorphism gets a key beside those of rotations.
    conjugation, tag = 2 * cc.GetRingDimension() - 1, secret.GetKeyTag()
    fhe.CryptoContext.InsertEvalAutomorphismKey(cc.EvalAutomorphismKeyGen(secret, [conjugation]), tag)
    automorphisms = cc.GetEvalAutomorphismKeyMap(tag)
    results = {"tensor": cc.EvalMultNoRelin(x, y), "relinearised": cc.EvalMult(x, y)}
    product = results["product"] = cc.Rescale(results["relinearised"])
    results["square"] = cc.Rescale(cc.EvalSquare(product))
    results["conjugate"] = cc.EvalAutomorphism(x, conjugation, automorphisms)
    for step in steps:
        results[f"rotated {step}"] = cc.EvalRotate(x, step)
        results[f"rotated {step} below"] = cc.EvalRotate(product, step)
    for name, result in results.items():
        fhe.SerializeToFile(str(folder / f"{name}.ct"), result, fhe.BINARY)


def loaded(read, path):
    """The object of a file, in the form that its first byte shows."""
    form = fhe.JSON if path.read_bytes()[:1] == b"{" else fhe.BINARY
    found, right = read(str(path), form)
    assert right, path
    return found


def decrypted(cc, secret, cipher, slots):
    plain = cc.Decrypt(cipher, secret)
    plain.SetLength(slots)
    return np.array(plain.GetRealPackedValue())


def read(folder, slots):
    secret = loaded(fhe.DeserializePrivateKey, folder / "secret.key")
    cipher = loaded(fhe.DeserializeCiphertext, folder / "result.ct")
    cc = cipher.GetCryptoContext()
    np.save(folder / "result.npy", decrypted(cc, secret, cipher, slots))


def made(folder, step, slots):
    """The product of two ciphertexts, rescaled and rotated, one of them encrypted here by the public key."""
    cc = loaded(fhe.DeserializeCryptoContext, folder / "context")
    for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE):
        cc.Enable(feature)
    secret = loaded(fhe.DeserializePrivateKey, folder / "secret.key")
    public = loaded(fhe.DeserializePublicKey, folder / "public.key")
    for name, load in (
        ("mult", cc.DeserializeEvalMultKey),
        ("automorphism", cc.DeserializeEvalAutomorphismKey),
    ):
        path = folder / f"{name}.keys"
        form = fhe.JSON if path.read_bytes()[:1] == b"{" else fhe.BINARY
        assert load(str(path), form), path
    a = loaded(fhe.DeserializeCiphertext, folder / "a.ct")
    b = cc.Encrypt(public, cc.MakeCKKSPackedPlaintext(list(np.load(folder / "b.npy"))))
    result = cc.EvalRotate(cc.Rescale(cc.EvalMult(a, b)), step)
    fhe.SerializeToFile(str(folder / "result.ct"), result, fhe.BINARY)
    np.save(folder / "result.npy", decrypted(cc, secret, result, slots))


if __name__ == "__main__":
    verb, folder, *rest = sys.argv[1:]
    verbs = {"client": client, "read": read, "made": made, "operations": partial(client, operations=True)}
    verbs[verb](Path(folder), *map(json.loads, rest))
