"""An S3 server on loopback, for tests: moto's, with a bucket of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
NAME = "ringmill-test"
KEY, SECRET = "AKIACANARYOFAKEY", "canary-of-a-secret-of-s3"


def program() -> str:
    """The server's program: of its own environment, or on the path."""
    own = CHECKOUT / ".venv-s3" / "bin" / "moto_server"
    found = str(own) if own.is_file() else shutil.which("moto_server")
    if found is None:
        pytest.skip("no S3 server: `make test-full` installs requirements/s3.txt to run this")
    return found


class Bucket:
    """A server that holds one bucket in memory."""

    def __init__(self) -> None:
        verb = program()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.settings = Path(tempfile.gettempdir()) / f"ringmill-s3-{port}"
        self.process = subprocess.Popen(
            [verb, "-H", "127.0.0.1", "-p", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "MOTO_S3_DEFAULT_MAX_KEYS": "3"},
        )
        until = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                self.ask("PUT", f"/{NAME}")
                break
            assert time.monotonic() < until, "the S3 server did not start"
            time.sleep(0.1)

    def ask(self, method: str, path: str) -> bytes:
        """A request without a signature, which this server does not check."""
        request = urllib.request.Request(self.url + path, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bytes(answer.read())

    def names(self, service: str) -> list[str]:
        """The names of all objects of a service."""
        listed = self.ask("GET", f"/{NAME}?list-type=2&max-keys=1000&prefix=of/{service}/").decode()
        return [part.split("</Key>")[0] for part in listed.split("<Key>")[1:]]

    def options(self, service: str) -> list[str]:
        """What a service on this bucket is started with; each has a prefix of its own."""
        lines = [
            f"AWS_ENDPOINT_URL={self.url}",
            f"AWS_ACCESS_KEY_ID={KEY}",
            f"AWS_SECRET_ACCESS_KEY={SECRET}",
            "AWS_REGION=us-east-1",
        ]
        self.settings.write_text("\n".join(lines))
        return ["--blobs", f"s3://{NAME}/of/{service}", "--blobs-settings", str(self.settings)]

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        self.settings.unlink(missing_ok=True)
