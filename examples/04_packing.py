"""Step 4: the same product packed in two ways, and what each costs."""

import numpy as np

import ringmill as rm

records = np.random.default_rng(3).uniform(-1, 1, (100, 10))
weights = np.linspace(-1, 1, 10)

score = rm.kernel(lambda x, w: x @ w)

# One ciphertext for the whole matrix: little to send, but sums along rows need rotations and their keys.
flat = score.compile(rm.matrix(100, 10), weights, precision=16)
# One ciphertext a column: ten to send, no rotation, no key at all.
columns = score.compile(rm.matrix(100, 10, packing="columns"), weights, precision=16)

for name, compiled in (("in slots", flat), ("by columns", columns)):
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys.secret, x=records)
    got = compiled.decrypt(keys, compiled.evaluate(keys, arguments))
    print(
        f"{name:10}  {len(arguments.parts):2} ciphertexts, {len(arguments.to_bytes()):8} bytes, "
        f"{compiled.cost['key_switches']} key switches, keys: {compiled.keys_needed}"
    )
    assert np.allclose(got, records @ weights, atol=2**-14)
