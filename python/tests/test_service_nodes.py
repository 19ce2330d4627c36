"""A service on PostgreSQL, and two nodes with a bucket: the bits of local runs, whatever is away or ends."""

# A fixture of another file is imported, and is the name of arguments.
# ruff: noqa: F811

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from buckets import KEY, SECRET, Bucket
from databases import Cluster, Relay
from service import Service, halted, program, until
from test_service import TUS, World, done, idle_worker, refused, world  # noqa: F401  a fixture

from ringmill import _native
from ringmill.errors import RemoteError
from ringmill.remote import Client

CANARY = "canary-of-a-password"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    try:
        yield cluster
    finally:
        cluster.close()


def refusal(*options: str, **environment: str) -> str:
    """What a service that does not start says."""
    ran = subprocess.run(
        [str(program()), *options], capture_output=True, text=True, check=False, timeout=60, env=environment
    )
    assert ran.returncode != 0
    return ran.stderr


def test_postgres_keeps_what_a_file_keeps(cluster: Cluster, world: World, tmp_path: Path) -> None:
    url, password = cluster.database(), tmp_path / "password"
    password.write_text(CANARY + "\n")
    options = ("--database", url, "--database-password-file", str(password))
    with Service(tmp_path / "data", *options) as service:
        with service.client() as client, service.tenant("other", *options) as other:
            hashes = world.push(client)
            ended = done(client, hashes)
            client.fetch(ended["result"], tmp_path / "results")
            assert (tmp_path / "results").read_bytes() == world.local()
            first = client.submit(*hashes, idempotency="once")
            assert client.submit(*hashes, idempotency="once")["id"] == first["id"]
            assert client.wait(first["id"], timeout=60)["result"] == ended["result"]
            assert other.objects() == []
            with refused("NotFound"):
                other.job(ended["id"])
            client.delete(ended["result"])
            assert not client.has(ended["result"])
            # Another service would keep objects that this one does not see.
            taken = refusal("--dir", str(tmp_path / "second"), "--listen", "127.0.0.1:0", *options)
            assert "token.key" in taken
            (tmp_path / "second" / "token.key").write_bytes((service.folder / "token.key").read_bytes())
            taken = refusal("--dir", str(tmp_path / "second"), "--listen", "127.0.0.1:0", *options)
            assert "served by another process" in taken
        assert service.stop() == 0
        log = service.log.read_text()
        assert '"status":500' not in log
        for secret in (CANARY, service.token, hashes[0], "canaryscore"):
            assert secret not in log
        service.start()
        with service.client() as client:
            assert [job["state"] for job in client.jobs()] == ["done", "done"]
    assert not (tmp_path / "data" / "ringmill.db").exists()
    for verb in ("audit", "check"):
        subprocess.run([str(program()), verb, "--dir", str(service.folder), *options], check=True)


def test_a_database_that_goes_away_is_waited_for(cluster: Cluster, world: World, tmp_path: Path) -> None:
    options = ("--database", cluster.database())
    with Service(tmp_path / "data", *options) as service, service.client() as client:
        world.push(client)
        cluster.stop()
        with refused("DatabaseAway") as away:
            client.jobs()
        assert away.value.status == 503
        assert int(away.value.fields["retry_after"]) > 0
        cluster.start()
        assert done(client, world.push(client))["state"] == "done"
    log = [json.loads(line) for line in service.log.read_text().splitlines()]
    assert [line for line in log if line.get("status") == 500] == []


def test_addresses_of_databases_are_checked(tmp_path: Path) -> None:
    folder = ("--dir", str(tmp_path / "data"))
    shown = refusal(*folder, "--database", f"postgres://me:{CANARY}@localhost/x")
    assert "--database-password-file" in shown
    assert CANARY not in shown
    assert "postgres://USER@HOST/NAME" in refusal(*folder, "--database", "mysql://localhost/x")
    assert "--database" in refusal(*folder, "--database-password-file", "x")
    gone = refusal(*folder, "--database", "postgres://me@127.0.0.1:9/x", RINGMILL_DATABASE_PASSWORD=CANARY)
    assert "cannot be reached" in gone
    assert CANARY not in gone


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    bucket = Bucket()
    try:
        yield bucket
    finally:
        bucket.close()


