"""Step 10: from a kernel and a board to a core of one's own.

The roadside unit of step 9 gets an Artix-7 35T. Which parameters, which core? Then all that the board
needs in one folder: hardware, program, drivers, test vectors. `make selftest` there proves it in Verilator.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import ringmill as rm
from ringmill.project import design, write

CARS, SEGMENTS = 16, 8


@rm.kernel
def average_speed(entry: Any, leaving: Any, place: Any) -> Any:
    """Mean over the cars of the speed between two points, by linear interpolation."""
    return (entry + place * (leaving - entry)).sum(axis=0) * (1 / CARS)


# Speeds come as parts of 50 m/s: an error of 4/1000 is 20 cm/s.
reports = (rm.matrix(CARS, SEGMENTS),) * 3
traced = average_speed.trace(*reports)
# The smallest device of its family: all of it may be used, where three quarters are the usual bound.
found = rm.explore(traced, "artix7-35t", max_error=4e-3, utilisation=1.0, seconds=1, progress="none")
best = found.best["predicted"]
print(f"{found.statistics['points']:,} combinations, the best {'proven' if found.best_proven else 'so far'}:")
clock = best["frequency_mhz"]
print(f"  {best['latency_ms']['value']:.2f} ms at {clock['value']:g} MHz ({clock['origin']['kind']})")
print(f"  error {best['error']['value']:.1e}, security {best['security_level']} bits")
for name, figure in best["resources"].items():
    print(f"  {name} {figure['value']:,.0f} ({figure['origin']['kind']})")
assert best["error"]["value"] <= 4e-3
assert best["security_level"] >= 128

# The design is a file, and the folder follows from it byte for byte.
with tempfile.TemporaryDirectory() as place:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(place) / "core"
    found.save(Path(place) / "design.json")
    chosen = design.read(Path(place) / "design.json")
    # The program that is written takes the cycles that were explored.
    assert chosen.core.image(chosen.compiled.plan).first_cycles == best["cycles"]["value"]
    files = write(chosen.compiled, chosen.core, folder, design=chosen.content)
    size = sum(map(len, files.values()))
    print(f"{len(files)} files, {size / 1e6:.1f} MB: {', '.join(sorted(p.name for p in folder.iterdir()))}")
    assert (folder / "Makefile").is_file()
