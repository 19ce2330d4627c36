"""exp(x − max x) over its sum, as NumPy code has it: the shift is left out where it cancels alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.trace import shifts


def softmax(x: Any, axis: Any = None, over: Any = None) -> Any:
    """Softmax along an axis, in the form that does not overflow; summed ``over`` other axes if asked."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=axis is not None))
    return e / e.sum(axis=axis if over is None else over, keepdims=axis is not None)


@rm.kernel
def vector(x: Any) -> Any:
    return softmax(x)


@rm.kernel
def rows(x: Any) -> Any:
    return softmax(x, 1)


@rm.kernel
def of_scores(x: Any, w: Any) -> Any:
    return softmax(w @ x)


@rm.kernel
def of_least(x: Any) -> Any:
    e = np.exp2(x - x.min())
    return e / e.sum()


@rm.kernel
def other_axis(x: Any) -> Any:
    return softmax(x, 1, 0)


@rm.kernel
def other_sum(x: Any) -> Any:
    e = np.exp(x - x.max())
    return e / (e * e).sum()


@rm.kernel
def other_shift(x: Any, y: Any) -> Any:
    e = np.exp(x - y.max())
    return e / e.sum()


@pytest.mark.parametrize("name", ["vector", "rows", "scores", "least"])
def test_a_shift_that_cancels_costs_nothing(name: str) -> None:
    rng = np.random.default_rng(7)
    weights = rng.uniform(-0.4, 0.4, (5, 3))
    kernel, described, x, given = {
        "vector": (vector, rm.vector(10), rng.uniform(-1, 1, 10), {}),
        "rows": (rows, rm.matrix(3, 5), rng.uniform(-1, 1, (3, 5)), {}),
        "scores": (of_scores, rm.vector(3), rng.uniform(-1, 1, 3), {"w": weights}),
        "least": (of_least, rm.vector(4), np.array([-1.0, 1.0, 1.0, -1.0]), {}),
    }[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no maximum is worked out, so none takes long
        compiled = kernel.compile(described, **given, precision=12)
    assert compiled.plan.depth <= 12
    keys = compiled.keygen()
    found = compiled.decrypt(keys, compiled.evaluate(keys, compiled.encrypt(keys, x=x)))
    np.testing.assert_allclose(found, kernel.function(x, **given), atol=2.0**-12)


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        (other_axis, [rm.matrix(2, 2)]),
        (other_sum, [rm.vector(2)]),
        (other_shift, [rm.vector(2), rm.vector(2)]),
    ],
    ids=["other axis", "other sum", "other shift"],
)
def test_other_quotients_keep_their_extreme(kernel: Any, arguments: list[Any]) -> None:
    traced = kernel.trace(*arguments, magnitude=1.0, precision=6)
    alive = set(traced.graph.live())
    assert any(found.name == "abs()" and found.node in alive for found in traced.graph.found)


def test_values_that_span_much_keep_their_extreme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shifts, "WIDEST", 1.9)
    traced = vector.trace(rm.vector(2), magnitude=1.0, precision=6)
    alive = set(traced.graph.live())
    assert any(found.name == "abs()" and found.node in alive for found in traced.graph.found)


def test_an_extreme_that_no_form_reaches_is_refused_where_results_need_it() -> None:
    # Comparisons do not come as close as 20 bits ask for; the quotient does not need them.
    compiled = vector.compile(rm.vector(8), precision=20)
    x = np.linspace(-1, 1, 8)
    wanted = np.exp(x) / np.exp(x).sum()
    assert np.abs(compiled.run(x=x) - wanted).max() < 2.0**-20
    with pytest.raises(rm.KernelError) as refused:
        rm.kernel(lambda x: x.max()).compile(rm.vector(8), precision=20)
    assert refused.value.code == "NotReached"
