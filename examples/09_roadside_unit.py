"""Step 9: a roadside unit that sees no car: average speeds of road segments, from encrypted reports.

Sixteen cars drive along a road whose segments begin at 0, 250, … metres. Each reports, encrypted, its speed
at those points and where inside a segment it was when the minute struck. The unit interpolates,

    v(u) = v_0 + u·(v_1 − v_0),   u in [0, 1] the place in the segment,

and averages over the cars. It holds no secret key; the traffic office, which does, sees averages only.

In the paper that had the idea (docs/papers/casa.md) the cars have a key of several parties. Such keys are not
offered (docs/decisions/0015-no-keys-of-several-parties.md): cars trust the office not to open single reports.
"""

from typing import Any

import numpy as np

import ringmill as rm

CARS, SEGMENTS = 16, 8
FASTEST = 50.0  # metres a second: speeds travel as parts of it, so that every number is at most 1


@rm.kernel
def average_speed(entry: Any, leaving: Any, place: Any) -> Any:
    """Mean over the cars of the linear interpolation between two reported speeds."""
    with rm.region("linear interpolation"):
        there = entry + place * (leaving - entry)
    with rm.region("mean over the cars"):
        return there.sum(axis=0) * (1 / CARS)


def traffic(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Speeds where segments begin and end, as parts of FASTEST, and places inside the segments."""
    points = np.clip(rng.normal(22.0, 6.0, (CARS, SEGMENTS + 1)), 1.0, FASTEST) / FASTEST
    return points[:, :-1], points[:, 1:], rng.uniform(0.0, 1.0, (CARS, SEGMENTS))


shape = rm.matrix(CARS, SEGMENTS)
compiled = average_speed.compile(shape, shape, shape, precision=18)
print(compiled)

entry, leaving, place = traffic(np.random.default_rng(9))
keys = compiled.keygen()
arguments = compiled.encrypt(keys, entry=entry, leaving=leaving, place=place)
results = compiled.evaluate(keys, arguments)
speeds = FASTEST * compiled.decrypt(keys, results)
expected = FASTEST * (entry + place * (leaving - entry)).mean(axis=0)
print("segment    ", *(f"{250 * i:6} m" for i in range(SEGMENTS)))
print("encrypted  ", *(f"{v:8.4f}" for v in speeds), "m/s")
print("in the clear", *(f"{v:7.4f} " for v in expected), "m/s")
assert np.max(np.abs(speeds - expected)) < FASTEST * 2.0**results.error_log2

# The core that fits into such a unit computes the same bits (here emulated: step 10 builds it).
again = compiled.evaluate(keys, arguments, machine="compact:butterflies=1")
assert again.to_bytes() == results.to_bytes()
