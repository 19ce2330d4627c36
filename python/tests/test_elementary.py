"""Functions that are no polynomials, as NumPy writes them: intervals, errors, bands, and what is stated."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle import interpret
from scipy import sparse, special

import ringmill as rm

UNIT, POSITIVE = rm.vector(6), rm.vector(6, low=0.3, high=1.7)

SMOOTH: dict[str, tuple[Callable[[Any], Any], rm.Spec]] = {
    "tanh": (lambda x: np.tanh(3 * x), UNIT),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), UNIT),
    "expit": (lambda x: special.expit(4 * x), UNIT),
    "erf": (special.erf, UNIT),
    "log": (np.log, POSITIVE),
    "root": (lambda x: x**0.5, POSITIVE),
    "inverse": (lambda x: 2 / x, POSITIVE),
    "inverse of negative values": (lambda x: 1 / (x - 3), POSITIVE),
    "inverse square": (lambda x: x**-2, POSITIVE),
    "power of two": (lambda x: 2**x, UNIT),
    "GELU": (lambda x: 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3))), UNIT),
    "softmax": (lambda x: np.exp(x) / np.exp(x).sum(), UNIT),
    "soft plus": (lambda x: np.log(1 + np.exp(x)), UNIT),
    "sum of many": (lambda x: (np.sin(x) * np.arange(6)).sum() + np.cos(x).mean(), UNIT),
    "of a function": (lambda x: np.exp(-(np.tanh(x) ** 2)), UNIT),
    "scaled up": (lambda x: 1000 * np.cos(x), UNIT),
}


def apart(got: Any, want: Any) -> float:
    return float(np.max(np.abs(np.asarray(got) - want)))


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("bits", [6, 20])
def test_functions_keep_to_the_precision_that_is_asked_for(
    name: str, bits: int, rng: np.random.Generator
) -> None:
    function, spec = SMOOTH[name]
    traced = rm.kernel(lambda x: function(x)).trace(spec, magnitude=1.0, precision=bits)
    stated = max(traced.approximation_errors(traced.magnitude or 1.0).values())
    low, high = (-1.0, 1.0) if spec.low is None else (spec.low, spec.high)
    worst = 0.0
    for x in [np.linspace(low, high, 6), *rng.uniform(low, high, (50, 6)), np.full(6, low), np.full(6, high)]:
        got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
        worst = max(worst, apart(got, function(x)))
    assert worst <= stated <= 2.0 ** -(bits + 1)


JUMPS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "greater": (lambda x: x > 0.25, lambda x: (x > 0.25) * 1.0),
    "less": (lambda x: x < 0, lambda x: (x < 0) * 1.0),
    "sign": (np.sign, np.sign),
    "where": (lambda x: np.where(x > 0, 2 * x, 1.0), lambda x: np.where(x > 0, 2 * x, 1.0)),
}


@pytest.mark.parametrize("name", JUMPS)
def test_jumps_have_a_band_that_is_stated(name: str, rng: np.random.Generator) -> None:
    written, numpy = JUMPS[name]
    traced = rm.kernel(lambda x: written(x)).trace(UNIT, magnitude=1.0, precision=10)
    (found,) = traced.graph.found
    assert 0 < found.band < 0.05
    assert "nothing is promised within" in str(found)
    jump = 0.25 if name == "greater" else 0.0
    for x in rng.uniform(-1, 1, (40, 6)):
        x[0] = jump + 1.01 * found.band  # as close as is promised
        got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
        far = np.abs(x - jump) >= found.band
        assert apart(got[far], numpy(x)[far]) <= 2.0**-11


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.abs(x - 0.1),
        lambda x: np.maximum(x, x[::-1]),
        lambda x: np.minimum(x, 0.3),
        lambda x: np.clip(x, -0.5, 0.25),
        lambda x: np.max(x[:2]),
    ],
)
def test_bends_are_kept_to_at_the_bend(function: Any, rng: np.random.Generator) -> None:
    traced = rm.kernel(lambda x: function(x)).trace(UNIT, magnitude=1.0, precision=6)
    for x in [np.full(6, 0.1), np.zeros(6), *rng.uniform(-1, 1, (20, 6)), *rng.uniform(-0.02, 0.02, (5, 6))]:
        got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
        assert apart(got, function(x)) <= 2.0**-7


def test_what_bounds_decide_costs_nothing() -> None:
    """|x|, x > 0 and the maximum with 0 of positive values are known."""
    x = np.linspace(0.3, 1.7, 6)
    for function in (abs, lambda x: x > 0, lambda x: np.maximum(x, 0), lambda x: np.sign(x)):
        traced = rm.kernel(lambda x, f=function: f(x) + 0 * x).trace(POSITIVE)
        assert traced.depth == 0
        got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
        assert apart(got, function(x)) == 0


def test_the_stated_error_counts_approximation_and_separates_it(tmp_path: Any) -> None:
    """10 bits by the kernel's own choice of a polynomial are stated, and measured within."""
    tanh = rm.approximate(np.tanh, (-5, 5), error=1e-3)
    compiled = rm.kernel(lambda x: 2 * tanh(x)).compile(rm.vector(8), precision=20)
    keys, values = compiled.keygen(), np.linspace(-1, 1, 8)
    results = compiled.evaluate(keys, compiled.encrypt(keys.secret, x=values))
    measured = compiled.measure_error(keys, results, 2 * np.tanh(values))["out"]
    assert measured.holds
    parts = compiled.error_parts["out"]
    assert parts["approximation"] == pytest.approx(np.log2(2 * tanh.error), abs=1e-6)
    assert parts["encryption"] <= -20
    assert compiled.predicted_error["out"] == pytest.approx(
        np.log2(2.0 ** parts["encryption"] + 2.0 ** parts["approximation"])
    )
    assert "by approximation" in str(compiled)
    assert "degree" in str(compiled)
    compiled.save(tmp_path / "k.rm")
    again = rm.load(tmp_path / "k.rm") if hasattr(rm, "load") else type(compiled).load(tmp_path / "k.rm")
    assert again.error_parts == compiled.error_parts
    assert again.functions == compiled.functions


