"""A service under load and under faults: nothing lost, nothing leaked, no 500 that a client caused.

Each test is bounded, on loopback. `docs/service.md` has the figures that they print with `-s`.
"""

# A fixture of another file is imported, and is the name of arguments.
# ruff: noqa: F811

from __future__ import annotations

import json
import os
import statistics
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from service import Service, halted, until
from test_service import TUS, World, done, idle_worker, refused, world  # noqa: F401  a fixture

from ringmill import _native


def said(**figures: Any) -> None:
    """Print figures as a row of JSON."""
    print(json.dumps(figures))


def resident(service: Service, what: str = "VmHWM") -> float:
    """Megabytes of the service: the most so far, or now."""
    assert service.process is not None
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(what))


def no_error_of_the_server(service: Service) -> None:
    lines = [json.loads(line) for line in service.log.read_text().splitlines()]
    assert [line for line in lines if line.get("status") == 500 or line["level"] == "ERROR"] == []


def test_a_hundred_slow_clients_stop_nobody(world: World, tmp_path: Path) -> None:
    """Heads that never end hold connections until patience is over; another client is served meanwhile."""
    with Service(tmp_path / "data", "--patience", "2", "--max-connections", "150") as service:
        slow = [service.connect() for _ in range(100)]
        for bare in slow:
            bare.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        with service.client() as client:
            began = time.perf_counter()
            hashes = world.push(client)
            assert done(client, hashes)["state"] == "done"
            said(slow_connections=100, job_and_uploads_seconds=time.perf_counter() - began)
        for bare in slow:
            bare.settimeout(20)
            while bare.recv(1000):
                pass
            bare.close()
        no_error_of_the_server(service)


def test_a_token_is_revoked_while_its_upload_runs(world: World, tmp_path: Path) -> None:
    with Service(tmp_path / "data") as service, service.client() as client:
        made = client._transport.ask("POST", "/v1/tokens", b'{"scopes": ["upload"]}').json()
        data = world.files[1].read_bytes()
        headers = {**TUS, "Upload-Length": str(len(data))}
        with service.client(made["token"]) as short:
            where = short._transport.ask("POST", "/v1/uploads", b"", headers).headers["location"]
            piece = {**TUS, "Content-Type": "application/offset+octet-stream"}
            short._transport.ask("PATCH", where, data[:1000], {**piece, "Upload-Offset": "0"})
            client._transport.ask("DELETE", f"/v1/tokens/{made['id']}")
            with refused("Unauthorized"):
                short._transport.ask("PATCH", where, data[1000:], {**piece, "Upload-Offset": "1000"})
        # The tenant goes on with another token.
        client._transport.ask("PATCH", where, data[1000:], {**piece, "Upload-Offset": "1000"})
        assert client.has(_native.blake3_file(world.files[1]))
        no_error_of_the_server(service)


@pytest.mark.long
def test_two_hundred_uploads_at_once_are_all_stored(world: World, tmp_path: Path) -> None:
    options = ("--max-uploads", "16", "--max-connections", "256")
    values = [np.full(16, number / 200) for number in range(200)]
    paths = [tmp_path / f"arguments-{number}" for number in range(200)]
    for x, path in zip(values, paths, strict=True):
        world.kernel.encrypt(world.keys.secret, x=x, y=0.0).save(path)
    with Service(tmp_path / "data", *options) as service:

        def push(path: Path) -> tuple[str, float]:
            began = time.perf_counter()
            with service.client() as client:
                return client.push(path), time.perf_counter() - began

        before, began = resident(service), time.perf_counter()
        with ThreadPoolExecutor(200) as pool:
            pushed = list(pool.map(push, paths))
        seconds = sorted(each for _, each in pushed)
        said(
            uploads=200,
            seconds=time.perf_counter() - began,
            median=statistics.median(seconds),
            p99=seconds[197],
            resident_mb=(before, resident(service)),
        )
        with service.client() as client:
            assert {found["hash"] for found in client.objects()} == {digest for digest, _ in pushed}
        assert list((service.folder / "uploads").iterdir()) == []
        no_error_of_the_server(service)


