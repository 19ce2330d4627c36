"""A client on seal-python (SEAL 4.4, no compression): run by the tests with the interpreter that has it.

`seal_peer.py client FOLDER N BITS SCALE_BITS STEPS` makes keys and writes what a client sends;
`seal_peer.py read FOLDER` decrypts `result.ct` with `secret.key` into `result.npy`.
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


def read(folder):
    parms = seal.EncryptionParameters(seal.scheme_type.ckks)
    parms.load(str(folder / "parms"))
    ctx = seal.SEALContext(parms, True, seal.sec_level_type.none)
    secret, cipher = seal.SecretKey(), seal.Ciphertext()
    secret.load(ctx, str(folder / "secret.key"))
    cipher.load(ctx, str(folder / "result.ct"))
    np.save(folder / "result.npy", seal.CKKSEncoder(ctx).decode(seal.Decryptor(ctx, secret).decrypt(cipher)))


if __name__ == "__main__":
    verb, folder, *rest = sys.argv[1:]
    {"client": client, "read": read}[verb](Path(folder), *map(json.loads, rest))
