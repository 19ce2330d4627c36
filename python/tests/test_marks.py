"""What kernels say of their values: promises that padding keeps, bootstrappings that make no plan worse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle import interpret

import ringmill as rm

LENGTHS = [1, 5, 16, 20]


def newton(steps: int) -> Callable[[Any], Any]:
    """1/x, every iterate promised to stay below 4."""

    def inverse(x: Any) -> Any:
        a = 1.4 - 0.5 * x
        for _ in range(steps):
            a = rm.within(a * (2 - x * a), 4.0)
        return a

    return inverse


# Functions of x in [0.5, 1.5], each with promises that hold for elements alone, and levels for masks.
PROMISED: dict[str, tuple[Callable[[Any], Any], int]] = {
    "Newton's iteration": (newton(4), 0),
    "a difference": (lambda x: rm.within(1 - x, 0.5) ** 2, 0),
    "an interval": (lambda x: rm.within(x - 1, (-0.5, 0.5)) * x, 0),
    "a bias": (lambda x: rm.within((x * 0.5 + 3) - 3, 0.75) * 2, 0),
    "nested": (lambda x: rm.within(3 - rm.within(2 - x, 1.5), 2.5) * x, 0),
    "a slice": (lambda x: newton(2)(x[1:]) if x.shape[0] > 1 else newton(2)(x), 1),
    "neighbours": (lambda x: rm.within((x + np.roll(x, 1)) * 0.5 - 1, 0.5) * x, 1),
    "a sum": (lambda x: rm.within(x.sum() * (1 / x.shape[0]) - 1, 0.5) * x, 0),
}


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", PROMISED)
def test_padding_keeps_what_elements_promise(name: str, length: int, rng: np.random.Generator) -> None:
    """The oracle holds promises against every slot."""
    written, masks = PROMISED[name]
    traced = rm.kernel(lambda x: written(x)).trace(rm.vector(length), magnitude=1.5)
    full = rm.kernel(lambda x: written(x)).trace(rm.vector(32), magnitude=1.5)
    assert traced.depth <= full.depth + masks
    for x in rng.uniform(0.5, 1.5, (10, length)):
        got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
        np.testing.assert_allclose(got, written(x), rtol=0, atol=1e-9)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 7)])
def test_sums_of_rows_keep_promises(shape: tuple[int, int], rng: np.random.Generator) -> None:
    """Between sums of rows stand sums of parts of two rows."""

    def written(x: Any) -> Any:
        means = x.mean(axis=1) - 1
        return rm.within(means, 0.25) ** 2 + rm.within(x.mean(axis=0), (0.5, 1.5)).sum()

    traced = rm.kernel(written).trace(rm.matrix(*shape), magnitude=1.5)
    x = 1 + rng.uniform(-0.25, 0.25, shape)
    x[:, ::2] += 0.25 * (-1.0) ** np.arange(shape[0])[:, None]  # rows differ, and their means do less
    x = x - x.mean(axis=1, keepdims=True) + 1 + rng.uniform(-0.2, 0.2, (shape[0], 1))
    got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
    np.testing.assert_allclose(got, written(x), rtol=0, atol=1e-9)


def test_promises_everywhere_take_no_mask() -> None:
    kernel = rm.kernel(lambda x: rm.within(x[1:], 1.0, everywhere=True) ** 2)
    masked = rm.kernel(lambda x: rm.within(x[1:], 1.0) ** 2)
    assert kernel.trace(rm.vector(6)).depth == 1
    assert masked.trace(rm.vector(6)).depth == 2
    assert masked.trace(rm.vector(6), magnitude=1.0).depth == 1, "what is there is known"


def test_an_iteration_over_padded_slots_runs_encrypted() -> None:
    x = np.linspace(0.5, 1.5, 20)
    compiled = rm.kernel(newton(3)).compile(rm.vector(20), magnitude=1.5, precision=16)
    assert np.max(np.abs(compiled.run(x=x) - newton(3)(x))) < 2.0**-16


def recurrence(steps: int, every: int = 0) -> Callable[[Any, Any], Any]:
    """Two levels a step, with marks."""

    def written(x: Any, u: Any) -> Any:
        for i in range(steps):
            x = 0.9 * x * (1 + 0.01 * u) + 0.1 * u
            if every and i and i % every == 0:
                x = rm.bootstrap(x)
        return x

    return written


@pytest.mark.parametrize(("every", "most"), [(9, 4), (20, 7)])
def test_marks_make_no_plan_worse(every: int, most: int) -> None:
    specs = rm.vector(64), rm.vector(64)
    marked = rm.kernel(recurrence(40, every)).compile(*specs, precision=14)
    alone = rm.kernel(recurrence(40)).compile(*specs, precision=14)
    assert len(marked.bootstraps) <= max(len(alone.bootstraps), 39 // every, most)


@pytest.mark.parametrize("steps", [57, 61])
def test_every_depth_compiles(steps: int) -> None:
    def written(x: Any, u: Any) -> Any:
        for _ in range(steps):
            x = 0.9 * x + 0.1 * u
        return x

    assert rm.kernel(written).compile(rm.vector(64), rm.vector(64), precision=16, algebra=False).bootstraps


@pytest.mark.long
def test_recurrences_of_any_number_of_steps_compile() -> None:
    for steps in range(1, 80, 3):
        for precision in (8, 20):
            kernel = rm.kernel(recurrence(steps))
            assert kernel.compile(rm.vector(16), rm.vector(16), precision=precision).params.security == 128
