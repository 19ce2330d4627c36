"""Polynomials on intervals, of values that do not fill their slots: zero and leftovers may lie outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Chebyshev
from oracle import interpret

import ringmill as rm
from ringmill.kernels import Inverse, Sign, SquareRoot
from ringmill.trace.padding import padding

# (1, 2) does not hold zero and its factor is whole, (-1, 3) does, (0.4, 2.9) has a factor to mask with.
LOG = rm.approximate(np.log, (1, 2), error=1e-6)
EXP = rm.approximate(np.exp, (-1, 3), error=1e-4)
RECIPROCAL = rm.approximate(np.reciprocal, (0.4, 2.9), error=1e-4)


def outcome(function: Callable[[Any], Any], spec: rm.Spec, x: Any, magnitude: float, depth: int) -> Any:
    """What decrypts, after bounds were held against every slot."""
    kernel = rm.kernel(lambda x: function(x))
    params = rm.Params.from_bits(
        11, [58] + [45] * depth, [58, 58], (depth + 2) // 2, scale_bits=45, insecure=True
    )
    compiled = kernel.compile(spec, params=params, magnitude=magnitude)
    assert compiled.plan.depth == depth
    return compiled.run(x=x)


def apart(got: Any, want: Any) -> float:
    return float(np.max(np.abs(got - want)))


@pytest.mark.parametrize("spec", [rm.vector(5), rm.vector(100), rm.matrix(100, 2, packing="columns")])
@pytest.mark.parametrize(
    ("found", "function", "low", "high"),
    [(LOG, np.log, 1, 2), (EXP, np.exp, -1, 3), (RECIPROCAL, np.reciprocal, 0.4, 2.9)],
)
def test_intervals_without_zero_on_part_of_the_slots(
    spec: rm.Spec, found: Any, function: Any, low: float, high: float, rng: np.random.Generator
) -> None:
    x = rng.uniform(low, high, spec.shape)
    assert apart(outcome(found, spec, x, high, found.depth), function(x)) <= found.error + 2.0**-24


@pytest.mark.parametrize("iterate", [False, True])
@pytest.mark.parametrize("spec", [rm.vector(100), rm.matrix(5, 3)])
def test_inverses_of_values_and_of_sums_of_rows(
    iterate: bool, spec: rm.Spec, rng: np.random.Generator
) -> None:
    inverse = Inverse((0.5, 4), 1e-3, iterate=iterate)
    sums = (lambda t: t.sum(axis=1)) if len(spec.shape) == 2 else (lambda t: t)
    # Sums of parts of two rows, between the sums of rows, go beyond 4 and below 0.5.
    x = rng.uniform(0.5, 4, spec.shape) if len(spec.shape) == 1 else ROWS
    magnitude = float(np.max(np.abs(x)))
    got = outcome(lambda t: inverse(sums(t)), spec, x, magnitude, inverse.depth)
    assert apart(got, 1 / sums(x)) <= inverse.error + 2.0**-20


ROWS = np.array([[-2, 1, 2], [3, 2, -4], [-3, 1, 3], [2.5, 2, -4], [0.3, 0.2, 0.1]])


@pytest.mark.parametrize(("bound", "more"), [(1.0, 1), (4.0, 0)])
def test_leftovers_on_the_unit_interval_take_a_level(bound: float, more: int) -> None:
    """A bound other than 1 has a factor that takes the mask along."""
    sign, x = Sign(0.02, 1e-2, bound), ROWS * bound / 4
    got = outcome(lambda t: sign(t.sum(axis=1)), rm.matrix(5, 3), x, bound, sign.depth + more)
    assert apart(got, np.sign(x.sum(axis=1))) <= sign.error + 2.0**-16


def test_roots_of_sums_of_rows() -> None:
    for root in (SquareRoot(3.0, 0.1), SquareRoot(3.0, 0.1, iterate=True)):
        got = outcome(lambda t, r=root: r(t.sum(axis=1)), rm.matrix(5, 3), ROWS, 4.0, root.depth)
        assert apart(got, np.sqrt(ROWS.sum(axis=1))) <= root.error + 2.0**-16


def test_padding_is_inside_wherever_a_polynomial_is_applied(rng: np.random.Generator) -> None:
    """Every slot that a Chebyshev polynomial gets, sums over padded results, functions of functions."""
    x = rng.uniform(1, 2, 100)
    kernel = rm.kernel(lambda x: LOG(x * 0.5 + 1).sum())
    traced = kernel.trace(rm.vector(100))
    slots = interpret(traced.text, traced.signature.pack({"x": x}))
    assert apart(traced.signature.unpack(slots), np.log(x * 0.5 + 1).sum()) <= 100 * LOG.error
    # log in [0, log 2] is mapped on: a number known in the padding, log(1.5), need not be removed again.
    kernel = rm.kernel(lambda x: {"y": LOG(x), "z": EXP(LOG(x)), "w": LOG(EXP(LOG(x)))})
    traced = kernel.trace(rm.vector(100))
    assert "data" in traced.text
    slots = interpret(traced.text, traced.signature.pack({"x": x}))
    assert all(np.max(np.abs(values)) < 3 for values in slots.values())
    found = traced.signature.unpack(slots)
    for name, want in (("y", np.log(x)), ("z", x), ("w", np.log(x))):
        assert apart(found[name], want) <= 1e-3


def test_nothing_changes_where_padding_keeps_to_the_interval() -> None:
    """Columns with a bias: numbers stay numbers, one for all slots, and chains cost no masks."""
    unit = rm.approximate(np.tanh, (-1, 1), degree=7)

    def layers(x: Any) -> Any:
        return unit(unit(x * 0.5 + 0.25) * 0.5 - 0.4)

    traced = rm.kernel(layers).trace(rm.vector(100))
    assert "data" not in traced.text
    assert traced.depth == 2 * unit.depth + 2
    # A bias that leaves the interval together with an element of zero stays out of the padding.
    traced = rm.kernel(lambda x: unit(x - 1.5)).trace(rm.vector(100))
    x = np.linspace(0.5, 2.5, 100)
    slots = interpret(traced.text, traced.signature.pack({"x": x}))
    assert np.max(np.abs(slots["out"])) < 1
    assert apart(traced.signature.unpack(slots), np.tanh(x - 1.5)) <= unit.error


def test_squares_of_what_is_in_the_padding_are_not_negative() -> None:
    """A bias that may or may not stand in the padding is 0 or itself there: two of them make [-1, 1] here."""
    found: list[tuple[float, float] | None] = []

    def squared(x: Any) -> Any:
        y = (x + 1) + (x - 1)
        found.extend(padding(z) for z in (y, y * y, -(y * y) * 0.5))
        return y * y

    rm.kernel(squared).trace(rm.vector(100))
    assert found == [(-1, 1), (0, 1), (-0.5, 0)]


def test_bounds_know_that_padding_is_harmless() -> None:
    traced = rm.kernel(lambda x: LOG(x)).trace(rm.vector(100))
    assert traced.leaves_interval(2.0) is None
    assert traced.leaves_interval(4.0) is not None
    t4 = rm.kernel(lambda x: rm.polynomial(x, Chebyshev([0, 0, 0, 0, 1.0], domain=[3, 5])))
    for length in (64, 100):
        assert t4.trace(rm.vector(length)).bound(5.0) == t4.trace(rm.vector(128)).bound(5.0)


@pytest.mark.parametrize("length", [5, 8])
def test_encrypted_scalars_in_padding_are_data(length: int, rng: np.random.Generator) -> None:
    """x − t is −t in the padding, which no one declared to be in the interval."""
    unit = rm.approximate(np.tanh, (-1, 1), degree=7)
    traced = rm.kernel(lambda x, t: unit(x - t)).trace(rm.vector(length), rm.scalar())
    x = 6 + rng.uniform(-1, 1, length)
    slots = interpret(traced.text, traced.signature.pack({"x": x, "t": 6.0}))
    assert np.max(np.abs(slots["out"])) < 1
    assert apart(traced.signature.unpack(slots), np.tanh(x - 6)) <= unit.error


TANH = rm.approximate(np.tanh, (-1, 1), degree=7)
SIGN = Sign(0.1, 1e-2)
# Rows whose absolute values sum up to 1.
WEIGHTS = np.sin(np.arange(60) ** 2).reshape(5, 12)
WEIGHTS /= np.abs(WEIGHTS).sum(axis=1, keepdims=True)

# What is in the interval, the function of it, what NumPy says, argument, levels with masks and without.
LEFTOVERS: dict[str, tuple[Any, Any, Any, rm.Spec, int, int]] = {
    "first": (lambda x: x[:3], TANH, np.tanh, rm.vector(12), 4, 3),
    "middle": (lambda x: x[3:9:2], TANH, np.tanh, rm.vector(12), 4, 3),
    "product": (lambda x: WEIGHTS @ x, TANH, np.tanh, rm.vector(12), 5, 4),
    "column": (lambda x: WEIGHTS[:, :5] @ x[:, 0], TANH, np.tanh, rm.matrix(5, 3), 4, 4),
    "mean": (lambda x: x * 0.25 + x.sum() * (1 / 16), TANH, np.tanh, rm.vector(12), 5, 4),
    "rows": (lambda x: x.sum(axis=1) * 0.125, TANH, np.tanh, rm.matrix(5, 8), 5, 4),
    "sign": (lambda x: x[1:], SIGN, np.sign, rm.vector(12), SIGN.depth + 1, SIGN.depth),
    "chain": (
        lambda x: x[:8],
        lambda t: TANH(TANH(t)[2:6]),
        lambda t: np.tanh(np.tanh(t[2:6])),
        rm.vector(12),
        8,
        6,
    ),
}


@pytest.mark.parametrize("name", LEFTOVERS)
def test_a_magnitude_that_keeps_leftovers_inside_saves_the_mask(name: str, rng: np.random.Generator) -> None:
    inner, outer, numpy, spec, masked, least = LEFTOVERS[name]
    kernel = rm.kernel(lambda x: outer(inner(x)))
    traced, again = (kernel.trace(spec, magnitude=1.0) for _ in range(2))
    assert traced.text == again.text
    assert (kernel.trace(spec).depth, traced.depth) == (masked, least)
    # One mask is enough.
    assert kernel.trace(spec, magnitude=1.5).depth == min(masked, least + 1)
    error = SIGN.error if name == "sign" else 2 * TANH.error
    extremes = [np.ones(spec.shape), *rng.choice([-1.0, 1.0], (60, *spec.shape))]
    insides = rng.uniform(0.1, 1, (20, *spec.shape)) * rng.choice([-1, 1], (20, *spec.shape))
    for x in [*extremes, *insides]:
        slots = interpret(traced.text, traced.signature.pack({"x": x}))
        assert apart(traced.signature.unpack(slots), numpy(inner(x))) <= error
    for x in (extremes[0], extremes[1], insides[0]):
        got = outcome(lambda t: outer(inner(t)), spec, x, 1.0, least)
        assert apart(got, numpy(inner(x))) <= error + 2.0**-20


def test_masks_are_left_out_only_where_no_data_break_the_promise(rng: np.random.Generator) -> None:
    """Linear maps at random, scaled so that elements reach ±1: the oracle holds promises in every slot."""
    length, saved, masked = 6, 0, 0
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * length)).reshape(length, -1).T
    for _ in range(30):
        m, weights = rng.normal(size=(rng.integers(2, 9), length)), rng.normal(size=length)
        a, b, k = rng.uniform(-1, 1, 3)
        first, last = sorted(rng.choice(length + 1, 2, replace=False))
        maps: list[Callable[[Any], Any]] = [
            lambda x, m=m: m @ x,
            lambda x, c=(first, last): x[c[0] : c[1]],
            lambda x, a=a, b=b: x * a + x.sum() * b,
            lambda x, w=weights, c=(first, last): (x * w)[c[0] : c[1]] * 0.5,
            lambda x, m=m, k=k: (m @ x)[1:] - k * x.sum(),
        ]
        function = maps[rng.integers(len(maps))]
        scale = 1 / np.max(np.abs(np.array([function(unit) for unit in np.eye(length)])).sum(axis=0))
        kernel = rm.kernel(lambda x, f=function, scale=scale: TANH(f(x) * scale))
        traced = kernel.trace(rm.vector(length), magnitude=1.0)
        depth = kernel.trace(rm.vector(length)).depth
        assert traced.depth in (depth, depth - 1)
        saved, masked = saved + (traced.depth < depth), masked + ("data" in traced.text)
        for x in corners:
            slots = interpret(traced.text, traced.signature.pack({"x": x}))
            assert apart(traced.signature.unpack(slots), np.tanh(function(x) * scale)) <= TANH.error
    assert saved > 5
    assert masked > 5


def test_numbers_that_may_be_put_into_the_padding_count_as_there() -> None:
    """x + 3 adds 3 in the elements; where nothing needs zero beside them it is added in all slots."""
    table = np.array([3, 3, 3, 3, 2.9])
    kernel = rm.kernel(lambda x: TANH(((x + 3) - table)[:3]))
    x = np.array([0.25, -0.25, 0.1, 0.2, -0.2])
    traced = kernel.trace(rm.vector(5), magnitude=0.25)
    slots = interpret(traced.text, traced.signature.pack({"x": x}))
    assert apart(traced.signature.unpack(slots), np.tanh(x[:3])) <= TANH.error


def test_intervals_are_of_real_values() -> None:
    """|u| ≤ 1 says little of a complex u: T7(i) is 239 in size."""
    turned = rm.kernel(lambda x: TANH((x * 1j)[:3]) + 0 * x.sum())
    for kernel, spec in (
        (rm.kernel(lambda x: TANH(x[:3])), rm.vector(12, dtype=complex)),
        (turned, rm.vector(12)),
    ):
        assert kernel.trace(spec, magnitude=1.0).text == kernel.trace(spec).text