@pytest.mark.long
def test_four_gigabytes_without_a_length_take_no_memory(tmp_path: Path) -> None:
    """A body in chunks ends where an object may end, and its bytes are gone then."""
    most = 1 << 30
    with Service(tmp_path / "data", "--max-object", str(most), "--disk-free", "0") as service:
        before, sent, began = resident(service), 0, time.perf_counter()
        with service.connect() as bare:
            head = (
                f"PUT /v1/objects/{'0' * 64} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token}\r\n"
            )
            bare.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
            block = b"100000\r\n" + bytes(1 << 20) + b"\r\n"
            with pytest.raises((BrokenPipeError, ConnectionResetError)):  # noqa: PT012
                for _ in range(4096):
                    bare.sendall(block)
                    sent += 1 << 20
        after = resident(service)
        said(sent_bytes=sent, seconds=time.perf_counter() - began, resident_mb=(before, after))
        assert most <= sent < most + (64 << 20)
        assert after - before < 32
        assert until(lambda: not list((service.folder / "work").iterdir()))
        no_error_of_the_server(service)


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk takes root")
def test_a_full_disk_refuses_and_recovers(world: World, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        with Service(disk / "data", "--disk-free", "0.05") as service, service.client() as client:
            hashes = world.push(client)
            filler = disk / "filler"
            # In the middle of an upload: the bytes that came stay, and the refusal says why.
            size = 32 << 20
            where = client._transport.ask("POST", "/v1/uploads", b"", {**TUS, "Upload-Length": str(size)})
            location = where.headers["location"]
            piece = {**TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
            filler.write_bytes(bytes(40 << 20))
            with refused("DiskFull") as full:
                client._transport.ask("PATCH", location, bytes(size), piece)
            assert full.value.status == 507
            # Beyond the mark nothing begins, and what is there is read.
            with refused("DiskFull"):
                client.push(world.kernel.encrypt(world.keys.secret, x=np.zeros(16), y=0.0))
            client.fetch(hashes[0], tmp_path / "kernel")
            assert (tmp_path / "kernel").read_bytes() == world.files[0].read_bytes()
            filler.unlink()
            client._transport.ask("DELETE", location, headers=TUS)
            assert done(client, hashes)["state"] == "done"
            # The log stands on that disk, too: a line of it may be cut.
            assert '"status":500' not in service.log.read_text()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.long
def test_jobs_are_each_done_once_while_workers_are_killed(world: World, tmp_path: Path) -> None:
    """Sustained jobs of two tenants, while workers are killed; every job has one effect, the local bits."""
    with Service(tmp_path / "data", "--quota-jobs", "1000", "--workers", "2") as service:
        clients = [service.client(), service.tenant("other")]
        jobs = [(client, world.push(client), count) for client, count in zip(clients, (400, 60), strict=True)]
        stop = threading.Event()
        killed = 0

        def kill() -> None:
            nonlocal killed
            while not stop.wait(1.0):
                for worker in service.workers()[:1]:
                    os.kill(worker, 9)
                    killed += 1

        began = time.perf_counter()
        asked = [[client.submit(*own)["id"] for _ in range(count)] for client, own, count in jobs]
        killer = threading.Thread(target=kill)
        killer.start()
        until(lambda: killed >= 3, 60)
        stop.set()
        killer.join()
        states = []
        for client, mine in zip(clients, asked, strict=True):
            ended = [client.wait(job, timeout=300) for job in mine]
            states += [job["state"] for job in ended]
            assert len({job["result"] for job in ended}) == 1
            client.fetch(ended[0]["result"], tmp_path / "results")
            assert (tmp_path / "results").read_bytes() == world.local()
        seconds = time.perf_counter() - began
        said(jobs=460, killed_workers=killed, seconds=seconds, jobs_a_second=460 / seconds)
        assert states == ["done"] * 460
        for client in clients:
            client.close()


@pytest.mark.long
def test_a_clock_that_jumps_ends_nothing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's time jumps a year ahead, and back, under a service that runs; leases and objects stay."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        pytest.skip("no libfaketime here: `apt-get install faketime`")
    clock = tmp_path / "clock"
    clock.write_text("+0")
    for name, value in {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }.items():
        monkeypatch.setenv(name, value)
    with Service(tmp_path / "data", "--keep", "arguments=1000", "--lease", "30") as service:
        for name in ("LD_PRELOAD", "FAKETIME_TIMESTAMP_FILE"):
            monkeypatch.delenv(name)
        with service.client() as client:
            hashes = world.push(client)
            for jump in ("+365d", "-365d"):
                with halted(idle_worker(service, client, hashes)):
                    job = client.submit(*hashes)["id"]
                    until(lambda job=job: client.job(job)["state"] == "running")
                    clock.write_text(jump)
                    # Longer than the sweeper's period.
                    time.sleep(6)
                    assert client.job(job)["state"] == "running"
                ended = client.wait(job, timeout=60)
                assert (ended["state"], ended["attempts"]) == ("done", 1)
                assert all(client.has(digest) for digest in hashes)
        no_error_of_the_server(service)
