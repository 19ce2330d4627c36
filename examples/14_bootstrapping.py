"""Step 14: a program without end to its depth: bootstrapping, placed by the compiler."""

from sklearn.datasets import load_breast_cancer

import ringmill as rm

STEPS, RATE = 24, 0.1


@rm.kernel
def grown(x, rate, steps):
    """Growth that slows down towards 1, step by step (Verhulst): x + rate · x · (1 − x)."""
    for _ in range(steps):
        # Interval arithmetic would let x grow beyond 1, and further with every step. We know better.
        x = rm.within(x * ((1 + rate) - rate * x), 1)
    return x


# The areas of 64 tumours, as parts of what they could grow to.
areas = load_breast_cancer().data[:64, 3]
x = areas / (1.25 * areas.max())

# Each step takes two levels, and no ring has levels for 24. So the compiler chooses parameters whose chain
# has levels to bootstrap: it turns a ciphertext without levels into one that has some, without decrypting it.
secure = grown.compile(rm.vector(64), RATE, STEPS, precision=10)
print(secure.params)
print(secure.rationale)


def describe(compiled):
    """Where it bootstraps and why; what that takes."""
    for place in compiled.bootstraps:
        print(" ", place)
    rotations = len(compiled.plan.rotations)
    print(f"  keys: relinearisation, conjugation, encapsulation and {rotations} rotations, ", end="")
    print(f"{compiled.plan.key_bytes / 1e6:.0f} MB; {compiled.work()['seconds']:.1f} s on one core predicted")


describe(secure)

# That would run here too, given memory for such keys. To see it done in a moment we take a ring of 2^11
# instead of 2^16: it computes the same, and keeps nothing secret. Hence the word.
params = rm.Params.bootstrapping(levels=8, log_n=11, slots=64, insecure=True)
small = grown.compile(rm.vector(64), RATE, STEPS, params=params)
print(f"{params}, precise to {params.bootstraps['bits']} bits after each bootstrapping")
describe(small)

keys = small.keygen()
arguments = small.encrypt(keys, x=x)
results = small.evaluate(keys, arguments, progress="lines")

# A bootstrapping errs more than any product. The error is known beforehand, and holds.
expected = grown(x, RATE, STEPS)
error = small.measure_error(keys, results, expected)["out"]
print(f"{x.mean():.3f} of full size before, {small.decrypt(keys, results).mean():.3f} after {STEPS} steps")
print(f"error at most 2^{error.predicted_log2:.1f} predicted, 2^{error.measured_log2:.1f} measured")
assert error.holds
assert error.measured_log2 < -18

# The same at the prompt, where you say when. What is left of the levels is in the repr.
keys = rm.keygen(params, **rm.bootstrap_keys(params, 64))
low = rm.encrypt(x, keys, level=params.bootstraps["start"], magnitude=1)
print(low)
print(low.bootstrap())
