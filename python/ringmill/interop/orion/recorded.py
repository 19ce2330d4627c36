"""What Orion asked for: operations on vectors of slots, recorded, and the kernel that they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill._native import Circuit
from ringmill.trace import Kernel, kernel, polynomial
from ringmill.trace.callables import with_arguments
from ringmill.trace.circuit import splice
from ringmill.trace.marks import bootstrap, within_everywhere
from ringmill.trace.symbol import Symbol

Vector = NDArray[np.float64]


class Transform:
    """A linear map of all slots: row i has `diagonals[d][i]` in column i + d."""

    def __init__(self, diagonals: dict[int, Vector]) -> None:
        self.diagonals = diagonals
        self.digest = digest(str(sorted(diagonals)), *(diagonals[d] for d in sorted(diagonals)))

    def __call__(self, x: Any) -> Any:
        """The map of a vector, encrypted or not."""
        if isinstance(x, Symbol):
            by_shift = {d: v.astype(np.complex128) for d, v in self.diagonals.items() if v.any()}
            if not by_shift:
                return x * 0.0
            circuit = Circuit.linear(x.slots, by_shift)
            return Symbol(x.graph, splice(x.graph, circuit, x.node), x.layout, clean=True)
        return sum(diagonal * np.roll(x, -d) for d, diagonal in self.diagonals.items())


@dataclass(frozen=True)
class Series:
    """A polynomial by its coefficients, in powers or in Chebyshev polynomials on [−1, 1]."""

    coefficients: tuple[float, ...]
    chebyshev: bool

    @property
    def depth(self) -> int:
        """Levels that it takes."""
        return (len(self.coefficients) - 1).bit_length()

    def __call__(self, x: Any) -> Any:
        """The polynomial of a vector, encrypted or not."""
        if not self.chebyshev:
            return polynomial(x, list(self.coefficients))
        # Orion has scaled what comes in: outside of [−1, 1] the series means nothing.
        return polynomial(within_everywhere(x, 1.0), np.polynomial.Chebyshev(self.coefficients))


@dataclass(eq=False)
class Node:
    """A ciphertext: what it is made of. `kind` names the operation, `extra` is its constant."""

    kind: str
    operands: tuple[Node, ...] = ()
    extra: Any = None
    #: Of an input: what is encrypted.
    values: Vector | None = None
    level: int = 0
    #: A bound on all slots, where one is known.
    bound: float | None = None
    _digest: bytes = field(default=b"", repr=False)

    def digest(self) -> bytes:
        """Return a fingerprint of the operation and its constant."""
        if not self._digest:
            extra = self.extra
            part = extra.digest if isinstance(extra, Transform) else extra
            self._digest = digest(self.kind, part if isinstance(part, np.ndarray) else repr(part))
        return self._digest


def digest(*parts: Any) -> bytes:
    """Return a fingerprint of texts and vectors."""
    h = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.tobytes() if isinstance(part, np.ndarray) else str(part).encode()
        h.update(len(data).to_bytes(8, "little") + data)
    return h.digest()


def ordered(result: Node) -> list[Node]:
    """Return what leads to a node, operands before what they make, each once."""
    found: list[Node] = []
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(result, False)]
    while stack:
        node, done = stack.pop()
        if done:
            found.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((operand, False) for operand in reversed(node.operands))
    return found


def shape(nodes: Iterable[Node]) -> bytes:
    """Return a fingerprint of the operations: two results of one fingerprint have one kernel."""
    h, places = hashlib.blake2b(digest_size=16), {}
    for place, node in enumerate(nodes):
        places[id(node)] = place
        operands = [places[id(operand)] for operand in node.operands]
        h.update(node.digest() + repr((operands, node.bound)).encode())
    return h.digest()


def apply(node: Node, operands: list[Any]) -> Any:
    """Return what an operation makes of vectors, encrypted or not."""
    x = operands[0]
    match node.kind:
        case "negate":
            made = -x
        case "rotate":
            made = np.roll(x, -node.extra)
        case "add":
            made = x + operands[1]
        case "sub":
            made = x - operands[1]
        case "mul":
            made = x * operands[1]
        case "add_plain":
            made = x + node.extra
        case "sub_plain":
            made = x - node.extra
        case "mul_plain":
            made = x * node.extra
        case "bootstrap":
            made = bootstrap(x)
        case _:  # transform, polynomial
            made = node.extra(x)
    return made if node.bound is None else within_everywhere(made, node.bound)


def evaluated(nodes: list[Node], given: list[Any]) -> Any:
    """Return the last node's value, from those of the inputs in their order."""
    inputs = iter(given)
    values: dict[int, Any] = {}
    for node in nodes:
        own = [values[id(operand)] for operand in node.operands]
        values[id(node)] = next(inputs) if node.kind == "input" else apply(node, own)
    return values[id(nodes[-1])]


def kernel_of(nodes: list[Node]) -> Kernel:
    """Return the operations as a kernel of vectors `x0`, `x1` …, the inputs in their order."""
    names = [f"x{i}" for i in range(sum(node.kind == "input" for node in nodes))]

    def body(**given: Any) -> Any:
        return evaluated(nodes, [given[name] for name in names])

    return kernel(with_arguments(body, "orion", names))
