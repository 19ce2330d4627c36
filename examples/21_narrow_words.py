"""Step 21: the same kernel on cores whose words are narrower than its scale.

Thirty bits of precision take a scale near 2^45. A core with words of 60 bits has one prime a level. One of 36
bits has two, half as wide, and a rescale divides by both at once. Narrow multipliers are far smaller.
"""

from typing import Any

import numpy as np

import ringmill as rm


@rm.kernel
def distance(x: Any, y: Any) -> Any:
    """Squares of differences, and their products with the sum of both."""
    return (x - y) ** 2 * (x + y)


rng = np.random.default_rng(0)
x, y = rng.uniform(-0.5, 0.5, (2, 64))
expected = (x - y) ** 2 * (x + y)

for word in (60, 36):
    compiled = distance.compile(rm.vector(64), rm.vector(64), precision=30, word=word)
    params = compiled.params
    widest = max(q.bit_length() for q in params.q + params.p)
    print(f"words of {word} bits: {len(params.q)} primes of at most {widest} bits")
    print(f"  primes of each level {params.levels}, scale 2^{params.scale_bits}, N = 2^{params.log_n}")
    assert widest <= word

    keys = compiled.keygen()
    arguments = compiled.encrypt(keys, x=x, y=y)
    results = compiled.evaluate(keys, arguments, machine=f"compact:word={word}")
    # Whatever the word, a core's bits are those of the processor.
    assert results.to_bytes() == compiled.evaluate(keys, arguments).to_bytes()
    error = np.abs(compiled.decrypt(keys, results) - expected).max()
    cycles = compiled.estimate(f"compact:word={word}")["cycles"]
    predicted = compiled.predicted_error["out"]
    print(f"  {cycles:,} cycles, error 2^{np.log2(error):.1f}, predicted 2^{predicted:.1f}")
    assert np.log2(error) <= predicted <= -30
