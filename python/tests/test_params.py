"""Parameters and plans through the Python facade."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.kernels import NINE


def test_by_need() -> None:
    params = rm.Params.by_need(depth=3, scale_bits=40, slots=4096)
    assert params.max_level >= 3
    assert params.slots >= 4096
    assert params.security is not None
    assert params.security >= 128
    assert params.rationale is not None
    assert "depth 3" in params.rationale
    assert f"N=2^{params.log_n}" in repr(params)


def test_named_sets() -> None:
    assert {"I", "II", "III", "IV", "V", "V50"} <= set(rm.Params.names())
    three = rm.Params.named("III")
    assert three.log_n == 14
    assert len(three.q) == 8
    assert three == rm.Params.named("III")
    assert three != rm.Params.named("II")
    assert len({three, rm.Params.named("III")}) == 1
    assert all(q % (2 << three.log_n) == 1 for q in three.q + three.p)
    assert np.isclose(three.log_q, sum(np.log2(q) for q in three.q))


def test_errors_carry_the_variant_and_its_fields() -> None:
    with pytest.raises(rm.ParameterError) as caught:
        rm.Params.from_bits(12, [60, 60, 60], [60], 3)
    error = caught.value
    assert error.code == "BelowSecurity"
    assert error.limit == 109
    assert error.log_n == 12
    assert error.secret == "ternary"
    assert error.message.endswith(".")
    assert rm.Params.from_bits(12, [60, 60, 60], [60], 3, insecure=True).security is None


@pytest.mark.parametrize("row", NINE, ids=lambda row: row.letter)
def test_native_parser_accepts_what_the_tracer_writes(row: object) -> None:
    traced = row.trace()  # type: ignore[attr-defined]
    plan = rm.Plan.choose(traced.text, 20, 1.0, 4.0, True, 128)
    assert plan.depth == traced.depth
    assert plan.params.slots >= traced.signature.slots
    assert plan.text.startswith(f"he @{traced.name} managed slots {traced.signature.slots}")


def test_program_errors_point_at_the_line() -> None:
    with pytest.raises(rm.ProgramError) as caught:
        rm.Plan.choose(
            'he @f traced slots 4\n%0 = input "x"\n%1 = ad %0, %0\noutput "y", %1\nend\n',
            20,
            1.0,
            1.0,
            True,
            128,
        )
    assert caught.value.code == "UnknownOp"
    assert caught.value.line == 3
    assert caught.value.word == "ad"


def test_the_secret_is_reported() -> None:
    def made(**how: Any) -> rm.Params:
        return rm.Params.from_bits(12, [40, 30], [40], 2, insecure=True, **how)

    assert made().secret == "ternary"
    assert "secret" not in repr(made())
    assert made(weight=64).secret == "ternary of weight 64"
    assert "secret ternary of weight 64" in repr(made(weight=64))
    assert made(secret="gaussian").secret == "Gaussian"
    assert "secret Gaussian" in repr(made(secret="gaussian"))


def _is_prime(q: int) -> bool:
    """Miller and Rabin with the bases that decide all numbers below 2^64."""
    odd = (q - 1) // ((q - 1) & -(q - 1))
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        power, exponent = pow(base, odd, q), odd
        while exponent < q - 1 and power not in (1, q - 1):
            power, exponent = power * power % q, 2 * exponent
        if (power != q - 1 and exponent != odd) or power not in (1, q - 1):
            return False
    return True


def test_primes_of_least_set_bits_are_found_and_run_on_a_core_of_shifts() -> None:
    params = rm.Params.from_bits(10, [35, 35, 35], [35], 3, insecure=True, primes="least-set-bits")
    every = [q for q in range(2**35 + 1, 2**35 + 2**18, 2**11) if _is_prime(q)]
    fewest = sorted(every, key=lambda q: (bin(q).count("1"), q))[:4]
    assert sorted([*params.q, *params.p]) == sorted(fewest)
    assert max(params.p) > max(params.q)
    kernel = rm.kernel(lambda x: x * x).compile(rm.vector(8), params=params)
    keys, x = kernel.keygen(insecure=True), np.linspace(-1, 1, 8)
    arguments = kernel.encrypt(keys, x=x)
    core = "compact:multiplier=prf-fiko,word=36,butterflies=1"
    results = [kernel.decrypt(keys, kernel.evaluate(keys, arguments, machine=m)) for m in ("cpu", core)]
    np.testing.assert_array_equal(*results)
    np.testing.assert_allclose(results[0], x * x, atol=2.0**-10)
    with pytest.raises(rm.ParameterError, match="Only 0 of 3 primes 2\\^30 \\+ f"):
        rm.Params.from_bits(15, [30, 30], [30], 2, primes="least-set-bits")
    with pytest.raises(rm.ParameterError, match='"nearest" and "least-set-bits"'):
        rm.Params.from_bits(11, [35, 35], [35], 2, primes="sparse")
