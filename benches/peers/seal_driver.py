"""Microsoft SEAL through its wheel: one special prime, so dnum equals the number of limbs."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Callable

import numpy as np
import seal

from benches.peers.protocol import Works, close, serve
from benches.peers.sets import SETS


def prepare(which: str) -> Works:
    """Context, keys and inputs of one set, and its works."""
    choice = SETS[which]
    parameters = seal.EncryptionParameters(seal.scheme_type.ckks)
    parameters.set_poly_modulus_degree(1 << choice.log_n)
    bits = [choice.first] + [choice.middle] * (choice.limbs - 1) + [choice.special]
    parameters.set_coeff_modulus(seal.CoeffModulus.Create(1 << choice.log_n, bits))
    # SEAL's table of secure sizes ends at 2^15: without this it refuses N = 2^16 at any modulus.
    level = seal.sec_level_type.tc128 if choice.log_n <= 14 else seal.sec_level_type.none
    context = seal.SEALContext(parameters, True, level)
    if not context.parameters_set():
        raise ValueError(context.parameter_error_message())

    generator = seal.KeyGenerator(context)
    relin = generator.create_relin_keys()
    galois = seal.GaloisKeys()
    generator.create_galois_keys([1], galois)
    public = generator.create_public_key()
    encryptor = seal.Encryptor(context, public)
    decryptor = seal.Decryptor(context, generator.secret_key())
    encoder = seal.CKKSEncoder(context)
    evaluator = seal.Evaluator(context)

    scale = 2.0**choice.log_scale
    slots = 1 << (choice.log_n - 1)
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-1, 1, slots), rng.uniform(-1, 1, slots)
    plain = encoder.encode(x, scale)
    a, b = encryptor.encrypt(plain), encryptor.encrypt(encoder.encode(y, scale))
    product = evaluator.multiply(a, b)
    switched = evaluator.relinearize(product, relin)
    close(encoder.decode(decryptor.decrypt(switched)), x * y, 1e-4)
    close(encoder.decode(decryptor.decrypt(evaluator.rotate_vector(a, 1, galois))), np.roll(x, -1), 1e-4)

    @functools.cache
    def matvec256() -> Callable[[], object]:
        """A plaintext matrix times a vector that fills the slots by repetition: 16 baby and 16 giant steps.

        The best that SEAL offers, which does not share a decomposition among rotations.
        """
        size, width = 256, 16
        row, column = np.arange(size)[:, None], np.arange(size)
        matrix = np.sin(2 * np.pi * (row * row + 3 * column) / size) / size
        x = np.cos(column * 0.37)
        keys = seal.GaloisKeys()
        generator.create_galois_keys([*range(1, width), *range(width, size, width)], keys)
        repeated = slots // size

        def diagonal(giant: int, baby: int) -> object:
            values = matrix[column, (column + giant + baby) % size]
            return encoder.encode(np.tile(np.roll(values, giant), repeated), scale)

        diagonals = [[diagonal(g, b) for b in range(width)] for g in range(0, size, width)]
        fresh = encryptor.encrypt(encoder.encode(np.tile(x, repeated), scale))

        def product() -> object:
            babies = [fresh, *(evaluator.rotate_vector(fresh, b, keys) for b in range(1, width))]
            total = None
            for g, row_of in enumerate(diagonals):
                terms = [evaluator.multiply_plain(a, d) for a, d in zip(babies, row_of, strict=True)]
                inner = evaluator.add_many(terms)
                moved = evaluator.rotate_vector(inner, g * width, keys) if g else inner
                total = moved if total is None else evaluator.add(total, moved)
            return evaluator.rescale_to_next(total)

        close(encoder.decode(decryptor.decrypt(product()))[:size], matrix @ x, 1e-4)
        return product

    def keygen() -> object:
        fresh = seal.KeyGenerator(context)
        return fresh, fresh.create_public_key(), fresh.create_relin_keys()

    return {
        "relin": lambda: evaluator.relinearize(product, relin),
        "rotate": lambda: evaluator.rotate_vector(a, 1, galois),
        "rescale": lambda: evaluator.rescale_to_next(switched),
        "mul_ct_ct": lambda: evaluator.multiply(a, b),
        "mul_relin": lambda: evaluator.relinearize(evaluator.multiply(a, b), relin),
        "encode": lambda: encoder.encode(x, scale),
        "decode": lambda: encoder.decode(plain),
        "encrypt": lambda: encryptor.encrypt(plain),
        "keygen": keygen,
        "matvec256": lambda: matvec256()(),
    }


if __name__ == "__main__":
    serve(f"SEAL wheel {importlib.metadata.version('seal-python')}", prepare)
