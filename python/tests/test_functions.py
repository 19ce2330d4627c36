"""Approximations and the functions made of them: stated errors against NumPy on grids of their own."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.kernels import Absolute, Compare, Inverse, Sign, Softmax, SquareRoot

Clear = Callable[..., Any]


def logistic(t: Any) -> Any:
    return 1 / (1 + np.exp(-t))


@pytest.mark.parametrize(
    ("function", "interval"),
    [(np.tanh, (-4, 4)), (np.exp, (-1, 1)), (logistic, (-8, 8)), (np.sqrt, (0.1, 3)), (np.cos, (0, 6))],
)
@pytest.mark.parametrize("error", [1e-2, 1e-4, 1e-6])
def test_least_degree_within_an_error(
    function: Callable[[Any], Any], interval: tuple[float, float], error: float
) -> None:
    found = rm.approximate(function, interval, error=error)
    # A grid that shares no point with the one that was measured on.
    points = np.random.default_rng(7).uniform(*interval, 50_000)
    measured = float(np.max(np.abs(found(points) - function(points))))
    assert measured <= found.error <= error
    assert found.depth == math.ceil(math.log2(found.degree + 1)) + (interval != (-1, 1))
    if found.degree > 2:
        # Two less, and not one: an even function has the same error at degrees 2k and 2k + 1.
        below = rm.approximate(function, interval, degree=found.degree - 1)
        assert below.error > error


def shown(error: float) -> str:
    """Two digits, rounded up, by decimal arithmetic."""
    exact = decimal.Decimal(error)
    unit = decimal.Decimal(1).scaleb(exact.adjusted() - 1)
    return f"{float(exact.quantize(unit, decimal.ROUND_CEILING)):.2g}"


def test_approximations_report_themselves() -> None:
    tanh = rm.approximate(np.tanh, (-4, 4), error=1e-4)
    assert repr(tanh) == (
        f"<polynomial of degree {tanh.degree} on [-4, 4], error {shown(tanh.error)}, {tanh.depth} levels>"
    )
    traced = rm.kernel(lambda x: tanh(x)).trace(rm.vector(4))
    assert traced.depth == tanh.depth
    products = products_of(traced.text)
    assert products == tanh.products
    assert rm.kernel(lambda x: tanh.unit(x)).trace(rm.vector(4)).depth == tanh.unit_depth
    assert not np.any(tanh.series.coef[::2]), "tanh is odd, and so is its polynomial"


PLAIN = [
    (math.tanh, np.tanh, (-4, 4)),
    (lambda t: max(t, 0), lambda t: np.maximum(t, 0), (-1, 2)),
    (lambda t: t if t > 0.5 else 0.5, lambda t: np.maximum(t, 0.5), (0, 1)),
]


@pytest.mark.parametrize(("plain", "arrays", "interval"), PLAIN)
def test_functions_of_plain_numbers(plain: Any, arrays: Any, interval: tuple[float, float]) -> None:
    found, usual = (rm.approximate(f, interval, degree=9) for f in (plain, arrays))
    points = np.random.default_rng(8).uniform(*interval, 20_000)
    assert np.max(np.abs(found(points) - arrays(points))) <= found.error
    assert found.error == pytest.approx(usual.error, rel=1e-6)


def step_in_place(t: Any) -> Any:
    t[t > 0] = 1
    t[t <= 0] = -1
    return t


def square_in_place(t: Any) -> Any:
    t *= t
    return t


def double_in_place(t: Any) -> Any:
    return np.multiply(t, 2, out=t)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["chebyshev", "minimax"])
@pytest.mark.parametrize(
    ("writes", "clear", "least"),
    [
        (step_in_place, lambda t: np.where(t > 0, 1.0, -1.0), 0.9),
        (square_in_place, lambda t: t**2, 0.0),
        (double_in_place, lambda t: 2 * t, 0.0),
    ],
)
def test_functions_that_write_into_their_argument(writes: Any, clear: Any, least: float, method: Any) -> None:
    if method == "minimax":
        pytest.importorskip("baryrat")
    found = rm.approximate(writes, (-1, 1), degree=7, method=method)
    points = np.linspace(-1, 1, 100_000)
    measured = np.max(np.abs(found(points) - clear(points)))
    assert least <= measured <= found.error + 1e-12


def peak(t: Any) -> Any:
    return 1 / (1 + 1e8 * (t - 0.123456) ** 2)


@pytest.mark.parametrize(
    ("function", "interval", "worst"),
    [
        (peak, (-1, 1), [0.123456]),
        (lambda t: t * t + 0.3 * peak(t), (-1, 1), [0.123456]),
        (lambda t: np.tanh(1e9 * (t - 0.3)), (0, 1), [0.3 - 1e-7, 0.3 + 1e-7]),
        (lambda t: np.abs(t - 0.1234567), (0, 1), [0.1234567]),
    ],
)
@pytest.mark.parametrize("degree", [1, 6, 31])
def test_stated_errors_hold_where_the_function_is_steep(
    function: Any, interval: tuple[float, float], worst: list[float], degree: int
) -> None:
    found = rm.approximate(function, interval, degree=degree)
    points = np.concatenate([worst, np.random.default_rng(9).uniform(*interval, 100_000)])
    assert np.max(np.abs(found(points) - function(points))) <= found.error


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (np.tan, "NotSettled"),
        (lambda t: 1 / np.abs(t - 0.3) ** 0.1, "NotSettled"),
        (lambda t: 1 / t, "NotFinite"),
        (lambda t: 1 / max(t, 0), "NotAFunction"),
        (math.log, "NotAFunction"),
        (lambda t: "high" if t > 0 else "low", "NotAFunction"),
        (lambda t: t + 1j, "NotAFunction"),
        (7, "NotAFunction"),
    ],
)
def test_what_has_no_polynomial_is_refused(function: Any, code: str) -> None:
    for wanted in ({"degree": 31}, {"error": 1e-2}):
        with pytest.raises(rm.ApproximationError) as refused:
            rm.approximate(function, (-2, 2), **wanted)
        assert refused.value.code == code, refused.value


def products_of(text: str) -> int:
    """Products of two ciphertexts in a program's text."""
    constants: set[str] = set()
    count = 0
    for line in text.splitlines():
        if match := re.match(r"(%\w+) = (\w+) ?(.*)", line):
            name, word, rest = match.groups()
            if word == "const":
                constants.add(name)
            operands = re.findall(r"%\w+", rest)
            count += word == "square" or (word == "mul" and not constants & set(operands))
    return count


