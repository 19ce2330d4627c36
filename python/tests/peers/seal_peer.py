"""A client on seal-python (SEAL 4.4, no compression): run by the tests with the interpreter that has it.

`seal_peer.py client FOLDER N BITS SCALE_BITS STEPS` makes keys and writes what a client sends;
`seal_peer.py read FOLDER` decrypts `result.ct` with `secret.key` into `result.npy`;
`seal_peer.py operations FOLDER STEPS` computes with the client's files: one file an operation.
"""

import json
import sys
from pathlib import Path

import numpy as np
import seal


def client(folder, n, bits, scale_bits, steps):
    parms = seal.EncryptionParameters(seal.scheme_type.ckks)
    parms.set_poly_modulus_degree(n)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(n, bits))
    parms.save(str(folder / "parms"))
    ctx = seal.SEALContext(parms, True, seal.sec_level_type.none)
    keygen = seal.KeyGenerator(ctx)
    secret = keygen.secret_key()
    secret.save(str(folder / "secret.key"))
    public = keygen.create_public_key()
    public.save(str(folder / "public.key"))
    keygen.create_relin_keys().save(str(folder / "relin.keys"))
    galois = seal.GaloisKeys()
    keygen.create_galois_keys(steps, galois)
    galois.save(str(folder / "galois.keys"))
    encoder, encryptor = seal.CKKSEncoder(ctx), seal.Encryptor(ctx, public)
    rng = np.random.default_rng(5)
    for name in "xy":
        values = rng.uniform(-1, 1, n // 2)
        np.save(folder / f"{name}.npy", values)
        encryptor.encrypt(encoder.encode(values, 2.0**scale_bits)).save(str(folder / f"{name}.ct"))


def context(folder):
    parms = seal.EncryptionParameters(seal.scheme_type.ckks)
    parms.load(str(folder / "parms"))
    return seal.SEALContext(parms, True, seal.sec_level_type.none)


def operations(folder, steps):
    ctx = context(folder)
    relin, galois, x, y = seal.RelinKeys(), seal.GaloisKeys(), seal.Ciphertext(), seal.Ciphertext()
    for value, name in ((relin, "relin.keys"), (galois, "galois.keys"), (x, "x.ct"), (y, "y.ct")):
        value.load(ctx, str(folder / name))
    evaluator, results = seal.Evaluator(ctx), {}
    results["tensor"] = evaluator.multiply(x, y)
    results["relinearised"] = evaluator.relinearize(results["tensor"], relin)
    product = results["product"] = evaluator.rescale_to_next(results["relinearised"])
    results["square"] = evaluator.rescale_to_next(evaluator.relinearize(evaluator.square(product), relin))
    results["conjugate"] = evaluator.complex_conjugate(x, galois)
    for step in steps:
        results[f"rotated {step}"] = evaluator.rotate_vector(x, step, galois)
        # One level down keys have more digits than the ciphertext has primes.
        results[f"rotated {step} below"] = evaluator.rotate_vector(product, step, galois)
    # As a kernel does it: at the lowest level that has a product.
    low = evaluator.multiply(evaluator.mod_switch_to_next(x), evaluator.mod_switch_to_next(y))
    low = evaluator.rescale_to_next(evaluator.relinearize(low, relin))
    results["kernel"] = evaluator.rotate_vector(low, steps[0], galois)
    for name, result in results.items():
        result.save(str(folder / f"{name}.ct"))


def read(folder):
    ctx = context(folder)
    secret, cipher = seal.SecretKey(), seal.Ciphertext()
    secret.load(ctx, str(folder / "secret.key"))
    cipher.load(ctx, str(folder / "result.ct"))
    np.save(folder / "result.npy", seal.CKKSEncoder(ctx).decode(seal.Decryptor(ctx, secret).decrypt(cipher)))


if __name__ == "__main__":
    verb, folder, *rest = sys.argv[1:]
    {"client": client, "read": read, "operations": operations}[verb](Path(folder), *map(json.loads, rest))
