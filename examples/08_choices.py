"""Step 8: comparing, dividing and normalising what nobody can see."""

import numpy as np

import ringmill as rm
from ringmill.kernels import Compare, Inverse, SquareRoot

# Each function is made for a range and an error; what it costs follows.
greater = Compare(gap=0.1, error=1e-2)
inverse = Inverse((0.5, 4.0), error=1e-4)
for function in (greater, inverse, SquareRoot(error=0.05)):
    print(function)


@rm.kernel
def larger(a, b):
    """The larger of two numbers, for every pair: b + (a − b)·[a > b]."""
    return b + (a - b) * greater(a, b)


@rm.kernel
def ratio(a, b):
    """Share of the first in the sum of both."""
    return a * inverse(a + b)


random = np.random.default_rng(8)
a, b = random.uniform(0, 1, 64), random.uniform(0, 1, 64)
compiled = larger.compile(rm.vector(64), rm.vector(64), precision=12)
print(f"larger: {compiled.plan.depth} levels, {compiled.params!r}")
got = compiled.run(a=a, b=b)
# Where both are nearly equal either is right within the gap.
print("largest difference from numpy.maximum:", np.max(np.abs(got - np.maximum(a, b))))
assert np.max(np.abs(got - np.maximum(a, b))) < 0.05

a, b = random.uniform(0.3, 2, 64), random.uniform(0.3, 2, 64)
compiled = ratio.compile(rm.vector(64), rm.vector(64), precision=14, magnitude=2)
print(f"ratio: {compiled.plan.depth} levels")
got = compiled.run(a=a, b=b)
assert np.max(np.abs(got - a / (a + b))) < 2 * inverse.error + 2**-13
print("largest difference from a / (a + b):", np.max(np.abs(got - a / (a + b))))
