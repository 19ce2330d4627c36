"""Secret keys that several would write to one place: one is there, whole, and the others are refused."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import ringmill as rm
from ringmill.atomic import alone, together

PARAMS = rm.Params.from_bits(10, [40] * 3, [40], 3, insecure=True)
REFUSED = {"SecretExists", "FolderBusy"}


@pytest.fixture(scope="module")
def several() -> list[rm.Keys]:
    return [rm.keygen(PARAMS) for _ in range(6)]


def at_once(*tasks: Any) -> list[str]:
    """What becomes of tasks that begin together: "done", or the code of a typed refusal."""
    barrier = Barrier(len(tasks))

    def run(task: Any) -> str:
        barrier.wait()
        try:
            task()
        except rm.RingmillError as error:
            return error.code
        return "done"

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(run, tasks))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


ALL = ["evaluation.keys", "public.key", "secret.key"]


def test_of_many_that_save_to_one_folder_one_does(several: list[rm.Keys], tmp_path: Path) -> None:
    for trial in range(10):
        folder = tmp_path / str(trial)
        outcomes = at_once(*(partial(keys.save, folder) for keys in several))
        assert outcomes.count("done") == 1, outcomes
        assert set(outcomes) <= {"done", *REFUSED}, outcomes
        # Three files of one set, and nothing half-written beside them.
        saved = rm.Keys.load(PARAMS, folder)
        assert saved.identity == several[outcomes.index("done")].identity
        assert names(folder) == ALL


def test_those_who_overwrite_at_once_leave_one_whole_set(several: list[rm.Keys], tmp_path: Path) -> None:
    for _ in range(10):
        outcomes = at_once(*(partial(keys.save, tmp_path, overwrite=True) for keys in several))
        assert set(outcomes) <= {"done", "FolderBusy"}, outcomes
        done = {keys.identity for keys, outcome in zip(several, outcomes, strict=True) if outcome == "done"}
        assert rm.Keys.load(PARAMS, tmp_path).identity in done
        assert names(tmp_path) == ALL


def test_commands_for_one_folder_leave_one_set(tmp_path: Path) -> None:
    rm.kernel(lambda x: x + x).compile(rm.vector(4), params=PARAMS).save(tmp_path / "kernel")
    at = ["--kernel", "kernel", "--out", "keys", "--insecure", "--json"]
    command = [sys.executable, "-m", "ringmill", "keygen", *at]
    runs = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    reported = [json.loads(run.communicate()[0]) for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 1, 1], reported
    for run, outcome in zip(runs, reported, strict=True):
        assert run.returncode == 0 or (outcome["error"] == "CommandError" and outcome["code"] in REFUSED)
    saved = rm.Keys.load(PARAMS, tmp_path / "keys")
    assert saved.identity == next(outcome["identity"] for outcome in reported if "identity" in outcome)
    assert names(tmp_path / "keys") == ALL


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_key_that_appears_at_the_last_moment_stays(
    links: bool, several: list[rm.Keys], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One who takes no lock writes a secret key after this one has looked: its files stay as they are."""
    first, second, *_ = several
    first.save(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in ALL}
    real = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: path.name != "secret.key" and real(path))
    if not links:

        def none(*_: object) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", none)
    with pytest.raises(rm.errors.CommandError, match=r"secret.key exists, and what it encrypted") as refused:
        second.save(tmp_path)
    assert refused.value.code == "SecretExists"
    assert {name: (tmp_path / name).read_bytes() for name in ALL} == before
    assert names(tmp_path) == ALL
    # Where nothing is, both ways work, and the file is its owner's alone.
    second.save(tmp_path / "new")
    assert rm.Keys.load(PARAMS, tmp_path / "new").identity == second.identity
    assert (tmp_path / "new" / "secret.key").stat().st_mode & 0o777 == 0o600


def test_a_secret_key_by_itself_is_put_over_nothing(several: list[rm.Keys], tmp_path: Path) -> None:
    for trial in range(10):
        path = tmp_path / str(trial)
        outcomes = at_once(*(partial(keys.secret.save_secret, path) for keys in several))
        assert outcomes.count("done") == 1, outcomes
        assert set(outcomes) == {"done", "SecretExists"}, outcomes
        assert rm.SecretKey.load(PARAMS, path).identity == several[outcomes.index("done")].identity
    assert len(names(tmp_path)) == 10
    # Half a secret key is not taken for something that may go.
    half = path.read_bytes()[:100]
    path.write_bytes(half)
    with pytest.raises(rm.FileFormatError) as refused:
        several[0].secret.save_secret(path)
    assert refused.value.code == "Exists"
    assert path.read_bytes() == half
    several[0].secret.save_secret(path, overwrite=True)
    assert rm.SecretKey.load(PARAMS, path).identity == several[0].identity


def test_a_lock_goes_with_who_holds_it(tmp_path: Path) -> None:
    with alone(tmp_path):
        with (
            pytest.raises(rm.errors.CommandError, match="Another process is writing keys to") as busy,
            alone(tmp_path),
        ):
            pytest.fail("two hold one lock")
        assert busy.value.code == "FolderBusy"
    with pytest.raises(KeyError), alone(tmp_path):
        raise KeyError
    with alone(tmp_path), alone(tmp_path.parent):
        pass
    # A process that is killed holds nothing.
    holder = "import sys; from pathlib import Path; from ringmill.atomic import alone\n"
    holder += "with alone(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", holder, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(rm.errors.CommandError), alone(tmp_path):
            pytest.fail("two hold one lock")
        process.kill()
        process.wait()
    with alone(tmp_path):
        pass


def test_files_that_must_be_new_come_before_those_that_need_not(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "new").write_bytes(b"taken")

    class TakenError(Exception):
        pass

    def taken() -> Any:
        raise TakenError

    def both() -> None:
        with together() as files:
            files.write(tmp_path / "old", b"changed")
            files.beside(tmp_path / "new", taken=taken)

    with pytest.raises(TakenError):
        both()
    assert (tmp_path / "old").read_bytes() == b"old"
    assert (tmp_path / "new").read_bytes() == b"taken"
    assert names(tmp_path) == ["new", "old"]
    (tmp_path / "new").unlink()
    both()
    assert (tmp_path / "old").read_bytes() == b"changed"
