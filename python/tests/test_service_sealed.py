"""Files that are encrypted at rest: noise on the disk, the bits of local runs, wrong keys refused."""

# A fixture of another file is imported, and is the name of arguments.
# ruff: noqa: F811

from __future__ import annotations

import base64
import os
import secrets
import shutil
import subprocess
from pathlib import Path

import pytest
from buckets import Bucket
from service import Service, halted, program, scarce, until
from test_service import TUS, World, done, idle_worker, refused, world  # noqa: F401  a fixture

import ringmill as rm
from ringmill import _native


def key_file(path: Path) -> Path:
    """A new master key in a file."""
    path.write_text(secrets.token_hex(32))
    path.chmod(0o600)
    return path


def canaries(world: World) -> list[bytes]:
    """Bytes of the middle of each file."""
    return [(data := file.read_bytes())[len(data) // 2 :][:24] for file in world.files] + [
        (data := world.local())[len(data) // 2 :][:24]
    ]


def holding(folder: Path, canaries: list[bytes]) -> list[Path]:
    """Files below a folder that hold any of the bytes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if any(canary in path.read_bytes() for canary in canaries)]


def verb(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a verb of an operator says."""
    room = ("--disk-free", "0.001") if scarce() else ()
    given = {**os.environ, **environment}
    return subprocess.run(
        [str(program()), *words, *room], capture_output=True, text=True, check=False, timeout=60, env=given
    )


def test_what_is_stored_is_noise_and_gives_the_bits_of_a_local_run(world: World, tmp_path: Path) -> None:
    master = key_file(tmp_path / "master")
    options = ("--master-key-file", str(master))
    with Service(tmp_path / "data", *options) as service, service.client() as client:
        hashes = world.push(client)
        # The worker that ran once has its files prepared; a new one reads them again.
        for _ in range(2):
            ended = done(client, hashes)
            client.fetch(ended["result"], tmp_path / "results")
            assert (tmp_path / "results").read_bytes() == world.local()
            os.kill(until(service.workers)[0], 9)
        # An upload that is cut in the middle of a chunk goes on there, also after the service was killed.
        path = tmp_path / "keys"
        world.kernel.keygen().evaluation.save(path)
        data, digest = path.read_bytes(), _native.blake3_file(path)
        metadata = f"hash {base64.b64encode(digest.encode()).decode()}"
        headers = {**TUS, "Upload-Length": str(len(data)), "Upload-Metadata": metadata}
        where = client._transport.ask("POST", "/v1/uploads", b"", headers).headers["location"]
        piece = {**TUS, "Content-Type": "application/offset+octet-stream"}
        cut = 7 * len(data) // 10
        client._transport.ask("PATCH", where, data[:cut], {**piece, "Upload-Offset": "0"})
        with refused("Checksum"):
            wrong = {
                "Upload-Offset": str(cut),
                "Upload-Checksum": f"sha1 {base64.b64encode(bytes(20)).decode()}",
            }
            client._transport.ask("PATCH", where, data[cut : cut + 100_000], {**piece, **wrong})
        marks = [*canaries(world), data[cut - 100 : cut - 76]]
        assert holding(service.folder, marks) == []
        service.kill()
        service.start()
        with service.client() as again:
            answered = again._transport.ask("HEAD", where, headers=TUS).headers
            assert int(answered["upload-offset"]) == cut
            rest = {**piece, "Upload-Offset": str(cut)}
            named = again._transport.ask("PATCH", where, data[cut:], rest).headers["ringmill-object"]
            assert named == digest
            again.fetch(digest, tmp_path / "again")
            assert (tmp_path / "again").read_bytes() == data
        with service.client() as again:
            with refused("SecretKey"):
                secret = world.folder / "keys" / "secret.key"
                name = _native.blake3_file(secret)
                again._transport.ask("PUT", f"/v1/objects/{name}", secret.read_bytes())
            assert holding(service.folder, marks) == []
        log = service.log.read_text()
        assert '"status":500' not in log
        for word in (master.read_text(), service.token, hashes[0], "canaryscore"):
            assert word not in log
        assert holding(service.folder, [master.read_bytes(), bytes.fromhex(master.read_text())]) == []
        # A copy is as it is here: it opens with the same master key alone.
        folder = ("--dir", str(service.folder))
        assert verb("backup", *folder, "--to", str(tmp_path / "backup"), *options).returncode == 0
        assert holding(tmp_path / "backup", marks) == []
        whole = verb("check", "--deep", "--dir", str(tmp_path / "backup"), *options)
        assert whole.returncode == 0, whole.stdout
        # What was changed, or is another's, is found and never served.
        objects = {path.name: path for path in (service.folder / "objects").rglob("*") if path.is_file()}
        kernel, arguments = objects[hashes[0]], objects[hashes[2]]
        shutil.copy(arguments, kernel)
        found = verb("check", "--deep", *folder, *options)
        assert found.returncode == 1
        assert hashes[0] in found.stdout
        assert hashes[2] not in found.stdout
        with service.client() as again:
            with pytest.raises(rm.RemoteError):
                again.fetch(hashes[0], tmp_path / "wrong")
            job = again.submit(*hashes, deadline=5)
            ended = again.wait(job["id"], timeout=60)
            assert (ended["state"], ended["result"]) == ("expired", None)


def test_master_keys_are_changed_and_wrong_ones_refused(world: World, tmp_path: Path) -> None:
    old, new, other = (key_file(tmp_path / name) for name in ("old", "new", "other"))
    folder = ("--dir", str(tmp_path / "data"))
    listen = (*folder, "--listen", "127.0.0.1:0")
    command = f"cat {old}"
    with Service(tmp_path / "data", "--master-key-command", command) as service, service.client() as client:
        hashes = world.push(client)
        assert service.stop() == 0
    assert "is encrypted under" not in service.log.read_text()
    for options, why in (
        ((), "--master-key-file"),
        (("--master-key-file", str(other)), "master key"),
        (("--master-key-file", str(tmp_path / "none")), "reading the master key"),
        (("--master-key-file", str(world.files[2])), "failed"),
        (("--master-key-file", str(old), "--master-key-command", "x"), "once"),
        (("--old-master-key-file", str(old)), "--master-key-file"),
        (("--master-key-command", "echo canary; exit 1"), "exit status: 1"),
    ):
        ran = verb(*listen, *options)
        assert ran.returncode != 0
        assert why in ran.stderr
        assert other.read_text() not in ran.stderr
        assert "canary" not in ran.stderr
    changed = verb("rewrap", *folder, "--master-key-file", str(new), "--old-master-key-file", str(old))
    assert changed.returncode == 0, changed.stderr
    assert "1 keys" in changed.stdout
    assert verb(*listen, "--master-key-file", str(old)).returncode != 0
    service.options = ()
    ran = verb("check", "--deep", *folder, RINGMILL_MASTER_KEY=new.read_text())
    assert ran.returncode == 0, ran.stderr
    service.options = ("--master-key-file", str(new))
    service.start()
    with service, service.client() as client:
        assert done(client, hashes)["state"] == "done"
    assert verb("audit", *folder, "--master-key-file", str(new)).returncode == 0


def test_a_service_that_was_in_the_clear_is_encrypted_afterwards(world: World, tmp_path: Path) -> None:
    master = key_file(tmp_path / "master")
    options = ("--master-key-file", str(master))
    with Service(tmp_path / "data") as service, service.client() as client:
        hashes = world.push(client)
        result = done(client, hashes)["result"]
        taken = verb("encrypt", "--dir", str(service.folder), *options)
        assert "served by another process" in taken.stderr
        assert service.stop() == 0
    assert holding(service.folder, canaries(world))
    refusal = verb("--dir", str(service.folder), "--listen", "127.0.0.1:0", *options)
    assert "ringmill-serve encrypt" in refusal.stderr
    done_now = verb("encrypt", "--dir", str(service.folder), *options)
    assert done_now.returncode == 0, done_now.stderr
    assert "4 files" in done_now.stdout
    assert "0 files" in verb("encrypt", "--dir", str(service.folder), *options).stdout
    assert holding(service.folder, canaries(world)) == []
    service.options = options
    service.start()
    with service, service.client() as client:
        client.fetch(result, tmp_path / "results")
        assert (tmp_path / "results").read_bytes() == world.local()
        assert done(client, hashes)["result"] == result


@pytest.mark.long
def test_objects_of_a_bucket_are_noise(world: World, tmp_path: Path) -> None:
    master = key_file(tmp_path / "master")
    bucket = Bucket()
    try:
        options = ("--master-key-file", str(master), *bucket.options("sealed"))
        with Service(tmp_path / "data", *options) as service, service.client() as client:
            hashes = world.push(client)
            worker = idle_worker(service, client, hashes)
            result = done(client, hashes)["result"]
            # Copies that are gone are fetched again.
            with halted(worker):
                for path in (service.folder / "objects").rglob("*"):
                    if path.is_file():
                        path.unlink()
            client.fetch(result, tmp_path / "results")
            assert (tmp_path / "results").read_bytes() == world.local()
            os.kill(worker, 9)
            assert done(client, hashes)["result"] == result
            assert len(bucket.names("sealed")) == 4
            # Copies are the bytes of the bucket.
            copies = [path for path in (service.folder / "objects").rglob("*") if path.is_file()]
            assert len(copies) == 4
            assert all(path.read_bytes().startswith(b"RMSEAL\0\x01") for path in copies)
            assert holding(service.folder, canaries(world)) == []
            assert '"status":500' not in service.log.read_text()
    finally:
        bucket.close()