def test_what_has_no_best_polynomial_that_is_found_says_so() -> None:
    smooth = rm.approximate(np.exp, (-2, 1), degree=6, method="minimax")
    assert smooth.method == "minimax"
    assert rm.approximate(np.exp, (-2, 1), degree=6).method == "chebyshev"
    kinked = rm.approximate(np.abs, (-1, 1), degree=63, method="minimax")
    assert kinked.method == "chebyshev"
    assert kinked.error == rm.approximate(np.abs, (-1, 1), degree=63).error


def test_searches_that_fail_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    import baryrat

    asked = []

    def fails(*given: Any, **options: Any) -> Any:
        asked.append(given)
        raise RuntimeError

    monkeypatch.setattr(baryrat, "bpane", fails)
    found = rm.approximate(np.abs, (-1, 1), error=0.01, method="minimax")
    assert found.error <= 0.01
    assert len(asked) == 2 * 3, "three degrees, each at the next one too"


KINKED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "abs": lambda t, at, w: np.abs(np.subtract.outer(t, at)) @ w,
    "hinge": lambda t, at, w: np.maximum(np.subtract.outer(t, at), 0) @ w,
    "root": lambda t, at, w: np.sqrt(np.abs(np.subtract.outer(t, at))) @ w,
    "triangle": lambda t, at, w: np.abs((len(at) * t + at[0]) % 2 - 1),
}


def held_to_what_is_asked(method: Any, draw: np.random.Generator) -> None:
    """A function with kinks at random places: what is stated is no less than what random points show."""
    low = draw.uniform(-3, 0)
    high = low + draw.uniform(0.5, 4)
    at, weights = draw.uniform(low, high, draw.integers(1, 14)), draw.normal(size=14)
    kind = draw.choice(sorted(KINKED))

    def function(t: Any) -> Any:
        return KINKED[kind](t, at, weights[: len(at)])

    near = at + 1e-9 * draw.normal(size=len(at))
    points = np.clip(np.concatenate([draw.uniform(low, high, 50_000), at, near, [low, high]]), low, high)
    asked = 10 ** draw.uniform(-2.2, -0.5) * float(np.max(np.abs(function(points))))
    found = refused = None
    try:
        found = rm.approximate(function, (low, high), error=asked, method=method)
    except rm.errors.ApproximationError as error:
        refused = error
    if found is None:
        # What is named can be had, and is more than what was asked.
        assert refused is not None
        assert refused.code == "NotReached"
        reachable = refused.fields["found"]
        assert reachable > asked
        found = rm.approximate(function, (low, high), error=reachable, method=method)
        asked = reachable
    measured = float(np.max(np.abs(found(points) - function(points))))
    reported = re.search(r"error (\S+),", repr(found))
    assert reported
    assert measured <= found.error <= asked, f"{kind}, {len(at)} kinks"
    assert measured <= float(reported[1])


