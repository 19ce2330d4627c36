"""The service: the bits of local runs, tenants apart, and what happens to who is killed, cut off or refused.

Every test speaks to the real binary on loopback.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from service import Service, halted, program, until

import ringmill as rm
from ringmill import _native
from ringmill.compiled import Compiled
from ringmill.keys import Keys
from ringmill.remote import Client
from ringmill.remote.transport import Transport

PARAMS = rm.Params.from_bits(11, [45, 35, 35], [46], 3, scale_bits=35, insecure=True)
TUS = {"Tus-Resumable": "1.0.0"}


class World(NamedTuple):
    """A kernel with its files, and what they are at a service."""

    folder: Path
    kernel: Compiled
    keys: Keys

    @property
    def files(self) -> list[Path]:
        return [self.folder / name for name in ("kernel", "keys/evaluation.keys", "arguments")]

    def push(self, client: Client) -> list[str]:
        """Store each file as one object, the keys too."""
        kernel, keys, arguments = self.files
        return [client.push(kernel), whole(client, keys), client.push(arguments)]

    def local(self) -> bytes:
        return (self.folder / "results").read_bytes()


def whole(client: Client, path: Path) -> str:
    """Store a file as one object, as clients do that do not divide keys."""
    digest = _native.blake3_file(path)
    client._transport.ask("PUT", f"/v1/objects/{digest}", path.read_bytes())
    return digest


def one_key(path: Path) -> Path:
    """A file of one key, which is not divided."""
    rm.EvaluationKeys(PARAMS).with_relin(rm.SecretKey.generate(PARAMS, insecure=True)).save(path)
    return path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A kernel, keys, arguments, and the results that `ringmill evaluate` gives."""
    folder = tmp_path_factory.mktemp("world")

    @rm.kernel
    def canaryscore(x: Any = rm.vector(16), y: Any = rm.scalar()) -> Any:
        return {"out": (x * x + y) * 0.5, "sum": x.sum()}

    compiled = canaryscore.compile(params=PARAMS)
    keys = compiled.keygen()
    keys.save(folder / "keys")
    compiled.save(folder / "kernel")
    compiled.encrypt(keys.secret, x=np.linspace(-1, 1, 16), y=0.25).save(folder / "arguments")
    names = (
        "--kernel",
        "kernel",
        "--keys",
        "keys/evaluation.keys",
        "--input",
        "arguments",
        "--out",
        "results",
    )
    subprocess.run([sys.executable, "-m", "ringmill", "evaluate", "--quiet", *names], cwd=folder, check=True)
    return World(folder, compiled, keys)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service") / "data") as service:
        yield service


def refused(code: str) -> Any:
    return pytest.raises(rm.RemoteError, check=lambda error: error.code == code)


def done(client: Client, hashes: list[str]) -> dict[str, Any]:
    return client.wait(client.submit(*hashes)["id"], timeout=60)


def test_results_have_the_bits_of_a_local_run(service: Service, world: World, tmp_path: Path) -> None:
    with service.client() as client:
        arguments = rm.Values.load(world.files[2], "arguments", PARAMS)
        results = client.run(world.kernel, world.keys, arguments)
        assert results.to_bytes() == world.local()
        plain = world.kernel.decrypt(world.keys, results)
        assert plain["out"] == pytest.approx((np.linspace(-1, 1, 16) ** 2 + 0.25) / 2, abs=1e-4)
        hashes = [_native.blake3_file(file) for file in (world.files[0], world.files[2])]
        assert all(client.has(digest) for digest in hashes)
        client.fetch(hashes[0], tmp_path / "kernel")
        assert (tmp_path / "kernel").read_bytes() == world.files[0].read_bytes()


