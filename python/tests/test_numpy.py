"""NumPy's functions of encrypted values against NumPy; prints docs/reference/numpy.md."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_examples import STANDARD
from oracle import interpret

import ringmill as rm
from ringmill.trace import tracer

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "numpy.md"

# Bits that functions which are no polynomials are asked for: what has jumps or bends is deep otherwise.
BITS = 7

SHAPES: dict[str, tuple[tuple[int, ...], float, float]] = {
    **dict.fromkeys("xy", ((5,), -1.0, 1.0)),
    **dict.fromkeys("pq", ((5,), 0.25, 1.0)),
    **dict.fromkeys("uv", ((5,), 0.0, 1.0)),
    "a": ((6, 4), -1.0, 1.0),
    "s": ((3, 3), -1.0, 1.0),
}


def data_of(names: list[str], rng: np.random.Generator) -> dict[str, Any]:
    """Arguments; those that are compared keep away from jumps."""
    found = {}
    for name in names:
        shape, low, high = SHAPES[name]
        values = rng.uniform(low, high, shape)
        if name in "uv":
            values = np.round(values)
        elif low < 0:
            values = np.sign(values) * (0.25 + 0.75 * np.abs(values))
        found[name] = values
    return found


# Slots of the largest ciphertext where arguments are to be cut: fewer than they have elements.
CUT = {1: 4, 2: 8}


@contextmanager
def ciphertexts_of(slots: int) -> Iterator[None]:
    """Kernels are traced as if no ciphertext had more slots."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tracer, "MOST_SLOTS", slots)
        yield


def traced(call: str, packing: str) -> tuple[Callable[..., Any], list[str], Any]:
    """The function of a call, its arguments and its trace; raises where it is refused."""
    names = sorted(set(re.findall(r"\b([xypquvas])\b", call)))
    function = eval(f"lambda {', '.join(names)}: {call}", {"np": np})
    specs: dict[str, Any] = {}
    for name in names:
        shape, low, high = SHAPES[name]
        if packing == "cut":
            one = rm.vector if len(shape) == 1 else rm.matrix
            specs[name] = one(*shape, low=low, high=high)
        elif len(shape) == 1:
            how: Any = "slots" if packing == "slots" else "scalars"
            specs[name] = rm.vector(*shape, packing=how, low=low, high=high)
        else:
            how = packing
            specs[name] = rm.matrix(*shape, packing=how, low=low, high=high)
    if packing != "cut":
        return function, names, rm.kernel(function).trace(**specs, precision=BITS)
    with ciphertexts_of(CUT[max(len(SHAPES[name][0]) for name in names)]):
        trace = rm.kernel(function).trace(**specs, precision=BITS)
    assert trace.signature.is_cut
    return function, names, trace


def outcome(call: str, packing: str) -> str:
    """ "yes", or the advice of the refusal; what is given is held against NumPy."""
    try:
        function, names, trace = traced(call, packing)
    except rm.errors.KernelError as refused:
        return f"raised: {refused}" if refused.code == "Raised" else refused.remedy
    allowed = 2.0**-BITS if trace.graph.found else 1e-9
    for seed in range(3):
        data = data_of(names, np.random.default_rng(seed))
        got = trace.signature.unpack(interpret(trace.text, trace.signature.pack(data)))
        want = function(**data)
        assert np.shape(got) == np.shape(want), call
        np.testing.assert_allclose(got, np.asarray(want, dtype=float), rtol=0, atol=allowed, err_msg=call)
    return "yes"


CALLS = [(section, name, call) for section, rows in STANDARD.items() for name, call in rows.items()]

OPENING = """# NumPy in kernels

After this page you know which functions of NumPy work in kernels, in which packing, and what to write in
place of the others.

It lists those of NumPy's array API standard that make sense of encrypted values, and some beside it. Each row
is a call that a test runs in each packing. What works is held against NumPy on random data; what does not is
refused with the advice that stands here.

*Slots* is the packing of one ciphertext for all elements. *Columns* is one ciphertext for each column, or for
each element of a vector. *Cut* is that of arguments which no ciphertext holds: several have a run of indices
along the first axis each. Functions that are no polynomials need bounds:
[functions](../algorithms/functions.md).
"""


