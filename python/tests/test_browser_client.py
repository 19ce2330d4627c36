"""A browser encrypts with SEAL, a Ringmill server computes, the browser decrypts."""

# A fixture of another file is imported, and is the name of an argument.
# ruff: noqa: F811

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from service import Service
from test_page_in_browser import CHROMIUM
from test_typescript_client import package  # noqa: F401  a fixture

from ringmill.remote import Credentials

HERE = Path(__file__).resolve().parents[2] / "examples" / "browser"


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("browser_server", HERE / "server.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm here: `apt-get install npm`")
    folder = tmp_path_factory.mktemp("browser")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder)
    done = subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"npm cannot fetch node-seal here: {done.stderr.strip()[-200:]}")
    return folder / "node_modules"


@pytest.fixture
def server(example: Any, modules: Path) -> Iterator[Any]:
    with example.Server(modules=modules) as running, threading_of(running):
        yield running


@contextmanager
def threading_of(server: Any) -> Iterator[None]:
    """Serve in a thread meanwhile."""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


def visited(server: Any) -> None:
    """Let a browser ask for a result, and compare it."""
    from playwright.sync_api import sync_playwright

    x = np.array([0.5, -0.25, 0.125, 0.75])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        complaints: list[str] = []

        def noted(message: Any) -> None:
            # A browser reports each 404, which is how a service answers whether it has an object.
            asked = "/v1/objects/" in message.location["url"] and "404" in message.text
            if message.type in ("error", "warning") and not asked:
                complaints.append(f"{message.text} {message.location['url']}")

        page.on("console", noted)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(server.url)
        page.fill("input", " ".join(map(str, x)))
        page.click("button")
        page.wait_for_function("document.querySelector('#result').textContent !== ''", timeout=120_000)
        said, steps = page.text_content("#result") or "", page.text_content("#steps") or ""
        page.fill("input", "0.5 many")
        page.click("button")
        page.wait_for_function("document.querySelector('#result').textContent.includes('Give numbers')")
        browser.close()
    assert complaints == []
    found = np.array([float(number) for number in said.split()])
    np.testing.assert_allclose(found, x**2 + np.append(x[1:], 0) ** 2, atol=1e-5)
    assert "no secret key" in steps
    # What the server was sent is what it needs; a secret key of SEAL has a kind of its own and is refused.
    assert set(server.sent) == {"parms", "relin.keys", "galois.keys", "x.ct"}


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: `apt-get install chromium`")
def test_a_browser_gets_its_result(server: Any) -> None:
    visited(server)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: `apt-get install chromium`")
def test_a_browser_gets_its_result_from_a_service(
    example: Any, modules: Path, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page encrypts, a service for tenants computes, and no party but the page has a secret key."""
    monkeypatch.setattr(example, "CLIENT", package / "dist" / "browser.js")
    # The service knows the page's origin from its start, so the page has the address of the service later.
    server = example.Server(modules=modules)
    with Service(tmp_path / "data", "--allow-origin", server.url.rstrip("/")) as service:
        server.service = Credentials(service.url, service.token)
        with server, threading_of(server):
            visited(server)
        with service.client() as client:
            assert [job["state"] for job in client.jobs()] == ["done"]
            kinds = {found["kind"] for found in client.objects()}
            assert kinds == {"program", "keys", "arguments", "results"}


def answered(method: str, url: str, body: bytes | None) -> int:
    """The status of an answer."""
    request = urllib.request.Request(url, data=body, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/../server.py", None, 404),
        ("GET", "/server.py", None, 404),
        ("GET", "/node-seal/../package.json", None, 404),
        ("PUT", "/objects/secret.key", b"x", 404),
        ("PUT", "/objects/parms", b"x" * 10_001, 413),
        ("POST", "/evaluate", b"", 409),
    ],
)
def test_the_server_refuses_what_it_does_not_take(
    server: Any, method: str, path: str, body: bytes | None, status: int
) -> None:
    assert answered(method, server.url.rstrip("/") + path, body) == status


def test_damaged_objects_are_refused(server: Any) -> None:
    for name in ("parms", "relin.keys", "galois.keys", "x.ct"):
        assert answered("PUT", f"{server.url}objects/{name}", b"nothing") == 204
    assert answered("POST", f"{server.url}evaluate", b"") == 400
