"""The program being traced: a list of operations on slot vectors, each stated once.

An operation is a row (op, arguments, attribute); the same row asked for twice is the same value
(hash consing), so kernels may be written plainly without paying for repeated subexpressions.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ringmill.errors import KernelError
from ringmill.trace.layout import Layout
from ringmill.trace.where import Where, here

if TYPE_CHECKING:
    from ringmill.trace.found import Found
    from ringmill.trace.tables import Entries

Op = Literal[
    "input", "const", "add", "sub", "neg", "mul", "square", "rotate", "conj", "sum", "bootstrap", "lookup"
]
Constant = complex | NDArray[np.complex128]

# A factor with integer parts up to this size multiplies residues directly and costs no level.
FREE_INTEGER = 1 << 20


def free(factor: complex) -> bool:
    """Whether a product with this number, in all slots, costs no level."""
    parts = (factor.real, factor.imag)
    return all(part.is_integer() and abs(part) <= FREE_INTEGER for part in parts)


@dataclass(frozen=True, slots=True)
class Node:
    """One operation, with the meaning that docs/he-program.md gives it.

    ``args`` are numbers of earlier nodes. ``step`` is the slots of a rotation or the stride of a sum,
    ``count`` the terms of a sum, or the iterations of a bootstrapping that asks for a number. ``region`` is
    the part of the kernel it belongs to. ``within`` promises a bound. ``size`` is all that intervals go by of
    a constant that is private. ``table`` is what numbers are looked up in.
    """

    op: Op
    args: tuple[int, ...] = ()
    name: str = ""
    step: int = 0
    count: int = 0
    region: str = field(default="", compare=False)
    value: Constant | None = field(default=None, compare=False)
    fill: complex | None = field(default=None, compare=False)
    where: Where | None = field(default=None, compare=False)
    within: float | None = field(default=None, compare=False)
    size: NDArray[np.float64] | None = field(default=None, compare=False)
    table: Entries | None = None

    @property
    def plain(self) -> bool:
        """Whether this is a plaintext constant."""
        return self.op == "const"


@dataclass(frozen=True, slots=True)
class Extreme:
    """The least or greatest element of a symbol along some axes, and where differences with it lie."""

    of: Any
    axes: tuple[int, ...]
    ends: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Power:
    """An exponential of x − m, m an extreme of x along axes; ``again`` makes it of another difference."""

    of: Any
    axes: tuple[int, ...]
    again: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of a value along some axes."""

    node: int
    axes: tuple[int, ...]
    keepdims: bool


