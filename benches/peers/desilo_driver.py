"""DESILO through its wheel, one thread.

Its engines take a number of levels, and choose ring and primes themselves. The measured engine has the ring
degree and the number of levels of the set. It does not say what its primes and key-switch digits are.
"""

from __future__ import annotations

import importlib.metadata

import desilofhe
import numpy as np

from benches.peers.protocol import Works, close, serve
from benches.peers.sets import SETS


def prepare(which: str) -> Works:
    """Engine, keys and inputs of one set, and its works."""
    choice = SETS[which]
    slots = 1 << (choice.log_n - 1)
    engine = desilofhe.Engine(max_level=choice.limbs - 1, mode="cpu", thread_count=1)
    if engine.slot_count != slots:
        raise ValueError(f"an engine of {choice.limbs - 1} levels has {engine.slot_count} slots, not {slots}")
    secret = engine.create_secret_key()
    public = engine.create_public_key(secret)
    relin = engine.create_relinearization_key(secret)
    turn = engine.create_fixed_rotation_key(secret, 1)

    rng = np.random.default_rng(1)
    x, y = rng.uniform(-1, 1, slots), rng.uniform(-1, 1, slots)
    plain = engine.encode(x)
    a, b = engine.encrypt(plain, public), engine.encrypt(engine.encode(y), public)
    product = engine.multiply(a, b)
    close(engine.decrypt(engine.relinearize(product, relin), secret), x * y, 1e-4)
    close(engine.decrypt(engine.rotate(a, turn), secret), np.roll(x, -1), 1e-4)
    return {
        "mul_ct_ct": lambda: engine.multiply(a, b),
        "relin": lambda: engine.relinearize(product, relin),
        "mul_relin": lambda: engine.multiply(a, b, relin),
        "rotate": lambda: engine.rotate(a, turn),
        "encode": lambda: engine.encode(x),
        "decode": lambda: engine.decode(plain),
        "encrypt": lambda: engine.encrypt(plain, public),
    }


if __name__ == "__main__":
    serve(f"DESILO {importlib.metadata.version('desilofhe')}", prepare)
