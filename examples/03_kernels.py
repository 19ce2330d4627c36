"""Step 3: a Python function traced, compiled and run."""

import numpy as np

import ringmill as rm


@rm.kernel
def variance(x):
    """Variance of an encrypted vector."""
    with rm.region("mean"):
        centred = x - x.mean()
    with rm.region("squares"):
        return (centred * centred).mean()


data = np.random.default_rng(2).uniform(-1, 1, 1000)

# Tracing runs the function once on symbols. No values exist yet, so the program is the same for all data.
traced = variance.trace(rm.vector(1000))
print(traced)
print("\n".join(line for line in traced.text.splitlines() if not line.startswith("data")))

# Compiling chooses parameters from depth, wanted accuracy and the largest value that can appear.
compiled = variance.compile(rm.vector(1000), precision=20)
print(compiled)
print("because:", compiled.rationale)
print("cost:", compiled.cost)
print("predicted error:", compiled.predicted_error)

result = compiled.run(x=data)
print("variance:", result, "instead of", data.var())
assert abs(result - data.var()) < 2**-20

# What encrypted values cannot do is refused where it is written.
try:
    rm.kernel(lambda x: x if x > 0 else 0 * x).trace(rm.vector(4))
except rm.KernelError as error:
    print("refused:", error)