@contextlib.contextmanager
def nodes(
    cluster: Cluster, bucket: Bucket, name: str, folder: Path, *options: str, relay: Relay | None = None
) -> Iterator[tuple[Service, Service]]:
    """Two nodes of one service, the second with the key of the first; a relay is on the first's way."""
    direct = cluster.database()
    first = relay.through(direct) if relay else direct
    shared = (*bucket.options(name), *options)
    with Service(folder / "one", "--database", first, *shared) as one:
        (folder / "two").mkdir()
        (folder / "two" / "token.key").write_bytes((one.folder / "token.key").read_bytes())
        with Service(folder / "two", "--database", direct, *shared, token=one.token) as two:
            yield one, two


def nothing_leaked(*services: Service) -> None:
    for service in services:
        log = service.log.read_text()
        assert '"status":500' not in log
        for secret in (SECRET, KEY, service.token, "canaryscore"):
            assert secret not in log


@pytest.mark.long
def test_two_nodes_are_one_service(cluster: Cluster, bucket: Bucket, world: World, tmp_path: Path) -> None:
    with nodes(cluster, bucket, "nodes", tmp_path) as (one, two), one.client() as here, two.client() as there:
        # What is stored at one node is known, run and fetched at the other.
        kernel, keys = here.push(world.files[0]), here.push(world.files[1])
        arguments = there.push(world.files[2])
        job = there.submit(kernel, keys, arguments)
        ended = here.wait(job["id"], timeout=60)
        for client, name in ((here, "one"), (there, "two")):
            client.fetch(ended["result"], tmp_path / name / "results")
            assert (tmp_path / name / "results").read_bytes() == world.local()
        # Each has a copy; the bucket has them all, and nothing in the clear of a name.
        assert len(bucket.names("nodes")) == len(here.objects()) > 4
        assert all(key.startswith("of/nodes/objects/") for key in bucket.names("nodes"))
        # An upload goes on where it began, and says so elsewhere.
        path = tmp_path / "keys"
        world.kernel.keygen().evaluation.save(path)
        length = {**TUS, "Upload-Length": str(path.stat().st_size)}
        where = here._transport.ask("POST", "/v1/uploads", b"", length).headers["location"]
        piece = {**TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
        for method, headers in (("HEAD", TUS), ("PATCH", piece), ("DELETE", TUS)):
            with refused("OtherNode") as other:
                there._transport.ask(method, where, b"x" if method == "PATCH" else None, headers)
            assert other.value.status == 421
        assert there._transport.ask("GET", "/v1/uploads").json() == []
        there.push(path)
        # Both take jobs, each job once.
        jobs = [client.submit(kernel, keys, arguments)["id"] for client in (here, there) * 20]
        done_jobs = [here.wait(job, timeout=120) for job in jobs]
        assert {(job["state"], job["attempts"], job["result"]) for job in done_jobs} == {
            ("done", 1, ended["result"])
        }
        ran = [service.log.read_text().count('"message":"job ran"') for service in (one, two)]
        assert sum(ran) == 41
        assert min(ran) > 0
        # What one deletes is gone at the other, also its copy, within a round of trimming.
        here.delete(ended["result"])
        assert not there.has(ended["result"])
        assert not any(key.endswith(ended["result"]) for key in bucket.names("nodes"))
        until(lambda: not list(tmp_path.rglob(ended["result"])), 60)
        nothing_leaked(one, two)
        with refused("NotFound"):
            there.fetch(ended["result"], tmp_path / "gone")
    verb = [str(program()), "audit", "--dir", str(one.folder), *one.options]
    subprocess.run(verb, check=True)


@pytest.mark.long
def test_a_node_that_is_killed_or_cut_off_commits_nothing_under_an_old_lease(
    cluster: Cluster, bucket: Bucket, world: World, tmp_path: Path
) -> None:
    with nodes(cluster, bucket, "fenced", tmp_path, "--lease", "3") as (one, two):
        assert one.process is not None
        assert two.process is not None
        with one.client() as here, two.client() as there:
            hashes = world.push(there)
            # A job of the first node, of which first the worker stops, then the node itself.
            with halted(two.process.pid):
                worker = idle_worker(one, here, hashes)
                halt = halted(worker)
                halt.__enter__()
                job = here.submit(*hashes)["id"]
                until(lambda: here.job(job)["state"] == "running")
                cut_off = halted(one.process.pid)
                cut_off.__enter__()
            # The second takes over when the lease is past, and its results count.
            ended = there.wait(job, timeout=60)
            assert (ended["state"], ended["attempts"]) == ("done", 2)
            entries = there.job(job)
            # The first goes on, with results of an old lease: they change nothing.
            halt.__exit__(None, None, None)
            cut_off.__exit__(None, None, None)
            assert done(here, hashes)["state"] == "done"
            time.sleep(2)
            assert there.job(job) == entries
            # A node that is killed: the other has its job when the lease is past.
            with halted(two.process.pid):
                worker = idle_worker(one, here, hashes)
                with halted(worker):
                    job = here.submit(*hashes)["id"]
                    until(lambda: here.job(job)["state"] == "running")
                    one.kill()
            ended = there.wait(job, timeout=60)
            assert (ended["state"], ended["attempts"]) == ("done", 2)
            there.fetch(ended["result"], tmp_path / "results")
            assert (tmp_path / "results").read_bytes() == world.local()
            kinds = [found["kind"] for found in there.objects()]
            assert kinds.count("results") == 1
        nothing_leaked(one, two)
    counted = "SELECT count(*), count(DISTINCT subject) FROM audit WHERE action = 'job.done'"
    name = one.options[1].split("@/")[1].split("?")[0]
    rows = cluster.psql(name, counted)
    assert rows is not None
    first, second = rows.split("|")
    assert first == second, "a job was done twice"


@pytest.mark.long
def test_a_node_behind_a_cut_network_commits_nothing_and_answers(
    cluster: Cluster, bucket: Bucket, world: World, tmp_path: Path
) -> None:
    relay = Relay(cluster)
    with (
        contextlib.closing(relay),
        nodes(cluster, bucket, "cut", tmp_path, "--lease", "3", relay=relay) as (one, two),
        one.client() as here,
        two.client() as there,
    ):
        assert two.process is not None
        hashes = world.push(there)
        with halted(two.process.pid):
            worker = idle_worker(one, here, hashes)
            halt = halted(worker)
            halt.__enter__()
            job = here.submit(*hashes)["id"]
            until(lambda: here.job(job)["state"] == "running")
            cut = relay.cut()
            cut.__enter__()
        # The first lives and cannot say so: the second takes over when the lease is past.
        ended = there.wait(job, timeout=60)
        assert (ended["state"], ended["attempts"]) == ("done", 2)
        entries = there.job(job)
        # The worker of the first ends its run, and what the node says of it arrives late: it changes nothing.
        halt.__exit__(None, None, None)
        time.sleep(2)
        assert there.job(job) == entries
        cut.__exit__(None, None, None)
        assert done(here, hashes)["state"] == "done"
        time.sleep(2)
        assert there.job(job) == entries
        # Who asks a node that is cut off hears so, and is served when the network is whole again.
        with relay.cut(), refused("DatabaseAway") as away:
            here._transport.ask("GET", "/v1/jobs")
        assert away.value.status == 503
        assert done(there, hashes)["state"] == "done"
        until(lambda: answers(here), 60)
        assert done(here, hashes)["state"] == "done"
        nothing_leaked(one, two)


def answers(client: Client) -> bool:
    """Whether the service answers with its database."""
    try:
        client.jobs()
    except RemoteError:
        return False
    return True


@pytest.mark.long
def test_a_bucket_that_is_away_loses_nothing(cluster: Cluster, world: World, tmp_path: Path) -> None:
    bucket = Bucket()
    options = ("--database", cluster.database(), *bucket.options("away"))
    try:
        with Service(tmp_path / "data", *options) as service, service.client() as client:
            kernel, keys = client.push(world.files[0]), client.push(world.files[1])
            with halted(bucket.process.pid):
                # A transfer is given up before a client of the usual patience gives up.
                digest = _native.blake3_file(world.files[2])
                with refused("BucketAway") as away:
                    client._transport.ask("PUT", f"/v1/objects/{digest}", world.files[2].read_bytes())
                assert away.value.status == 503
            assert not client.has(digest)
            assert done(client, [kernel, keys, client.push(world.files[2])])["state"] == "done"
            nothing_leaked(service)
    finally:
        bucket.close()