def test_numpy_functions_agree_with_numpy_and_the_page_says_which() -> None:
    lines = [OPENING]
    counts = {"slots": 0, "columns": 0, "cut": 0}
    for section, rows in STANDARD.items():
        lines += [f"## {section}", "", "| function | call | slots | columns | cut |", "|---|---|---|---|---|"]
        for name, call in rows.items():
            found = {packing: outcome(call, packing) for packing in counts}
            for packing, reported in found.items():
                assert not reported.startswith("raised"), reported
                counts[packing] += reported == "yes"
            shown = [
                found[p].replace("|", "\\|") if found[p] == "yes" else f"no: {_short(found[p])}"
                for p in found
            ]
            lines.append(f"| {name} | `{call}` | {' | '.join(shown)} |".replace("  ", " "))
        lines.append("")
    page = "\n".join(lines)
    if os.environ.get("RINGMILL_BLESS"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page, (
        "docs/reference/numpy.md is not what calls do; RINGMILL_BLESS=1 rewrites it"
    )
    assert counts["slots"] >= 100
    assert counts["columns"] >= 50
    assert counts["cut"] >= 110


def _short(advice: str) -> str:
    return advice.replace("|", "\\|").replace("\n", " ")


SHAPE_PAIRS = [
    ((5,), ()),
    ((4, 3), (3,)),
    ((4, 3), (4, 1)),
    ((4, 1), (1, 3)),
    ((4, 1), (3,)),
    ((1, 5), (5,)),
    ((8, 4), (4,)),
    ((8, 4), (8, 1)),
    ((1, 1), (3, 2)),
]

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}


def argument(shape: tuple[int, ...]) -> Any:
    """The description of an argument of a shape."""
    return rm.scalar() if not shape else rm.vector(*shape) if len(shape) == 1 else rm.matrix(*shape)


@pytest.mark.parametrize("pair", SHAPE_PAIRS, ids=str)
@pytest.mark.parametrize("operator", OPERATORS)
def test_shapes_broadcast_as_numpy_has_it(
    pair: tuple[tuple[int, ...], tuple[int, ...]], operator: str, rng: np.random.Generator
) -> None:
    for left, right in (pair, pair[::-1]):
        a, b = rng.uniform(-1, 1, left), rng.uniform(-1, 1, right)
        apply = OPERATORS[operator]
        both = rm.kernel(lambda a, b, f=apply: f(a, b)).trace(argument(left), argument(right))
        got = both.signature.unpack(interpret(both.text, both.signature.pack({"a": a, "b": b})))
        np.testing.assert_allclose(got, apply(a, b), rtol=0, atol=1e-12)
        assert np.shape(got) == np.shape(apply(a, b))
        half = rm.kernel(lambda a, b, f=apply: f(a, b)).trace(argument(left), b)
        got = half.signature.unpack(interpret(half.text, half.signature.pack({"a": a})))
        np.testing.assert_allclose(got, apply(a, b), rtol=0, atol=1e-12)


# Steps of random kernels: each takes a value and gives another; NumPy is the oracle.
STEPS: list[Callable[[Any, np.random.Generator], Any]] = [
    lambda x, r: x - x.mean(axis=0),
    lambda x, r: x * x.sum(axis=x.ndim - 1, keepdims=True) * 0.1,
    lambda x, r: x[::-1],
    lambda x, r: x[..., ::2],
    lambda x, r: x.T,
    lambda x, r: x + np.roll(x, int(r.integers(1, 4)), axis=0),
    lambda x, r: np.flip(x, axis=x.ndim - 1) * r.uniform(-1, 1, x.shape),
    lambda x, r: x * r.uniform(-1, 1, x.shape[-1]) + r.uniform(-1, 1),
    lambda x, r: np.concatenate([x, x[:1] * 0.5], axis=0),
    lambda x, r: np.cumsum(x, axis=0) * 0.25,
    lambda x, r: x[r.permutation(x.shape[0])],
    lambda x, r: np.pad(x, 1),
    lambda x, r: np.where(r.uniform(size=x.shape) > 0.5, x, 0.25),
    lambda x, r: np.outer(x, x[0] if x.ndim > 1 else x[:2]),
    lambda x, r: x.reshape(-1),
    lambda x, r: np.repeat(x, 2, axis=0),
    lambda x, r: np.var(x, axis=0, keepdims=True) + x,
    lambda x, r: np.stack([x, x]).sum(axis=0) if x.ndim < 2 else np.einsum("ij,ij->ij", x, x),
    lambda x, r: x @ r.uniform(-1, 1, (x.shape[-1], 2)),
    lambda x, r: x @ x.T if x.ndim == 2 else x * x,
]


