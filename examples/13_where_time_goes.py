"""Step 13: what a program takes, before it runs and while it does, and a network that can be killed."""

import tempfile
from pathlib import Path

import numpy as np

import ringmill as rm
from ringmill.cli.profile import show_profile
from ringmill.profile import profile
from ringmill.studies.workloads import resnet
from ringmill.studies.workloads.whole import Job


@rm.kernel
def distance(x, w):
    """Squares of a matrix times a vector."""
    return (w @ x) ** 2


# Counted and predicted, by the costs that `ringmill calibrate` measured here or by those that ship.
weights = np.random.default_rng(13).normal(size=(32, 32)) / 8
compiled = distance.compile(rm.vector(32), weights, precision=16)
work = compiled.work()
megabytes, milliseconds = work["key_bytes"] / 1e6, 1e3 * work["seconds"]
print(f"{work['transforms']} transforms, {megabytes:.1f} MB of keys, {milliseconds:.1f} ms predicted")

# Another method of key switching: the same keys, the same numbers.
x, keys = np.linspace(-1, 1, 32), compiled.keygen()
for method in ("hybrid", "klss", "auto"):
    other = compiled.switched(method)
    found = {name for _, name, _ in other.work()["switches"]}
    print(f"{method}: {other.work()['seconds'] * 1e3:.1f} ms predicted; {'; '.join(sorted(found))}")
    assert np.abs(other.run(keys, x=x) - distance(x, weights)).max() < 2.0**-14

# Timed by kind of work, beside what the multiplier and the memory of this machine can do.
show_profile(profile(compiled, keys, runs=2))

# A residual network of six layers on one picture of four by four, in a ring that is too small to be secure.
shape = resnet.Shape(side=4, channels=(4, 8), blocks=1, classes=5, degree=31)
params = resnet.parameters(shape, log_n=10, insecure=True)
with tempfile.TemporaryDirectory() as folder:
    first = Job(shape, params).run(Path(folder), stop_after=4)
    print("stopped:", first["programs done"])
    done = Job(shape, params).run(Path(folder))
    print("went on:", done["programs done"])
print("scores:", done["scores"], "off by", f"{done['error']:.1e}")
assert done["class, encrypted"] == done["class, in the clear"]
assert done["error"] < 2.0**-14
