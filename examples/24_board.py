"""Step 24: from a kernel to a board, here a simulated one.

The kernel gets a core for the ECPIX-5. LiteX writes a system around it: serial line, bus, DDR3. The same
sources give the board's bitstream (`make ecpix5` in the folder, minutes); here Verilator runs them, and what
would be a serial port is a socket. The machine finds out what core is there, and keys stay in its memory.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import ringmill as rm
from ringmill.project import design, write

weights = np.array([0.5, -0.25, 1.0, 0.125])


@rm.kernel
def score(x, w=weights):
    """A quadratic score of four features."""
    return (x @ w) ** 2 + 0.5


# A ring that protects nothing, so that the simulated line is done in a minute: leave security and log_n out
# for one that does. A core of one butterfly and 36 bits is what was routed for the board.
space = {"log_n": [10], "butterflies": [1], "words": [36]}
traced = score.trace(rm.matrix(100, 4, packing="columns"))
found = rm.explore(
    traced, "ecpix5", max_error=1e-3, security=0, utilisation=0.95, space=space, seconds=1, progress="none"
)
clock, cycles = found.best["predicted"]["frequency_mhz"], found.best["predicted"]["cycles"]["value"]
print(f"{cycles:,.0f} cycles predicted; {clock['value']:g} MHz: {clock['origin']['kind']}")

with tempfile.TemporaryDirectory() as place:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(place) / "score"
    found.save(Path(place) / "design.json")
    chosen = design.read(Path(place) / "design.json")
    write(chosen.compiled, chosen.core, folder, design=chosen.content)
    print("LiteX writes the system, Verilator builds it: a minute or two")
    subprocess.run(["make", "-s", "build/soc/soc"], cwd=folder, check=True)

    compiled, x = chosen.compiled, np.random.default_rng(24).uniform(-1, 1, (100, 4))
    keys = compiled.keygen(insecure=True)
    given = compiled.encrypt(keys, x=x)
    here = compiled.evaluate(keys, given)
    with subprocess.Popen(
        ["./soc", "0"], cwd=folder / "build" / "soc", stdout=subprocess.PIPE, text=True
    ) as soc:
        assert soc.stdout is not None
        line = soc.stdout.readline().split()[-1]
        for run in ("keys are sent", "keys are there"):
            start = time.perf_counter()
            there = compiled.evaluate(keys, given, machine=f"board:tcp={line}")
            print(f"{run}: {time.perf_counter() - start:.1f} s over the simulated line")
            assert there.to_bytes() == here.to_bytes()
        soc.terminate()
    error = np.abs(compiled.decrypt(keys, there) - score(x)).max()
    print(f"the bits of the CPU; error {error:.1e}")
    assert error < 1e-3
