"""Private weights: programs that follow from shapes and declared bounds of numbers, not from the numbers.

A kernel is traced several times with numbers that stand for the private ones, of the declared shape and as
large as the declared bound. Constants that differ between these traces come from private numbers; each gets
the largest size that it has in any of them, and intervals go by that. What the numbers decide themselves,
such as a branch, shows as another program, and is refused. Then the kernel is traced with the numbers, moved
by less than 2^−40 of their bound so that none is zero, whole or equal to another. That program must be the
same but for its private constants, and none of these may be larger than was declared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill._checks.arguments import checked
from ringmill.errors import EncodingError, fail
from ringmill.trace import clear
from ringmill.trace.graph import Graph, Node
from ringmill.trace.program import Traced
from ringmill.trace.spec import declared_bound, finite_array
from ringmill.trace.where import Where, refuse

#: How large constants can be, slot by slot, by their place in a trace.
Sizes = Mapping[int, NDArray[np.float64]]

# Numbers are moved by this part of their bound at most, and by up to twice as much: by less where few numbers
# have to differ.
MOVED = 2.0**-42
# Numbers that stand for them are larger than the bound by this part, and by up to twice as much.
ABOVE = 2.0**-10
# Signs of what stands for them: equal ones make sums largest, others differences.
_PATTERNS = 4
# A function whose interval follows from private constants takes a round; more than this many in a row do not.
_ROUNDS = 24

_REMEDY = (
    "Decide from public arguments, or work it out before and declare the outcome private, as "
    "ringmill.private(weights, magnitude=2)"
)


@dataclass(frozen=True, slots=True, eq=False)
class Private:
    """Numbers of which shape and bound are public, and nothing else; `private` makes it.

    Attributes
    ----------
        values: the numbers.
        magnitude: the declared bound on the size of each.
    """

    values: NDArray[Any]
    magnitude: float

    # NumPy would drop what is declared.
    __array_ufunc__ = None

    def __array_function__(self, *_: object) -> Any:
        return NotImplemented

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The numbers, for code that runs in the clear."""
        return np.array(self.values, dtype=dtype)

    def __repr__(self) -> str:
        return f"<private numbers {self.values.shape}, declared within {self.magnitude:g}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.values, self.magnitude)

    def revealed(self) -> Any:
        """The numbers as a kernel takes them."""
        return self.values if self.values.ndim else self.values.item()

    @property
    def part(self) -> float:
        """The part of the bound that numbers are moved by: four steps of the largest one for each number."""
        return min(MOVED, 2.0**-51 * 2.0 ** math.ceil(math.log2(max(1, self.values.size))))

    def moved(self, number: int) -> Any:
        """The numbers, of which none is zero, whole, or equal to one beside it."""
        # Multiples of the golden ratio: of few in a row no two are close, and numbers have other ones.
        parts = (np.arange(1, 2 * self.values.size + 1) + number / 7) * (math.sqrt(5) - 1) / 2
        return self._shaped(self.magnitude * self.part * (1 + parts % 1.0), self.values)

    def standing_for(self, number: int, pattern: int) -> Any:
        """Numbers of the same shape, as large as the bound."""
        rng = np.random.default_rng([number, pattern])
        size = self.magnitude * (1 + ABOVE * (1 + rng.random(2 * self.values.size)))
        if pattern == 1:
            size *= -1
        if pattern == 2:
            size[number % 2 :: 2] *= -1
        if pattern == 3:
            size *= rng.choice([-1.0, 1.0], len(size))
        return self._shaped(size, np.zeros_like(self.values))

    def _shaped(self, steps: NDArray[np.float64], values: NDArray[Any]) -> Any:
        count = values.size
        more: NDArray[Any] = steps[:count].reshape(values.shape)
        if np.iscomplexobj(values):
            more = (more + 1j * steps[count:].reshape(values.shape)) / math.sqrt(2)
        found = np.asarray(values + more)
        return found if found.ndim else found.item()


