"""Costs come from the machine: methods, forms and predicted times for hardware cores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.project import Core


@rm.kernel
def cube(x: Any) -> Any:
    return x * x * x


def test_methods_for_a_core_are_chosen_by_its_own_costs(rng: np.random.Generator) -> None:
    params = rm.Params.from_bits(11, [50, 40, 40, 40], [50, 50], 2, insecure=True)
    x = rng.uniform(-1, 1, 64)
    for method in ("klss", "auto"):
        compiled = cube.compile(rm.vector(64), params=params, switching=method)
        keys = compiled.keygen()
        arguments = compiled.encrypt(keys, x=x)
        ours = compiled.evaluate(keys, arguments, machine="compact")
        assert ours.to_bytes() == compiled.evaluate(keys, arguments).to_bytes()
        work = compiled.work("compact:butterflies=8")
        assert work["costs"].startswith("compact core at 100 MHz, 8 butterflies")
        assert compiled.work(rm.machines.verilator(butterflies=8)) == work
        # Its words hold longer primes than those that CPUs multiply fast.
        assert method != "klss" or all(name.endswith("of 60 bits") for _, name, _ in work["switches"])
    assert compiled.work()["costs"] == compiled.work("cpu")["costs"] != work["costs"]
    assert compiled.work("reference")["costs"].startswith("shipped")


def test_a_core_to_be_built_has_costs_at_its_clock() -> None:
    params = rm.Params.from_bits(13, [50] * 6, [50], 6, insecure=True)
    power = rm.kernel(lambda x: x**8).compile(rm.vector(64), params=params, switching="auto")
    slow, fast = (power.work(Core(word_bits=60, clock_mhz=mhz)) for mhz in (100.0, 200.0))
    assert slow["seconds"] == pytest.approx(2 * fast["seconds"])
    assert slow["switches"] == fast["switches"]
    # What the model counts for the plan of the base form, which is hybrid.
    base = power.switched("hybrid")
    core = Core(word_bits=60)
    reported, counted = base.work(core)["seconds"], core.image(base.plan).cycles * 1e-8
    assert reported == pytest.approx(counted, rel=0.3)
    # Twice the butterflies, but a memory that is as fast.
    assert fast["seconds"] > power.work(Core(word_bits=60, butterflies=8))["seconds"] / 2
    forms = rm.key_forms(params, 2, machine=core)
    assert forms == rm.key_forms(params, 2, machine="compact")
    with pytest.raises(rm.MachineError, match=r"7 moduli at most") as refused:
        power.switched("klss").work(Core(word_bits=60, moduli=7))
    assert refused.value.code == "NoKlss"
    with pytest.raises(rm.MachineError, match="special form only"):
        power.switched("klss").work(Core(multiplier="sparse-word-montgomery"))
    few = power.work(Core(word_bits=60, moduli=7))
    assert all(name.startswith("hybrid") for _, name, _ in few["switches"])
