"""Where elements sit in the slots: no two of one value in one slot, and products from wherever they sit."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.errors import FileFormatError
from ringmill.trace.layout import Layout
from ringmill.trace.signature import Signature

Clear = Callable[..., Any]


def test_a_layout_gives_every_element_a_slot_of_its_own() -> None:
    for shape in itertools.product((1, 2, 3), repeat=3):
        for strides in itertools.product((1, 2, 3, 4, 6), repeat=3):
            places = [sum(i * s for i, s in zip(at, strides, strict=True)) for at in np.ndindex(shape)]
            if len(set(places)) == len(places):
                layout = Layout(shape, strides, 64)
                assert layout.index().ravel().tolist() == places
                assert layout.reach == max(places) + 1
            else:
                with pytest.raises(ValueError, match="share slots"):
                    Layout(shape, strides, 64)


def test_a_kernel_file_whose_results_share_slots_is_damaged() -> None:
    data = rm.kernel(lambda x: x + 1).trace(rm.matrix(4, 2)).signature.to_json()
    data["outputs"]["out"]["strides"] = [1, 1]
    with pytest.raises(FileFormatError, match="share slots"):
        Signature.from_json(data)


@pytest.mark.parametrize("height", [1, 2, 3, 5, 9])
@pytest.mark.parametrize(("rows", "columns"), [(3, 2), (2, 3), (3, 1), (1, 4), (4, 4), (5, 8)])
def test_plain_matrix_times_a_transpose(
    height: int, rows: int, columns: int, in_the_clear: Clear, rng: np.random.Generator
) -> None:
    x, a = rng.uniform(-1, 1, (rows, columns)), rng.uniform(-1, 1, (height, columns))
    traced = rm.kernel(lambda x: a @ x.T).trace(rm.matrix(rows, columns))
    np.testing.assert_allclose(in_the_clear(traced, x=x), a @ x.T, rtol=0, atol=1e-12)
    assert traced.depth == 1


def test_plain_matrix_times_a_part_of_a_matrix(in_the_clear: Clear, rng: np.random.Generator) -> None:
    x, a = rng.uniform(-1, 1, (6, 8)), rng.uniform(-1, 1, (7, 3))
    a[2:5, 1] = 0
    for part in (np.s_[::2, 1:7:2], np.s_[1:4, :], np.s_[:3, 5:]):
        traced = rm.kernel(lambda x, part=part: a @ x[part]).trace(rm.matrix(6, 8))
        np.testing.assert_allclose(in_the_clear(traced, x=x), a @ x[part], rtol=0, atol=1e-12)
    traced = rm.kernel(lambda x: a @ x[:, 2:5].T).trace(rm.matrix(6, 8))
    np.testing.assert_allclose(in_the_clear(traced, x=x), a @ x[:, 2:5].T, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dirty", [False, True])
def test_one_element_reshaped_to_a_scalar_stands_in_every_slot(dirty: bool, in_the_clear: Clear) -> None:
    @rm.kernel
    def scaled(x: Any, y: Any) -> Any:
        one = (x + y.sum() if dirty else x).reshape(())
        return {"product": one * y, "sum": one + y, "back": one.reshape(1, 1) * 2}

    x, y = np.array([0.75]), np.linspace(-1, 1, 6)
    one = (x + y.sum() if dirty else x).reshape(())
    got = in_the_clear(scaled.trace(rm.vector(1), rm.vector(6)), x=x, y=y)
    np.testing.assert_allclose(got["product"], one * y, rtol=0, atol=1e-12)
    np.testing.assert_allclose(got["sum"], one + y, rtol=0, atol=1e-12)
    np.testing.assert_allclose(got["back"], [[2 * one]], rtol=0, atol=1e-12)


GAPPED: dict[str, Callable[..., Any]] = {
    "row": lambda x: x[1],
    "column": lambda x: x[:, 2],
    "every other": lambda x: x[::2, 1::3],
    "transpose": lambda x: x.T,
    "sum of rows": lambda x: x.sum(axis=1),
    "sum of columns": lambda x: x.sum(axis=0),
    "product": lambda x: x @ np.arange(1.0, 7.0),
    "convolution": lambda x: rm.convolve(x, np.arange(1.0, 7.0).reshape(2, 3)),
    "convolution, stride 2": lambda x: rm.convolve(x, np.ones((2, 2)), stride=2),
    "convolution of a transpose": lambda x: rm.convolve(x.T, np.arange(1.0, 7.0).reshape(2, 3)),
    "convolution of columns": lambda x: rm.convolve(x[:, ::5], np.ones((2, 1))),
    "convolution of channels": lambda x: rm.convolve(
        x.reshape(2, 3, 4).T, np.arange(1.0, 25.0).reshape(3, 4, 2, 1)
    ),
    "pooling": lambda x: rm.average_pool(x, 2),
}


@pytest.mark.parametrize("name", GAPPED)
def test_values_with_gaps_go_on(name: str, in_the_clear: Clear, rng: np.random.Generator) -> None:
    """Reshaped, added to values without gaps, multiplied by matrices, rotated, summed."""
    function = GAPPED[name]
    x = rng.uniform(-1, 1, (4, 6))
    clear = function(x)
    flat, n = clear.reshape(-1), clear.size
    w, v = rng.uniform(-1, 1, (5, n)), rng.uniform(-1, 1, n)
    after: dict[str, Callable[..., Any]] = {
        "reshape": lambda y, v, w: y.reshape(1, n),
        "add": lambda y, v, w: y.reshape(-1) + v,
        "weigh": lambda y, v, w: w @ y.reshape(-1),
        "weigh again": lambda y, v, w: w.T @ (w @ y.reshape(-1)),
        "weigh where it is": lambda y, v, w: np.ones((9, len(y))) @ y if y.ndim == 1 else y + 0,
        "sum": lambda y, v, w: (y.reshape(-1) * v).sum(),
    }
    for what, then in after.items():
        kernel = rm.kernel(lambda x, v, then=then: then(function(x), v, w))
        got = in_the_clear(kernel.trace(rm.matrix(4, 6), rm.vector(n)), x=x, v=v)
        np.testing.assert_allclose(got, then(clear, v, w), rtol=0, atol=1e-11, err_msg=what)
    rotated = rm.kernel(lambda x: function(x).reshape(-1).rotate(1)).trace(rm.matrix(4, 6))
    np.testing.assert_allclose(in_the_clear(rotated, x=x), np.roll(flat, -1), rtol=0, atol=1e-11)


def test_what_closing_gaps_costs() -> None:
    free = rm.kernel(lambda x: x.reshape(2, 12)[:, 0:12].reshape(-1)).trace(rm.matrix(4, 6))
    assert free.operations == {"input": 1}
    column = rm.kernel(lambda x: x[:, 0].reshape(-1)).trace(rm.matrix(4, 6))
    assert (column.depth, column.operations["mul"]) == (1, 4)
    # A product reads a vector where it is and leaves its result as far apart: four distances, cyclically.
    twice = rm.kernel(lambda a, x: np.ones((4, 4)) @ (a @ x)).trace(rm.matrix(4, 4), rm.vector(4))
    assert (twice.depth, twice.operations["mul"]) == (2, 1 + 4)
    # Where no such result fits, columns of zeros stand for the gaps: four diagonals again.
    higher = rm.kernel(lambda a, x: np.ones((8, 4)) @ (a @ x)).trace(rm.matrix(4, 4), rm.vector(4))
    assert (higher.depth, higher.operations["mul"]) == (2, 1 + 4)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 5), (5, 1), (3, 4), (4, 3), (8, 8)])
def test_encrypted_vectors_and_matrices_from_either_side(
    rows: int, columns: int, in_the_clear: Clear, rng: np.random.Generator
) -> None:
    m, v, u = rng.normal(size=(rows, columns)), rng.normal(size=rows), rng.normal(size=columns)
    kernels: dict[str, Callable[..., Any]] = {
        "row": lambda m, v, u: v @ m,
        "transpose": lambda m, v, u: m.T @ v,
        "column": lambda m, v, u: m.T @ v.reshape(-1, 1),
        "there and back": lambda m, v, u: m.T @ (m @ u),
        "back and there": lambda m, v, u: m @ (v @ m),
        "part": lambda m, v, u: v[: (rows + 1) // 2] @ m[::2],
        "dirty": lambda m, v, u: (v + u.sum()) @ m,
    }
    for name, function in kernels.items():
        traced = rm.kernel(lambda m, v, u, f=function: f(m, v, u) + 0 * u.sum()).trace(
            rm.matrix(rows, columns), rm.vector(rows), rm.vector(columns)
        )
        got = in_the_clear(traced, m=m, v=v, u=u)
        np.testing.assert_allclose(got, function(m, v, u), rtol=0, atol=1e-11, err_msg=name)
    traced = rm.kernel(lambda m, v: v @ m).trace(rm.matrix(rows, columns), rm.vector(rows))
    assert traced.depth == 1 + (rows > 1 and columns > 1)


def test_tiles_of_a_row_with_gaps(in_the_clear: Clear, rng: np.random.Generator) -> None:
    x = rng.normal(size=(3, 4))
    traced = rm.kernel(lambda x: x[:, 1].tile(2, 2) + x[::2, ::2].tile(1, 2).sum()).trace(rm.matrix(3, 4))
    expected = np.tile(x[:, 1], (2, 2)) + np.tile(x[::2, ::2], (1, 2)).sum()
    np.testing.assert_allclose(in_the_clear(traced, x=x), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    "written",
    [
        lambda x: x + x.T,
        lambda x: x * x.T.reshape(x.T.shape),
        lambda x: x[:, 0] - x[0],
        lambda x: x.T @ x + x,
    ],
)
def test_values_packed_apart_go_together(written: Any, in_the_clear: Clear) -> None:
    x = np.arange(9.0).reshape(3, 3)
    traced = rm.kernel(lambda x: written(x)).trace(rm.matrix(3, 3))
    np.testing.assert_allclose(in_the_clear(traced, x=x), written(x), rtol=0, atol=1e-11)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (1, 2), (2,)])
def test_a_matrix_times_a_vector_of_scalars(shape: tuple[int, ...]) -> None:
    a = np.random.default_rng(3).uniform(-1, 1, shape)
    kernel = rm.kernel(lambda x: a @ x)
    values = np.array([0.3, -0.9])
    compiled = kernel.compile(rm.vector(2, packing="scalars"), precision=12)
    np.testing.assert_allclose(compiled.run(x=values), a @ values, atol=2.0**-12)
    with pytest.raises(rm.KernelError, match="2 columns"):
        rm.kernel(lambda x: np.ones((2, 3)) @ x).trace(rm.vector(2, packing="scalars"))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0,), (0, 1), (1, 0), ()])
def test_sums_of_columns_take_axes_as_numpy_does(axis: Any) -> None:
    x = np.random.default_rng(5).uniform(-1, 1, (4, 3))
    kernel = rm.kernel(lambda x: x.sum(axis=axis) * 1.0)
    got = kernel.compile(rm.matrix(4, 3, packing="columns"), precision=12).run(x=x)
    np.testing.assert_allclose(got, x.sum(axis=axis), atol=2.0**-10)


def test_a_transposed_row_is_convolved() -> None:
    x = np.array([[0.5, -0.25, 1.0]])
    kernel = rm.kernel(lambda x: rm.convolve(x.T, np.ones((3, 3)), padding=1))
    got = kernel.compile(rm.matrix(1, 3), precision=12).run(x=x)
    np.testing.assert_allclose(got, [[0.25], [1.25], [0.75]], atol=2.0**-10)


@pytest.mark.parametrize("shape", [(5, 7), (1, 6), (6, 1), (2, 4, 3)])
@pytest.mark.parametrize(("stride", "padding"), [(1, 1), (1, 4), (2, 3), (3, 4)])
def test_results_larger_than_the_image_are_those_of_numpy(
    shape: tuple[int, ...], stride: int, padding: int, in_the_clear: Clear, rng: np.random.Generator
) -> None:
    x = rng.uniform(-1, 1, shape)
    weights = rng.uniform(-1, 1, (2, 3) if len(shape) == 2 else (3, shape[0], 2, 3))

    @rm.kernel
    def layers(x: Any) -> Any:
        wide = rm.convolve(x, weights, stride=stride, padding=padding)
        return {"wide": wide, "flat": wide.reshape(-1) * 2, "sum": wide.sum()}

    plane = rm.matrix(*shape) if len(shape) == 2 else rm.vector(x.size)
    image = layers if len(shape) == 2 else rm.kernel(lambda x: layers(x.reshape(shape)))
    got = in_the_clear(image.trace(plane), x=x if len(shape) == 2 else x.reshape(-1))
    # By the definition, not by windows.
    planes, kernel = (x[None], weights[None, None]) if len(shape) == 2 else (x, weights)
    padded = np.pad(planes, ((0, 0), (padding, padding), (padding, padding)))
    rows, columns = ((padded.shape[a] - kernel.shape[a + 1]) // stride + 1 for a in (1, 2))
    expected = np.zeros((kernel.shape[0], rows, columns))
    for o, i, j in np.ndindex(*expected.shape):
        window = padded[:, stride * i : stride * i + 2, stride * j : stride * j + 3]
        expected[o, i, j] = np.sum(window * kernel[o])
    expected = expected[0] if len(shape) == 2 else expected
    np.testing.assert_allclose(got["wide"], expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(got["flat"], 2 * expected.reshape(-1), rtol=0, atol=1e-11)
    np.testing.assert_allclose(got["sum"], expected.sum(), rtol=0, atol=1e-11)


def test_a_larger_result_takes_a_level_for_its_margin() -> None:
    full = rm.kernel(lambda x: rm.convolve(x, np.ones((2, 2)), padding=1))
    assert full.trace(rm.matrix(8, 8)).depth == 2
    # Every other row and column have space around them.
    assert rm.kernel(lambda x: full(x[::2, ::2])).trace(rm.matrix(8, 8)).depth == 1
    same = rm.kernel(lambda x: rm.convolve(x, np.ones((3, 3)), padding=1))
    assert same.trace(rm.matrix(8, 8)).depth == 1


@pytest.mark.parametrize("length", [3, 4])
def test_polynomials_of_values_that_fill_their_slots(length: int) -> None:
    w, x = np.linspace(0.1, 0.9, length), np.linspace(-1, 1, length)
    for function in (
        lambda x: rm.polynomial(x * w, [0, 1, 1]),
        lambda x: rm.approximate(np.tanh, (-2, 2), degree=5)(x + w),
    ):
        got = rm.kernel(function).compile(rm.vector(length), precision=12).run(x=x)
        np.testing.assert_allclose(got, function(x), atol=2.0**-10)


KERNEL = np.array([[0.5, -1.0, 0.25], [1.0, 0.125, -0.5], [0.0, 0.75, 1.0]])


@pytest.mark.parametrize(
    ("function", "levels"),
    [
        (lambda x, w: w[:, :16] @ rm.convolve(x, KERNEL).reshape(-1), 2),
        (lambda x, w: rm.convolve(x, KERNEL).reshape(-1) @ w.T[:16], 2),
        (lambda x, w: w[:, :4] @ rm.convolve(x, KERNEL, stride=2).reshape(-1), 2),
        (lambda x, w: w[:, :9] @ x[::2, ::2].reshape(9), 1),
        (lambda x, w: w[:, :36] @ x.T.reshape(-1), 1),
        (lambda x, w: w[:, :6] @ x.sum(axis=1).reshape(-1), 1),
        (lambda x, w: w[:, :8] @ x[1:5, 2:6].reshape(2, 8)[0].reshape(-1), 1),
        (lambda x, w: w[:, :5] @ x[:, 1:].reshape(-1)[3:24:5], 2),
        (lambda x, w: w[:, :7] @ x[:, 1:].reshape(-1)[:7], 1),
        (lambda x, w: w[:, :5] @ x[:, 1:].reshape(-1)[:21:5], 1),
        (lambda x, w: w[:, :36] @ (x.T.reshape(-1) + x.reshape(-1)), 2),
    ],
)
@pytest.mark.parametrize("rows", [3, 20, 50])
def test_a_matrix_reads_over_the_gaps_that_a_reshape_closes(
    function: Any, levels: int, rows: int, in_the_clear: Clear, rng: np.random.Generator
) -> None:
    x, w = rng.normal(size=(6, 6)), rng.normal(size=(rows, 36))
    kernel = rm.kernel(lambda x: function(x, w))
    traced = kernel.trace(rm.matrix(6, 6))
    np.testing.assert_allclose(in_the_clear(traced, x=x), function(x, w), atol=1e-11)
    assert traced.depth == levels
    x /= np.max(np.abs(x))
    compiled = kernel.compile(rm.matrix(6, 6), precision=16)
    assert np.max(np.abs(compiled.run(x=x) - function(x, w))) < 2.0**-16
