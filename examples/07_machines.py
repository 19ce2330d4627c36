"""Step 7: two machines, the same bits."""

import time

import numpy as np

from ringmill.kernels import NINE

kernel = next(row for row in NINE if row.letter == "h")
compiled = kernel.function.compile(*kernel.arguments(), precision=16)
keys = compiled.keygen()
arguments = compiled.encrypt(keys, kernel.encrypted())

# The program is lowered once to operations on single residue polynomials; any machine may run those.
print(compiled.executable("cpu").limb_instructions, "limb instructions")
outcome = {}
for machine in ("reference", "cpu"):
    start = time.perf_counter()
    results = compiled.evaluate(keys, arguments, machine=machine)
    outcome[machine] = results.to_bytes()
    print(f"{machine:9}  {time.perf_counter() - start:.3f} s")
assert outcome["cpu"] == outcome["reference"]

got = compiled.decrypt(keys, results)
assert np.allclose(got, kernel.reference(*kernel.data()), atol=2**-14)