def test_a_precision_holds_for_the_function_that_is_written() -> None:
    compiled = rm.kernel(lambda x: np.exp(x) / (1 + x * x)).compile(UNIT, precision=20)
    keys, values = compiled.keygen(), np.linspace(-1, 1, 6)
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=values))
    measured = compiled.measure_error(keys, results, np.exp(values) / (1 + values**2))["out"]
    assert measured.holds
    assert compiled.predicted_error["out"] <= -20


def test_calibration_takes_intervals_from_data(rng: np.random.Generator) -> None:
    """Standardised features divide by a deviation that interval arithmetic cannot keep from zero."""
    records = rng.normal(0.2, 0.3, (30, 6, 3))

    @rm.kernel
    def standardised(x: Any) -> Any:
        return (x - x.mean(axis=0)) / x.std(axis=0)

    with pytest.raises(rm.KernelError, match="within"):
        standardised.compile(rm.matrix(6, 3), precision=8)
    traced = standardised._trace({"x": rm.matrix(6, 3)}, None, precision=8, calibrate={"x": records[1:]})
    got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": records[0]})))
    assert apart(got, standardised(records[0])) <= 2.0**-8
    spec = traced.signature.inputs["x"]
    assert spec.low < records[1:].min()
    assert spec.high > records[1:].max()


class Model:
    """Weights, and a kernel that is a method."""

    def __init__(self, layers: list[Any]) -> None:
        self.layers = layers

    @rm.kernel
    def score(self: Any, x: Any) -> Any:
        """Layer by layer."""
        for weights in self.layers:
            x = weights @ x
        return x

    def __call__(self, x: Any) -> Any:
        """The last layer alone."""
        return self.layers[-1] @ x


def test_methods_partial_functions_and_objects_are_kernels() -> None:
    x = np.linspace(-1, 1, 4)
    model = Model([np.eye(4) / 2, np.ones((2, 4))])
    want = np.ones((2, 4)) @ x / 2
    assert apart(model.score.run(x=x), want) < 2.0**-19
    assert apart(Model.score.run(self=model, x=x), want) < 2.0**-19
    assert apart(rm.kernel(model).run(x=x), 2 * want) < 2.0**-19
    scaled = functools.partial(lambda x, w: x * w, w=0.5)
    assert apart(rm.kernel(scaled).run(x=x), x / 2) < 2.0**-19


def test_weights_come_as_lists_and_dicts() -> None:
    @rm.kernel
    def network(x: Any, layers: Any, named: Any) -> Any:
        for weights, bias in layers:
            x = weights @ x + bias
        return x * named["scale"]

    layers = [(np.eye(4) / 4, np.ones(4) / 2), (np.ones((2, 4)) / 8, np.zeros(2))]
    x = np.linspace(-1, 1, 4)
    got = network.run(x=x, layers=layers, named={"scale": 2.0})
    assert apart(got, network(x, layers, {"scale": 2.0})) < 2.0**-19


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.coo_array])
def test_products_with_sparse_matrices(kind: Any, rng: np.random.Generator) -> None:
    s = kind(np.where(rng.uniform(size=(3, 5)) > 0.5, 1.5, 0.0))
    x = rng.uniform(-1, 1, 5)
    traced = rm.kernel(lambda x: (s @ x, x @ s.T)).trace(rm.vector(5))
    got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
    assert apart(got[0], s @ x) < 1e-12
    assert apart(got[1], s @ x) < 1e-12


