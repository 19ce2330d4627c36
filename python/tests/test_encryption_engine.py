"""The simulated encryption engine as a machine of clients."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill import cli
from ringmill.encryptor import Encryptor, parameters
from ringmill.errors import MachineError
from ringmill.project.simulator import verilator

needs_verilator = pytest.mark.skipif(not verilator(), reason="the hardware tools are not in the environment")


def _double() -> Any:
    @rm.kernel
    def double(x: Any) -> Any:
        return x + x

    # One prime: an engine of one limb, which is built soonest.
    params = rm.Params.from_bits(10, [50], [50], 1, scale_bits=30, insecure=True)
    return double.compile(x=rm.vector(8), params=params, precision=10)


def test_other_machines_are_refused() -> None:
    compiled = _double()
    keys = compiled.keygen()
    for machine in ("compact", "encrypter", 3):
        with pytest.raises(MachineError, match="encryptor") as error:
            compiled.encrypt(keys.public, x=np.zeros(8), machine=machine)
        assert error.value.code == "NotAClientMachine"


def test_an_installation_for_clients_alone_has_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ringmill.encryptor", None)
    compiled = _double()
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys.public, x=np.zeros(8), machine="cpu")
    with pytest.raises(MachineError, match="install ringmill") as error:
        compiled.decrypt(keys, compiled.evaluate(keys.evaluation, arguments), machine="encryptor")
    assert error.value.code == "NeedsRingmill"


def test_an_engine_is_built_for_the_limbs_of_a_level() -> None:
    params = rm.Params.from_bits(10, [50, 40, 38], [52], 3, insecure=True)
    # Primes next to 2^b may be above it.
    whole = parameters(params, 2)
    assert (whole["Limbs"], whole["W"], whole["WRest"], whole["LogNMax"]) == (3, 53, 41, 10)
    lower = parameters(params, 0)
    assert (lower["Limbs"], lower["W"]) == (1, 53)


def test_a_degree_outside_of_the_engine_is_named() -> None:
    params = rm.Params.from_bits(16, [50, 40], [50], 2, insecure=True)
    with pytest.raises(MachineError, match="in software") as error:
        parameters(params, 1)
    assert error.value.code == "EncryptorDegree"


@pytest.mark.long
@needs_verilator
def test_a_client_encrypts_and_decrypts_on_the_engine(
    tmp_path: Path, rng: np.random.Generator, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = _double()
    keys = compiled.keygen()
    x = rng.uniform(-1, 1, 8)
    engine = Encryptor()
    for key in (keys.public, keys.secret):
        arguments = compiled.encrypt(key, x=x, machine=engine)
        results = compiled.evaluate(keys.evaluation, arguments)
        for machine in ("cpu", engine):
            found = compiled.decrypt(keys, results, machine=machine)
            assert np.abs(found - 2 * x).max() < 2.0**-10
    assert len(engine.cycles) == 4
    # An encryption that is divided draws most and takes two transforms more; a decryption draws nothing.
    divided, decrypted, seeded, again = engine.cycles
    assert decrypted == again < seeded < divided
    # The same at the command line, which prints the cycles.
    kernel, secret, public, values, out = (
        str(tmp_path / name) for name in ("k.rm", "s.key", "p.key", "x.npz", "x.ct")
    )
    compiled.save(kernel)
    keys.secret.save_secret(secret)
    Path(public).write_bytes(keys.public.to_bytes())
    np.savez(values, x=x)
    words = ["encrypt", "--kernel", kernel, "--key", public, "--input", values, "--out", out]
    assert cli.main([*words, "--machine", "encryptor"]) == 0
    assert "encryptor" in capsys.readouterr().out
