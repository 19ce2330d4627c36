"""Ciphertexts of other libraries as the arguments of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringmill._checks.ownership import of_kind
from ringmill._native import Ciphertext
from ringmill.errors import MismatchError, fail

if TYPE_CHECKING:
    from ringmill.compiled import Compiled
    from ringmill.values import Values


def arguments(compiled: Compiled, **ciphertexts: Ciphertext) -> Values:
    """Ciphertexts as the arguments of a kernel that was compiled for their parameters.

    Args:
        compiled: the kernel; ``kernel.compile(params=…)`` compiles it for the parameters of another library.
        ciphertexts: one for each encrypted argument, by its name; each is a vector of as many slots as the
            ciphertext has.

    Raises
    ------
        MismatchError: arguments that are missing or not known, of other parameters, or of other slots.
    """
    from ringmill.values import Values

    needed = sorted(compiled.plan.inputs)
    if sorted(ciphertexts) != needed:
        fail(
            MismatchError,
            "Arguments",
            f"Kernel {compiled.name} takes the encrypted arguments {', '.join(needed) or 'none'}, and "
            f"{', '.join(sorted(ciphertexts)) or 'none'} were given. Give one ciphertext for each.",
            needed=needed,
        )
    for name, cipher in ciphertexts.items():
        of_kind("rm.interop.arguments()", name, cipher, (Ciphertext,), "Read one with load_ciphertext().")
        if cipher.params != compiled.params:
            fail(
                MismatchError,
                "ParamsMismatch",
                f"Argument {name} has parameters {cipher.params!r}, but the kernel was compiled for "
                f"{compiled.params!r}. Compile it with params= of the ciphertext.",
                argument=name,
            )
        slots = compiled.signature.slots
        if cipher.slots != slots:
            fail(
                MismatchError,
                "Slots",
                f"Argument {name} has {cipher.slots} slots, but the kernel packs {slots}. Declare "
                f"rm.vector({cipher.slots}), or read the ciphertext with slots={slots} if they repeat so.",
                argument=name,
                slots=cipher.slots,
            )
    return Values("arguments", ciphertexts, compiled.name, compiled.digest)