def test_the_command_line_runs_there_what_evaluate_runs_here(
    service: Service, world: World, tmp_path: Path
) -> None:
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}

    def reported(*arguments: str, stdin: str = "", status: int = 0) -> dict[str, Any]:
        verb = [sys.executable, "-m", "ringmill", "remote", "--json", "--quiet", *arguments]
        ran = subprocess.run(
            verb, cwd=world.folder, env=environment, input=stdin, capture_output=True, text=True, check=False
        )
        assert ran.returncode == status, ran.stderr
        return dict(json.loads(ran.stdout))

    assert reported("status", status=1)["code"] == "NoLogin"
    assert reported("login", service.url, stdin="wrong\n", status=1)["code"] == "Unauthorized"
    reported("login", service.url, stdin=f"{service.token}\n")
    assert (tmp_path / "ringmill" / "remote.json").stat().st_mode & 0o777 == 0o600
    assert set(reported("push", "kernel")["objects"]) == {"kernel"}
    files = ("--kernel", "kernel", "--keys", "keys/evaluation.keys", "--input", "arguments")
    ran = reported("run", *files, "--out", str(tmp_path / "there"))
    assert (tmp_path / "there").read_bytes() == world.local()
    assert reported("status", ran["job"])["state"] == "done"
    assert ran["job"] in [job["id"] for job in reported("status")["jobs"]]
    reported("fetch", ran["job"], "--out", str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == world.local()
    assert reported("push", "keys/secret.key", status=1)["code"] == "SecretKey"


def test_a_tenant_sees_nothing_of_another(service: Service, world: World, tmp_path: Path) -> None:
    with service.client() as client, service.tenant("other") as other:
        hashes = world.push(client)
        job = client.submit(*hashes)
        assert not any(other.has(digest) for digest in hashes)
        assert other.objects() == []
        assert other.jobs() == []
        with refused("NotFound"):
            other.fetch(hashes[0], tmp_path / "theirs")
        assert not (tmp_path / "theirs").exists()
        with refused("NoObject"):
            other.submit(*hashes)
        for call in (other.job, other.cancel):
            with refused("NotFound"):
                call(job["id"])
        with refused("NotFound"):
            other.delete(hashes[0])
        with refused("NotFound"):
            other.missing_keys(hashes[0])
        # The same bytes are theirs once they have sent them, and stay when they remove them.
        assert other.push(world.files[2]) == hashes[2]
        other.delete(hashes[2])
        assert client.has(hashes[2])
        assert not other.has(hashes[2])


def test_tokens_have_scopes_and_ends(service: Service, world: World) -> None:
    own = Transport(service.url, service.token, 30)

    def token(*scopes: str, **more: int) -> dict[str, Any]:
        asked = json.dumps({"scopes": scopes, **more}).encode()
        return dict(own.ask("POST", "/v1/tokens", asked).json())

    reader = token("read")
    with service.client(reader["token"]) as client:
        client.jobs()
        with refused("Scope"):
            client.submit(*["0" * 64] * 3)
        with refused("Scope"):
            client._transport.ask("GET", "/v1/tokens")
        with refused("Scope"):
            client._transport.ask("POST", "/v1/uploads", b"", {**TUS, "Upload-Length": "1"})
        own.ask("DELETE", f"/v1/tokens/{reader['id']}")
        with refused("Unauthorized"):
            client.jobs()
    short = token("read", expires_in=4)
    with service.client(short["token"]) as client:
        client.jobs()
        time.sleep(5.1)
        with refused("Unauthorized"):
            client.jobs()
    for wrong in (["root"], []):
        with refused("Scopes"):
            token(*wrong)
    rows = own.ask("GET", "/v1/tokens").json()
    assert next(row for row in rows if row["id"] == reader["id"])["revoked"] is not None
    assert all("token" not in row for row in rows)
    for wrong in (None, "x" * 40):
        with refused("Unauthorized"):
            Client(service.url, wrong).jobs()


def test_files_that_are_not_whole_are_refused(service: Service, world: World, tmp_path: Path) -> None:
    path = tmp_path / "file"
    with service.client() as client:
        before = len(client.objects())
        for file in world.files:
            data = file.read_bytes()
            for at in (1, 60, len(data) // 2, len(data) - 1):
                path.write_bytes(data[:at])
                with pytest.raises(rm.RemoteError) as cut:
                    client.push(path)
                assert cut.value.status == 422, cut.value
                path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
                with pytest.raises(rm.RemoteError) as edited:
                    client.push(path)
                assert edited.value.status == 422, edited.value
            path.write_bytes(data + b"\0")
            with pytest.raises(rm.RemoteError) as longer:
                client.push(path)
            assert longer.value.status == 422
        assert len(client.objects()) == before


def test_a_secret_key_is_refused_on_both_sides(service: Service, world: World) -> None:
    secret = world.folder / "keys" / "secret.key"
    data = secret.read_bytes()
    with service.client() as client:
        for what in (secret, world.keys.secret):
            with pytest.raises(rm.SecretError):
                client.push(what)
        digest = _native.blake3_file(secret)
        with refused("SecretKey"):
            client._transport.ask("PUT", f"/v1/objects/{digest}", data)
        # In pieces: the first alone does not show what it is.
        length = {**TUS, "Upload-Length": str(len(data))}
        where = client._transport.ask("POST", "/v1/uploads", b"", length).headers["location"]
        piece = {**TUS, "Content-Type": "application/offset+octet-stream"}
        client._transport.ask("PATCH", where, data[:11], {**piece, "Upload-Offset": "0"})
        with refused("SecretKey"):
            client._transport.ask("PATCH", where, data[11:], {**piece, "Upload-Offset": "11"})
        with refused("NotFound"):
            client._transport.ask("HEAD", where, headers=TUS)
    canary = data[200:232]
    kept = [path for path in service.folder.rglob("*") if path.is_file() and canary in path.read_bytes()]
    assert kept == []


def test_a_job_that_is_asked_for_twice_is_one(service: Service, world: World) -> None:
    with service.client() as client:
        hashes = world.push(client)
        first = client.submit(*hashes, idempotency="once")
        assert client.submit(*hashes, idempotency="once")["id"] == first["id"]
        with refused("IdempotencyKey"):
            client.submit(hashes[0], hashes[1], hashes[1], idempotency="once")
        assert client.submit(*hashes)["id"] != first["id"]
        assert client.wait(first["id"], timeout=60)["attempts"] == 1


def test_predictions_follow_what_jobs_took(world: World, tmp_path: Path) -> None:
    with Service(tmp_path / "fresh") as service, service.client() as client:
        hashes = world.push(client)
        model = next(o["facts"]["seconds"] for o in client.objects() if o["hash"] == hashes[0])
        assert client.account()["pace"] == 1
        first = done(client, hashes)
        assert first["predicted"] == pytest.approx(model)
        pace = max(1.0, first["seconds"] / model)
        assert client.account()["pace"] == pytest.approx(pace)
        second = done(client, hashes)
        assert second["predicted"] == pytest.approx(pace * model)
        slowest = max(1.0, first["seconds"] / model, second["seconds"] / model)
        assert client.account()["pace"] == pytest.approx(slowest)


def test_files_that_do_not_fit_make_no_job(service: Service, world: World, tmp_path: Path) -> None:
    with service.client() as client:
        kernel, keys, arguments = world.push(client)
        with refused("WrongKind"):
            client.submit(keys, kernel, arguments)
        stranger = world.kernel.keygen()
        with refused("KeysMismatch"):
            client.submit(kernel, client.push(stranger.evaluation), arguments)
        fewer = rm.keygen(PARAMS, rotations=[1], relin=False)
        few = client.push(fewer.evaluation)
        assert client.missing_keys(kernel, few) == [
            "relinearisation",
            "rotation by 2",
            "rotation by 4",
            "rotation by 8",
        ]
        assert client.missing_keys(kernel, keys) == []
        own = client.push(world.kernel.encrypt(fewer.secret, x=np.zeros(16), y=0.0))
        with refused("KeysMissing") as missing:
            client.submit(kernel, few, own)
        assert missing.value.fields["missing"][0] == "relinearisation"
        other = rm.kernel(lambda x: x + x).compile(rm.vector(16), params=PARAMS)
        with refused("OtherProgram"):
            client.submit(client.push(other), keys, arguments)


def idle_worker(service: Service, client: Client, hashes: list[str]) -> int:
    """The worker that a job left behind, which the next one gets."""
    assert done(client, hashes)["state"] == "done"
    (worker,) = until(service.workers)
    return int(worker)


def test_a_job_can_be_cancelled_while_it_runs(service: Service, world: World) -> None:
    with service.client() as client:
        hashes = world.push(client)
        worker = idle_worker(service, client, hashes)
        with halted(worker):
            job = client.submit(*hashes)
            until(lambda: client.job(job["id"])["state"] == "running")
            waiting = client.submit(*hashes)
            assert client.cancel(job["id"])["state"] == "cancelled"
            assert client.wait(waiting["id"], timeout=60)["state"] == "done"
        assert client.job(job["id"])["state"] == "cancelled"
        assert client.job(job["id"])["result"] is None
        assert worker not in service.workers()


def test_a_job_whose_worker_is_killed_has_one_effect(service: Service, world: World, tmp_path: Path) -> None:
    with service.client() as client:
        hashes = world.push(client)
        worker = idle_worker(service, client, hashes)
        with halted(worker):
            job = client.submit(*hashes)
            until(lambda: client.job(job["id"])["state"] == "running")
            os.kill(worker, signal.SIGKILL)
            ended = client.wait(job["id"], timeout=60)
        assert (ended["state"], ended["attempts"], ended["class"]) == ("done", 2, None)
        client.fetch(ended["result"], tmp_path / "results")
        assert (tmp_path / "results").read_bytes() == world.local()
        kinds = [found["kind"] for found in client.objects()]
        assert kinds.count("results") == 1


def test_a_deadline_ends_a_job(service: Service, world: World) -> None:
    with service.client() as client:
        hashes = world.push(client)
        with halted(idle_worker(service, client, hashes)):
            job = client.submit(*hashes, deadline=1)
            assert client.wait(job["id"], timeout=30)["state"] == "expired"
        assert done(client, hashes)["state"] == "done"


def test_a_killed_service_goes_on_where_it_was(world: World, tmp_path: Path) -> None:
    with Service(tmp_path / "data") as service:
        client = service.client()
        hashes = world.push(client)
        worker = idle_worker(service, client, hashes)
        # An upload that has come to 70 %.
        path = one_key(tmp_path / "keys")
        data = path.read_bytes()
        cut, digest = 7 * len(data) // 10, _native.blake3_file(path)
        metadata = f"hash {base64.b64encode(digest.encode()).decode()}"
        headers = {**TUS, "Upload-Length": str(len(data)), "Upload-Metadata": metadata}
        where = client._transport.ask("POST", "/v1/uploads", b"", headers).headers["location"]
        with service.connect() as bare:
            head = [
                f"PATCH {where} HTTP/1.1",
                "Host: x",
                f"Authorization: Bearer {service.token}",
                "Tus-Resumable: 1.0.0",
                "Upload-Offset: 0",
                "Content-Type: application/offset+octet-stream",
                f"Content-Length: {len(data)}",
            ]
            bare.sendall("\r\n".join([*head, "", ""]).encode() + data[:cut])
            until(lambda: (service.folder / "uploads" / where.split("/")[-1]).stat().st_size == cut)
            # And a job that runs.
            with halted(worker):
                job = client.submit(*hashes)
                until(lambda: client.job(job["id"])["state"] == "running")
                service.kill()
        until(lambda: not Path(f"/proc/{worker}").exists())
        service.start()
        with service.client() as again:
            assert again.push(path) == digest
            figures = again._transport.ask("GET", "/metrics").body.decode()
            assert f'ringmill_bytes_total{{direction="in"}} {len(data) - cut}\n' in figures
            ended = again.wait(job["id"], timeout=60)
            assert (ended["state"], ended["attempts"]) == ("done", 2)
            again.fetch(ended["result"], tmp_path / "results")
            assert (tmp_path / "results").read_bytes() == world.local()
        assert service.stop() == 0


def test_pieces_have_checksums_and_offsets(service: Service, world: World) -> None:
    with service.client() as client:
        ask, data = client._transport.ask, os.urandom(100)
        found = ask("OPTIONS", "/v1/uploads").headers
        assert found["tus-version"] == "1.0.0"
        with refused("TusVersion"):
            ask("POST", "/v1/uploads", b"", {"Upload-Length": "100"})
        where = ask("POST", "/v1/uploads", b"", {**TUS, "Upload-Length": "100"}).headers["location"]
        piece = {**TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
        with refused("Checksum"):
            ask(
                "PATCH",
                where,
                data[:50],
                {**piece, "Upload-Checksum": "sha1 " + base64.b64encode(bytes(20)).decode()},
            )
        assert ask("HEAD", where, headers=TUS).headers["upload-offset"] == "0"
        with refused("TooLarge"):
            ask("PATCH", where, data + b"1", piece)
        with refused("Offset"):
            ask("PATCH", where, data[:50], {**piece, "Upload-Offset": "1"})
        ask("PATCH", where, data[:50], piece)
        assert [u["size"] for u in ask("GET", "/v1/uploads").json()] == [100]
        ask("DELETE", where, headers=TUS)
        with refused("NotFound"):
            ask("PATCH", where, data[50:], {**piece, "Upload-Offset": "50"})
        assert list((service.folder / "uploads").iterdir()) == []


def test_what_is_too_much_is_refused_with_figures(world: World, tmp_path: Path) -> None:
    size = sum(file.stat().st_size for file in world.files)
    options = (
        "--quota-bytes",
        str(size + 1000),
        "--quota-jobs",
        "1",
        "--max-object",
        str(size),
        "--patience",
        "1",
    )
    with Service(tmp_path / "data", *options, "--worker-memory", str(1 << 29)) as service:
        with service.client() as client:
            hashes = world.push(client)
            with refused("QuotaBytes") as bytes_:
                client.push(world.folder / "keys" / "public.key")
            assert bytes_.value.fields["held"] == size
            with refused("TooLarge"):
                client._transport.ask("POST", "/v1/uploads", b"", {**TUS, "Upload-Length": str(size + 1)})
            worker = idle_worker(service, client, hashes)
            with halted(worker):
                job = client.submit(*hashes)
                with refused("QuotaJobs") as jobs:
                    client.submit(*hashes)
                assert jobs.value.status == 429
                assert int(jobs.value.fields["retry_after"]) > 0
            assert client.wait(job["id"], timeout=60)["state"] == "done"
        # A body that does not end, and one that does not begin.
        with service.connect() as bare:
            head = (
                f"PUT /v1/objects/{'0' * 64} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token}\r\n"
            )
            bare.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
            block = b"10000\r\n" + bytes(1 << 16) + b"\r\n"
            with pytest.raises((BrokenPipeError, ConnectionResetError)):  # noqa: PT012
                for _ in range(4096):
                    bare.sendall(block)
        with service.connect() as bare:
            bare.sendall(b"GET /healthz HTTP/1.1\r\nHost:")
            while bare.recv(1000):  # until it is closed; a time-out is an error
                pass
    with (
        Service(tmp_path / "full", "--max-queue", "0", "--max-seconds", "0") as service,
        service.client() as client,
        refused("Seconds"),
    ):
        client.submit(*world.push(client))


def test_logs_and_database_contain_no_secrets(service: Service, world: World) -> None:
    with service.client() as client:
        assert done(client, world.push(client))["state"] == "done"
        digest = _native.blake3_file(world.files[0])
    log = service.log.read_text()
    assert '"route":"/v1/jobs/{id}"' in log
    assert all(json.loads(line)["level"] for line in log.splitlines())
    for secret in (service.token, digest, "canaryscore", str(world.folder), "rms_"):
        assert secret not in log
    for path in service.folder.glob("ringmill.db*"):
        assert service.token.encode() not in path.read_bytes()
    reported = subprocess.run(
        [str(program()), "audit", "--dir", str(service.folder)], capture_output=True, text=True, check=True
    )
    assert reported.stdout == "every entry is as it was written\n"


def test_the_interface_is_described(service: Service) -> None:
    reported = Transport(service.url, None, 30).ask("GET", "/openapi.json").json()
    assert reported["openapi"].startswith("3.1")
    found = {(method, path) for path, methods in reported["paths"].items() for method in methods}
    assert {("put", "/v1/objects/{hash}"), ("patch", "/v1/uploads/{id}"), ("post", "/v1/jobs")} <= found
    assert len(found) == 29


def test_addresses_and_names_are_checked(service: Service) -> None:
    for wrong in ("ftp://x", "x", "http://", "http://x:y", "http://x/?q", "http://u@x"):
        with refused("BadAddress"):
            Client(wrong)
    with refused("BadToken"):
        Client(service.url, "a\nb")
    with refused("Unreachable"):
        Client("http://127.0.0.1:9").jobs()
    with service.client() as client, refused("BadName"):
        client.job("../tokens")


def test_private_weights_show_no_more_there_than_here(service: Service, tmp_path: Path) -> None:
    kernel = rm.kernel(lambda x, w: (x * w).sum())
    headers = set()
    for weights in (np.full(16, 1e-3), np.full(16, 200.0)):
        compiled = kernel.compile(rm.vector(16), rm.private(weights, 300), params=PARAMS)
        keys = compiled.keygen()
        arguments = compiled.encrypt(keys.secret, x=np.linspace(-1, 1, 16))
        compiled.save(tmp_path / "server.rm")
        with service.client() as client:
            results = client.run(compiled, keys, arguments)
        assert results.to_bytes() == compiled.evaluate(keys, arguments).to_bytes()
        headers |= {(part.magnitude, part.error_log2) for part in results.parts.values()}
    assert len(headers) == 1
