"""Kernels, and functions of encrypted values, on vectors of the prompt: traced, compiled and run at once.

The vectors keep their level and scale, and results end as high as these and the program's depth let them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ringmill.trace import clear, given
from ringmill.trace.base import present
from ringmill.trace.given import Bounded
from ringmill.trace.graph import Graph, free
from ringmill.trace.kernel import Kernel, at_prompt
from ringmill.trace.layout import Layout
from ringmill.trace.linear import packed
from ringmill.trace.plain import Plain
from ringmill.trace.program import Traced
from ringmill.trace.spec import Spec
from ringmill.trace.stack import Stack
from ringmill.trace.symbol import Symbol
from ringmill.trace.where import Where, here, refuse


@dataclass(frozen=True, slots=True)
class Present(Spec):
    """A vector that is encrypted already in ``within`` slots, which are zero beyond it if it is clean."""

    within: int = 1
    clean: bool = True

    @property
    def slots_needed(self) -> int:
        """The slots that it has."""
        return self.within

    def symbols(self, graph: Graph, name: str) -> Symbol:
        """The symbolic argument. In more slots than it has a vector repeats, and its padding holds data."""
        (layout,) = self.layouts(graph.slots)
        clean = self.clean and graph.slots == self.within
        filled = layout if clean else Layout.contiguous((graph.slots,), graph.slots)
        return Symbol(graph, graph.input(name, filled), layout, clean=clean)


class AtPrompt(Kernel):
    """A kernel whose results are vectors of the prompt.

    Attributes
    ----------
        form: makes what the function returned of results in the order in which it named them.
        linear: whether it is a product with a matrix, whose numbers are all its constants.
    """

    def __init__(self, function: Callable[..., Any], *, linear: bool = False) -> None:
        super().__init__(function)
        self.form: Callable[[list[Any]], Any] = list
        self.linear = linear

    def on(self, arguments: dict[str, Any], magnitude: float) -> Bounded:
        """Trace for these arguments, some of which are `Present`, and some numbers with declared bounds."""
        for name, value in arguments.items():
            if isinstance(value, Spec) and not isinstance(value, Present):
                refuse(
                    "Arguments",
                    f"{self.function.__name__} is given an encrypted vector, and none for {name!r}",
                    "Give each encrypted argument as an encrypted vector, others in the clear",
                    self.where,
                )
        declared = {name: value for name, value in arguments.items() if isinstance(value, Plain)}
        if not declared:
            traced = self._trace(arguments, magnitude)
            return Bounded(traced, traced, {})
        numbered = list(enumerate(declared.items()))
        moved = arguments | {name: given.moved(v, i) for i, (name, v) in numbered}
        known = arguments | {name: given.known(v) for name, v in declared.items()}
        if not self.linear and not clear.agree(self.function, known, moved):
            given.refuse_decided(self.where)
        traced = self._trace(moved, magnitude)
        if self.linear:
            found = self._entries(traced, *declared.values())
        else:
            found = given.sizes(
                traced,
                [
                    self._trace(
                        arguments | {name: given.standing_for(v, i, pattern) for i, (name, v) in numbered},
                        magnitude,
                    )
                    for pattern in range(given.PATTERNS)
                ],
                self.where,
            )
        return given.bounded(traced, found)

    @staticmethod
    def _entries(traced: Traced, matrix: Plain) -> dict[int, float]:
        """The constants of a product with a matrix: all but whole numbers, which its numbers are not."""
        constants = ((index, node.value) for index, node in enumerate(traced.graph.nodes) if node.plain)
        return {i: matrix.magnitude for i, v in constants if not (isinstance(v, complex) and free(v))}

    def _call(self, values: dict[str, Any]) -> Any:
        returned = super()._call(values)
        if isinstance(returned, dict):
            names = list(returned)
            self.form = lambda results: dict(zip(names, results, strict=True))
            return {name: self._vector(value) for name, value in returned.items()}
        if isinstance(returned, (tuple, list)):
            made = type(returned)
            self.form = made if not hasattr(made, "_fields") else lambda results: made(*results)
            return [self._vector(value) for value in returned]
        self.form = lambda results: results[0]
        return self._vector(returned)

    def _vector(self, value: Any) -> Any:
        """A result where vectors of the prompt stand: in a row from the first slot, or everywhere."""
        if isinstance(value, Stack) or (isinstance(value, Symbol) and value.ndim > 1):
            refuse(
                "NotAVector",
                f"{self.function.__name__} returns an encrypted {value.kind}, and results at the prompt are "
                "vectors and scalars",
                "Return rows or sums of it, or x.reshape(-1); or compile the kernel, and evaluate it",
                self.where,
            )
        return packed(value) if isinstance(value, Symbol) and value.shape else value


def prompted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of encrypted values take vectors of the prompt, as one program."""

    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        if not at_prompt(itertools.chain(args, kwargs.values())):
            return function(*args, **kwargs)
        # Errors of the whole are the caller's.
        return applied(function, args, kwargs, here())

    return either


def applied(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    where: Where | None = None,
    *,
    linear: bool = False,
) -> Any:
    """What a function of encrypted values gives for arguments some of which are vectors of the prompt.

    A scalar stands in every slot of a vector as long as the first one, as sums at the prompt do. ``where`` is
    the line to name for the whole, that of the function if none is given. ``linear`` says that it is a
    product with a matrix.
    """
    kernel = AtPrompt(function, linear=linear)
    kernel.where = where or kernel.where
    bound = kernel._bind(args, kwargs)
    bound.apply_defaults()
    vectors = {name: value for name, value in bound.arguments.items() if present(value)}
    # How programs run is known to the vectors alone.
    return next(iter(vectors.values()))._applied(kernel, dict(bound.arguments), vectors)


def product(left: Any, right: Any) -> Any:
    """``left @ right``, of which one is a matrix in the clear."""
    if not at_prompt((left, right)):
        return left @ right
    return applied(_matmul, (left, right), {}, here(), linear=True)


def _matmul(left: Any, right: Any) -> Any:
    return left @ right
