"""What was read of a trace, a column for each part of a line; and the roots by which it transforms."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from ringmill._checks.primes import is_prime
from ringmill.interop.fhetch.grammar import KNOWN

#: Of an operand that is not there, and of a modulus that is not known yet.
NONE = (1 << 32) - 1

#: Bits of moduli.
BITS = range(20, 61)

KINDS = ("input", *(name for name in KNOWN if name != "halt"))


@dataclass
class Columns:
    """A trace: operation, operands and numbers of each value in its own column.

    A value is an input (operation 0) or what a line makes. Its modulus is a *cell*: that of a table's row, or
    one that an input and its automorphisms share until a line says which it is.
    """

    kind: array[int] = field(default_factory=lambda: array("B"))
    a: array[int] = field(default_factory=lambda: array("I"))
    b: array[int] = field(default_factory=lambda: array("I"))
    number: array[int] = field(default_factory=lambda: array("Q"))
    cell: array[int] = field(default_factory=lambda: array("I"))
    line: array[int] = field(default_factory=lambda: array("I"))
    #: The row of the table of each cell, or `NONE`.
    row: array[int] = field(default_factory=lambda: array("I"))
    moduli: list[int] = field(default_factory=list)
    #: Address of each input, by its value.
    inputs: dict[int, int] = field(default_factory=dict)
    #: Values by the names of outputs, and declared inputs: name to kind, domain and addresses.
    outputs: dict[str, list[int]] = field(default_factory=dict)
    declared: dict[str, tuple[str, str, list[int]]] = field(default_factory=dict)
    instructions: int = 0

    def push(self, kind: str, a: int, b: int, number: int, cell: int, line: int) -> int:
        """Define a value."""
        self.kind.append(KINDS.index(kind))
        self.a.append(a)
        self.b.append(b)
        self.number.append(number)
        self.cell.append(cell)
        self.line.append(line)
        return len(self.kind) - 1


def fits(q: int, log_n: int) -> bool:
    """Whether limbs of degree 2^log_n have this modulus."""
    return q.bit_length() in BITS and q % (2 << log_n) == 1 and is_prime(q)


def least_root(q: int, log_n: int) -> int | None:
    """Return the least primitive 2N-th root of unity modulo a prime, ``None`` for other moduli."""
    if not fits(q, log_n):
        return None
    order = 2 << log_n
    # Every other number has such a power.
    roots = (pow(base, (q - 1) // order, q) for base in range(2, q))
    root = next(root for root in roots if pow(root, order // 2, q) == q - 1)
    # All others are its odd powers.
    square, least, power = root * root % q, root, root
    for _ in range(order // 2):
        power = power * square % q
        least = min(least, power)
    return least
