"""What `ringmill build` writes: a core, its program, drivers, test vectors, in one folder that stands alone.

| file | subject |
|---|---|
| `core.py` | which core |
| `hardware.py` | its sources, the FuseSoC file, constraints |
| `board.py` | standard names of AXI, scripts for Vivado, a module for LiteX |
| `layout.py` | where limbs lie: as JSON, C and Rust |
| `vectors.py` | test vectors from a seed |
| `write.py` | the folder, whole or not at all |
| `encryptor.py` | the same of the encryption engine of a client |
| `make.py`, `simulator.py` | `make` in it; the RTL under Verilator as a machine |
| `files/` | what is copied as it is: drivers, self-tests, host, Makefile |
"""

from ringmill.project.core import Core
from ringmill.project.write import write

__all__ = ["Core", "write"]