class Graph:
    """Nodes in order of creation; every argument comes before its use."""

    def __init__(self, slots: int, magnitude: float | None = None, where: Where | None = None) -> None:
        self.slots = slots
        # Where the kernel is defined: the place of its inputs, which no line of it asks for.
        self.where = where
        # Bound on the arguments where one is known and all values are real, and what follows for those values
        # that were asked about (see bounds.reach).
        self.magnitude = magnitude
        self.reaches: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        self.nodes: list[Node] = []
        # Least and greatest elements, and differences with them. Functions that take many levels: what, of
        # how many elements, where, and the value.
        self.extremes: dict[int, Extreme] = {}
        self.shifted: dict[int, Extreme] = {}
        self.long: list[tuple[str, int, Where, int]] = []
        # Values that are not as close as was asked for, with the refusal if results need them.
        self.deferred: list[tuple[int, KernelError]] = []
        # Exponentials of such differences, and sums (see shifts).
        self.powers: dict[int, Power] = {}
        self.totals: dict[int, Total] = {}
        self.outputs: list[tuple[str, int]] = []
        self.region = ""
        # Values whose padding was relied on to be zero (see relax).
        self.relied: set[int] = set()
        # What was moved to stand row by row without gaps: node, layout and cleanness of where it came from.
        self.moved: dict[int, tuple[int, Layout, bool]] = {}
        # Where inputs have their elements, and what is known of paddings, by layout (see padding).
        self.layouts: dict[int, Layout] = {}
        self.padding: dict[bytes, dict[int, tuple[float, float] | None]] = {}
        # Declared ends of inputs, and promised ones of values, in the slots of a mask.
        self.ranges: dict[int, tuple[float, float]] = {}
        self.ends: dict[int, tuple[float, float, NDArray[np.bool_]]] = {}
        # What sample data make of values, a row a record, as far as it was asked for.
        self.samples: dict[int, NDArray[np.float64]] = {}
        # Slots that ciphertexts have at most, of the ring that is given or of the largest.
        self.most = 1 << 16
        # Slots that parts of long values fill; kernels may need more for what they make of them.
        self.held = slots
        # How far polynomials that are chosen here may be from their functions, and what was chosen.
        self.tolerance = 2.0**-22
        self.found: list[Found] = []
        # Sizes of constants that come from private numbers, by place, and all constants as they were made.
        self.sizes: Mapping[int, NDArray[np.float64]] = {}
        self.constants: dict[int, NDArray[np.complex128]] = {}
        self._seen: dict[tuple[object, ...], int] = {}

    @contextmanager
    def part(self, title: str) -> Iterator[None]:
        """Name what an operation is made of, where the kernel names no region of its own."""
        if self.region:
            yield
            return
        self.region = title
        try:
            yield
        finally:
            self.region = ""

    def _once(self, key: tuple[object, ...], op: Op, args: tuple[int, ...] = (), **rest: Any) -> int:
        known = self._seen.get(key)
        if known is None:
            known = len(self.nodes)
            where = self.where if op == "input" else here()
            size = self.sizes.get(known) if op == "const" else None
            self.nodes.append(Node(op, args, region=self.region, where=where, size=size, **rest))
            self._seen[key] = known
        return known

    def input(self, name: str, layout: Layout) -> int:
        """An encrypted input."""
        node = self._once(("input", name), "input", name=name)
        self.layouts[node] = layout
        return node

    def const(self, value: Constant, fill: complex | None = None) -> int:
        """A plaintext: one number for all slots, or one number a slot.

        ``fill`` says that a vector holds that number in the slots of a value and zero in its padding, which
        nobody chose: ``relax`` may change it. So the same numbers given as a table are another constant.
        """
        if self.magnitude is not None and np.any(np.imag(value) != 0):
            self.magnitude = None
        if isinstance(value, np.ndarray):
            if np.all(value == value[0]):
                return self.const(complex(value[0]))
            made = self._once(("const", value.tobytes(), fill), "const", value=value, fill=fill)
            larger = value if fill is None else np.where(np.abs(value) < abs(fill), fill, value)
        else:
            made = self._once(("const", complex(value)), "const", value=complex(value))
            larger = np.asarray(complex(value))
        self.constants.setdefault(made, larger)
        return made

    def add(self, a: int, b: int) -> int:
        """a + b; the order of operands does not matter and is normalised."""
        a, b = self._ordered(a, b)
        return self._once(("add", a, b), "add", (a, b))

    def sub(self, a: int, b: int) -> int:
        """a − b."""
        return self._once(("sub", a, b), "sub", (a, b))

    def neg(self, a: int) -> int:
        """−a."""
        if self.nodes[a].op == "neg":
            return self.nodes[a].args[0]
        return self._once(("neg", a), "neg", (a,))

    def mul(self, a: int, b: int) -> int:
        """a · b; a factor of one disappears, a product with itself is a square."""
        a, b = self._ordered(a, b)
        if a == b:
            return self._once(("square", a), "square", (a,))
        value = self.nodes[b].value
        if isinstance(value, complex) and value == 1:
            return a
        return self._once(("mul", a, b), "mul", (a, b))

    def rotate(self, a: int, step: int) -> int:
        """Slot i of the result is slot i + step of ``a``; rotations of rotations are merged."""
        step %= self.slots
        node = self.nodes[a]
        if node.op == "rotate":
            return self.rotate(node.args[0], node.step + step)
        if step == 0:
            return a
        return self._once(("rotate", a, step), "rotate", (a,), step=step)

    def conj(self, a: int) -> int:
        """Complex conjugate of every slot."""
        if self.nodes[a].op == "conj":
            return self.nodes[a].args[0]
        return self._once(("conj", a), "conj", (a,))

    def bootstrap(self, a: int, iterations: int | None = None) -> int:
        """The same slots with fresh levels; in as many iterations as the chain is laid out for if None."""
        return self._once(("bootstrap", a, iterations), "bootstrap", (a,), count=iterations or 0)

    def lookup(self, a: int, table: Entries) -> int:
        """The entries of a table for the whole numbers in all slots, with fresh levels."""
        return self._once(("lookup", a, table), "lookup", (a,), table=table)

    def sum(self, a: int, count: int, step: int) -> int:
        """Slot i of the result is Σ_{j < count} a[i + j·step], slots taken cyclically."""
        if count == 1:
            return a
        return self._once(("sum", a, count, step), "sum", (a,), count=count, step=step)

    def promise_ends(self, a: int, low: float, high: float, mask: NDArray[np.bool_]) -> None:
        """Promise that slots of a mask are from ``low`` to ``high``; of two promises the closer one holds."""
        known = self.ends.get(a, (low, high, mask))
        self.reaches.pop(a, None)
        self.ends[a] = (max(low, known[0]), min(high, known[1]), mask)

    def promise(self, a: int, bound: float) -> int:
        """Promise that no slot of ``a`` is larger than ``bound``; of two promises the closer one holds."""
        known = self.nodes[a].within
        self.reaches.pop(a, None)  # It may be closer now.
        self.nodes[a] = replace(self.nodes[a], within=bound if known is None else min(known, bound))
        return a

    def output(self, name: str, a: int) -> None:
        """Name a result of the program."""
        self.outputs.append((name, a))

    def _ordered(self, a: int, b: int) -> tuple[int, int]:
        """Ciphertext before plaintext, then the older value first."""
        if self.nodes[a].plain != self.nodes[b].plain:
            return (b, a) if self.nodes[a].plain else (a, b)
        return (min(a, b), max(a, b))

    def relax(self) -> None:
        """Turn constants that are one number inside a layout and zero in its padding into that number.

        Such constants keep the padding at zero; where nothing relies on that, a number for all slots is
        the same result at less cost (no encoding, no table in the program). Then every constant is settled.
        """
        relied = set(self.relied)
        for index in range(len(self.nodes) - 1, -1, -1):
            if index in relied and self.nodes[index].op != "input":
                relied.update(self.nodes[index].args)
        for index, node in enumerate(self.nodes):
            if isinstance(node.value, np.ndarray) and index not in relied and node.fill is not None:
                users = [n for n in self.nodes if index in n.args]
                if all(user.op in ("add", "sub") for user in users):
                    self.nodes[index] = node = replace(node, value=node.fill)
            if node.fill is not None:
                self.nodes[index] = replace(node, fill=None)

    def live(self) -> list[int]:
        """Nodes that an output depends on, in order."""
        return self.needed(node for _, node in self.outputs)

    def needed(self, wanted: Iterable[int], known: Container[int] = ()) -> list[int]:
        """Nodes that the wanted ones depend on, and these, in order, as far as they are not known."""
        found: set[int] = set()
        todo = list(wanted)
        while todo:
            index = todo.pop()
            if index not in found and index not in known:
                found.add(index)
                todo += self.nodes[index].args
        return sorted(found)

    def depths(self) -> list[int]:
        """Levels that every value costs: products on its longest path, free integers excepted."""
        out: list[int] = []
        for node in self.nodes:
            below = max((out[a] for a in node.args), default=0)
            out.append(below + self._costs_level(node))
        return out

    def _costs_level(self, node: Node) -> bool:
        if node.op == "square":
            return True
        if node.op != "mul":
            return False
        factor = self.nodes[node.args[1]].value
        return not (isinstance(factor, complex) and free(factor))
