"""What may leave the process pickles and copies; what is secret refuses."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringmill as rm

PARAMS = rm.Params.from_bits(12, [50, 40, 40, 40], [50, 50], 4, insecure=True)
X = np.array([0.5, -0.25, 1.0])

WAYS = [lambda value: pickle.loads(pickle.dumps(value)), copy.copy, copy.deepcopy]


@pytest.fixture(scope="module")
def compiled() -> rm.Compiled:
    return rm.kernel(lambda x: x * x + 0.25).compile(rm.vector(3), params=PARAMS, switching="auto")


@pytest.fixture(scope="module")
def keys(compiled: rm.Compiled) -> rm.Keys:
    return compiled.keygen()


@pytest.mark.parametrize("way", WAYS)
def test_what_is_public_comes_back_as_it_went(
    way: Callable[[Any], Any], compiled: rm.Compiled, keys: rm.Keys
) -> None:
    chain = rm.Params.bootstrapping(2, log_n=10, insecure=True)
    for params in (PARAMS, chain, rm.Params.named("III")):
        again = way(params)
        assert again == params
        assert (again.bootstraps, again.insecure) == (params.bootstraps, params.insecure)
    arguments = compiled.encrypt(keys, x=X)
    for value in (keys.public, keys.evaluation, arguments.parts["x"], arguments, compiled):
        again = way(value)
        assert type(again) is type(value)
        assert again.to_bytes() == value.to_bytes()
        assert getattr(again, "identity", None) == getattr(value, "identity", None)
    formed = rm.keygen(PARAMS, rotations=[1], forms=["1+2/4", "2+1/1"]).evaluation
    assert (way(formed).forms, way(formed).form_bytes()) == (formed.forms, formed.form_bytes())


def _evaluated(compiled: rm.Compiled, keys: rm.EvaluationKeys, arguments: rm.Values) -> rm.Values:
    return compiled.evaluate(keys, arguments)


def test_a_kernel_is_evaluated_by_another_process(compiled: rm.Compiled, keys: rm.Keys) -> None:
    arguments = compiled.encrypt(keys, x=X)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        results = pool.apply(_evaluated, (compiled, keys.evaluation, arguments))
    np.testing.assert_allclose(compiled.decrypt(keys, results), X * X + 0.25, atol=1e-6)


@pytest.mark.parametrize("leak", [pickle.dumps, copy.deepcopy])
def test_what_holds_the_secret_key_refuses(leak: Callable[[Any], Any], keys: rm.Keys) -> None:
    for secret in (keys.secret, keys, {"keys": [keys]}):
        with pytest.raises(rm.SecretError, match="does not pickle or copy"):
            leak(secret)


def test_a_vector_is_its_own_copy_and_names_its_bytes(keys: rm.Keys) -> None:
    x = rm.encrypt(X, keys)
    assert copy.copy(x) is x
    assert copy.deepcopy([x])[0] is x
    with pytest.raises(rm.MismatchError, match=r"x\.to_bytes\(\)"):
        pickle.dumps(x)
