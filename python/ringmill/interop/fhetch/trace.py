"""A trace that was read: its limb program, and where inputs and outputs stand in the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill._native import MachineSpec, estimate_program, run_program
from ringmill.atomic import write_text
from ringmill.compiled import estimated
from ringmill.errors import MismatchError, fail
from ringmill.machines import machine_of


@dataclass(frozen=True)
class Group:
    """Limbs of one name in the limb program.

    Attributes
    ----------
        kind: ``data``, ``key``, ``plain`` or ``output``.
        coefficients: whether they are in the coefficient domain.
        addresses: of each limb in the trace; of the group ``ones``, whose limbs hold 1 everywhere, none.
        moduli: of each limb.
    """

    name: str
    kind: str
    coefficients: bool
    addresses: tuple[int, ...]
    moduli: tuple[int, ...]


@dataclass(frozen=True)
class Trace:
    """A trace as a limb program.

    Attributes
    ----------
        text: the limb program.
        lines: instructions of the trace.
        inputs, outputs: groups of limbs in the program's order.
    """

    name: str
    log_n: int
    moduli: tuple[int, ...]
    lines: int
    inputs: tuple[Group, ...]
    outputs: tuple[Group, ...]
    text: str

    def __repr__(self) -> str:
        limbs = [sum(len(group.moduli) for group in groups) for groups in (self.inputs, self.outputs)]
        return (
            f"<FHETCH trace {self.name}: {self.lines} instructions, N = 2^{self.log_n}, "
            f"{len(self.moduli)} primes, {limbs[0]} limbs in, {limbs[1]} out>"
        )

    def estimate(self, machine: str | MachineSpec = "compact") -> dict[str, Any]:
        """Return what the program takes on a machine, without running it.

        Raises
        ------
        MachineError
            A machine that there is not, or that does not run such programs.
        """
        spec = machine_of(machine)
        return estimated(spec, estimate_program(self.text, spec))

    def run(
        self, inputs: Mapping[str, Sequence[Any]], machine: str | MachineSpec = "cpu"
    ) -> dict[str, NDArray[np.uint64]]:
        """Run the program on limbs.

        Args:
            inputs: the limbs of each group, residues of N words each. The group ``ones`` is filled in here.
            machine: that runs it.

        Raises
        ------
        MismatchError
            Groups that are missing or unknown, or limbs of another size.
        MachineError
            Words that are not below their modulus; a machine that does not run such programs.
        """
        n, limbs = 1 << self.log_n, []
        wanted = {group.name: group for group in self.inputs}
        given = {"ones": [np.ones(n, np.uint64)] * len(wanted["ones"].moduli)} if "ones" in wanted else {}
        given.update({name: [np.asarray(limb, np.uint64) for limb in of] for name, of in inputs.items()})
        if given.keys() != wanted.keys():
            known = ", ".join(f"{name} ({len(group.moduli)} limbs)" for name, group in wanted.items())
            fail(MismatchError, "Arguments", f"{self.name} takes {known}, and {', '.join(given)} were given.")
        for name, group in wanted.items():
            if [limb.shape for limb in given[name]] != [(n,)] * len(group.moduli):
                said = f"{name} has {len(group.moduli)} limbs of {n} words in {self.name}"
                fail(MismatchError, "Shape", f"{said}, and others were given.")
            limbs += [limb.astype("<u8").tobytes() for limb in given[name]]
        found = iter(run_program(self.text, machine_of(machine), limbs))
        return {
            group.name: np.array([np.frombuffer(next(found), "<u8") for _ in group.moduli])
            for group in self.outputs
        }

    def save(self, path: str | Path) -> int:
        """Write the limb program, for `ringmill simulate`; returns its bytes."""
        write_text(Path(path), self.text)
        return len(self.text.encode())