def test_refusals_name_the_line_of_the_kernel_and_what_works() -> None:
    for text, reported in (
        ("np.sqrt(x)", r"works on \[0, 1\].*SquareRoot"),
        ("np.log(x)", r"works on \[0.0156"),
        ("1 / x", r"pole at 0.*low="),
        ("sparse.csr_matrix(np.eye(6)) * x", "toarray"),
    ):
        function = eval(f"lambda x: {text}", {"np": np, "sparse": sparse})
        with pytest.raises(rm.KernelError, match=reported) as refused:
            rm.kernel(function).compile(UNIT)
        assert str(refused.value).startswith("<string>:1")


NEWCOMERS: dict[str, tuple[Callable[..., Any], dict[str, tuple[int, ...]]]] = {
    "cosine similarity": (
        lambda x, y: x @ y / (np.linalg.norm(x) * np.linalg.norm(y)),
        {"x": (6,), "y": (6,)},
    ),
    "covariance": (lambda x: np.cov(x.T), {"x": (8, 3)}),
    "moving average": (lambda x: np.convolve(x, np.ones(3) / 3, "valid"), {"x": (9,)}),
    "softmax": (lambda x: np.exp(x) / np.exp(x).sum(), {"x": (5,)}),
    "network with tanh": (
        lambda x: np.ones((2, 4)) / 4 @ np.tanh(np.tri(4) @ x + 0.5),
        {"x": (4,)},
    ),
    "distances of k-means": (
        lambda x: ((x[:, None, :] - np.eye(3)[None]) ** 2).sum(axis=2),
        {"x": (5, 3)},
    ),
    "Kalman recurrence": (
        lambda x: functools.reduce(lambda m, z: m + 0.3 * (z - m), [x[i] for i in range(5)]),
        {"x": (5,)},
    ),
    "z-scores": (lambda x: (x - x.mean()) / x.std(), {"x": (6,)}),
    "mean squared error": (lambda x, y: ((x - y) ** 2).mean(), {"x": (6,), "y": (6,)}),
    "rectified linear": (lambda x: np.maximum(np.tri(4) @ x / 4, 0), {"x": (4,)}),
}


@pytest.mark.parametrize("name", NEWCOMERS)
def test_kernels_as_newcomers_write_them(name: str, rng: np.random.Generator) -> None:
    written, shapes = NEWCOMERS[name]
    names = list(shapes)
    data = {n: rng.uniform(0.2, 1, (20, *shape)) for n, shape in shapes.items()}
    specs = {n: rm.vector(*s) if len(s) == 1 else rm.matrix(*s) for n, s in shapes.items()}
    kernel = rm.kernel(eval(f"lambda {', '.join(names)}: f({', '.join(names)})", {"f": written}))
    samples = dict(data)
    traced = kernel._trace(specs, None, precision=7, calibrate=samples)
    record = {n: records[0] for n, records in data.items()}
    got = traced.signature.unpack(interpret(traced.text, traced.signature.pack(record)))
    assert apart(got, written(**record)) <= 2.0**-7


def test_a_precision_that_no_parameters_hold_is_refused_with_one_that_some_do() -> None:
    kernel = rm.kernel(lambda x: abs(x))
    with pytest.raises(rm.KernelError, match=r"times its sign.*Compile with precision=\d+") as refused:
        kernel.compile(UNIT, precision=22)
    assert refused.value.code == "Precision"
    less = int(str(refused.value).partition("precision=")[2].partition(",")[0])
    assert max(kernel.compile(UNIT, precision=less).predicted_error.values()) <= -less


def test_no_element_is_above_the_greatest_one(in_the_clear: Any, rng: np.random.Generator) -> None:
    def powers(x: Any) -> Any:
        return np.exp(x - x.max(axis=1, keepdims=True)), np.exp(x.min() - x), x.max()

    traced = rm.kernel(powers).trace(rm.matrix(2, 3, low=-1, high=1), precision=6, magnitude=1.0)
    ends = [f.how for f in traced.graph.found if f.name == "numpy.exp"]
    assert len(ends) == 2
    for how in ends:  # from exp(-2) to exp(0), not to exp(2)
        low, high = (float(end) for end in re.search(r"\[(.*), (.*)\]", how).groups())  # type: ignore[union-attr]
        assert -2.1 < low < high < 0.1, how
    x = rng.uniform(-1, 1, (2, 3))
    for got, wanted in zip(in_the_clear(traced, x=x), powers(x), strict=True):
        np.testing.assert_allclose(got, wanted, atol=2.0**-5)


def test_a_maximum_that_takes_long_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringmill.trace.compiling.LONG", 0.0)
    monkeypatch.setattr("ringmill.trace.compiling.MANY_SWITCHES", 0)
    with pytest.warns(
        UserWarning, match=r"test_elementary.py:\d+: a maximum of 2 elements takes \d+ levels, .* s"
    ):
        rm.kernel(lambda x: x.max()).compile(rm.vector(2), precision=4)