@checked
def private(values: ArrayLike, magnitude: float) -> Private:
    """Declare weights of a kernel private: ``score.compile(rm.vector(8), rm.private(w, magnitude=2))``.

    Keys, depth, parameters, predicted errors and the client's file then follow from the shape of the weights
    and the declared bound alone. docs/how-to/run-on-a-server.md says what that promises.

    Args:
        values: a number or an array; real or complex.
        magnitude: bound on the size of each number. It is public.

    Raises
    ------
        EncodingError: numbers that are not finite, or beyond the bound; a bound that is not positive.
    """
    array = finite_array("the private weights", values)
    bound = declared_bound("private weights", magnitude)
    if np.max(np.abs(array), initial=0.0) > bound:
        fail(
            EncodingError,
            "BeyondBound",
            f"A private weight is larger than {bound:g}, the bound that is declared for it. Declare one that "
            "holds for every model that clients shall not distinguish.",
            bound=bound,
        )
    return Private(array if np.iscomplexobj(values) else array.real.copy(), bound)


def replaced(value: Any, what: Callable[[Private], Any]) -> Any:
    """A plaintext argument with something in place of private numbers, in lists and dicts of them too."""
    if isinstance(value, Private):
        return what(value)
    if type(value) in (list, tuple):
        return type(value)(replaced(each, what) for each in value)
    if type(value) is dict:
        return {name: replaced(each, what) for name, each in value.items()}
    return value


def declares(arguments: Mapping[str, Any]) -> bool:
    """Whether any argument has private numbers."""
    found: list[Private] = []
    replaced(list(arguments.values()), found.append)
    return bool(found)


@dataclass(frozen=True, slots=True)
class Declared:
    """A kernel in two traces of one program: by declared bounds, and with its private numbers."""

    public: Traced
    actual: Traced


def traced(
    arguments: dict[str, Any], trace: Callable[[dict[str, Any], Sizes], Traced], where: Where
) -> Declared:
    """Trace a kernel with private arguments.

    Args:
        arguments: of the kernel, with private numbers among them.
        trace: traces it with given arguments, and sizes of constants by place.
        where: the kernel's line.
    """
    sizes: Sizes = {}
    for _ in range(_ROUNDS):
        graphs = [
            trace(_each(arguments, lambda one, number, at=at: one.standing_for(number, at)), sizes)  # type: ignore[misc]
            for at in range(_PATTERNS)
        ]
        found = _sizes([one.graph for one in graphs])
        if _same_sizes(sizes, found):
            break
        sizes = found
    else:
        _refuse(where)
    first = graphs[0]
    for other in graphs[1:]:
        _hold_structure(first.graph, other.graph, where)
    actual = trace(_each(arguments, Private.moved), sizes)
    _hold_structure(first.graph, actual.graph, where)
    _hold_constants(first.graph, actual.graph, sizes)
    _declare(first.graph, sizes)
    for one in (first.graph, actual.graph):
        _spread(one, sizes)
    return Declared(first, actual)


def hold_in_the_clear(function: Callable[..., Any], arguments: Mapping[str, Any], where: Where) -> None:
    """Refuse a kernel that computes something else with the moved numbers.

    A branch on zeros or on equal numbers shows in no trace, since the moved ones have none.
    """
    known = _each(dict(arguments), lambda one, _: one.revealed())
    if not clear.agree(function, known, _each(dict(arguments), Private.moved)):
        _refuse(where)


def effect_of_moves(function: Callable[..., Any], arguments: Mapping[str, Any]) -> float:
    """How much the moves change a result at most, by the slope at numbers as large as their bounds.

    It follows from shapes and bounds alone. Four times the largest slope that is found counts; 0 where the
    function does not run in the clear.
    """
    step, slopes = 2.0**-16, [0.0]
    for pattern in range(_PATTERNS):

        def moved(by: float, pattern: int = pattern) -> dict[str, Any]:
            def one(found: Private, number: int) -> Any:
                moves = by * found.magnitude * found.part / MOVED
                return np.asarray(found.standing_for(number, pattern)) + moves

            return _each(dict(arguments), one)

        slopes.append(clear.change(function, moved(0.0), moved(step)) / step)
    return 4 * max(slopes) * 2 * MOVED


