"""Step 23: functions of whole numbers by tables, looked up while a value is bootstrapped."""

import numpy as np

import ringmill as rm

# A ring that protects nothing, to see it done in a moment. Without insecure and log_n it takes one that does.
params = rm.Params.bootstrapping(levels=6, bits=16, log_n=11, slots=64, insecure=True)

# Grades from 0 to 15 become points by a table that no polynomial of low degree comes near.
points = np.array([0, 0, 0, 0, 1, 1, 2, 3, 5, 8, 8, 8, 13, 13, 13, 21]) / 21


@rm.kernel
def judged(a, b):
    """Points for a, and who of both is better: 1, 0 or -1."""
    better = rm.lookup(a - b, np.sign(np.arange(-15, 16)), first=-15)
    return rm.lookup(a, points), better


spec = rm.vector(64, low=0, high=15)
compiled = judged.compile(spec, spec, params=params)
print(*compiled.bootstraps, sep="\n")

rng = np.random.default_rng(23)
a, b = rng.integers(0, 16, (2, 64)).astype(float)
keys = compiled.keygen()
results = compiled.evaluate(keys, compiled.encrypt(keys, a=a, b=b))

# On clear data the kernel is NumPy's look-up. The predicted error holds, and no entry is another one.
expected = judged(a, b)
np.testing.assert_array_equal(expected[0], points[a.astype(int)])
for name, error in compiled.measure_error(keys, results, expected).items():
    print(
        f"{name}: error at most 2^{error.predicted_log2:.1f} predicted, 2^{error.measured_log2:.1f} measured"
    )
    assert error.holds
_, better = compiled.decrypt(keys, results)
assert np.array_equal(np.round(better), np.sign(a - b))

# A table of whole numbers takes noise out: of numbers that are 0.05 off, 3.3 times the square is left.
keys = rm.keygen(params, **rm.bootstrap_keys(params, 64))
noisy = np.resize(np.arange(4.0), 64) + 0.05
low = rm.encrypt(noisy, keys, level=params.bootstraps["start"], magnitude=4)
clean = low.lookup(np.arange(4), noise=0.05)
print(f"0.05 from whole numbers before, {np.abs(rm.decrypt(clean, keys) - np.round(noisy)).max():.4f} after")
