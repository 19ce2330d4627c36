"""Where a client encrypts and decrypts: in software, or on the simulated encryption engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringmill.errors import MachineError, fail

if TYPE_CHECKING:
    from ringmill.encryptor import Encryptor

#: The processor, in software; and the simulated encryption engine.
CPU, ENGINE = "cpu", "encryptor"


def engine_of(machine: object) -> Encryptor | None:
    """The engine that ``machine=`` of ``encrypt`` and ``decrypt`` names; ``None`` for the processor.

    Raises
    ------
        MachineError: any other machine; an engine in an installation for clients alone.
    """
    if str(machine) == CPU:
        return None
    try:
        from ringmill.encryptor import encryptor_of
    except ModuleNotFoundError:
        fail(
            MachineError,
            "NeedsRingmill",
            f"This installation encrypts and decrypts in software alone, but the machine is {machine!r}. "
            "Leave machine= out, or install ringmill in place of ringmill-client.",
            machine=repr(machine),
        )
    return encryptor_of(machine)
