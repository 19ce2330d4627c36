"""coxHE's models as it prints them (Han et al., Eq. 3 to 8, 10 and 11), for reproduction.

Ours is the cycle model, which equals the RTL; nothing but the comparison calls these. Times are cycles.
"""

from __future__ import annotations

from typing import NamedTuple

#: Polynomials that the paper's infeasible example holds on chip: it prints 47.19 Mbit at N = 2^14, 40 bits.
POLYNOMIALS_ON_CHIP = 72


class Modules(NamedTuple):
    """Words that each kind of basic module takes a cycle; of a transform, its butterflies."""

    transform: int
    multiply: float
    barrett: float
    add: float

    def slowest(self, n: int) -> float:
        """Return the time of the module that a pipeline waits for."""
        others = (module_cycles(n, one) for one in self[1:])
        return max(transform_cycles(n, self.transform), *others)


class Calls(NamedTuple):
    """How often a kernel runs each operation: alpha, beta, gamma and lambda of Eq. 8."""

    key_switches: int
    rescales: int
    multiplications: int
    additions: int


def transform_cycles(n: int, parallel: int) -> int:
    """Eq. 3: a transform on `parallel` butterflies."""
    return (n.bit_length() - 1) * (n // 2 // parallel)


def module_cycles(n: int, parallel: float) -> float:
    """Eq. 4: a basic module that takes `parallel` words a cycle."""
    return n / parallel


def parallel_by_ports(packnum: int, portnum: int) -> float:
    """Eq. 5: words a cycle that the memory ports can feed; a word takes part in four transfers."""
    return packnum * portnum / 4


def key_switch_slots(moduli: int) -> int:
    """Eq. 6 in transform slots, where transforms are the slowest module: k + 5."""
    return moduli + 5


def key_switch_cycles(n: int, modules: Modules, moduli: int) -> float:
    """Eq. 6: one transform, then k + 4 steps of the slowest module."""
    return transform_cycles(n, modules.transform) + modules.slowest(n) * (moduli + 4)


def rescale_cycles(n: int, modules: Modules) -> float:
    """Eq. 7: two transforms and a reduction."""
    return 2 * transform_cycles(n, modules.transform) + module_cycles(n, modules.barrett)


def kernel_cycles(n: int, modules: Modules, moduli: int, calls: Calls) -> float:
    """Eq. 8: operations one after the other, those on words by Eq. 4."""
    return (
        calls.key_switches * key_switch_cycles(n, modules, moduli)
        + calls.rescales * rescale_cycles(n, modules)
        + calls.multiplications * module_cycles(n, modules.multiply)
        + calls.additions * module_cycles(n, modules.add)
    )


def error_at_depth(error: float, depth: int) -> float:
    """Eq. 11 for primes that all drift alike: the error of one product (Eq. 10) times 2^depth − 1."""
    return sum(error * 2.0 ** (depth - k) for k in range(1, depth + 1))


def megabits_on_chip(n: int, bits: int) -> float:
    """The memory on chip that the example of Section III asks for."""
    return POLYNOMIALS_ON_CHIP * n * bits / 1e6
