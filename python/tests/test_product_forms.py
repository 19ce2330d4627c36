"""The way that ``@`` chooses for two encrypted matrices, against six forms that a person would write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracle import interpret

import ringmill as rm
from benches.product_forms import BAR, FORMS, GRID, Form, Shape, costs, stored, summary

PAGE = Path(__file__).parents[2] / "docs" / "algorithms" / "linear-transforms.md"

#: Shapes (r, c, p) of each kind: a row, a column, skinny, square.
FEW: list[Shape] = [(1, 2, 8), (2, 8, 2), (8, 2, 2)]


@pytest.mark.parametrize("shape", FEW, ids=str)
def test_the_chosen_way_costs_no_more_than_the_best_form(shape: Shape) -> None:
    """Time and keys together: a form that saves one of them may take more of the other."""
    forms = costs(shape)
    chosen = forms.pop("chosen")
    best = min(forms, key=lambda name: forms[name].ms * forms[name].mb)
    assert chosen.ms * chosen.mb <= BAR**2 * forms[best].ms * forms[best].mb, (chosen, forms)
    dominating = [n for n, f in forms.items() if BAR * f.ms < chosen.ms and BAR * f.mb < chosen.mb]
    assert not dominating, (chosen, forms)


def test_the_stored_grid_is_whole_and_the_page_says_what_it_shows() -> None:
    rows = stored()
    assert sorted(tuple(row["shape"]) for row in rows) == sorted(GRID)
    assert all(len(row["forms"]) >= 2 for row in rows)
    assert "\n".join(summary(rows)) in PAGE.read_text()


@pytest.mark.long
def test_the_stored_grid_is_what_compiling_gives() -> None:
    for row in stored()[::9]:
        found = costs(tuple(row["shape"]))
        for name, (ms, mb) in {"chosen": row["chosen"], **row["forms"]}.items():
            assert (found[name].ms, found[name].mb) == pytest.approx((ms, mb), rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__)
def test_forms_are_the_product(form: Form, rng: np.random.Generator) -> None:
    shape = (3, 2, 3) if form.__name__ == "diagonals" else (3, 2, 4)
    a, b = rng.uniform(-1, 1, shape[:2]), rng.uniform(-1, 1, shape[1:])
    trace = rm.kernel(form).trace(rm.matrix(*a.shape), rm.matrix(*b.shape))
    got = trace.signature.unpack(interpret(trace.text, trace.signature.pack({"a": a, "b": b})))
    wanted = a @ b
    if form.__name__ == "diagonals":
        wanted = np.stack([[wanted[i, (i + d) % 3] for i in range(3)] for d in range(3)])
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-9)
