"""A tenant that is deleted: its data key, files, jobs and tokens go, other tenants and the audit log stay."""

# A fixture of another file is imported, and is the name of arguments.
# ruff: noqa: F811

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
from pathlib import Path

import pytest
from buckets import Bucket
from databases import Cluster
from service import Service, halted, program, until
from test_service import TUS, World, done, idle_worker, refused, world  # noqa: F401  a fixture
from test_service_sealed import key_file

from ringmill.remote import AsyncClient


def files(folder: Path) -> list[Path]:
    """Files of tenants that a service has."""
    kept = (folder / "objects", folder / "uploads", folder / "work")
    return [path for part in kept for path in part.rglob("*") if path.is_file()]


def wrapped(folder: Path) -> list[bytes]:
    """The data keys of tenants, as the database has them."""
    with sqlite3.connect(folder / "ringmill.db") as database:
        return [row[0] for row in database.execute("SELECT wrapped FROM data_keys ORDER BY tenant")]


def in_database(folder: Path, what: bytes) -> bool:
    """Whether the database's files hold bytes."""
    return any(what in path.read_bytes() for path in folder.glob("ringmill.db*"))


def test_a_tenant_that_deletes_itself_is_gone(world: World, tmp_path: Path) -> None:
    options = ("--master-key-file", str(key_file(tmp_path / "master")))
    with Service(tmp_path / "data", *options) as service, service.client() as stays:
        kept = world.push(stays)
        with service.tenant("leaver", *options) as client:
            hashes = world.push(client)
            worker = idle_worker(service, client, hashes)
            length = {**TUS, "Upload-Length": "100"}
            client._transport.ask("POST", "/v1/uploads", b"", length)
            # A copy of the encrypted files, as a disk that was stolen before.
            stolen = {
                path: path.read_bytes()
                for path in (service.folder / "objects" / "2").rglob("*")
                if path.is_file()
            }
            assert len(stolen) == 4
            mine, theirs = wrapped(service.folder)
            with halted(worker):
                job = client.submit(*hashes)["id"]
                until(lambda: client.job(job)["state"] == "running")
                for wrong in ("default", "leave", ""):
                    with refused("TenantName"):
                        client.delete_tenant(wrong)
                removed = client.delete_tenant("leaver")
            assert removed == {"objects": 4, "jobs": [job]}
            with refused("Unauthorized"):
                client.jobs()
        # The run ended with its worker, and nothing of it came after.
        until(lambda: worker not in service.workers())
        assert wrapped(service.folder) == [mine]
        assert in_database(service.folder, mine)
        assert not in_database(service.folder, theirs)
        assert sorted({path.parent.parent.name for path in files(service.folder)}) == ["1"]
        assert len(files(service.folder)) == 3
        assert done(stays, kept)["state"] == "done"
        # Files that come back are noise: a tenant of the same name has another key.
        with service.tenant("leaver", *options) as again:
            assert again.objects() == []
            assert again.jobs() == []
            world.push(again)
            for path, data in stolen.items():
                for place in (service.folder / "objects" / "3").rglob(path.name):
                    place.write_bytes(data)
            found = subprocess.run(
                [str(program()), "check", "--deep", "--dir", str(service.folder), *options],
                capture_output=True,
                text=True,
                check=False,
            )
            assert found.stdout.count("was changed") == 3
        log = service.log.read_text()
        assert '"status":500' not in log
        assert "leaver" not in log
        with sqlite3.connect(service.folder / "ringmill.db") as database:
            entries = database.execute("SELECT action, subject FROM audit WHERE tenant = 2").fetchall()
        assert ("tenant.delete", "leaver") in entries
        assert ("job.cancel", job) in entries
        assert ("job.add", job) in entries
    verb = [str(program()), "audit", "--dir", str(service.folder), *options]
    subprocess.run(verb, check=True)


def test_an_operator_deletes_a_tenant(world: World, tmp_path: Path) -> None:
    with Service(tmp_path / "data", "--lease", "3") as service, service.client() as stays:
        world.push(stays)

        def forget(name: str) -> subprocess.CompletedProcess[str]:
            verb = [str(program()), "forget", name, "--dir", str(service.folder)]
            return subprocess.run(verb, capture_output=True, text=True, check=False)

        with service.tenant("second") as client:
            hashes = world.push(client)
            worker = idle_worker(service, client, hashes)
            with halted(worker):
                job = client.submit(*hashes)["id"]
                until(lambda: client.job(job)["state"] == "running")
                ended = forget("second")
                assert json.loads(ended.stdout) == {"objects": 4, "jobs": [job]}
                # The service learns it when it lengthens the lease.
                until(lambda: worker not in service.workers())
            with refused("Unauthorized"):
                client.objects()
        assert len(files(service.folder)) == 3
        assert "tenant of this name" in forget("second").stderr

        async def gone(token: str) -> None:
            async with AsyncClient(service.url, token) as one:
                assert await one.delete_tenant("third") == {"objects": 0, "jobs": []}

        asyncio.run(gone(service.token_of("third")))
        assert '"status":500' not in service.log.read_text()


@pytest.mark.long
def test_two_nodes_keep_nothing_of_a_deleted_tenant(world: World, tmp_path: Path) -> None:
    cluster, bucket = Cluster(), Bucket()
    try:
        master = key_file(tmp_path / "master")
        shared = ("--database", cluster.database(), *bucket.options("gone"), "--master-key-file", str(master))
        with Service(tmp_path / "one", *shared) as one:
            (tmp_path / "two").mkdir()
            (tmp_path / "two" / "token.key").write_bytes((one.folder / "token.key").read_bytes())
            with Service(tmp_path / "two", *shared, token=one.token) as two:
                token = one.token_of("leaver", *shared)
                with one.client(token) as here, two.client(token) as there, two.client() as stays:
                    hashes = world.push(here)
                    world.push(stays)
                    for client in (here, there):
                        result = done(client, hashes)["result"]
                        client.fetch(result, tmp_path / "results")
                        assert (tmp_path / "results").read_bytes() == world.local()
                    there._transport.ask("POST", "/v1/uploads", b"", {**TUS, "Upload-Length": "100"})
                    assert len(bucket.names("gone")) == 7
                    assert here.delete_tenant("leaver") == {"objects": 4, "jobs": []}
                    with refused("Unauthorized"):
                        there.jobs()
                    assert len(bucket.names("gone")) == 3
                    # The other node removes its copies and uploads within a round of its own.
                    until(lambda: not [p for p in files(two.folder) if "/objects/1/" not in str(p)], 60)
                for service in (one, two):
                    assert '"status":500' not in service.log.read_text()
        name = shared[1].split("@/")[1].split("?")[0]
        assert cluster.psql(name, "SELECT count(*) FROM data_keys") == "1"
    finally:
        cluster.close()
        bucket.close()
