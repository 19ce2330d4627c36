"""The way that ``@`` chooses for two encrypted matrices, against six forms that a person would write."""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from oracle import interpret
from product_forms import FORMS, Cost, Form, cost, fits

import ringmill as rm

Shape = tuple[int, int, int]

#: Shapes (r, c, p) of each kind: a row, a column, skinny, square.
FEW: list[Shape] = [(1, 2, 8), (2, 8, 2), (8, 2, 2)]
#: Shapes that a ring holds in some form; the others need blocks of 2^16 slots and more.
GRID = [shape for shape in itertools.product([1, 2, 8, 20, 64, 256], repeat=3) if np.prod(shape) <= 1 << 15]
#: How much more than the best form the chosen way may take.
BAR = 1.2


def multiplied(a: Any, b: Any) -> Any:
    """As a person writes it."""
    return a @ b


def _costs(shape: Shape) -> dict[str, Cost]:
    found = {}
    for form in FORMS:
        if not fits(form, shape):
            continue
        # Some forms fit into no ring.
        with suppress(rm.KernelError, rm.ParameterError, rm.ProgramError):
            found[form.__name__] = cost(form, shape)
    return found


@pytest.mark.parametrize(
    "shape", [*FEW, *(pytest.param(s, marks=pytest.mark.long) for s in GRID if s not in FEW)], ids=str
)
def test_the_chosen_way_costs_no_more_than_the_best_form(shape: Shape) -> None:
    """Time and keys together: a form that saves one of them may take more of the other."""
    chosen, forms = cost(multiplied, shape), _costs(shape)
    best = min(forms, key=lambda name: forms[name].ms * forms[name].mb)
    assert chosen.ms * chosen.mb <= BAR**2 * forms[best].ms * forms[best].mb, (chosen, forms)
    dominating = [n for n, f in forms.items() if BAR * f.ms < chosen.ms and BAR * f.mb < chosen.mb]
    assert not dominating, (chosen, forms)


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