@pytest.mark.parametrize("method", ["chebyshev", "minimax"])
def test_errors_of_functions_with_kinks_are_kept_to(method: Any) -> None:
    found = rm.approximate(np.abs, (-1, 1), error=1e-2, method=method)
    t = np.linspace(-1, 1, 400_001)
    assert np.max(np.abs(found(t) - np.abs(t))) <= found.error <= 1e-2
    draw = np.random.default_rng(11)
    for _ in range(2):
        held_to_what_is_asked(method, draw)


@pytest.mark.long
@pytest.mark.parametrize("method", ["chebyshev", "minimax"])
def test_errors_of_many_functions_with_kinks_are_kept_to(method: Any) -> None:
    draw = np.random.default_rng(12)
    for _ in range(150):
        held_to_what_is_asked(method, draw)


def test_minimax_is_no_worse() -> None:
    pytest.importorskip("baryrat")
    for degree in (4, 7, 15):
        best = rm.approximate(np.exp, (-2, 1), degree=degree, method="minimax")
        usual = rm.approximate(np.exp, (-2, 1), degree=degree)
        assert best.error <= usual.error * 1.001


def grid(low: float, high: float) -> Any:
    return np.random.default_rng(11).uniform(low, high, 40_000)


@pytest.mark.parametrize(("gap", "error"), [(0.1, 1e-2), (2**-6, 1e-4), (0.01, 1e-6)])
def test_sign(gap: float, error: float) -> None:
    sign = Sign(gap, error)
    x = grid(gap, 1)
    assert np.max(np.abs(sign(x) - 1)) <= sign.error <= error
    assert np.max(np.abs(sign(-x) + 1)) <= sign.error
    inside = grid(-gap, gap)
    assert np.max(np.abs(sign(inside))) <= 1.01
    assert sign.depth == sum(math.ceil(math.log2(stage.degree() + 1)) for stage in sign.stages)


def test_comparison_and_absolute_value() -> None:
    a, b = grid(0, 2), np.random.default_rng(12).uniform(0, 2, 40_000)
    greater = Compare(gap=0.02, error=1e-3, bound=2.0)
    apart = np.abs(a - b) > 0.04
    assert np.max(np.abs(greater(a, b) - (a > b))[apart]) <= greater.error <= 1e-3
    x = grid(-3, 3)
    for compose in (False, True):
        absolute = Absolute(error=0.02, bound=3.0, compose=compose)
        assert np.max(np.abs(absolute(x) - np.abs(x))) <= absolute.error <= 0.02
    assert Absolute(error=0.02, bound=3.0).depth < absolute.depth


@pytest.mark.parametrize(
    ("interval", "error"), [((0.5, 4), 1e-4), ((0.9, 1.1), 1e-9), ((0.01, 1), 1e-2), ((-4, -0.5), 1e-4)]
)
def test_inverse(interval: tuple[float, float], error: float) -> None:
    x = grid(*interval)
    iterated = Inverse(interval, error, iterate=True)
    for inverse in (Inverse(interval, error), iterated):
        assert np.max(np.abs(inverse(x) - 1 / x)) <= inverse.error <= error
    assert Inverse(interval, error).depth <= iterated.depth
    # One factor less would not do.
    assert iterated.ratio ** (2 ** (iterated.factors - 1)) / np.abs(x).min() > error


def test_square_root_and_soft_max() -> None:
    for bound, error, iterate in ((1.0, 0.05, False), (4.0, 0.02, False), (4.0, 0.02, True)):
        root = SquareRoot(bound, error, iterate=iterate)
        x = np.concatenate([[0.0], grid(0, bound), np.geomspace(1e-9, bound, 4001)])
        assert np.max(np.abs(root(x) - np.sqrt(x))) <= root.error <= error
    softmax = Softmax(3, bound=1.5, error=1e-3)
    x = grid(-1.5, 1.5)[:39_999].reshape(-1, 3)
    powers = np.exp(x)
    want = powers / powers.sum(axis=1, keepdims=True)
    assert np.max(np.abs(softmax(x) - want)) <= softmax.error <= 1e-3


