"""No ciphertext that leaves can be decrypted without the key, whatever it was computed with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringmill as rm

N = 8
PARAMS = rm.Params.from_bits(11, [50, 40, 40, 40], [50], 4, scale_bits=40, insecure=True)


@pytest.fixture(scope="module")
def keys() -> rm.Keys:
    return rm.keygen(PARAMS, rotations=range(1, N), conjugation=True)


def halves(data: bytes) -> tuple[bytes, bytes]:
    """The packed residues of both polynomials, by the table of the format."""
    length = int.from_bytes(data[52:56], "little")
    payload = data[64 + length : -32]
    assert len(payload) == int.from_bytes(data[56:64], "little")
    return payload[: len(payload) // 2], payload[len(payload) // 2 :]


def looks_random(half: bytes) -> bool:
    """Bits of uniform residues: as many ones as zeros, up to eight deviations."""
    bits = np.unpackbits(np.frombuffer(half, dtype=np.uint8))
    return bool(abs(int(bits.sum()) - len(bits) / 2) < 4 * np.sqrt(len(bits)))


#: Products with a factor that is zero, or is rounded to it.
ZERO: dict[str, Callable[[Any], Any]] = {
    "number": lambda x: x * 0.0,
    "vector": lambda x: x * np.zeros(N),
    "tiny number": lambda x: x * 1e-14,
    "tiny vector": lambda x: x * np.full(N, -1e-14),
    "complex": lambda x: x * (0.0 + 0.0j),
    "declared number": lambda x: x * rm.plain(0.0, 4),
    "declared vector": lambda x: x * rm.plain(np.zeros(N), 4),
    "inner product": lambda x: x @ np.zeros(N),
    "minus zero": lambda x: x * -0.0,
}


@pytest.mark.parametrize("name", ZERO)
def test_a_product_with_zero_is_a_ciphertext(name: str, keys: rm.Keys) -> None:
    x = rm.encrypt(np.linspace(-1, 1, N), keys)
    product = ZERO[name](x)
    first, second = halves(product.to_bytes())
    assert looks_random(first)
    assert looks_random(second)
    assert rm.measure_error(product, keys, np.zeros(N)).holds
    hidden = product + np.linspace(0, 1, N)
    assert all(map(looks_random, halves(hidden.to_bytes())))


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x - x,
        lambda x: (x - x) + 0.25,
        lambda x: (x - x) + np.linspace(0, 1, N),
        lambda x: x * 0,
        lambda x: x.rotate(1) - x.rotate(1),
    ],
)
def test_what_everybody_could_decrypt_does_not_leave(make: Callable[[Any], Any], keys: rm.Keys) -> None:
    made = make(rm.encrypt(np.linspace(-1, 1, N), keys))
    assert made.native.transparent
    with pytest.raises(rm.EncodingError, match="everybody could decrypt it") as refused:
        made.to_bytes()
    assert refused.value.code == "Transparent"


def test_a_kernel_of_private_numbers_gives_no_result_that_is_constant() -> None:
    """A column of zeros, and a result that its numbers make constant."""
    weights = np.random.default_rng(2).uniform(0.1, 1, (4, 2))
    weights[:, 1] = 0
    compiled = rm.kernel(lambda x: x @ weights).compile(
        rm.matrix(4, 4, packing="columns"), params=PARAMS, precision=8
    )
    keys, values = compiled.keygen(), np.linspace(-1, 1, 16).reshape(4, 4)
    arguments = compiled.encrypt(keys, x=values)
    results = compiled.evaluate(keys, arguments)
    with pytest.raises(rm.ProgramError, match=r"'out.1' of kernel 'kernel' does not depend on") as refused:
        results.to_bytes()
    assert refused.value.code == "Transparent"
    assert refused.value.part == "out.1"
    np.testing.assert_allclose(compiled.decrypt(keys, results), values @ weights, atol=2**-8)
    compiled.public = True
    sent = compiled.evaluate(keys, arguments).to_bytes()
    read = rm.Values.from_bytes(sent, "results", PARAMS)
    assert read.to_bytes() == sent
    assert [name for name, part in read.parts.items() if not any(halves(part.to_bytes())[1])] == ["out.1"]


def test_a_vector_of_zeros_in_a_kernel_is_an_ordinary_factor() -> None:
    """A vector that is no zero is rounded to zero where all of it is tiny."""
    for weights in (np.full(4, 1e-14) + np.arange(4) * 1e-16, np.array([0, 0, 1e-15, 0])):
        compiled = rm.kernel(lambda x, w=weights: x * w).compile(rm.vector(4), params=PARAMS, precision=8)
        keys = compiled.keygen()
        results = compiled.evaluate(keys, compiled.encrypt(keys, x=np.ones(4)))
        assert all(map(looks_random, halves(next(iter(results.parts.values())).to_bytes())))
        np.testing.assert_allclose(compiled.decrypt(keys, results), 0, atol=2**-8)
        results.to_bytes()


def test_private_weights_that_cancel_leave_as_a_fresh_encryption() -> None:
    """Weights of one model may cancel, and those of another not: a sanitised result does not show which."""
    weights = np.array([0.5, -0.25, 0.125, 1.0])

    def difference(x: Any, v: Any, w: Any) -> Any:
        return x * v - x * w

    kernel = rm.kernel(difference)
    private = [rm.private(weights, 1), rm.private(weights, 1)]
    compiled = kernel.compile(rm.vector(4), *private, precision=8, sanitise=1)
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys, x=np.linspace(-1, 1, 4))
    results = compiled.evaluate(keys, arguments, sanitise=1)
    assert not results.parts["out"].transparent
    results.to_bytes()
    np.testing.assert_allclose(compiled.decrypt(keys, results), 0, atol=2**-8)
    # What cancels in every model is refused, and says how to send it.
    constant = rm.kernel(lambda x: x - x).compile(rm.vector(4), precision=8, sanitise=1)
    own = constant.keygen()
    sent = constant.encrypt(own, x=np.ones(4))
    with pytest.raises(rm.ProgramError, match="Evaluate with sanitise=True and public=, which sends"):
        constant.evaluate(own, sent).to_bytes()
    fresh = constant.evaluate(own, sent, sanitise=1)
    assert not fresh.parts["out"].transparent
    fresh.to_bytes()
