"""Files of keys: all of a new set, or all of the old one."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ringmill as rm

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
