"""What a kernel says of its values: names of its parts, bootstrappings, bounds that are known."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ringmill.trace.graph import Graph
from ringmill.trace.padding import keeps
from ringmill.trace.several import Several
from ringmill.trace.symbol import Symbol
from ringmill.trace.where import refuse

#: The program that is being traced, if any.
tracing: ContextVar[Graph | None] = ContextVar("ringmill_tracing", default=None)


@contextmanager
def region(title: str) -> Iterator[None]:
    """Name a part of a kernel; the program, its drawing and its cost are shown by these parts.

    Outside of tracing (a kernel called on clear data) it does nothing.
    """
    graph = tracing.get()
    if graph is None:
        yield
        return
    outer, graph.region = graph.region, str(title)
    try:
        yield
    finally:
        graph.region = outer


def bootstrap(x: Any, *, iterations: int | None = None) -> Any:
    """The same elements with fresh levels; clear data come back as they are.

    Needs parameters whose chain bootstraps (``Params.bootstrapping``), which ``compile`` chooses if none are
    given, and, beside the keys of the maps, the encapsulation key. Their bound may be anything from 2^-20 to
    2^20; it is the unit of the error.

    ``iterations`` is 1, or 2 for up to 36 bits in twice the time on a chain that has levels for them. Left
    out, it is as many as the chain was laid out for (``params.bootstraps["iterations"]``), and one for values
    whose bound is too small for two.

    Raises
    ------
        KernelError: another number of iterations.
    """
    if isinstance(x, (Symbol, Several)):
        return x.bootstrap(iterations=iterations)
    method = getattr(x, "bootstrap", None)  # an encrypted vector at the prompt
    return x if method is None else method(iterations=iterations)


def within(x: Any, bound: float | tuple[float, float], *, everywhere: bool = False) -> Any:
    """Promise that no element of ``x`` is larger than ``bound``; gives ``x`` back.

    Two numbers promise an interval: ``rm.within(v, (0.01, 4))``. Functions of ``x`` are polynomials there.

    Interval arithmetic bounds every value of a kernel, and deep kernels fare better with what you know:
    parameters and predicted errors rely on the promise. A promise that is broken gives wrong results.

    Slots without elements keep the promise too. Where they are not known to, they become zero: for nothing
    where zeros can be kept there, else by a mask, a level, of slices and sums of rows for instance.
    ``everywhere`` promises the bound of these slots as well, and leaves them as they are.

    Raises
    ------
        KernelError: a bound that is no positive number.
    """
    low, high = _ends(bound)
    size = max(abs(low), abs(high))
    if isinstance(x, Several):
        return x.map(lambda part: within(part, bound, everywhere=everywhere))
    if isinstance(x, Symbol):
        kept = x if everywhere or keeps(x, 1.0, 0.0, size) else x.cleaned()
        kept.graph.promise(kept.node, size)
        if low != -high:
            kept.graph.promise_ends(kept.node, low, high, kept.layout.mask().real != 0)
        return kept
    method = getattr(x, "within", None)  # an encrypted vector at the prompt
    return x if method is None else method(size)


def _ends(bound: object) -> tuple[float, float]:
    """Both ends of what is promised."""
    pair = bound if isinstance(bound, tuple) else (bound,)
    numbers = all(
        isinstance(b, (int, float, np.integer, np.floating)) and not isinstance(b, bool) for b in pair
    )
    if not numbers or not all(np.isfinite(float(b)) for b in pair) or len(pair) > 2:
        refuse("BadBound", f"a bound of {bound!r}", "Give a positive number, or the ends of an interval")
    if len(pair) == 1:
        if not pair[0] > 0:
            refuse("BadBound", f"a bound of {bound!r}", "Give a positive number")
        return -float(pair[0]), float(pair[0])
    low, high = float(pair[0]), float(pair[1])
    if not low < high:
        refuse("BadBound", f"the interval {bound!r}", "Give the smaller end first")
    return low, high


#: ``within`` of every slot: for programs whose bounds are worked out for all of them.
within_everywhere = functools.partial(within, everywhere=True)
