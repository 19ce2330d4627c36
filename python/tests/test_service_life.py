"""The life of a service: objects end, copies are served, progress is reported, clients share a loop."""

# A fixture of another file is imported, and is the name of arguments.
# ruff: noqa: F811

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from service import Service, halted, program, until
from test_service import PARAMS, TUS, World, done, idle_worker, one_key, refused, world  # noqa: F401  a fixture

import ringmill as rm
from ringmill import _native
from ringmill.remote import AsyncClient

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service") / "data") as service:
        yield service


def verb(service: Service | Path, *words: str, status: int = 0) -> str:
    """What an operator's command prints."""
    folder = service if isinstance(service, Path) else service.folder
    name, *more = words
    line = [str(program()), name, "--dir", str(folder), *more]
    ran = subprocess.run(line, capture_output=True, text=True, check=False)
    assert ran.returncode == status, ran.stderr
    return ran.stdout


def aged(service: Service, digest: str, seconds: int) -> None:
    """Let an object have been used long ago."""
    with sqlite3.connect(service.folder / "ringmill.db", timeout=10) as database:
        database.execute("UPDATE objects SET used = used - ? WHERE hash = ?", (seconds, digest))
    database.close()


def kept(service: Service) -> set[str]:
    return {path.name for path in (service.folder / "objects").rglob("*") if path.is_file()}


def test_objects_end_when_their_time_is_over(world: World, tmp_path: Path) -> None:
    with Service(tmp_path / "data", "--keep", "results=1000", "--keep", "keys=0") as service:
        with service.client() as client:
            hashes = world.push(client)
            result = done(client, hashes)["result"]
            listed = {found["hash"]: found for found in client.objects()}
            assert listed[result]["expires"] == listed[result]["used"] + 1000
            assert listed[hashes[1]]["expires"] is None
            assert client.pin(hashes[0])["expires"] is None
            # The pinned program and the keys that stay outlive what is as old.
            for digest in (*hashes, result):
                aged(service, digest, 400 * 24 * 3600)
            until(lambda: not client.has(result))
            assert [client.has(digest) for digest in hashes] == [True, True, False]
            until(lambda: kept(service) == set(hashes[:2]))
            with refused("NotFound"):
                client.fetch(result, tmp_path / "results")
            # What has gone is counted a moment later.
            figure = 'ringmill_expired_objects_total{kind="results"} 1\n'
            until(lambda: figure in client._transport.ask("GET", "/metrics").body.decode())
            # The same job gives the same object again.
            client.push(world.files[2])
            assert done(client, hashes)["result"] == result
            assert client.pin(hashes[0], pinned=False)["pinned"] is False
        assert service.stop() == 0


def test_a_collection_counts_before_it_removes(world: World, tmp_path: Path) -> None:
    with Service(tmp_path / "data") as service:
        with service.client() as client:
            hashes = world.push(client)
            result = done(client, hashes)["result"]
        assert service.stop() == 0
    orphan = service.folder / "objects" / "1" / "ab" / ("ab" * 32)
    orphan.parent.mkdir(exist_ok=True)
    orphan.write_bytes(b"nobody's")
    aged(service, result, 40 * 24 * 3600)
    size = next(path for path in (service.folder / "objects").rglob(result)).stat().st_size
    found = {"objects": 1, "bytes": size, "jobs": 0, "orphans": 1, "orphan_bytes": 8}
    assert json.loads(verb(service, "gc", "--dry-run")) == found
    assert kept(service) == {*hashes, result, "ab" * 32}
    assert json.loads(verb(service, "gc")) == found
    assert kept(service) == set(hashes)
    assert json.loads(verb(service, "gc", "--keep", "program=0")) == dict.fromkeys(found, 0)
    verb(tmp_path / "nothing", "gc", status=1)
    assert not (tmp_path / "nothing").exists()


