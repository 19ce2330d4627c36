"""Step 2: what a product costs, and how the error is known before it is measured."""

import numpy as np

import ringmill as rm

params = rm.Params.by_need(depth=4, scale_bits=40, slots=1024)
keys = rm.keygen(params)
values = np.random.default_rng(1).uniform(-1, 1, 1024)
x = rm.encrypt(values, keys)

print("level  predicted error   measured error")
power, exact = x, values
for _ in range(params.max_level):
    power, exact = power * power, exact * exact
    measured = np.log2(np.max(np.abs(rm.decrypt(power, keys) - exact)))
    print(f"{power.level:5}  2^{power.error_log2:6.1f}          2^{measured:6.1f}")
    assert measured <= power.error_log2  # the prediction is a bound on the worst of all elements

# Every product takes a level. When none is left, the next one is refused with a sentence, not with garbage.
try:
    power * power
except rm.LevelError as error:
    print("refused:", error)

# Operands of different levels are brought together exactly, whatever their scales.
mixed = x * x * x + x
print(mixed)
assert np.allclose(rm.decrypt(mixed, keys), values**3 + values, atol=1e-6)
