"""The TypeScript client against a service: built from its sources, in Node."""

# A fixture of another file is imported, and is the name of arguments.
# ruff: noqa: F811

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from service import Service
from test_service import World, world  # noqa: F401  a fixture

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "typescript"


def ran(line: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    named = {**os.environ, **environment}
    return subprocess.run(
        line,
        cwd=folder,
        env=named,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built as its page says."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm here: `apt-get install npm`")
    folder = tmp_path_factory.mktemp("package") / "typescript"
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    fetched = ran([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)
    if fetched.returncode:
        pytest.skip(f"npm cannot fetch packages here: {fetched.stderr.strip()[-200:]}")
    built = ran([npm, "run", "build"], folder)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.mark.long
def test_it_stores_runs_and_fetches(package: Path, world: World, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for name, path in zip(("kernel", "keys", "arguments"), world.files, strict=True):
        shutil.copy(path, files / name)
    shutil.copy(world.folder / "results", files / "results")
    shutil.copy(world.folder / "keys" / "secret.key", files / "secret.key")
    world.kernel.keygen().evaluation.save(files / "other-keys")
    with Service(tmp_path / "data") as service:
        named = {"RINGMILL_URL": service.url, "RINGMILL_TOKEN": service.token, "RINGMILL_FILES": str(files)}
        told = ran(["node", "--test", "test/"], package, **named)
        assert told.returncode == 0, told.stdout[-5000:] + told.stderr[-2000:]
        assert "# fail 0" in told.stdout
        # The service was never sent the secret key, and failed in nothing.
        with service.client() as client:
            figures = client._transport.ask("GET", "/metrics").body.decode()
        assert "ringmill_secret_keys_refused_total 0" in figures
        assert '"status":500' not in service.log.read_text()


@pytest.mark.long
def test_its_types_are_checked_by_those_who_use_it(package: Path, tmp_path: Path) -> None:
    uses = package / "uses.ts"
    for body, right in (
        ("const state: State = (await client.job('x')).state", True),
        ("const hash: number = await client.push(new Uint8Array())", False),
        ("await client.submit({program: '', keys: ''})", False),
    ):
        uses.write_text(
            "import {Client, type State} from 'ringmill-client'\n"
            "export async function use(client: Client, _: State): Promise<void> {\n"
            f"  {body}\n}}\n"
        )
        options = "--noEmit --strict --ignoreConfig --types node --module nodenext --target es2022"
        told = ran(["node_modules/.bin/tsc", *options.split(), "uses.ts"], package)
        assert (told.returncode == 0) == right, told.stdout
