"""Files of keys: all of a new set, or all of the old one."""

from __future__ import annotations

import functools
import json
import logging
import pickle
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ringmill as rm
from ringmill.cli import main
from ringmill.interop import openfhe, seal

PARAMS = rm.Params.from_bits(10, [40] * 5, [40], 5, insecure=True)
FILES = ["secret.key", "public.key", "evaluation.keys", "evaluation.forms"]


@pytest.fixture(scope="module")
def keys() -> rm.Keys:
    return rm.keygen(PARAMS, rotations=[1], forms=rm.key_forms(PARAMS, 1))


# Loads and saves keys, by Python and by the command line, lets go of them, and says so.
CLIENT = """
import sys
import ringmill as rm
from ringmill.cli import main

folder = sys.argv[1]
compiled = rm.Compiled.load(f"{folder}/kernel")
keys = rm.Keys.load(compiled.params, f"{folder}/keys")
keys.save(f"{folder}/again")
del keys
for verb, rest in [("encrypt", ["--input", f"{folder}/x.json"]), ("decrypt", ["--input", f"{folder}/r"])]:
    key = ["--kernel", f"{folder}/kernel", "--key", f"{folder}/keys/secret.key"]
    assert main([verb, *key, *rest, "--out", f"{folder}/{verb}.json"]) == 0
assert main(["inspect", f"{folder}/keys/secret.key"]) == 0
print("done", flush=True)
sys.stdin.read()
"""


def copies(process: int, data: bytes) -> int:
    """How many pieces of ``data``, longer than a hash function keeps, are in the memory of a process."""
    pieces, found = [data[at : at + 96] for at in range(0, len(data) - 96, 96)], 0
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in maps:
            span, access, *_ = line.split()
            if access.startswith("rw") and "[v" not in line:
                start, end = (int(bound, 16) for bound in span.split("-"))
                memory.seek(start)
                held = memory.read(end - start)
                found += sum(piece in held for piece in pieces)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks into the memory of a process by /proc")