@pytest.mark.parametrize(
    ("specs", "code"),
    [
        (rm.matrix(5, 4, packing="columns"), "ShapeMismatch"),
        (rm.matrix(5, 3), "PackingMismatch"),
        (rm.vector(3), "PackingMismatch"),
        (rm.vector(2, packing="scalars"), "ShapeMismatch"),
        (rm.scalar(), "ShapeMismatch"),
    ],
)
def test_soft_max_checks_columns_and_packing(specs: rm.Spec, code: str) -> None:
    softmax = Softmax(np.int64(3))  # type: ignore[arg-type]  # NumPy's integers are integers
    with pytest.raises(rm.KernelError, match="test_functions") as refused:
        rm.kernel(lambda x: softmax(x)).trace(specs)
    assert refused.value.code == code
    for clear in (np.ones((2, 5)), np.ones(4), 1.0):
        with pytest.raises(rm.KernelError, match="soft-max over 3 columns"):
            softmax(clear)
    powers = np.exp([0.1, 0.2, 0.3])
    assert np.max(np.abs(softmax([0.1, 0.2, 0.3]) - powers / powers.sum())) <= softmax.error


def test_lists_are_clear_data_for_every_function() -> None:
    for function, want in (
        (Sign(0.1, 1e-2), [1.0, 1.0]),
        (Inverse((0.5, 2), 1e-2, iterate=True), [2.0, 1 / 0.7]),
        (SquareRoot(2.0, 0.1, iterate=True), np.sqrt([0.5, 0.7])),
        (Absolute(0.1, compose=True), [0.5, 0.7]),
    ):
        assert np.max(np.abs(function([0.5, 0.7]) - np.asarray(want))) <= function.error


CASES: list[tuple[str, Any, tuple[Any, ...], dict[str, Any], float]] = [
    ("sign", Sign(0.1, 1e-2), (rm.vector(64),), {"x": np.linspace(0.1, 1, 64)}, 1.0),
    ("absolute", Absolute(0.1), (rm.vector(64),), {"x": np.linspace(-1, 1, 64)}, 1.0),
    ("absolute", Absolute(0.1, compose=True), (rm.vector(64),), {"x": np.linspace(-1, 1, 64)}, 1.0),
    ("inverse", Inverse((0.5, 2), 1e-3, iterate=True), (rm.vector(64),), {"x": np.linspace(0.5, 2, 64)}, 2.0),
    ("inverse", Inverse((0.5, 2), 1e-3), (rm.vector(64),), {"x": np.linspace(0.5, 2, 64)}, 2.0),
    ("inverse", Inverse((-2, -1), 1e-3, iterate=True), (rm.vector(64),), {"x": np.linspace(-2, -1, 64)}, 2.0),
    ("root", SquareRoot(2.0, 0.05), (rm.vector(64),), {"x": np.linspace(0, 2, 64)}, 2.0),
    ("root", SquareRoot(2.0, 0.1, iterate=True), (rm.vector(64),), {"x": np.linspace(0, 2, 64)}, 2.0),
    (
        "softmax",
        Softmax(3, 1.0, 1e-2),
        (rm.matrix(16, 3, packing="columns"),),
        {"x": np.random.default_rng(3).uniform(-1, 1, (16, 3))},
        1.0,
    ),
]


@pytest.mark.parametrize(
    ("name", "function", "specs", "values", "magnitude"), CASES, ids=lambda c: str(c)[:12]
)
def test_functions_through_encryption(
    name: str, function: Any, specs: tuple[Any, ...], values: dict[str, Any], magnitude: float
) -> None:
    kernel = rm.kernel(lambda x: function(x))
    depth = function.depth
    params = rm.Params.from_bits(
        11, [58] + [45] * depth, [58, 58], (depth + 2) // 2, scale_bits=45, insecure=True
    )
    compiled = kernel.compile(*specs, params=params, magnitude=magnitude)
    assert compiled.plan.depth == depth, "as deep as it says"
    results = compiled.run(**values)
    np.testing.assert_allclose(results, function(values["x"]), rtol=0, atol=1e-5)
    titles = {"root": "square root", "absolute": "absolute value", "softmax": "soft-max"}
    assert f'region "{titles.get(name, name)}' in compiled.text


def test_parameters_for_a_deep_function_stay_small() -> None:
    """Stated bounds keep the scale near what the precision asks for, fourteen levels deep."""
    sign = Sign(2**-6, 1e-3)
    compiled = rm.kernel(lambda x: sign(x)).compile(rm.vector(16), precision=15)
    assert compiled.plan.depth == sign.depth >= 9
    assert compiled.params.scale_bits <= 52
    assert compiled.plan.bound < 4
