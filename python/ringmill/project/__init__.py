"""What `ringmill build` writes: a core, its program, drivers, test vectors, in one folder that stands alone.

| file | subject |
|---|---|
| `core.py` | which core |
| `hardware.py` | its sources, the FuseSoC file, constraints |
| `board.py` | standard names of AXI, scripts for Vivado, a module for LiteX |
| `layout.py` | where limbs lie: as JSON, C and Rust |
| `vectors.py` | test vectors from a seed |
| `write.py` | the folder, whole or not at all |
| `engine.py` | the same of an engine: `encryptor.py` for clients, `pipelined.py` for key switches |
| `make.py`, `simulator.py` | `make` in it; the RTL under Verilator as a machine |
| `files/` | what is copied as it is: drivers, self-tests, host, Makefile |
"""

from ringmill.project.core import Core
from ringmill.project.write import write

#: What `ringmill build --machine` takes: the machine of a design file, or an engine for a kernel.
BUILT = ("design", "encryptor", "pipelined")

__all__ = ["BUILT", "Core", "write"]
