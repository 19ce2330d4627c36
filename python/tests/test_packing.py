"""Where elements sit in the slots: no two of one value in one slot, and products from wherever they sit."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.errors import FileFormatError
from ringmill.trace.layout import Layout
from ringmill.trace.program import Signature

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
    data = json.loads(rm.kernel(lambda x: x + 1).trace(rm.matrix(4, 2)).signature_text())
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