def test_no_copy_of_a_secret_key_stays_in_memory(tmp_path: Path) -> None:
    compiled = rm.kernel(lambda x: x + x).compile(rm.vector(4), params=PARAMS)
    compiled.save(tmp_path / "kernel")
    keys = compiled.keygen()
    keys.save(tmp_path / "keys")
    compiled.evaluate(keys, compiled.encrypt(keys, x=[0, 1, 0, 1])).save(tmp_path / "r")
    (tmp_path / "x.json").write_text('{"x": [0, 1, 0, 1]}')
    command = [sys.executable, "-c", CLIENT, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        assert any(line == "done\n" for line in client.stdout)
        coefficients = (tmp_path / "keys/secret.key").read_bytes()[-2 * PARAMS.slots - 32 : -32]
        assert copies(client.pid, coefficients) == 0
        client.stdin.close()
    assert client.returncode == 0


# Runs one verb after another, and says so.
VERBS = """
import json, sys
from ringmill.cli import main

for verb in json.loads(sys.argv[1]):
    assert main([*verb, "--insecure"]) == 0
print("done", flush=True)
sys.stdin.read()
"""


def middle(data: bytes) -> bytes:
    """Residues or coefficients of a file of a secret key, wherever they begin."""
    return data[len(data) // 2 :][:1500]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into the memory of a process by /proc")
@pytest.mark.parametrize("library", ["openfhe binary", "openfhe json", "seal"])
def test_no_copy_of_a_secret_key_stays_in_memory_in_another_format(library: str, tmp_path: Path) -> None:
    if library == "seal":
        of = rm.Params.from_bits(12, [40, 30, 30], [40], 3, insecure=True)
        params = rm.Params.from_primes(12, of.q, of.p, 3, scale_bits=30, rotations=3, insecure=True)
        seal.save_parameters(params, tmp_path / "context")
        options: list[str] = []
    else:
        params = rm.Params.from_bits(12, [50, 40, 40], [60], 3, scale_bits=40, insecure=True)
        openfhe.save_context(openfhe.context_of(params), tmp_path / "context")
        options = ["--form", library.split()[1]]
    key = rm.SecretKey.generate(params)
    key.save_secret(tmp_path / "ours", overwrite=False)
    name = library.split()[0]
    context = ["--context", str(tmp_path / "context")]
    theirs, again = str(tmp_path / "theirs"), str(tmp_path / "again")
    verbs = [
        ["export", name, "secret", str(tmp_path / "ours"), *context, "--out", theirs, *options],
        ["import", name, "secret", theirs, *context, "--out", again],
    ]
    if name == "openfhe":  # the context is in the file of the key
        verbs.append(["import", name, "secret", theirs, "--out", again + "2"])
    command = [sys.executable, "-c", VERBS, json.dumps(verbs)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        assert any(line == "done\n" for line in client.stdout)
        for file in ("ours", "theirs"):
            assert copies(client.pid, middle((tmp_path / file).read_bytes())) == 0, file
        client.stdin.close()
    assert client.returncode == 0
    assert (tmp_path / "again").read_bytes()[64:-32] == (tmp_path / "ours").read_bytes()[64:-32]
    assert (tmp_path / "theirs").stat().st_mode & 0o077 == 0


def shows(data: bytes, secrets: dict[str, bytes]) -> set[str]:
    """The forms of a secret key of which 48 bytes in a row are in the data, wherever they stand there."""
    return {
        form
        for form, secret in secrets.items()
        if any(secret[at : at + 48] in data for at in range(0, len(secret) - 47, 48))
    }


def test_a_secret_key_is_in_no_file_that_does_not_name_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    of = rm.Params.from_bits(10, [50, 40, 40], [60], 3, scale_bits=40, insecure=True)
    params = rm.Params.from_primes(10, of.q, of.p, 3, scale_bits=40, rotations=3, insecure=True)
    folder, context = tmp_path / "open", openfhe.context_of(of)
    folder.mkdir()
    with caplog.at_level(logging.DEBUG):
        compiled = rm.kernel(lambda x: x * x + np.roll(x, 1)).compile(rm.vector(512), params=of)
        keys = compiled.keygen()
        theirs = rm.keygen(params, rotations=[1])
        arguments = compiled.encrypt(keys, x=np.linspace(-1, 1, 512))
        results = compiled.evaluate(keys, arguments)
        compiled.decrypt(keys, results)
        compiled.save(client=folder / "client.rm", server=folder / "server.rm")
        arguments.save(folder / "arguments")
        results.save(folder / "results")
        keys.save(tmp_path / "keys")
        seal.save_parameters(params, folder / "seal")
        seal.save_public_key(theirs.secret, folder / "seal public")
        seal.save_relin_keys(theirs.evaluation, folder / "seal relin")
        seal.save_galois_keys(theirs.evaluation, folder / "seal galois")
        seal.save_ciphertext(rm.encrypt([0.5], theirs).native, folder / "seal ciphertext")
        for form in ("binary", "json"):
            openfhe.save_context(context, folder / f"context {form}", form=form)
            openfhe.save_public_key(context, keys.public, folder / f"public {form}", form=form)
            openfhe.save_mult_key(context, keys.evaluation, folder / f"mult {form}", form=form)
            openfhe.save_automorphism_keys(context, keys.evaluation, folder / f"turn {form}", form=form)
    for name, one in (("ours", keys), ("theirs", theirs)):
        one.secret.save_secret(tmp_path / name)
    seal.save_secret_key(theirs.secret, tmp_path / "seal secret")
    openfhe.save_secret_key(context, keys.secret, tmp_path / "binary secret", form="binary")
    openfhe.save_secret_key(context, keys.secret, tmp_path / "json secret", form="json")
    # A file of ours ends with a hash; that of SEAL begins with its head; texts have numbers in the middle.
    secrets = {
        "coefficients": (tmp_path / "ours").read_bytes()[-1024 - 32 : -32],
        "coefficients of the other": (tmp_path / "theirs").read_bytes()[-1024 - 32 : -32],
        **{
            name: middle((tmp_path / name).read_bytes())
            for name in ("seal secret", "binary secret", "json secret")
        },
    }
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    written |= {
        path.name: path.read_bytes() for path in (tmp_path / "keys").iterdir() if path.name != "secret.key"
    }
    printed = [
        caplog.text,
        repr(keys),
        str(keys),
        repr(keys.secret),
        str(keys.secret),
        repr(arguments),
        repr(results),
    ]
    written |= {f"print {i}": text.encode() for i, text in enumerate(printed)}
    written |= {f"pickle {i}": pickle.dumps(x) for i, x in enumerate([arguments, results, keys.public])}
    assert {name: shows(data, secrets) for name, data in written.items() if shows(data, secrets)} == {}
    # The search finds each form where it is.
    for name, form in [("ours", "coefficients"), ("theirs", "coefficients of the other")]:
        assert shows((tmp_path / name).read_bytes(), secrets) == {form}
    assert shows((tmp_path / "keys/secret.key").read_bytes(), secrets) == {"coefficients"}
    for name in ("seal secret", "binary secret", "json secret"):
        assert name in shows((tmp_path / name).read_bytes(), secrets)
    for secret in (keys, keys.secret):
        with pytest.raises(Exception, match="secret"):
            pickle.dumps(secret)


@pytest.mark.parametrize("library", ["openfhe", "seal"])
def test_of_two_that_export_to_one_place_one_is_refused(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one takes the place after this one has looked."""
    of = rm.Params.from_bits(12, [50, 40, 40], [60], 3, scale_bits=40, insecure=True)
    target, looked = tmp_path / "theirs", Path.exists
    if library == "seal":
        params = rm.Params.from_primes(12, of.q, of.p, 3, scale_bits=40, rotations=3, insecure=True)
        save = functools.partial(seal.save_secret_key, rm.SecretKey.generate(params))
    else:
        save = functools.partial(openfhe.save_secret_key, openfhe.context_of(of), rm.SecretKey.generate(of))

    def exists(path: Path) -> bool:
        found = looked(path)
        if path == target and not found:
            target.write_bytes(b"the other key")
        return found

    monkeypatch.setattr(Path, "exists", exists)
    with pytest.raises(rm.CommandError, match="exists, and what it encrypted") as refused:
        save(target)
    assert refused.value.code == "SecretExists"
    assert target.read_bytes() == b"the other key"
    assert save(target, overwrite=True) == target.stat().st_size > 1000
    assert [path.name for path in tmp_path.iterdir()] == ["theirs"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_full_disk_leaves_the_old_keys_or_none(keys: rm.Keys, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    sizes = rm.keygen(PARAMS, rotations=[1]).save(old)
    before = contents(old)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (sizes["evaluation.keys"] - 1, limits[1]))
    try:
        for folder in old, new:
            with pytest.raises(rm.FileFormatError, match="keys cannot be written: File too large") as caught:
                keys.save(folder, overwrite=True)
            assert caught.value.path == str(folder / "evaluation.keys")
            assert caught.value.reason.startswith("File too large")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(old) == before
    assert list(new.iterdir()) == []
    assert list(keys.save(new)) == FILES  # without overwrite


@pytest.mark.parametrize("name", FILES)
def test_whichever_file_fails_the_others_stay(name: str, keys: rm.Keys, tmp_path: Path) -> None:
    rm.keygen(PARAMS).save(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).mkdir()
    before = contents(tmp_path)
    with pytest.raises(rm.FileFormatError, match=f"{name} cannot be written: Is a directory"):
        keys.save(tmp_path, overwrite=True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("moved", range(4))
def test_the_old_secret_key_stays_until_all_else_is_there(
    moved: int, keys: rm.Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system that fails between two moves: the key that nothing else gives back is the last to go."""
    rm.keygen(PARAMS).save(tmp_path)
    before = contents(tmp_path)
    real, left = Path.replace, [True] * moved

    def failing(self: Path, target: Path) -> Path:
        if not left:
            raise OSError("Input/output error")
        left.pop()
        return real(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(rm.FileFormatError, match="cannot be written: Input/output error"):
        keys.save(tmp_path, overwrite=True)
    after = contents(tmp_path)
    assert after["secret.key"] == before["secret.key"]
    assert sum(after[name] != before.get(name) for name in after) == moved


def test_rotations_count_modulo_the_slots(tmp_path: Path) -> None:
    """X -> X^(5^k): 5 has order N/2 modulo 2N, so that a rotation by a multiple of N/2 changes nothing."""
    slots, values = PARAMS.slots, np.arange(4.0)
    keys = rm.keygen(PARAMS, rotations=[0, 1, slots, 1 - slots, -1, slots - 1])
    assert keys.evaluation.galois_elements == sorted([5, pow(5, -1, 4 * slots)])
    assert keys.evaluation.rotations == [1, slots - 1]
    assert not keys.evaluation.has_conjugation
    both = keys.evaluation.with_conjugation(keys.secret)
    assert (both.has_conjugation, both.rotations) == (True, [1, slots - 1])
    for k in (0, -slots):
        assert keys.evaluation.with_rotation(keys.secret, k).to_bytes() == keys.evaluation.to_bytes()
    keys.save(tmp_path)
    again = rm.Keys.load(PARAMS, tmp_path)
    assert again.evaluation.to_bytes() == keys.evaluation.to_bytes()
    x = rm.encrypt(values, again, magnitude=4)
    for k in (0, 1, slots, 1 - slots, -1):
        np.testing.assert_allclose(rm.decrypt(x.rotate(k), again), np.roll(values, -k), atol=1e-6)


def test_keys_for_parameters_that_a_file_marks_insecure_take_the_word_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The writer of the file is another one than who makes keys by it."""
    compiled = rm.kernel(lambda x: x + x).compile(rm.vector(4), params=PARAMS)
    compiled.save(tmp_path / "kernel")
    compiled.keygen()  # the word was given here
    sent = rm.Compiled.from_bytes(compiled.to_bytes())
    read = rm.Params.from_bytes(PARAMS.to_bytes())
    assert read == PARAMS
    for make in (
        sent.keygen,
        lambda **word: rm.keygen(sent.params, **word),
        lambda **word: rm.keygen(read, **word),
        lambda **word: rm.SecretKey.generate(read, **word),
    ):
        with pytest.raises(rm.ParameterError, match="marks them insecure") as refused:
            make()
        assert refused.value.code == "InsecureFile"
        make(insecure=True)
    verb = ["keygen", "--kernel", str(tmp_path / "kernel"), "--out", str(tmp_path / "keys"), "--quiet"]
    assert main(verb) == 1
    assert "marks them insecure" in capsys.readouterr().err
    assert not (tmp_path / "keys/secret.key").exists()
    assert main([*verb, "--insecure"]) == 0
    # Evaluation and encryption go on as before, and secure files need no word.
    keys = rm.Keys.load(sent.params, tmp_path / "keys")
    results = sent.evaluate(keys, sent.encrypt(keys, x=[0, 1, 0, 1]))
    np.testing.assert_allclose(sent.decrypt(keys, results), [0, 2, 0, 2], atol=1e-4)
    secure = rm.kernel(lambda x: x + x).compile(rm.vector(4), precision=10)
    rm.Compiled.from_bytes(secure.to_bytes()).keygen()
