"""Look-up tables from Python, in kernels and at the prompt, against NumPy's own look-up."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from oracle import interpret

import ringmill as rm

LENGTH = 64


@pytest.fixture(scope="module")
def params() -> rm.Params:
    return rm.Params.bootstrapping(9, bits=16, log_n=10, slots=LENGTH, insecure=True)


@pytest.fixture(scope="module")
def keys(params: rm.Params) -> rm.Keys:
    return rm.keygen(params, **rm.bootstrap_keys(params, LENGTH))


def looked_up(table: Any, first: int, noise: float) -> rm.Kernel:
    return rm.kernel(lambda x: rm.lookup(x, table, first=first, noise=noise))


@pytest.mark.parametrize(
    ("entries", "first", "noise"),
    [(2, 0, 0.0), (3, -1, 0.05), (4, 0, 0.01), (7, 5, 0.0), (16, -8, 0.02), (61, 0, 0.0), (256, -128, 0.01)],
)
def test_tables_give_numpys_entries(
    entries: int, first: int, noise: float, params: rm.Params, rng: np.random.Generator
) -> None:
    table = rng.uniform(-1, 1, entries)
    spec = rm.vector(LENGTH, low=first - noise, high=first + entries - 1 + noise)
    compiled = looked_up(table, first, noise).compile(spec, params=params)
    assert compiled.bootstraps[0].endswith(f"looked up in a table of {entries} entries")
    index = rng.integers(0, entries, LENGTH)
    x = first + index + rng.uniform(-noise, noise, LENGTH)
    keys = compiled.keygen()
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=x))
    off = np.abs(compiled.decrypt(keys, results) - table[index]).max()
    # What comes through of the noise, and what the look-up errs by: two-sided.
    predicted = 2.0 ** max(compiled.predicted_error.values())
    assert off <= predicted < 64 * max(off, 2.0**-24)


def test_signs_and_steps_of_differences(params: rm.Params, rng: np.random.Generator) -> None:
    numbers = np.arange(-15, 16)

    @rm.kernel
    def compared(a: Any, b: Any) -> Any:
        d = a - b
        return rm.lookup(d, np.sign(numbers), first=-15), rm.lookup(d, numbers > 0, first=-15)

    spec = rm.vector(LENGTH, low=0, high=15)
    compiled = compared.compile(spec, spec, params=params)
    a, b = rng.integers(0, 16, (2, LENGTH)).astype(float)
    keys = compiled.keygen()
    results = compiled.evaluate(keys, compiled.encrypt(keys, a=a, b=b))
    sign, step = compiled.decrypt(keys, results)
    assert np.abs(sign - np.sign(a - b)).max() < 2.0**-12
    assert np.abs(step - (a > b)).max() < 2.0**-12


def test_a_vector_is_looked_up_at_the_prompt(
    params: rm.Params, keys: rm.Keys, rng: np.random.Generator
) -> None:
    index = rng.integers(0, 8, LENGTH)
    table = rng.uniform(0, 3, 8)
    start = params.bootstraps["start"]  # type: ignore[index]
    low = rm.encrypt(index.astype(float), keys, level=start, magnitude=8)
    for high in (rm.lookup(low, table), low.lookup(table)):
        assert high.level == start + 9 - 1  # a level less than a bootstrapping leaves
        assert np.abs(rm.decrypt(high, keys) - table[index]).max() < 2.0**-10


def test_noise_gets_less_by_a_table_of_whole_numbers(params: rm.Params, keys: rm.Keys) -> None:
    numbers = np.arange(4.0)
    x = np.resize(numbers, LENGTH) + 0.05
    start = params.bootstraps["start"]  # type: ignore[index]
    once = rm.encrypt(x, keys, level=start, magnitude=4).lookup(numbers, noise=0.05)
    twice = rm.lookup(once, numbers, noise=0.03)
    off = [np.abs(rm.decrypt(y, keys) - np.round(x)).max() for y in (once, twice)]
    assert off[0] < 0.025
    assert off[1] < off[0] / 10


def test_programs_say_what_they_look_up(rng: np.random.Generator) -> None:
    table, first = rng.uniform(-1, 1, 5), -2

    @rm.kernel
    def f(x: Any) -> Any:
        return rm.lookup(x, table, first=first) * 2

    traced = f.trace(rm.vector(10, low=-2, high=2))
    assert re.search(r"%1 = lookup %0, \[.*\], -2 within", traced.text)
    x = rng.integers(-2, 3, 10).astype(float)
    np.testing.assert_allclose(f(x), 2 * table[x.astype(int) + 2])
    got = traced.signature.unpack(interpret(traced.text, traced.signature.pack({"x": x})))
    np.testing.assert_allclose(got, f(x), atol=1e-12)


def test_parameters_are_chosen_for_a_table() -> None:
    squares = np.arange(4.0) ** 2

    @rm.kernel
    def f(x: Any) -> Any:
        return rm.lookup(x, squares)

    compiled = f.compile(rm.vector(8, low=0, high=3), precision=10)
    assert compiled.params.security == 128
    assert max(compiled.predicted_error.values()) < -10


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"table": [1.0]}, "LookupTable", "a table of 1 entries. Give 2 to 256 numbers"),
        ({"table": np.arange(257)}, "LookupTable", "a table of 257 entries"),
        ({"table": np.eye(4)}, "LookupTable", r"a table of shape \(4, 4\)"),
        ({"table": [1, 2j, 0, 0]}, "LookupTable", "a table with complex entries"),
        ({"table": [0, 1, np.nan, 0]}, "LookupTable", "entry 2 of the table is nan"),
        ({"table": ["a", "b"]}, "LookupTable", "a table of list"),
        ({"table": [2.0, 2.0, 2.0, 2.0]}, "LookupTable", "all one number. Use that number itself"),
        ({"table": [0, 1, 2, 3], "first": 0.5}, "LookupFirst", "starts at 0.5"),
        ({"table": [0, 1, 2, 3], "noise": 0.5}, "LookupNoise", "0.5 from whole ones"),
        ({"table": [0, 1, 2]}, "LookupRange", "numbers from 0 to 3 in a table from 0 to 2"),
        ({"table": [0, 1, 2, 3], "first": 1}, "LookupRange", "in a table from 1 to 4"),
    ],
)
def test_what_cannot_be_looked_up_is_refused(arguments: dict[str, Any], code: str, words: str) -> None:
    kernel = rm.kernel(lambda x: rm.lookup(x, **arguments))
    with pytest.raises(rm.KernelError, match=words) as refused:
        kernel.trace(rm.vector(4, low=0, high=3))
    assert refused.value.code == code


def test_numbers_without_bounds_and_parameters_that_do_not_bootstrap_are_refused() -> None:
    kernel = rm.kernel(lambda x: rm.lookup(x, [0.0, 1.0]))
    with pytest.raises(rm.KernelError) as refused:
        kernel.trace(rm.vector(4))
    assert refused.value.code == "NoBounds"
    short = rm.Params.by_need(depth=3)
    with pytest.raises(rm.ProgramError) as too_short:
        kernel.compile(rm.vector(4, low=0, high=1), params=short)
    assert too_short.value.code in ("WrongStage", "Depth")


def test_an_error_of_half_a_step_is_refused(params: rm.Params) -> None:
    kernel = rm.kernel(lambda x: rm.lookup(x * 1e6, [0.0, 1.0, 2.0, 3.0], noise=0.49))
    with pytest.raises(rm.MismatchError, match="half a step is another entry"):
        kernel.compile(rm.vector(LENGTH, low=0, high=3e-6), params=params)


def test_complex_vectors_at_the_prompt_are_refused(params: rm.Params, keys: rm.Keys) -> None:
    low = rm.encrypt(np.full(LENGTH, 1j), keys, level=3)
    with pytest.raises(rm.MismatchError, match="real numbers alone are looked up"):
        low.lookup([0, 1])


@pytest.mark.long
@pytest.mark.parametrize("entries", [2, 15, 256])
def test_full_slots_are_looked_up_at_128_bits_of_security(entries: int, rng: np.random.Generator) -> None:
    params = rm.Params.named("B16")
    table = rng.uniform(-1, 1, entries)
    spec = rm.vector(params.slots, low=0, high=entries - 1)
    compiled = looked_up(table, 0, 0.0).compile(spec, params=params)
    keys = compiled.keygen()
    index = rng.integers(0, entries, params.slots)
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=index.astype(float)))
    off = np.abs(compiled.decrypt(keys, results) - table[index]).max()
    predicted = max(compiled.predicted_error.values())
    print(f"{entries} entries: 2^{np.log2(off):.1f}, predicted 2^{predicted:.1f}")
    assert off <= 2.0**predicted < 64 * off
