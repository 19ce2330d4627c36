"""Whose keys and ciphertexts are: the identity of the secret key follows them through all they meet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill import bundle
from ringmill.cli import main

PARAMS = rm.Params.from_bits(10, [50, 40, 40], [50], 3, insecure=True)
X = np.array([0.5, -0.25, 0.125, 1.0])
OLD = Path(__file__).parents[2] / "crates/ckks/tests/golden"


def written(data: bytes) -> str:
    """The identity in a file since version 3, by the table of the format."""
    assert int.from_bytes(data[8:10], "little") in (3, 4, 6)
    return data[44:52].hex()


@pytest.fixture(scope="module")
def clients() -> list[rm.Keys]:
    return [rm.keygen(PARAMS, rotations=[1, 2], conjugation=True, forms=["2+1/1"]) for _ in range(2)]


def test_everything_of_one_secret_key_says_so(clients: list[rm.Keys], tmp_path: Path) -> None:
    keys, other = clients
    assert keys.identity is not None
    assert keys.identity != other.identity
    assert len(keys.identity) == 16
    keys.save(tmp_path)
    for name in ("secret.key", "public.key", "evaluation.keys"):
        assert written((tmp_path / name).read_bytes()) == keys.identity
    forms = bundle.load(tmp_path / "evaluation.forms", "key forms").parts
    assert {written(data) for data in forms.values()} == {keys.identity}
    for memory in ("expanded", "seeded", "mapped"):
        read = rm.Keys.load(PARAMS, tmp_path, memory=memory)
        assert read.identity == read.public.identity == read.evaluation.identity == keys.identity
        assert read.evaluator().identity == keys.identity


def test_operations_hand_it_on(clients: list[rm.Keys]) -> None:
    keys, _ = clients
    for key in (keys.public, keys.secret):
        x = rm.encrypt(X, keys, key=key)
        assert written(x.to_bytes()) == x.identity == keys.identity
        read = rm.Ciphertext.from_bytes(x.to_bytes(), keys)
        low = x.drop_level(0)
        for y in (x + read, x - 0.5, x * x, x * X, 2 * x, -x, x.rotate(1), x.sum(), x.conj(), x[1:3], low):
            assert written(y.to_bytes()) == y.identity == keys.identity
        assert x.within(2.0).identity == (x + rm.encrypt(X, keys, slots=16)).identity == keys.identity


@pytest.mark.parametrize("machine", ["cpu", "reference", "compact"])
def test_kernels_hand_it_on(machine: str) -> None:
    compiled = rm.kernel(lambda x, y: (x * y).sum()).compile(rm.vector(4), rm.vector(4), precision=12)
    keys = compiled.keygen()
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=X, y=X), machine=machine)
    assert {written(cipher.to_bytes()) for cipher in results.parts.values()} == {keys.identity}


def test_forms_of_another_client_are_refused(clients: list[rm.Keys], tmp_path: Path) -> None:
    for keys, name in zip(clients, ("mine", "theirs"), strict=True):
        keys.save(tmp_path / name)
    (tmp_path / "theirs" / "evaluation.forms").replace(tmp_path / "mine" / "evaluation.forms")
    with pytest.raises(rm.MismatchError, match="The switching key and the form are of different secret keys"):
        rm.Keys.load(PARAMS, tmp_path / "mine")


def test_files_without_a_name_go_with_all() -> None:
    params = rm.Params.from_bytes((OLD / "v1/params").read_bytes())
    secret = rm.SecretKey.from_bytes(params, (OLD / "v1/secret-key").read_bytes())
    new = rm.SecretKey.from_bytes(params, (OLD / "v3/secret-key").read_bytes())
    other = rm.keygen(params, insecure=True)
    keys = rm.EvaluationKeys.load(params, OLD / "v2/evaluation-keys")
    assert (secret.identity, keys.identity) == (None, None)
    assert new.identity == written((OLD / "v3/public-key").read_bytes())
    for name in ("ciphertext", "half-size-ciphertext"):
        old = rm.Ciphertext.from_bytes((OLD / "v1" / name).read_bytes(), keys)
        assert old.identity is None
        values, again, noise = (rm.decrypt(old, key, check=False) for key in (secret, new, other))
        np.testing.assert_array_equal(again, values)
        assert np.abs(values).max() < 10 < 2**20 < np.abs(noise).max()
        # With a key that has a name the result has it too.
        named = rm.EvaluationKeys.load(params, OLD / "v3/evaluation-keys")
        assert rm.Evaluator(named).rotate(old.native, 3).identity == new.identity


def inspected(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["inspect", str(path), "--json"]) == 0
    facts: dict[str, Any] = json.loads(capsys.readouterr().out)
    return facts


def test_two_clients_at_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every file shows whose it is, and those of two clients are refused together."""
    compiled = rm.kernel(lambda x: x * x).compile(rm.vector(4), precision=12)
    compiled.save(tmp_path / "kernel")
    np.savez(tmp_path / "x.npz", x=X)

    def run(verb: str, *more: str, status: int = 0, **options: Path) -> dict[str, Any]:
        capsys.readouterr()
        reported = [*more, *(f"--{name}={path}" for name, path in options.items())]
        assert main([verb, f"--kernel={tmp_path / 'kernel'}", *reported, "--json", "--quiet"]) == status
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    who = [run("keygen", "--insecure", out=folder)["identity"] for folder in (ours, theirs)]
    assert who[0] != who[1]
    for folder, identity in zip((ours, theirs), who, strict=True):
        run("encrypt", key=folder / "public.key", input=tmp_path / "x.npz", out=folder / "a")
        run("evaluate", keys=folder / "evaluation.keys", input=folder / "a", out=folder / "r")
        for name in ("secret.key", "public.key", "evaluation.keys", "a", "r"):
            assert inspected(folder / name, capsys)["identity"] == identity
        assert main(["inspect", str(folder / "r")]) == 0
        assert identity in capsys.readouterr().out

    evaluate = {"keys": theirs / "evaluation.keys", "input": ours / "a", "out": tmp_path / "no"}
    decrypt = {"key": theirs / "secret.key", "input": ours / "r", "out": tmp_path / "no.npz"}
    for verb, options in (("evaluate", evaluate), ("decrypt", decrypt)):
        refused = run(verb, status=1, **options)
        assert refused["error"] == "MismatchError"
        assert all(identity in refused["message"] for identity in who)
    assert not (tmp_path / "no").exists()
    assert not (tmp_path / "no.npz").exists()
    run("decrypt", key=ours / "secret.key", input=ours / "r", out=tmp_path / "y.npz")
    with np.load(tmp_path / "y.npz") as result:
        np.testing.assert_allclose(result["out"], X * X, atol=2**-10)


def test_inspect_reports_mixed_files_and_forms(
    clients: list[rm.Keys], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys, _ = clients
    parts = {str(n): k.secret.encrypt(X) for n, k in enumerate(clients)}
    rm.Values("arguments", parts, "k", "d").save(tmp_path / "mixed")
    both = " and ".join(sorted(str(k.identity) for k in clients))
    assert inspected(tmp_path / "mixed", capsys)["identity"] == both
    keys.save(tmp_path / "keys")
    facts = inspected(tmp_path / "keys" / "evaluation.forms", capsys)
    assert (facts["kind"], facts["identity"]) == ("key forms", keys.identity)
    assert len(facts["forms"]) == 4
    for name in ("params", "public-key"):
        assert inspected(OLD / "v1" / name, capsys)["identity"] is None
