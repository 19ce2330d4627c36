"""The folder of the encryption engine of a client, and the oracle of its self-test."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from self_tests import self_test

import ringmill as rm
from ringmill import cli
from ringmill.errors import CommandError, MachineError
from ringmill.project import encryptor
from ringmill.project.simulator import verilator


@pytest.fixture(scope="module")
def oracle() -> ModuleType:
    return self_test("encryptor/selftest.py")


def _kernel(folder: Path) -> Path:
    @rm.kernel
    def double(x: Any) -> Any:
        return x + x

    params = rm.Params.from_bits(10, [50], [50], 1, scale_bits=30, insecure=True)
    place = folder / "double.rm"
    double.compile(x=rm.vector(8), params=params, precision=10).save(place)
    return place


def _built(folder: Path) -> Path:
    out = folder / "engine"
    words = ["build", str(_kernel(folder)), "--machine", "encryptor", "--out", str(out)]
    assert cli.main(words) == 0
    return out


def test_the_folder_is_whole_and_names_its_files(tmp_path: Path) -> None:
    out = _built(tmp_path)
    subprocess.run([sys.executable, out / "test" / "check.py"], check=True)
    listed = [line for line in (out / "encryptor.f").read_text().splitlines() if not line.startswith("//")]
    assert listed[-1] == "rtl/encryptor/src/rm_encryptor.sv"
    assert all((out / place).is_file() for place in listed)
    facts = json.loads((out / "encryptor.json").read_text())
    assert len(facts["primes"]) == facts["parameters"]["Limbs"] + 1
    assert f"-GLogNMax={facts['log_n']}" in (out / "sources.mk").read_text()


def test_a_folder_is_not_written_over(tmp_path: Path) -> None:
    out = _built(tmp_path)
    params = rm.Params.from_bits(10, [50], [50], 1, scale_bits=30, insecure=True)
    with pytest.raises(CommandError, match="written before"):
        encryptor.write("double", params, 0, out)
    again = encryptor.write("double", params, 0, out, overwrite=True)
    assert (out / "manifest.json").read_bytes() == again["manifest.json"]


def test_parameters_that_no_engine_is_built_for_are_named(tmp_path: Path) -> None:
    params = rm.Params.from_bits(16, [50, 40], [50], 2, insecure=True)
    with pytest.raises(MachineError) as error:
        encryptor.write("large", params, 1, tmp_path / "engine")
    assert error.value.code == "EncryptorDegree"
    assert not (tmp_path / "engine").exists()


def test_the_oracles_generators_are_the_published_ones(oracle: ModuleType) -> None:
    # RFC 8439, A.1, test vectors 1 and 2: the zero key, blocks 0 and 1.
    stream = list(islice(oracle.chacha20([0] * 8), 32))
    assert stream[:4] == [0xADE0B876, 0x903DF1A0, 0xE56A5D40, 0x28BD8653]
    assert stream[16:20] == [0xBEE7079F, 0x7A385155, 0x7C97BA98, 0x0D082D73]
    # BLAKE3's official vectors: keyed, no input.
    key = b"whats the Elvish word for friend"
    words = [int.from_bytes(key[i : i + 4], "little") for i in range(0, 32, 4)]
    made = b"".join(word.to_bytes(4, "little") for word in islice(oracle.blake3(words, b""), 8))
    assert made.hex() == "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26"


def test_the_oracles_transform_is_the_definition(oracle: ModuleType) -> None:
    q, n = 7681, 16
    psi = oracle.root_of(q, n)
    a = [random.Random(1).randrange(q) for _ in range(n)]
    places = [int(f"{k:04b}"[::-1], 2) for k in range(n)]
    wanted = [sum(x * pow(psi, (2 * at + 1) * i, q) for i, x in enumerate(a)) % q for at in places]
    assert oracle.values(a, q, psi) == wanted
    assert oracle.coefficients(wanted, q, psi) == a


def test_the_oracles_samples_are_gaussian(oracle: ModuleType) -> None:
    table = oracle.TABLE
    assert len(table) == 42
    assert table == sorted(table)
    assert table[-1] <= 1 << 127
    # P(X = 0) of deviation 3.2, in closed form up to 2^-100: 1 / theta.
    assert table[0] / 2**127 == pytest.approx(1 / (3.2 * (2 * 3.141592653589793) ** 0.5), rel=1e-12)
    drawn = oracle.gaussian(oracle.chacha20(list(range(8))), 4096)
    assert sum(x * x for x in drawn) / 4096 == pytest.approx(3.2**2, rel=0.15)


@pytest.mark.long
@pytest.mark.skipif(not verilator(), reason="the hardware tools are not in the environment")
def test_the_self_test_of_the_folder_passes(tmp_path: Path) -> None:
    out = _built(tmp_path)
    done = subprocess.run(["make", "selftest"], cwd=out, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("ok")] == [
        *("public", "symmetric", "public", "decrypt", "divided", "refusals")
    ]
    # It is held to the bits: a wrong word of the result is seen.
    shell = out / "rtl" / "encryptor" / "sim" / "rm_encryptor.cpp"
    text = shell.read_text()
    assert text.count("job_.cycles = cycles_ - begin;") == 1
    shell.write_text(text.replace("job_.cycles = cycles_ - begin;", "job_.part[0][5] ^= 1; job_.cycles = 1;"))
    done = subprocess.run(["make", "selftest"], cwd=out, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "not the result of its definition" in done.stderr
