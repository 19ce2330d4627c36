"""The named sets for bootstrapping: their claims, and one bootstrapping of each against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ringmill as rm
from ringmill.cli import main

# Greatest log2 PQ of 128 bits: Bossuat et al., Security Guidelines, table 5.2, ternary secrets.
LIMITS = {15: 868, 16: 1747}

# Greatest log2 q_0·p_0 of keys under the ephemeral secret: docs/algorithms/bootstrapping.md, Security.
SPARSE_LIMITS = {15: 105, 16: 121}

# name, log2 N, levels left, bits in the worst slot, levels where it starts
SETS = [("B15", 15, 5, 12, 2), ("B16", 16, 9, 22, 3)]


@pytest.mark.parametrize(("name", "log_n", "levels", "bits", "start"), SETS)
def test_a_named_set_is_secure_and_says_what_it_gives(
    name: str, log_n: int, levels: int, bits: int, start: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert name in rm.Params.names()
    params = rm.Params.named(name)
    assert params.log_n == log_n
    # log2 PQ again, from the integers.
    product = 1
    for q in params.q + params.p:
        product *= q
    assert product < 1 << LIMITS[log_n]
    assert params.security == 128
    assert f"N=2^{log_n}" in repr(params)
    facts = params.bootstraps
    assert facts is not None
    log_qp = facts["sparse_log_q"]
    assert log_qp == pytest.approx(np.log2(params.q[0]) + np.log2(params.p[0]))
    assert log_qp < SPARSE_LIMITS[log_n]
    promised = {"levels": levels, "bits": bits, "iterations": 1, "failure": 0.0, "start": start}
    # The large ring has levels for the usual arrangement, the small one spares them.
    promised |= {"transforms": start, "arcsine": name == "B16"}
    assert facts == {**promised, "sparse_weight": 32, "sparse_log_q": log_qp}
    assert params == rm.Params.bootstrapping(levels, bits=bits, log_n=log_n)
    assert rm.Params.from_bytes(params.to_bytes()).bootstraps == facts
    assert main(["params", "--name", name]) == 0
    reported = capsys.readouterr().out
    assert f"leaves {levels} levels, {bits} bits in the worst slot, fails never" in reported
    assert f"through a secret of weight 32 modulo 2^{log_qp:.1f}" in reported


@pytest.mark.parametrize(
    ("need", "log_n"), [({"bits": 18, "levels": 1}, 15), ({"bits": 36, "iterations": 2}, 16)]
)
def test_by_need_the_ephemeral_secret_stays_where_estimates_are_known(
    need: dict[str, int], log_n: int
) -> None:
    params = rm.Params.bootstrapping(**need, log_n=log_n)
    assert (params.log_n, params.security) == (log_n, 128)
    assert params.bootstraps is not None
    assert params.bootstraps["sparse_log_q"] < SPARSE_LIMITS[log_n]


@pytest.mark.parametrize(("magnitude", "precision"), [(1.0, 20), (0.5, 20), (1.0, 28), (1024.0, 20)])
def test_what_compile_chooses_lets_its_keys_be_drawn(magnitude: float, precision: int) -> None:
    kernel = rm.kernel(lambda x: rm.bootstrap(x))
    params = kernel.compile(rm.vector(4), magnitude=magnitude, precision=precision).params
    assert "security guidelines (Bossuat et al., 2024)" in repr(params)
    assert (params.q[0] * params.p[0]).bit_length() <= SPARSE_LIMITS[params.log_n]
    keys = rm.EvaluationKeys(params).with_encapsulation(rm.SecretKey.generate(params))
    assert keys.has_encapsulation


def test_needs_at_the_edge_of_the_table_keep_to_it() -> None:
    params = rm.Params.by_need(depth=7, scale_bits=47, slots=64, integer_bits=2)
    assert math.prod(params.q + params.p) < 1 << 430
    assert params.log_n == 14
    assert params.security_estimate >= 128
    assert "security guidelines (Bossuat et al., 2024)" in repr(params)


def test_other_sets_are_not_for_bootstrapping() -> None:
    ours = {name for name, *_ in SETS}
    assert all(rm.Params.named(name).bootstraps is None for name in rm.Params.names() if name not in ours)


@pytest.mark.parametrize(("levels", "bits"), [(3, 12), (3, 16), (1, 20), (3, 24)])
def test_a_need_follows_from_its_chain(levels: int, bits: int) -> None:
    params = rm.Params.bootstrapping(levels, bits=bits, log_n=10, insecure=True)
    facts = params.bootstraps
    assert facts is not None
    assert (facts["levels"], facts["bits"]) == (levels, bits)
    assert params.slots == 512


@pytest.mark.long
@pytest.mark.parametrize(("name", "log_n", "levels", "bits", "start"), SETS)
def test_full_slots_come_back_with_the_levels_and_the_bits(
    name: str, log_n: int, levels: int, bits: int, start: int, rng: np.random.Generator
) -> None:
    params = rm.Params.named(name)
    slots = params.slots
    assert slots == 1 << (log_n - 1)
    keys = rm.keygen(params, **rm.bootstrap_keys(params, slots, real=False))
    # Real and imaginary parts up to the ends of the arc of the sine.
    values = (rng.uniform(-1, 1, slots) + 1j * rng.uniform(-1, 1, slots)) / np.sqrt(2)
    values[:2] = 1, -1j
    # By the secret key: under the public one encryption alone is off by 2^-19 at such degrees and scales.
    low = rm.encrypt(values, keys, level=start, magnitude=1, key=keys.secret)
    high = low.bootstrap()
    assert high.level == levels + start
    worst = np.abs(rm.decrypt(high, keys) - values).max()
    print(f"{name}: {-np.log2(worst):.2f} bits")
    assert worst < 2.0**-bits
    product = high * high
    assert np.abs(rm.decrypt(product, keys) - values * values).max() < 2.0 ** (2 - bits)
