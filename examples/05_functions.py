"""Step 5: a function that is no polynomial, on an interval."""

import numpy as np

import ringmill as rm

# Encrypted values know sums and products. The rest is a polynomial on the interval where the data lies.
# Say what error is allowed, and the least degree that keeps to it is taken.
for error in (1e-2, 1e-4, 1e-6):
    print(rm.approximate(np.tanh, (-3, 3), error=error))

tanh = rm.approximate(np.tanh, (-3, 3), error=1e-3)


@rm.kernel
def layer(x, w):
    """One neuron for every record."""
    return tanh(x @ w)


records = np.random.default_rng(4).uniform(-1, 1, (64, 4))
weights = np.array([0.5, -0.25, 1.0, 0.125])
compiled = layer.compile(rm.matrix(64, 4, packing="columns"), weights, precision=16)
print(
    f"degree {tanh.degree} in {compiled.plan.depth} levels: one for the product, one for the interval, "
    f"{tanh.unit_depth} for the rest"
)

got = compiled.run(x=records)
exact = np.tanh(records @ weights)
print("largest difference from tanh:", np.max(np.abs(got - exact)), "of which the polynomial's:", tanh.error)
assert np.max(np.abs(got - exact)) <= tanh.error + 2**-16

# At the prompt too: the function, and any kernel, is traced, compiled and run on an encrypted vector at once.
params = rm.Params.by_need(depth=7, scale_bits=40, slots=64)
keys = rm.keygen(params)
x = rm.encrypt(records @ weights, keys, magnitude=2)
y = tanh(x)
print("at the prompt:", y)
assert np.max(np.abs(rm.decrypt(y, keys) - exact)) <= tanh.error + 2.0**y.error_log2
