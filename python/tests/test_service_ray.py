"""Batches of a job spread over actors of Ray: the bits of one worker and one effect, whatever dies."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from service import Service, until

import ringmill as rm
from ringmill.cli import main
from ringmill.remote.spread import Answer, Request, joining, parts_of, shares, spread

WEIGHTS = np.arange(8) / 8
PARAMS = rm.Params.from_bits(11, [45, 35, 35], [46], 3, scale_bits=35, insecure=True)


@pytest.mark.parametrize(("runs", "most"), [(2, 4), (4, 4), (9, 4), (1000, 7)])
def test_shares_are_all_runs_once(runs: int, most: int) -> None:
    found = shares(runs, most)
    assert [run for first, count in found for run in range(first, first + count)] == list(range(runs))
    sizes = [count for _, count in found]
    assert max(sizes) - min(sizes) <= 1
    assert len(found) == min(runs, most)


def batch(out: Path) -> Request:
    return {"do": "spread", "runs": 5, "tenant": 3, "program": {"path": "p"}, "out": str(out), "threads": 1}


def test_a_batch_is_shares_and_one_join(tmp_path: Path) -> None:
    request = batch(tmp_path / "out")
    parts = parts_of(request, actors=2)
    assert [part["share"]["count"] for part in parts] == [2, 1, 1, 1]
    assert {part["do"] for part in parts} == {"run"}
    asked: list[Request] = []

    def ask(tenant: int, requests: list[Request]) -> Iterator[Answer]:
        assert tenant == 3
        asked.extend(requests)
        for one in requests:
            Path(one["out"]).touch()
            yield {"is": "done", "hash": "h", "size": 7, "seconds": 0.5, "beside": 0.25}

    answers = list(spread(request, ask, actors=2))
    assert [answer["is"] for answer in answers] == ["progress"] * 4 + ["done"]
    assert answers[-1] == {"is": "done", "hash": "h", "size": 7, "seconds": 2.0, "beside": 0.5}
    assert asked[-1] == joining(request, parts)
    # The files of shares are gone, that of the whole is there.
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_share_that_fails_is_the_failure_of_the_batch(tmp_path: Path) -> None:
    failure = {"is": "failed", "class": "user", "code": "KeysMissing", "message": "m"}

    def ask(_: int, requests: list[Request]) -> Iterator[Answer]:
        yield {"is": "done", "hash": "h", "size": 7, "seconds": 0.5, "beside": 0.0}
        yield failure

    answers = list(spread(batch(tmp_path / "out"), ask, actors=2))
    assert [answer["is"] for answer in answers] == ["progress", "failed"]
    assert answers[-1] == failure


def test_ray_is_asked_for_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main(["serve", "--dir", "unused", "--ray", "2"]) == 1
    assert "ringmill[ray]" in capsys.readouterr().err
    assert main(["serve", "--dir", "unused", "--ray", "0"]) == 1
    assert "--ray is 0" in capsys.readouterr().err


def descendants(pid: int) -> dict[int, str]:
    """Processes that one started, and those that these started, with their command lines."""
    parents, lines = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            words = (path / "cmdline").read_bytes().split(b"\0")
            lines[int(path.name)] = b" ".join(words).decode(errors="replace")
        except OSError:
            continue
    found: dict[int, str] = {}
    frontier = {pid}
    while frontier:
        frontier = {child for child, parent in parents.items() if parent in frontier and child not in found}
        found |= {child: lines[child] for child in frontier}
    return found


@pytest.mark.long
def test_two_actors_one_of_which_is_killed_give_the_local_bits(tmp_path: Path) -> None:
    pytest.importorskip("ray")

    @rm.kernel
    def score(x: Any = rm.vector(8), w: Any = WEIGHTS) -> Any:
        return (x @ w) ** 2 + 0.5

    compiled = score.compile(params=PARAMS, batch=16)
    keys = compiled.keygen()
    records = np.random.default_rng(5).uniform(-1, 1, (16 * 40, 8))
    arguments = compiled.encrypt(keys.secret, x=records)
    local = compiled.evaluate(keys, arguments)
    command = shlex.join([sys.executable, "-m", "ringmill.remote.spread", "--actors", "2"])
    with Service(tmp_path / "data", "--spread", command, "--lease", "5") as service:
        assert service.process is not None
        pid = service.process.pid

        def actors() -> list[int]:
            return [one for one, line in descendants(pid).items() if line.startswith("ray::Worker")]

        def children() -> list[int]:
            return [one for one, line in descendants(pid).items() if "ringmill-serve worker" in line]

        with service.client() as client:
            files = [client.push(what) for what in (compiled, keys, arguments)]
            killed = []
            for victim in ("nobody", "actor", "worker"):
                job = client.submit(*files)["id"]
                if victim != "nobody":
                    until(lambda job=job: (client.job(job)["progress"] or 0) > 0, 120)
                    candidates = actors() if victim == "actor" else children()
                    assert len(candidates) == 2
                    os.kill(candidates[0], signal.SIGKILL)
                    killed.append(candidates[0])
                ended = client.wait(job, timeout=300)
                assert (ended["state"], ended["attempts"]) == ("done", 1), ended
                client.fetch(ended["result"], tmp_path / victim)
                assert (tmp_path / victim).read_bytes() == local.to_bytes()
            assert len(killed) == 2
            # One effect: all jobs have the one object of results.
            kinds = [found["kind"] for found in client.objects()]
            assert kinds.count("results") == 1
            # A kernel's job that is no batch has a worker of the service itself.
            single = score.compile(params=PARAMS)
            own = single.keygen()
            given = single.encrypt(own.secret, x=records[0])
            assert client.run(single, own, given).to_bytes() == single.evaluate(own, given).to_bytes()
        assert list((service.folder / "work").iterdir()) == []
        entries = service.log.read_text()
        assert '"status":500' not in entries
        below = descendants(pid)
        assert any("ringmill.remote.spread" in line for line in below.values())
        assert service.stop() == 0
        # Nothing of Ray outlives the service.
        until(lambda: not any(Path(f"/proc/{one}").exists() for one in below), 60)
