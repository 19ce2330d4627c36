"""Programs of HEIR: modules of its CKKS dialect as kernels, and a backend for its compiler.

``load`` reads what ``heir-opt --torch-linalg-to-ckks`` or ``--mlir-to-ckks`` writes. The functions by which a
client packs arguments and unpacks results come with the module and are carried out here. Reading needs the
package ``xdsl``; a module in HEIR's own notation needs ``heir-opt``, which the package ``heir_py`` brings.
"""

from __future__ import annotations

from ringmill.interop.heir.backend import Backend
from ringmill.interop.heir.interpret import operations
from ringmill.interop.heir.program import Program, Scheme, load

__all__ = ["Backend", "Program", "Scheme", "load", "page"]

#: The operations of HEIR's dialect of CKKS.
_DIALECT = (
    *("add", "add_plain", "sub", "sub_plain", "mul", "mul_plain", "negate", "rotate"),
    *("relinearize", "rescale", "level_reduce", "bootstrap"),
)


def page() -> str:
    """Return the table of operations in ``docs/interop.md``."""
    known = operations()
    rows = [(f"`ckks.{name}`", "yes" if f"ckks.{name}" in known else "no") for name in _DIALECT]
    rows += [
        (
            f"`{dialect}`",
            ", ".join(f"`{name.partition('.')[2]}`" for name in known if name.startswith(dialect)),
        )
        for dialect in ("lwe.", "preprocessing.", "tensor.", "arith.", "scf.", "func.")
    ]
    lines = [f"| {name} | {what} |" for name, what in rows]
    return "\n".join(["| operation | covered |", "|---|---|", *lines, ""])