@pytest.mark.parametrize("most", [1 << 16, 64, 16], ids=["whole", "64 slots", "16 slots"])
@pytest.mark.parametrize("seed", range(60))
def test_random_kernels_agree_with_numpy(seed: int, most: int) -> None:
    draw = np.random.default_rng(seed)
    shape = tuple(int(n) for n in draw.integers(2, 7, draw.integers(1, 3)))
    chosen = [STEPS[i] for i in draw.integers(0, len(STEPS), draw.integers(2, 5))]

    def written(x: Any) -> Any:
        numbers = np.random.default_rng(seed)
        for step in chosen:
            if min(x.shape, default=0) < 2 or x.size > 400:
                break
            x = step(x, numbers)
        return x

    x = draw.uniform(-1, 1, shape)
    want = written(x)
    try:
        with ciphertexts_of(most):
            trace = rm.kernel(written).trace(argument(shape))
    except rm.errors.KernelError as refused:
        # Values in few slots may grow beyond them.
        if most < 1 << 16 and refused.code in ("PackingMismatch", "TooManySlots"):
            return
        raise
    got = trace.signature.unpack(interpret(trace.text, trace.signature.pack({"x": x})))
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-9 * max(1.0, float(np.max(np.abs(want)))))


MATRICES = [
    (1, 1, 1),
    (1, 8, 1),
    (8, 1, 2),
    (20, 1, 8),
    (2, 20, 8),
    (8, 2, 8),
    (20, 8, 2),
    (5, 3, 7),
    (2, 64, 20),
]


@pytest.mark.parametrize("shape", MATRICES, ids=str)
@pytest.mark.parametrize("turned", [False, True])
def test_products_of_two_encrypted_matrices(
    shape: tuple[int, int, int], turned: bool, rng: np.random.Generator
) -> None:
    r, c, p = shape
    a, b = rng.uniform(-1, 1, (c, r) if turned else (r, c)), rng.uniform(-1, 1, (c, p))

    def product(a: Any, b: Any) -> Any:
        return (a.T if turned else a) @ b

    trace = rm.kernel(product).trace(rm.matrix(*a.shape), rm.matrix(c, p))
    got = trace.signature.unpack(interpret(trace.text, trace.signature.pack({"a": a, "b": b})))
    np.testing.assert_allclose(got, product(a, b), rtol=0, atol=1e-9)


def test_skinny_products_take_few_keys() -> None:
    """Blocks of 256×256 slots took hundreds of keys; copies and one product take one a doubling."""
    compiled = rm.kernel(lambda x, d: x.reshape(256, 1) @ d.reshape(1, 2)).compile(
        rm.vector(256), rm.vector(2)
    )
    assert len(compiled.plan.rotations) <= 12
    assert compiled.cost["key_switches"] <= 14
    gram = rm.kernel(lambda x: x.T @ x).compile(rm.matrix(64, 8))
    assert len(gram.plan.rotations) <= 24
    assert gram.cost["key_bytes"] < 150e6


def test_a_report_of_many_keys_says_what_takes_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.sin(np.arange(256.0**2)).reshape(256, 256)
    compiled = rm.kernel(lambda x: weights @ x).compile(rm.vector(256))
    assert "rotation_keys" not in str(compiled)
    monkeypatch.setattr("ringmill.compiled.reported.MANY_BYTES", 1.0)
    reported = re.search(r"with rotation_keys=(\d+) about ([\d,]+) MB", str(compiled))
    assert reported is not None
    few = rm.kernel(lambda x: weights @ x).compile(rm.vector(256), rotation_keys=int(reported[1]))
    assert len(few.plan.rotations) <= int(reported[1]) < len(compiled.plan.rotations)


@pytest.mark.parametrize("most", [1 << 16, 16], ids=["whole", "cut"])
def test_deviations_of_complex_values_are_absolute(most: int, rng: np.random.Generator) -> None:
    z = rng.uniform(-1, 1, (20, 3)) + 1j * rng.uniform(-1, 1, (20, 3))

    def spread(z: Any) -> Any:
        return np.var(z, axis=0), np.cov(z, rowvar=False), np.var(z)

    with ciphertexts_of(most):
        trace = rm.kernel(spread).trace(rm.matrix(*z.shape, dtype=complex))
    found = trace.signature.unpack(interpret(trace.text, trace.signature.pack({"z": z})))
    for got, want in zip(found, spread(z), strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


def test_a_clear_condition_compresses(rng: np.random.Generator) -> None:
    x, keep = rng.uniform(-1, 1, 6), np.array([True, False, True, True, False, False])
    trace = rm.kernel(lambda x: np.compress(keep, x) + x.compress(keep)).trace(rm.vector(6))
    got = trace.signature.unpack(interpret(trace.text, trace.signature.pack({"x": x})))
    np.testing.assert_allclose(got, 2 * x[keep], rtol=0, atol=1e-12)
