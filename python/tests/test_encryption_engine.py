"""The simulated encryption engine as a machine of clients."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peer_libraries import run_peer

import ringmill as rm
from ringmill import _native, cli
from ringmill.encryptor import Encryptor, library, parameters
from ringmill.encryptor_schedule import DECRYPT, DIVIDED
from ringmill.errors import EncodingError, MachineError
from ringmill.interop import seal
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


def test_vectors_at_the_prompt_are_refused_as_those_of_kernels() -> None:
    keys = _double().keygen()
    vector = rm.encrypt([0.5, -0.25], keys)
    with pytest.raises(MachineError, match="encryptor") as error:
        rm.decrypt(vector, keys, machine="compact")
    assert error.value.code == "NotAClientMachine"
    sixteen = rm.Params.from_bits(16, [50, 40], [50], 2, insecure=True)
    large = rm.keygen(sixteen, relin=False, insecure=True)
    with pytest.raises(MachineError, match="in software") as error:
        rm.encrypt([0.5], large, machine="encryptor")
    assert error.value.code == "EncryptorDegree"
    with pytest.raises(MachineError, match="in software"):
        rm.decrypt(rm.encrypt([0.5], large), large, machine=Encryptor())


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


def test_a_file_that_is_no_engine_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "engine.so"
    text.write_text("no library")
    for place in (text, tmp_path / "missing.so"):
        with pytest.raises(MachineError, match="encryption engine"):
            _native.Encryptor(str(place))


def test_an_engine_for_seal_divides_by_the_prime_above() -> None:
    params = rm.Params.from_bits(10, [50, 40, 38], [52], 3, insecure=True)
    assert parameters(params, 2, seal=True)["W"] == 53
    below = parameters(params, 0, seal=True)
    assert (below["Limbs"], below["W"], below["Seal"], below["Extra"]) == (1, 50, 1, 1)


def test_a_report_shows_the_units_of_the_last_build(tmp_path: Path) -> None:
    params = rm.Params.from_bits(12, [50, 40, 38], [52], 3, insecure=True)
    engine, page = Encryptor(), tmp_path / "page.html"
    with pytest.raises(MachineError, match="Encrypt or decrypt with it first") as error:
        engine.report(page)
    assert error.value.code == "EncryptorIdle"
    # What the simulator would have noted: a decryption of another level, and two encryptions.
    engine._note(parameters(params, 0), DECRYPT, 4000)
    for cycles in (8001, 8009):
        engine._note(parameters(params, 2), DIVIDED, cycles)
    assert engine.report(page) == len(page.read_bytes())
    text = page.read_text("utf-8")
    assert all(count in text for count in ("8,001", "8,009"))
    assert "4,000" not in text
    data = json.loads(text.partition('id="timeline-data">')[2].partition("</script>")[0])
    assert {"extra prime: transform", "sampler"} < {*data["units"]}
    rows = data["rows"][data["units"].index("result")]
    # Two results of N/2 rows, the second N/2 cycles behind the first, which the run ends with.
    assert (rows[1], rows[4], rows[3] - rows[0], rows[3] + rows[4]) == (2048, 2048, 2048, data["cycles"])


def test_a_report_without_the_engine_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled = _double()
    compiled.save(tmp_path / "k.rm")
    compiled.keygen(insecure=True).save(tmp_path / "keys")
    (tmp_path / "x.json").write_text('{"x": [0, 0, 0, 0, 0, 0, 0, 0]}')
    places = {"kernel": "k.rm", "key": "keys/public.key", "input": "x.json", "out": "out", "report": "page"}
    given = [word for name, place in places.items() for word in (f"--{name}", str(tmp_path / place))]
    assert cli.main(["encrypt", *given]) == 1
    assert "Give --machine encryptor, or leave --report out" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.long
@needs_verilator
@pytest.mark.parametrize("log_n", [10, 12, 13, 14, 15])
def test_the_engine_has_seals_bits(tmp_path: Path, log_n: int) -> None:
    words = list(range(1, 9))
    run_peer("tenseal", "tenseal_peer", "fixed", tmp_path, 1 << log_n, [36, 36, 37], 20, words)
    params = seal.load_parameters(tmp_path / "parms", scale_bits=20, insecure=True)
    public = seal.load_public_key(params, tmp_path / "public.key")
    seed = b"".join(word.to_bytes(8, "little") for word in words)
    engine = Encryptor()
    # One limb, whose engine is built soonest; SEAL divides by the prime above.
    made = seal.encrypt_plaintext(public, tmp_path / "0.pt", seed=seed, machine=engine, level=0)
    theirs = seal.load_ciphertext(params, tmp_path / "0.ct")
    assert seal.dump_ciphertext(made) == seal.dump_ciphertext(theirs)
    assert len(engine.cycles) == 1
    with pytest.raises(MachineError, match="is built for"):
        seal.encrypt_plaintext(public, tmp_path / "1.pt", seed=seed, machine=engine, level=0)
    with pytest.raises(MachineError, match="blake2xb") as error:
        seal.encrypt_plaintext(public, tmp_path / "1.pt", machine=engine, generator="shake256")
    assert error.value.code == "EncryptorGenerator"


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
    # A vector at the prompt.
    vector = rm.encrypt(x, keys, machine=engine)
    found = rm.decrypt(vector + vector, keys, machine=engine)
    assert np.abs(found - 2 * x).max() < 2.0**-10
    assert engine.cycles[4:] == [seeded, decrypted]
    # Values beyond the declared bound, and a scale that they overflow, are refused before a job begins.
    with pytest.raises(EncodingError):
        rm.encrypt(3 * np.ones(8), keys, magnitude=1.0, machine=engine)
    with pytest.raises(EncodingError):
        rm.encrypt(np.full(8, 2.0**40), keys, magnitude=2.0**40, machine=engine)
    assert len(engine.cycles) == 6
    # Secret keys that it does not take though it is built for their primes, and another degree.
    gaussian = rm.Params.from_bits(10, [50], [50], 1, scale_bits=30, secret="gaussian", insecure=True)
    with pytest.raises(MachineError, match="takes ternary secret keys") as error:
        rm.encrypt(x, rm.keygen(gaussian, relin=False, insecure=True), machine=engine)
    assert error.value.code == "EncryptorSecret"
    larger = rm.keygen(rm.Params.from_bits(11, [50], [50], 1, scale_bits=30, insecure=True), insecure=True)
    simulated = _native.Encryptor(str(library(parameters(keys.public.params, 0))))
    with pytest.raises(MachineError, match=r"is built for N = 2\^10, .* but N = 2\^11") as error:
        simulated.encrypt(larger.public, x, level=0)
    assert error.value.code == "EncryptorBuild"
    wider = rm.keygen(rm.Params.from_bits(10, [54], [54], 1, scale_bits=30, insecure=True), insecure=True)
    with pytest.raises(MachineError, match=r"does not fit a word of 5\d bits") as error:
        simulated.encrypt(wider.public, x, level=0)
    assert error.value.code == "EncryptorPrime"
    assert len(engine.cycles) == 6
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
