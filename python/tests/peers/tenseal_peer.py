"""A client and a checker on TenSEAL's `sealapi` (SEAL 4.3): run with the interpreter that has it.

`tenseal_peer.py client FOLDER N BITS SCALE_BITS STEPS` makes keys and writes what a client sends;
`tenseal_peer.py read FOLDER` decrypts `result.ct` with `secret.key` into `result.npy`;
`tenseal_peer.py fixed FOLDER N BITS SCALE_BITS SEED` encrypts at each level from a fixed seed;
`tenseal_peer.py made FOLDER N` computes with keys and ciphertexts that were made elsewhere.
"""

import json
import sys
from pathlib import Path

import numpy as np
import tenseal.sealapi as seal


def context(folder):
    parms = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
    parms.load(str(folder / "parms"))
    return seal.SEALContext(parms, True, seal.SEC_LEVEL_TYPE.NONE)


def client(folder, n, bits, scale_bits, steps):
    parms = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
    parms.set_poly_modulus_degree(n)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(n, bits))
    parms.save(str(folder / "parms"))
    ctx = context(folder)
    keygen = seal.KeyGenerator(ctx)
    secret, public = keygen.secret_key(), seal.PublicKey()
    secret.save(str(folder / "secret.key"))
    keygen.create_public_key(public)
    public.save(str(folder / "public.key"))
    # With seeds, and expanded.
    keygen.create_relin_keys().save(str(folder / "relin.keys"))
    elements = [pow(3, k % (n // 2), 2 * n) for k in steps] + [2 * n - 1]
    keygen.create_galois_keys(elements).save(str(folder / "galois.keys"))
    relin = seal.RelinKeys()
    relin.load(ctx, str(folder / "relin.keys"))
    relin.save(str(folder / "relin.full"))
    encoder, encryptor = seal.CKKSEncoder(ctx), seal.Encryptor(ctx, public, secret)
    rng = np.random.default_rng(5)
    for name in "xy":
        values = rng.uniform(-1, 1, n // 2) + 1j * rng.uniform(-1, 1, n // 2)
        values = values.real if name == "y" else values / np.sqrt(2)
        np.save(folder / f"{name}.npy", values)
        plain, cipher = seal.Plaintext(), seal.Ciphertext()
        encoder.encode([complex(v) for v in values], 2.0**scale_bits, plain)
        plain.save(str(folder / f"{name}.pt"))
        encryptor.encrypt(plain, cipher)
        cipher.save(str(folder / f"{name}.ct"))
        encryptor.encrypt_symmetric(plain).save(str(folder / f"{name}.seeded"))
        seeded = seal.Ciphertext()
        seeded.load(ctx, str(folder / f"{name}.seeded"))
        seeded.save(str(folder / f"{name}.full"))
    # A product that SEAL relinearises and rescales itself.
    evaluator, a, b = seal.Evaluator(ctx), seal.Ciphertext(), seal.Ciphertext()
    a.load(ctx, str(folder / "x.ct"))
    b.load(ctx, str(folder / "y.ct"))
    evaluator.multiply_inplace(a, b)
    evaluator.relinearize_inplace(a, relin)
    evaluator.rescale_to_next_inplace(a)
    a.save(str(folder / "xy.ct"))


def fixed(folder, n, bits, scale_bits, seed):
    """An encryption at each level, of a generator that every object begins anew."""
    parms = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
    parms.set_poly_modulus_degree(n)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(n, bits))
    parms.save(str(folder / "parms"))
    factory = seal.Blake2xbPRNGFactory(seed)
    parms.set_random_generator(factory)
    ctx = seal.SEALContext(parms, True, seal.SEC_LEVEL_TYPE.NONE)
    keygen, public = seal.KeyGenerator(ctx), seal.PublicKey()
    keygen.secret_key().save(str(folder / "secret.key"))
    keygen.create_public_key(public)
    public.save(str(folder / "public.key"))
    encoder, encryptor = seal.CKKSEncoder(ctx), seal.Encryptor(ctx, public)
    values = np.random.default_rng(6).uniform(-1, 1, n // 2)
    np.save(folder / "values.npy", values)
    data = ctx.first_context_data()
    for level in reversed(range(len(bits) - 1)):
        plain, cipher = seal.Plaintext(), seal.Ciphertext()
        encoder.encode([complex(v) for v in values], data.parms_id(), 2.0**scale_bits, plain)
        plain.save(str(folder / f"{level}.pt"))
        encryptor.encrypt(plain, cipher)
        cipher.save(str(folder / f"{level}.ct"))
        data = data.next_context_data()


def decrypt(ctx, secret, path):
    cipher, plain = seal.Ciphertext(), seal.Plaintext()
    cipher.load(ctx, str(path))
    seal.Decryptor(ctx, secret).decrypt(cipher, plain)
    return np.array(seal.CKKSEncoder(ctx).decode_complex(plain))


def secret_key(ctx, folder):
    secret = seal.SecretKey()
    secret.load(ctx, str(folder / "secret.key"))
    return secret


def read(folder):
    ctx = context(folder)
    np.save(folder / "result.npy", decrypt(ctx, secret_key(ctx, folder), folder / "result.ct"))


def made(folder, step):
    """A product, relinearised, rescaled and rotated, of which one factor is encrypted here."""
    ctx = context(folder)
    secret, public = secret_key(ctx, folder), seal.PublicKey()
    public.load(ctx, str(folder / "public.key"))
    relin, galois = seal.RelinKeys(), seal.GaloisKeys()
    relin.load(ctx, str(folder / "relin.keys"))
    galois.load(ctx, str(folder / "galois.keys"))
    a, b, plain = seal.Ciphertext(), seal.Ciphertext(), seal.Plaintext()
    a.load(ctx, str(folder / "a.ct"))
    plain.load(ctx, str(folder / "b.pt"))
    seal.Encryptor(ctx, public).encrypt(plain, b)
    evaluator = seal.Evaluator(ctx)
    evaluator.multiply_inplace(a, b)
    evaluator.relinearize_inplace(a, relin)
    evaluator.rescale_to_next_inplace(a)
    evaluator.rotate_vector_inplace(a, step, galois)
    a.save(str(folder / "result.ct"))
    np.save(folder / "result.npy", decrypt(ctx, secret, folder / "result.ct"))


if __name__ == "__main__":
    verb, folder, *rest = sys.argv[1:]
    {"client": client, "read": read, "made": made, "fixed": fixed}[verb](Path(folder), *map(json.loads, rest))