def test_a_backup_of_a_running_service_can_be_served(world: World, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    with Service(tmp_path / "data") as service:
        with service.client() as client:
            hashes = world.push(client)
            worker = idle_worker(service, client, hashes)
            result = done(client, hashes)["result"]
            first = json.loads(verb(service, "backup", "--to", str(backup)))
            assert (first["objects"], first["copied"], first["removed"]) == (4, 4, 0)
            # A second one copies what is new, and has a job that runs.
            with halted(worker):
                job = client.submit(*hashes)
                until(lambda: client.job(job["id"])["state"] == "running")
                other = client.push(world.kernel.encrypt(world.keys.secret, x=np.zeros(16), y=1.0))
                client.delete(result)
                second = json.loads(verb(service, "backup", "--to", str(backup)))
            assert (second["objects"], second["copied"], second["removed"]) == (4, 1, 1)
            assert client.wait(job["id"], timeout=60)["state"] == "done"
        verb(service, "backup", "--to", str(service.folder), status=1)
        assert service.stop() == 0
    assert (backup / "token.key").stat().st_mode & 0o777 == 0o600
    assert verb(backup, "check", "--deep") == "everything is as it should be\n"
    # The first folder is lost; a copy of the backup is served, and the old token holds.
    shutil.rmtree(service.folder)
    shutil.copytree(backup, tmp_path / "restored")
    restored = Service.__new__(Service)
    restored.__dict__.update(service.__dict__)
    restored.folder = tmp_path / "restored"
    restored.start()
    with restored, restored.client(service.token) as client:
        assert {found["hash"] for found in client.objects()} >= {*hashes, other}
        assert client.wait(job["id"], timeout=60)["state"] == "done"
        client.fetch(client.job(job["id"])["result"], tmp_path / "results")
        assert (tmp_path / "results").read_bytes() == world.local()
        assert verb(restored, "audit") == "every entry is as it was written\n"


def test_a_damaged_folder_is_noticed(world: World, tmp_path: Path) -> None:
    with Service(tmp_path / "data") as service, service.client() as client:
        hashes = world.push(client)
        assert service.stop() == 0
    paths = {path.name: path for path in (service.folder / "objects").rglob("*") if path.is_file()}
    data = paths[hashes[1]].read_bytes()
    paths[hashes[1]].write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert verb(service, "check") == "everything is as it should be\n"
    assert verb(service, "check", "--deep", status=1) == f"object {hashes[1]} of tenant 1 was changed\n"
    paths[hashes[2]].unlink()
    assert "is missing" in verb(service, "check", status=1)


def test_results_that_did_not_reach_the_disk_are_computed_again(world: World, tmp_path: Path) -> None:
    """A loss of power as far as a process can play one: the row is there, the bytes are not."""
    with Service(tmp_path / "data") as service:
        with service.client() as client:
            hashes = world.push(client)
            job = done(client, hashes)
        service.kill()
        path = next(path for path in (service.folder / "objects").rglob(job["result"]))
        for content in (None, bytes(path.stat().st_size)):
            with sqlite3.connect(service.folder / "ringmill.db") as database:
                database.execute("UPDATE objects SET settled = 0 WHERE kind = 'results'")
            database.close()
            path.unlink() if content is None else path.write_bytes(content)
            service.start()
            with service.client() as client:
                again = client.wait(job["id"], timeout=60)
                assert (again["state"], again["result"]) == ("done", job["result"])
                client.fetch(job["result"], tmp_path / "results")
                assert (tmp_path / "results").read_bytes() == world.local()
            service.kill()


def events(client: Any, job: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of a job, until the service ends them."""
    text = client._transport.ask("GET", f"/v1/jobs/{job}/events").body.decode()
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("event")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def test_progress_is_reported_as_it_comes(service: Service, world: World) -> None:
    with service.client() as client:
        hashes = world.push(client)
        worker = idle_worker(service, client, hashes)
        with halted(worker):
            job = client.submit(*hashes)["id"]
            until(lambda: client.job(job)["state"] == "running")
            threading.Timer(0.5, os.kill, (worker, signal.SIGCONT)).start()
            told = events(client, job)
        assert {name for name, _ in told} == {"job"}
        states = [seen["state"] for _, seen in told]
        assert (states[0], states[-1]) == ("running", "done")
        assert told[-1][1]["result"] == client.job(job)["result"]
        assert [seen["state"] for _, seen in events(client, job)] == ["done"]
        with refused("NotFound"):
            client._transport.ask("GET", f"/v1/jobs/{'0' * 32}/events")
        with service.tenant("curious") as other, refused("NotFound"):
            other._transport.ask("GET", f"/v1/jobs/{job}/events")


def test_a_token_that_is_revoked_hears_no_more_and_its_job_goes_on(service: Service, world: World) -> None:
    with service.client() as client:
        hashes = world.push(client)
        asked = json.dumps({"scopes": ["read", "run"]}).encode()
        made = client._transport.ask("POST", "/v1/tokens", asked).json()
        worker = idle_worker(service, client, hashes)
        with service.client(made["token"]) as short, halted(worker):
            job = short.submit(*hashes)["id"]
            until(lambda: client.job(job)["state"] == "running")
            revoke = threading.Timer(0.3, client._transport.ask, ("DELETE", f"/v1/tokens/{made['id']}"))
            revoke.start()
            told = events(short, job)
            revoke.join()
            assert (told[-1][0], told[-1][1]["code"]) == ("refused", "Unauthorized")
            with refused("Unauthorized"):
                short.job(job)
        assert client.wait(job, timeout=60)["state"] == "done"


def test_the_account_says_what_is_held(service: Service, world: World) -> None:
    with service.client() as client:
        world.push(client)
        account = client.account()
        assert account["name"] == "default"
        assert account["stored"]["program"] == {"objects": 1, "bytes": world.files[0].stat().st_size}
        assert account["keep"]["results"] == 30 * 24 * 3600
        assert account["scopes"] == ["upload", "run", "read", "admin"]


def test_a_client_in_an_event_loop_runs_jobs_side_by_side(
    service: Service,
    world: World,
    tmp_path: Path,
) -> None:
    async def all_of_it() -> None:
        async with AsyncClient(service.url, service.token) as client:
            arguments = rm.Values.load(world.files[2], "arguments", PARAMS)
            runs = [client.run(world.kernel, world.keys, arguments) for _ in range(3)]
            for results in await asyncio.gather(*runs):
                assert results.to_bytes() == world.local()
            hashes = await asyncio.gather(*(client.push(file) for file in world.files))
            for at in (0, 2):
                assert hashes[at] == _native.blake3_file(world.files[at])
            job = await client.wait((await client.submit(*hashes))["id"], timeout=60)
            size = await client.fetch(job["result"], tmp_path / "results")
            assert (tmp_path / "results").read_bytes() == world.local()
            assert size == len(world.local())
            assert job["id"] in [found["id"] for found in await client.jobs()]
            assert (await client.cancel(job["id"]))["state"] == "done"
            assert (await client.pin(hashes[0]))["pinned"]
            assert (await client.account())["open_jobs"] == 0
            assert await client.missing_keys(hashes[0], hashes[1]) == []
            with pytest.raises(rm.SecretError):
                await client.push(world.keys.secret)
            with refused("NotFound"):
                await client.fetch("0" * 64, tmp_path / "none")
            assert not (tmp_path / "none").exists()
            # A call that is cancelled leaves the job, and nothing else.
            with halted((await asyncio.to_thread(until, service.workers))[0]):
                waiting = asyncio.create_task(client.wait((await client.submit(*hashes))["id"]))
                await asyncio.sleep(0.2)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            await client.delete(job["result"])
        async with AsyncClient("http://127.0.0.1:9") as nowhere:
            with refused("Unreachable"):
                await nowhere.jobs()

    asyncio.run(all_of_it())


def test_an_upload_of_an_event_loop_goes_on_where_it_broke(
    service: Service,
    world: World,
    tmp_path: Path,
) -> None:
    path = one_key(tmp_path / "keys")
    data, digest = path.read_bytes(), _native.blake3_file(path)
    with service.client() as client:
        ask = client._transport.ask

        def came() -> int:
            figures = ask("GET", "/metrics").body.decode()
            return int(figures.split('ringmill_bytes_total{direction="in"} ')[1].split()[0])

        metadata = f"hash {base64.b64encode(digest.encode()).decode()}"
        headers = {**TUS, "Upload-Length": str(len(data)), "Upload-Metadata": metadata}
        where = ask("POST", "/v1/uploads", b"", headers).headers["location"]
        piece = {**TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
        ask("PATCH", where, data[:-1000], piece)
        before = came()

        async def push() -> str:
            async with AsyncClient(service.url, service.token) as client:
                return await client.push(path)

        assert asyncio.run(push()) == digest
        assert came() - before == 1000


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    """As the page says it is installed; the paths exist on a machine that has the service."""
    text = (PACKAGING / "ringmill.service").read_text()
    unit = tmp_path / "ringmill.service"
    unit.write_text(text.replace("/usr/local/bin/ringmill-serve", str(program())))
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert str(unit.name) not in ran.stderr, ran.stderr
    line = next(line for line in text.splitlines() if line.startswith("ExecStart="))
    options = [word for word in line.split() if word.startswith("--")]
    usage = subprocess.run([str(program()), "--help"], capture_output=True, text=True, check=True).stdout
    assert options
    assert all(f"    {option} " in usage for option in options)
