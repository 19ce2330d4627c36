"""Private weights: what a client has follows from shapes and declared bounds, for every model within them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_fields import Header

import ringmill as rm

N = 4
Draw = Callable[[tuple[int, ...]], np.ndarray]


def models() -> dict[str, Draw]:
    """Weights between −1 and 1 of the kinds that compilers like to simplify, and plain ones."""
    rng = np.random.default_rng(7)

    def sparse(shape: tuple[int, ...]) -> np.ndarray:
        return rng.uniform(-1, 1, shape) * (rng.random(shape) < 0.3)

    return {
        "zeros": np.zeros,
        "ones": np.ones,
        "minus ones": lambda shape: -np.ones(shape),
        "identity": lambda shape: np.eye(*shape) if len(shape) == 2 else np.eye(1, *shape)[0],
        "whole": lambda shape: rng.integers(-1, 2, shape).astype(float),
        "equal": lambda shape: np.full(shape, 0.3),
        "tiny": lambda shape: 1e-9 * rng.normal(size=shape),
        "sparse": sparse,
        "banded": lambda shape: np.tri(*shape) if len(shape) == 2 else np.arange(float(*shape)) / 8,
        "plain": lambda shape: rng.uniform(-1, 1, shape),
    }


#: A kernel, the description of its argument, the shapes of its weights, and what it gives in the clear.
KERNELS: dict[str, tuple[Any, rm.Spec, list[tuple[int, ...]]]] = {
    "matrix": (lambda x, w, b: w @ x + b, rm.vector(N), [(N, N), (N,)]),
    "columns": (lambda x, w, b: (x @ w + b) ** 2, rm.matrix(N, 3, packing="columns"), [(3, 2), (2,)]),
    "tall": (lambda x, w: (w @ x).sum(), rm.vector(N), [(3, N)]),
    "numbers": (lambda x, a: a[0] + a[1] * x + a[2] * x * x, rm.vector(N), [(3,)]),
    "table": (lambda x, w: (x * w).sum() - w[0] * x, rm.vector(N), [(N,)]),
    "layers": (lambda x, w, b, v: np.tanh(w @ x + b) @ v, rm.vector(N), [(3, N), (3,), (3,)]),
    "images": (lambda x, w: rm.convolve(x, w), rm.matrix(4, 4), [(2, 2)]),
}
BITS = 10


@pytest.mark.parametrize("name", KERNELS)
def test_models_of_one_declaration_have_one_client(name: str) -> None:
    function, spec, shapes = KERNELS[name]
    kernel = rm.kernel(function)
    files, programs, stated, keys = set(), set(), set(), None
    # Functions take their time.
    kinds = {"zeros", "minus ones", "sparse", "plain"} if name == "layers" else set(models())
    for number, (kind, draw) in enumerate(models().items()):
        if kind not in kinds:
            continue
        weights = [draw(shape) for shape in shapes]
        compiled = kernel.compile(spec, *(rm.private(w, magnitude=1) for w in weights), precision=BITS)
        files.add(compiled.client().to_bytes())
        programs.add(repr((compiled.plan.levels(), compiled.plan.rotations, compiled.cost)))
        keys = keys or compiled.keygen(seeded=True)
        x = np.random.default_rng(number).uniform(-1, 1, spec.shape)
        arguments = compiled.encrypt(keys, x=x)
        server = rm.Compiled.from_bytes(compiled.to_bytes())
        results = server.evaluate(keys, arguments)
        expected = np.asarray(function(x, *weights)) if name != "images" else rm.convolve(x, weights[0])
        found = np.asarray(compiled.client().decrypt(keys, results))
        assert np.abs(found - expected).max() < 2.0**-BITS, kind
        with zipfile.ZipFile(io.BytesIO(results.to_bytes())) as archive:
            stated.add(repr([Header(archive.read(part)).shown[1:] for part in sorted(results.parts)]))
    assert len(files) == 1
    assert len(programs) == 1
    assert len(stated) == 1


def test_without_a_declaration_models_show() -> None:
    """The test above can fail: the same kernel without declarations has other keys for an identity."""
    kernel = rm.kernel(KERNELS["matrix"][0])
    files = {
        kernel.compile(rm.vector(N), draw((N, N)), draw((N,)), precision=BITS).client().to_bytes()
        for draw in models().values()
    }
    assert len(files) > 2


def test_the_bound_and_the_shape_decide() -> None:
    kernel = rm.kernel(lambda x, w: (w @ x) ** 2)
    declared = [
        (np.ones((N, N)), 1.0),
        (np.ones((N, N)), 64.0),
        (np.ones((2, N)), 1.0),
        (np.ones((N, N), complex), 1.0),
    ]
    files = {kernel.compile(rm.vector(N), rm.private(w, b)).client().to_bytes() for w, b in declared}
    assert len(files) == len(declared)


def test_predicted_errors_hold_for_the_largest_weights() -> None:
    """The bound is reached by weights that are as large as declared."""
    kernel = rm.kernel(lambda x, w: (w @ x) ** 2)
    compiled = kernel.compile(rm.vector(N), rm.private(np.ones((N, N)), 1), precision=18)
    keys, x = compiled.keygen(), np.ones(N)
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=x))
    (compared,) = compiled.measure_error(keys, results, np.full(N, 16.0)).values()
    assert compared.holds
    assert compiled.predicted_error["out"] <= -18
    own = compiled.plan.predicted_error()["out"]
    assert own <= compiled.predicted_error["out"] < own + 0.1


OPPOSED: dict[str, Any] = {
    "difference": lambda x, a, b: a * x - b * x,
    "sums": lambda x, a, b: (a * x).sum() - (b * x).sum(),
    "polynomial": lambda x, a, b: a * x**2 - b * x,
    "product": lambda x, a, b: (a * x - b * x) * x,
}


@pytest.mark.parametrize("name", OPPOSED)
@pytest.mark.parametrize("shape", [(), (N,)])
def test_predicted_errors_hold_for_weights_of_any_sign(name: str, shape: tuple[int, ...]) -> None:
    """Errors of equal signs cancel in a difference, and those of other signs add up."""
    function, weights = OPPOSED[name], (np.full(shape, 0.9)[()], np.full(shape, -0.9)[()])
    kernel = rm.kernel(function)
    compiled = kernel.compile(rm.vector(N), *(rm.private(w, 1) for w in weights), precision=18)
    keys, rng = compiled.keygen(), np.random.default_rng(3)
    for _ in range(4):
        x = rng.choice([-1.0, 1.0], N)
        results = compiled.evaluate(keys, compiled.encrypt(keys, x=x))
        (compared,) = compiled.measure_error(keys, results, function(x, *weights)).values()
        assert compared.holds, compared


@pytest.mark.parametrize("magnitude", [1, 30, 300])
def test_small_weights_of_a_large_bound_end_where_large_ones_do(magnitude: float, tmp_path: Path) -> None:
    params = rm.Params.from_bits(11, [45, 35, 35], [46], 3, scale_bits=35, insecure=True)
    kernel = rm.kernel(lambda x, w: (x * w).sum())
    files = set()
    for weight in (1e-3, 0.9 * magnitude, magnitude):
        compiled = kernel.compile(rm.vector(N), rm.private(np.full(N, weight), magnitude), params=params)
        files.add(compiled.client().to_bytes())
        compiled.save(server=tmp_path / "server.rm")
        again = rm.Compiled.load(tmp_path / "server.rm")
        assert again.plan.levels() == compiled.plan.levels()
        assert again.client().to_bytes() in files
    assert len(files) == 1


@pytest.mark.parametrize("values", [0.3, 1.0, 0.0, np.full(8, 0.3), np.eye(8) * 0.3])
def test_private_numbers_at_the_prompt_show_their_bound(values: Any) -> None:
    params = rm.Params.from_bits(11, [50, 40, 40, 40], [50], 4, scale_bits=40, insecure=True)
    keys = rm.keygen(params, rotations=[1, 2, 4])
    x = rm.encrypt(np.full(8, 0.1), keys)
    function = (lambda x, w: w @ x) if np.ndim(values) == 2 else (lambda x, w: x * w)
    found = rm.kernel(function)(x, rm.private(values, 4))
    other = rm.kernel(function)(x, rm.private(np.full(np.shape(values), 0.71)[()], 4))
    assert (found.native.magnitude, found.level) == (other.native.magnitude, other.level)
    assert found.native.magnitude >= (4 if np.ndim(values) < 2 else 32) * 0.99
    expected = function(np.full(8, 0.1), values)
    assert np.max(np.abs(rm.decrypt(found, keys) - expected)) < 2**-12
    with pytest.raises(rm.KernelError, match="within a list or a dict"):
        rm.kernel(lambda x, w: x * w[0])(x, [rm.private(0.5, 4)])


def test_a_saved_kernel_keeps_what_is_declared(tmp_path: Path) -> None:
    compiled = rm.kernel(KERNELS["matrix"][0]).compile(
        rm.vector(N), rm.private(np.zeros((N, N)), 1), rm.private(np.zeros(N), 1), precision=BITS
    )
    compiled.save(server=tmp_path / "server.rm", client=tmp_path / "client.rm")
    again = rm.Compiled.load(tmp_path / "server.rm")
    assert again.predicted_error == compiled.predicted_error
    assert again.client().to_bytes() == (tmp_path / "client.rm").read_bytes()
    assert again.to_bytes() == compiled.to_bytes()
    read = json.loads(zipfile.ZipFile(tmp_path / "server.rm").read("header.json"))
    assert set(read["declared"]) == {"errors", "bounds"}


def test_a_kernel_in_the_clear_takes_the_numbers() -> None:
    w = rm.private(np.eye(N) / 4, 1)
    kernel = rm.kernel(lambda x, w=w, more=(w,): w @ x * 2 + more[0] @ x)
    np.testing.assert_array_equal(kernel(np.arange(4.0)), 0.75 * np.arange(4.0))
    np.testing.assert_allclose(kernel.run(x=np.full(4, 0.5)), np.full(4, 0.375), atol=1e-5)
    assert kernel.trace(rm.vector(N)).depth == 1
    assert repr(w) == "<private numbers (4, 4), declared within 1>"


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a branch": (
        lambda: rm.kernel(lambda x, w: x * w if w > 0 else x + w).compile(rm.vector(N), rm.private(0.5, 1)),
        "the program depends on the values of private weights. Decide from public arguments",
    ),
    "a table": (
        lambda: rm.kernel(lambda x, w: x * np.where(w > 0, 0.5, w)).compile(
            rm.vector(N), rm.private(np.full(N, 0.25), 1)
        ),
        "the program depends on the values of private weights",
    ),
    "an inverse": (
        lambda: rm.kernel(lambda x, w: x / w).compile(rm.vector(N), rm.private(np.full(N, 0.001), 1)),
        "a number that is worked out from private weights is larger than follows from their bounds. "
        "Work it out before and declare it private, with a bound of its own",
    ),
    "samples": (
        lambda: rm.kernel(lambda x, w: x * w).compile(
            rm.vector(N), rm.private(0.5, 1), calibrate={"x": np.zeros(N)}
        ),
        "Declare bounds of the arguments in place of calibrate=",
    ),
    "beyond": (
        lambda: rm.private([1.0, 2.0], 1.5),
        "A private weight is larger than 1.5, the bound that is declared for it",
    ),
    "no bound": (lambda: rm.private([1.0], 0.0), "A bound of 0.0 on private weights is not possible"),
    "not finite": (lambda: rm.private([np.nan], 1.0), "not a finite number|is nan"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_show_is_refused(name: str) -> None:
    call, said = REFUSED[name]
    with pytest.raises(rm.RingmillError) as caught:
        call()
    pieces = said.split("|")
    assert any(piece in str(caught.value) for piece in pieces), caught.value


DECIDES: dict[str, Callable[[Any, Any], Any]] = {
    "any": lambda x, w: x if w.any() else x + 1,
    "zero": lambda x, w: x * 2 if w[0] == 0 else x,
    "count": lambda x, w: x * (1 + np.count_nonzero(w)),
    "equal": lambda x, w: x * len(np.unique(w)),
}


@pytest.mark.parametrize("name", DECIDES)
def test_a_branch_on_zeros_or_equal_numbers_is_refused(name: str) -> None:
    with pytest.raises(rm.KernelError, match="depends on the values of private weights"):
        rm.kernel(DECIDES[name]).compile(rm.vector(N), rm.private(np.zeros(N), 1), precision=BITS)


@pytest.mark.parametrize("name", DECIDES)
def test_a_branch_at_the_prompt_is_refused(name: str) -> None:
    params = rm.Params.from_bits(11, [50, 40, 40, 40], [50], 4, scale_bits=40, insecure=True)
    x = rm.encrypt(np.full(N, 0.1), rm.keygen(params))
    for declared in (rm.plain(np.zeros(N), 1), rm.private(np.zeros(N), 1)):
        with pytest.raises(rm.KernelError, match="follows from numbers that are declared"):
            rm.kernel(DECIDES[name])(x, declared)


def test_a_kernel_within_another_declares_nothing_private() -> None:
    weights = rm.private(np.eye(N), 1)
    inner = rm.kernel(lambda x, w=weights: w @ x)
    outer = rm.kernel(lambda x: inner(x) * 2)
    with pytest.raises(rm.KernelError, match="is called within another kernel"):
        outer.compile(rm.vector(N), precision=BITS)
    assert outer(np.ones(N)).tolist() == [2.0] * N


@pytest.mark.parametrize(("magnitude", "precision"), [(1024, 24), (1, 34)])
def test_predicted_errors_hold_for_weights_of_zero(magnitude: float, precision: int) -> None:
    compiled = rm.kernel(lambda x, w: (w * x).sum()).compile(
        rm.vector(N), rm.private(np.zeros(N), magnitude), precision=precision
    )
    keys = compiled.keygen()
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=np.ones(N)))
    (compared,) = compiled.measure_error(keys, results, 0.0).values()
    assert compared.holds, compared


def test_a_precision_beyond_what_private_weights_hold_is_refused() -> None:
    kernel = rm.kernel(lambda x, w: (w * x).sum())
    with pytest.raises(rm.ParameterError, match=r"hold 2\d bits here, and 32 were asked for"):
        kernel.compile(rm.vector(1024), rm.private(np.zeros(1024), 1), precision=32)


def test_numpy_does_not_drop_a_declaration() -> None:
    weights = rm.private(np.eye(N), 1)
    for call in (
        np.transpose,
        np.negative,
        np.around,
        lambda w: np.float64(0.5) * w,
        lambda w: np.stack([w]),
    ):
        with pytest.raises(TypeError):
            call(weights)
