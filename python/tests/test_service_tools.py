"""The service as strangers' tools see it: requests made from its description, and other clients of tus."""

# A fixture of another file is imported, and is the name of arguments.
# ruff: noqa: F811

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from service import Service
from test_service import World, world  # noqa: F401  a fixture

from ringmill import _native

#: Requests that schemathesis makes for each operation; `make test-full` has more.
EXAMPLES = 50

#: Statuses with which requests that break the schema may be refused: those of tus are among them.
CONFIG = """
[checks]
missing_required_header.expected-statuses = ["400", "401", "404", "412"]
negative_data_rejection.expected-statuses = [
  "400", "401", "403", "404", "405", "409", "410", "412", "413", "422", "423", "429", "460"]
"""

#: How bytes of an upload are written.
HOOKS = """
import schemathesis

@schemathesis.serializer("application/offset+octet-stream")
def piece(context, value):
    return value if isinstance(value, bytes) else str(value).encode()
"""

CLIENT = """
import {createReadStream, statSync} from 'node:fs'
import {Upload} from 'tus-js-client'
const [file, endpoint, token, hash] = process.argv.slice(2)
let broke = false
const upload = new Upload(createReadStream(file), {
  endpoint, uploadSize: statSync(file).size, chunkSize: 50000, metadata: {hash},
  headers: {authorization: `Bearer ${token}`},
  onChunkComplete: () => { if (!broke) { broke = true; upload.abort().then(() => upload.start()) } },
  onError: error => { console.error(String(error)); process.exit(1) },
  onSuccess: () => console.log('stored'),
})
upload.start()
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service") / "data") as service:
        yield service


@pytest.mark.long
def test_requests_made_from_the_description_find_nothing(
    service: Service, world: World, tmp_path: Path
) -> None:
    pytest.importorskip("schemathesis")
    with service.client() as client:
        world.push(client)
    line = [
        sys.executable,
        "-c",
        "from schemathesis.cli import schemathesis; schemathesis()",
        "run",
        f"{service.url}/openapi.json",
        f"--header=Authorization: Bearer {service.token}",
        # It would wait for events that do not come, revoke its own token and delete its tenant: after that
        # every answer is 401.
        "--exclude-path=/v1/jobs/{id}/events",
        "--exclude-path=/v1/tokens/{id}",
        "--exclude-path=/v1/tenant",
        # A request that breaks the schema may be refused with any status of a refusal.
        "--exclude-checks=positive_data_acceptance",
        f"--max-examples={EXAMPLES}",
        "--phases=examples,coverage,fuzzing",
        "--seed=1",
        "--no-color",
    ]
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    (tmp_path / "hooks_of_this.py").write_text(HOOKS)
    named = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks_of_this", "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(line, cwd=tmp_path, env=named, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    assert '"level":"ERROR"' not in service.log.read_text()
    with service.client() as client:
        assert client.account()["name"], "the token still holds: requests were not all refused"


@pytest.mark.long
def test_tuspy_stores_a_file_in_pieces(service: Service, world: World) -> None:
    tus = pytest.importorskip("tusclient.client")
    digest = _native.blake3_file(world.files[1])
    client = tus.TusClient(f"{service.url}/v1/uploads", headers={"Authorization": f"Bearer {service.token}"})
    asked = {"chunk_size": 100_000, "upload_checksum": True}
    with world.files[1].open("rb") as file:
        uploader = client.uploader(file_stream=file, metadata={"hash": digest}, **asked)
        uploader.upload_chunk()
    # Another process goes on.
    with world.files[1].open("rb") as file:
        again = client.uploader(file_stream=file, url=uploader.url, **asked)
        assert again.offset == 100_000
        again.upload()
    with service.client() as own:
        assert own.has(digest)


@pytest.mark.long
def test_tus_js_client_stores_a_file_in_pieces(service: Service, world: World, tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm here: `apt-get install npm`")
    package = {"private": True, "type": "module", "dependencies": {"tus-js-client": "4.3.1"}}
    (tmp_path / "package.json").write_text(json.dumps(package))
    (tmp_path / "client.mjs").write_text(CLIENT)
    line = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"npm cannot fetch tus-js-client here: {done.stderr.strip()[-200:]}")
    # Another file than tuspy sends.
    path = tmp_path / "keys"
    world.kernel.keygen().evaluation.save(path)
    digest = _native.blake3_file(path)
    line = ["node", "client.mjs", str(path), f"{service.url}/v1/uploads", service.token, digest]
    ran = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stdout.strip()) == (0, "stored"), ran.stderr
    with service.client() as own:
        assert own.has(digest)
