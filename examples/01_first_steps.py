"""Step 1: parameters, keys, encrypt, compute, decrypt."""

import numpy as np

import ringmill as rm

# Parameters by need: three products in a row, a scale of 40 bits, 128 bits of security.
params = rm.Params.by_need(depth=3, scale_bits=40, slots=8)
print(params)
print("because:", params.rationale)

# A rotation needs a key of its own; sums rotate by powers of two.
keys = rm.keygen(params, rotations=[1, 2, 4])
print(keys.secret)  # says what it is, never what it holds
print(keys.evaluation)

heights = np.array([1.62, 1.75, 1.80, 1.68, 1.91])
weights = np.array([58.0, 70.0, 82.5, 61.2, 95.1])
x = rm.encrypt(heights, keys, magnitude=2.5)  # a bound that everybody may know; 1 if none is given
print(x)

# Operators work as in NumPy. Plain numbers and arrays go with encrypted vectors.
# Numbers beyond 1 have a declared bound too: the server sees it, and not the number.
tall = rm.plain(1.75, magnitude=2)
metres_too_many = (x - tall) * (x - tall)
print(rm.decrypt(metres_too_many, keys), "instead of", (heights - 1.75) ** 2)

total = rm.encrypt(weights, keys, magnitude=128).sum()
print("mean weight:", rm.decrypt(total, keys)[0] / 5, "instead of", weights.mean())
assert abs(rm.decrypt(total, keys)[0] - weights.sum()) < 1e-5