def _each(arguments: dict[str, Any], what: Callable[[Private, int], Any]) -> dict[str, Any]:
    """The arguments with something in place of private numbers, which are numbered."""
    count = 0

    def one(found: Private) -> Any:
        nonlocal count
        count += 1
        return what(found, count)

    return {name: replaced(value, one) for name, value in arguments.items()}


def _sizes(graphs: list[Graph]) -> Sizes:
    """The sizes of constants that differ, as far as the traces are the same program."""
    found = {}
    for index, nodes in enumerate(zip(*(graph.nodes for graph in graphs), strict=False)):
        if any(node != nodes[0] for node in nodes):
            break
        if nodes[0].op == "const":
            values = [graph.constants[index] for graph in graphs]
            if any(value.shape != values[0].shape for value in values):
                break
            if any(not np.array_equal(value, values[0]) for value in values):
                found[index] = np.max([np.abs(value) for value in values], axis=0)
    return found


def _same_sizes(one: Sizes, other: Sizes) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[i], other[i]) for i in one)


def _hold_structure(one: Graph, other: Graph, where: Where) -> None:
    """Refuse two traces of different programs."""
    for a, b in zip(one.nodes, other.nodes, strict=False):
        shapes = (
            (np.shape(a.value), np.shape(b.value))
            if a.value is not None and b.value is not None
            else ((), ())
        )
        if a != b or a.within != b.within or shapes[0] != shapes[1]:
            _refuse(a.where or where)
    if len(one.nodes) != len(other.nodes) or one.outputs != other.outputs:
        _refuse(where)


def _refuse(where: Where) -> NoReturn:
    refuse("DependsOnPrivate", "the program depends on the values of private weights", _REMEDY, where)


def _hold_constants(public: Graph, actual: Graph, sizes: Sizes) -> None:
    """Refuse constants that are public and differ, or private and larger than declared."""
    for index, node in enumerate(actual.nodes):
        if node.op != "const":
            continue
        if index not in sizes:
            if not np.array_equal(node.value, public.nodes[index].value):  # type: ignore[arg-type]
                _refuse(node.where or actual.where or Where("", 0))
        elif np.any(np.abs(actual.constants[index]) > sizes[index] * (1 + 2.0**-30)):
            refuse(
                "BeyondDeclared",
                "a number that is worked out from private weights is larger than follows from their bounds",
                "Work it out before and declare it private, with a bound of its own",
                node.where or actual.where,
            )


def _declare(graph: Graph, sizes: Sizes) -> None:
    """Put the largest sizes in place of private constants."""
    for index, size in sizes.items():
        node = graph.nodes[index]
        value = np.asarray(node.value)
        phase = np.exp(1j * np.angle(value)) if np.any(value.imag != 0) else np.ones(())
        largest = (size if value.ndim else size.max(initial=0.0)) * phase
        graph.nodes[index] = _with(node, largest)


def _spread(graph: Graph, sizes: Sizes) -> None:
    """Make a vector of each private number that stands in all slots.

    Errors of one value times two public numbers may cancel, and predictions count on it. The signs of private
    numbers are not known, as those of vectors are not.
    """
    for index in sizes:
        node = graph.nodes[index]
        if np.ndim(node.value) == 0:  # type: ignore[arg-type]
            parts = np.arange(1, graph.slots + 1) * (math.sqrt(5) - 1) / 2 % 1.0
            graph.nodes[index] = _with(node, complex(node.value) * (1 - MOVED * parts))  # type: ignore[arg-type]


def _with(node: Node, value: NDArray[Any]) -> Node:
    array = np.asarray(value, dtype=np.complex128)
    return replace(node, value=array if array.ndim else complex(array))
