"""An equal program in place of a kernel's own: what it computes, what it costs, when the own one stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle import interpret

import ringmill as rm
from benches.algebra import USERS, generated

SIZE = 64


def _both(function: Callable[..., Any], **options: Any) -> tuple[rm.Compiled, rm.Compiled]:
    kernel, vectors = rm.kernel(function), [rm.vector(SIZE)] * 3
    written, folded = (kernel.compile(*vectors, algebra=way, **options) for way in (False, True))
    return written, folded


def _in_the_clear(compiled: rm.Compiled, data: dict[str, np.ndarray]) -> Any:
    """The program that is run, by the oracle."""
    given = {name: data[name] for name in compiled.signature.inputs}
    return compiled.signature.unpack(interpret(compiled.text, compiled.signature.pack(given)))


@pytest.mark.parametrize("seed", [*range(60), *USERS])
def test_a_program_is_equal_and_takes_no_more(seed: int | str, rng: np.random.Generator) -> None:
    if isinstance(seed, str):
        function = USERS[seed]
    else:
        text, _ = generated(seed)
        function = eval(f"lambda x, y, z: {text}", {"np": np})
    written, folded = _both(function, precision=16)
    data = {name: rng.uniform(-1, 1, SIZE) for name in "xyz"}
    wanted = function(*data.values())
    for compiled in (written, folded):
        np.testing.assert_allclose(_in_the_clear(compiled, data), wanted, rtol=1e-9, atol=1e-9)
    assert written.algebra is None
    assert folded.plan.depth <= written.plan.depth
    assert folded.cost["key_switches"] <= written.cost["key_switches"]
    assert folded.params.log_n <= written.params.log_n
    assert (folded.text == written.text) == (folded.algebra is None)
    if folded.algebra is not None:
        assert folded.algebra.written == written.text
        assert str(folded.algebra) in str(folded)


def test_an_encrypted_result_is_as_precise_as_asked_for(rng: np.random.Generator) -> None:
    """Of a filter, of a polynomial, and of linear maps in a row."""
    first, second = rng.normal(size=(2, SIZE, SIZE)) / SIZE**0.5 / 2

    def maps(x: Any, y: Any, z: Any) -> Any:
        return second @ (first @ x) + y - z

    for function in (USERS["kalman"], USERS["swish"], maps):
        _, folded = _both(function, precision=18)
        assert folded.algebra is not None
        keys = folded.keygen()
        data = {name: rng.uniform(-1, 1, SIZE) for name in "xyz"}
        data = {name: data[name] for name in folded.signature.inputs}
        got = folded.decrypt(keys, folded.evaluate(keys, folded.encrypt(keys, **data)))
        assert np.max(np.abs(got - function(**data))) < 2.0**-18


def test_recurrences_take_a_level_and_maps_in_a_row_one() -> None:
    written, folded = _both(USERS["kalman"])
    assert (written.plan.depth, folded.plan.depth) == (24, 1)
    assert str(folded.algebra) == "1 level for 24, 2 products for 24"


def test_private_weights_decide_nothing() -> None:
    """A model whose numbers cancel is compiled as one whose numbers do not."""

    def score(x: Any, a: Any, b: Any) -> Any:
        return (a * x) * 0.5 + (b * x) * 0.5

    compiled = [
        rm.kernel(score).compile(rm.vector(SIZE), rm.private(a, 1.0), rm.private(b, 1.0), precision=12)
        for a, b in [(0.5, 0.25), (0.5, -0.25)]
    ]
    assert all(each.algebra is None for each in compiled)
    assert compiled[0].plan.depth == compiled[1].plan.depth


def test_a_wider_modulus_is_not_taken_for_a_level() -> None:
    """Means as sums of whole multiples make values larger: not where that takes a larger ring."""

    def covariance(x: Any, y: Any, z: Any) -> Any:
        return ((x - x.mean()) * (y - y.mean())).mean() + z

    written, folded = _both(covariance, precision=20)
    assert folded.params.log_n <= written.params.log_n
    assert folded.params.log_q + folded.params.log_p <= written.params.log_q + written.params.log_p + 1e-9
