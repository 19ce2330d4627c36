"""TenSEAL: SEAL behind a tensor interface. A product always relinearises there; rotation is not offered."""

from __future__ import annotations

import importlib.metadata

import numpy as np
import tenseal

from benches.peers.protocol import Works, close, serve
from benches.peers.sets import SETS


def prepare(which: str) -> Works:
    """Context, keys and inputs of one set, and its works."""
    choice = SETS[which]
    bits = [choice.first] + [choice.middle] * (choice.limbs - 1) + [choice.special]
    context = tenseal.context(
        tenseal.SCHEME_TYPE.CKKS, poly_modulus_degree=1 << choice.log_n, coeff_mod_bit_sizes=bits, n_threads=1
    )
    context.global_scale = 2.0**choice.log_scale
    context.auto_rescale = False
    context.auto_mod_switch = False
    slots = 1 << (choice.log_n - 1)
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-1, 1, slots), rng.uniform(-1, 1, slots)
    a, b = tenseal.ckks_vector(context, x), tenseal.ckks_vector(context, y)
    close((a * b).decrypt(), x * y, 1e-4)
    return {"mul_relin": lambda: a * b}


if __name__ == "__main__":
    serve(f"TenSEAL {importlib.metadata.version('tenseal')}", prepare)
