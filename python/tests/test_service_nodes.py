"""A service on PostgreSQL: the bits of local runs, and what happens when the database is away."""

# A fixture of another file is imported, and is the name of arguments.
# ruff: noqa: F811

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import Cluster
from service import Service, program
from test_service import World, done, refused, world  # noqa: F401  a fixture

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
