"""Evaluation keys go to a service one by one: a key is sent once, and sets name what a job takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from service import Service
from test_service import PARAMS, done, refused

import ringmill as rm
from ringmill import _native
from ringmill.keys import Keys
from ringmill.remote import Client

X = np.linspace(-1, 1, 16)


@rm.kernel
def neighbours(x: Any = rm.vector(16)) -> Any:
    return x * x + np.roll(x, -1) + np.roll(x, -2)


@rm.kernel
def further(x: Any = rm.vector(16)) -> Any:
    return x + np.roll(x, -2) + np.roll(x, -5)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service") / "data") as service:
        yield service


@pytest.fixture(scope="module")
def keys() -> Keys:
    """The relinearisation key and rotations by 1 and 2."""
    return rm.keygen(PARAMS, rotations=[1, 2])


def more(keys: Keys) -> Keys:
    """The same keys and one for a rotation by 5."""
    return Keys(keys.secret, keys.public, keys.evaluation.with_rotation(keys.secret, 5))


def kinds(client: Client) -> dict[str, int]:
    return {kind: held["objects"] for kind, held in client.account()["stored"].items()}


def bits(client: Client, kernel: Any, keys: Keys) -> None:
    """A job there gives what is computed here."""
    compiled = kernel.compile(params=PARAMS)
    arguments = compiled.encrypt(keys.secret, x=X)
    local = compiled.evaluate(keys, arguments).to_bytes()
    assert client.run(compiled, keys, arguments).to_bytes() == local


def test_only_what_is_missing_is_sent(service: Service, keys: Keys, tmp_path: Path) -> None:
    with service.tenant("rotations") as client:
        bits(client, neighbours, keys)
        assert kinds(client) == {"program": 1, "keys": 3, "keyset": 1, "arguments": 1, "results": 1}
        program = client.push(further.compile(params=PARAMS))
        first = client.push(keys)
        assert client.missing_keys(program, first) == ["rotation by 5"]
        with pytest.raises(rm.RemoteError, match="rotation by 5") as error:
            client.submit(program, first, client.push(further.compile(params=PARAMS).encrypt(keys, x=X)))
        assert error.value.code == "KeysMissing"
        before = client.account()["stored"]["keys"]
        second = client.push(more(keys))
        after = client.account()["stored"]["keys"]
        # One key more, and nothing twice.
        assert (before["objects"], after["objects"]) == (3, 4)
        assert client.missing_keys(program, second) == []
        one = tmp_path / "one"
        rm.EvaluationKeys(PARAMS).with_rotation(keys.secret, 5).save(one)
        assert after["bytes"] - before["bytes"] == one.stat().st_size
        # Both sets serve, each the programs that it has the keys of.
        bits(client, further, more(keys))
        bits(client, neighbours, keys)
        bits(client, neighbours, more(keys))
        listed = {found["hash"]: found for found in client.objects()}
        assert len(listed[second]["facts"]["members"]) == 4
        assert listed[second]["facts"]["galois"] == sorted([5, 25, 5**5])


def test_the_command_line_sends_keys_one_by_one(service: Service, keys: Keys, tmp_path: Path) -> None:
    keys.evaluation.save(tmp_path / "evaluation.keys")
    more(keys).evaluation.save(tmp_path / "more.keys")
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}

    def said(*arguments: str, stdin: str = "") -> dict[str, Any]:
        verb = [sys.executable, "-m", "ringmill", "remote", "--json", "--quiet", *arguments]
        ran = subprocess.run(
            verb, cwd=tmp_path, env=environment, input=stdin, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return dict(json.loads(ran.stdout))

    token = service.token_of("typed")
    said("login", service.url, stdin=f"{token}\n")
    first = said("push", "evaluation.keys")["objects"]["evaluation.keys"]
    second = said("push", "more.keys")["objects"]["more.keys"]
    assert first != second
    with service.client(token) as client:
        assert kinds(client) == {"keys": 4, "keyset": 2}


def pieces(keys: Keys, folder: Path) -> list[Path]:
    """Files of one key each."""
    folder.mkdir()
    keys.evaluation.save(folder / "all")
    found = _native.KeyPieces(folder / "all", PARAMS)
    paths = [folder / f"key-{index}" for index in range(len(found))]
    for index, path in enumerate(paths):
        found.write(index, path)
    return paths


def manifest(folder: Path, digests: list[str]) -> Path:
    path = folder / "set"
    form = {"ringmill": "key set", "keys": sorted(digests)}
    path.write_text(json.dumps(form, separators=(",", ":")))
    return path


def test_sets_that_do_not_hold_together_are_refused(service: Service, keys: Keys, tmp_path: Path) -> None:
    with service.tenant("sets") as client, service.tenant("stranger") as stranger:
        relin, one, two = (client.push(path) for path in pieces(keys, tmp_path / "keys"))
        other = rm.keygen(PARAMS, rotations=[1])
        _, theirs = (client.push(path) for path in pieces(other, tmp_path / "other"))
        again = rm.EvaluationKeys(PARAMS).with_rotation(keys.secret, 1)
        again.save(tmp_path / "again")
        twice = client.push(tmp_path / "again")
        coarse = rm.Params.from_bits(11, [45, 35], [46], 2, scale_bits=35, insecure=True)
        rm.keygen(coarse, relin=False, rotations=[3]).evaluation.save(tmp_path / "coarse")
        program = client.push(neighbours.compile(params=PARAMS))
        for members, code in (
            ([relin, "0" * 64], "NoObject"),
            ([relin, theirs], "KeysMismatch"),
            ([one, twice], "KeysTwice"),
            ([relin, client.push(tmp_path / "coarse")], "ParamsMismatch"),
            ([relin, program], "WrongKind"),
        ):
            with refused(code):
                client.push(manifest(tmp_path, members))
        for text in ("{}", '{"ringmill":"key set","keys":[]}', '{"ringmill": "key set", "keys": []}'):
            (tmp_path / "bad").write_text(text)
            with refused("KeySet"):
                client.push(tmp_path / "bad")
        # Another tenant's files are not there.
        whole = manifest(tmp_path, [relin, one, two])
        with refused("NoObject"):
            stranger.push(whole)
        digest = client.push(whole)
        assert client.has(digest)
        assert client.missing_keys(program, digest) == []
        # A set goes with any of its files, and is whole again when that is back.
        client.delete(two)
        assert not client.has(digest)
        assert client.has(one)
        assert client.push(keys) == digest
        assert client.has(two)


def test_keys_of_a_set_are_noise_on_the_disk(keys: Keys, tmp_path: Path) -> None:
    (tmp_path / "master.key").write_text("5a" * 32)
    (tmp_path / "master.key").chmod(0o600)
    with Service(tmp_path / "data", "--master-key-file", str(tmp_path / "master.key")) as service:
        with service.client() as client:
            bits(client, neighbours, more(keys))
            hashes = [found["hash"] for found in client.objects() if found["kind"] in ("keys", "keyset")]
        stored = [path.read_bytes() for path in (tmp_path / "data/objects").rglob("*") if path.is_file()]
        assert len(hashes) == 5
        assert not any(b"RINGMILL" in data or b"key set" in data for data in stored)


def test_a_file_with_the_keys_of_bootstrapping_is_divided_by_its_parameters(
    service: Service, keys: Keys, tmp_path: Path
) -> None:
    path = tmp_path / "evaluation.keys"
    keys.evaluation.with_encapsulation(keys.secret).save(path)
    assert [len(_native.KeyPieces(path, params)) for params in (PARAMS, None)] == [4, 1]
    with service.tenant("bootstrapping") as client:
        whole = client.push(path)
        assert kinds(client) == {"keys": 1}
        assert whole == _native.blake3_file(path)
        client.push(path, params=PARAMS)
        assert kinds(client) == {"keys": 5, "keyset": 1}
        # One file serves as a set does.
        kernel = neighbours.compile(params=PARAMS)
        files = [client.push(kernel), whole, client.push(kernel.encrypt(keys, x=X))]
        assert done(client, files)["state"] == "done"
