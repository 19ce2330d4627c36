"""A service of its own on loopback, for tests: the real binary, started and ended as an operator does."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ringmill.errors import CommandError
from ringmill.remote import Client, binary

CHECKOUT = Path(__file__).resolve().parents[2]


def program() -> Path:
    """The service's binary; built if it is missing."""
    try:
        return binary.find()
    except CommandError:
        subprocess.run(["cargo", "build", "--quiet", "--locked", "-p", binary.NAME], cwd=CHECKOUT, check=True)
        return binary.find()


def scarce() -> bool:
    """Whether a service would refuse to store on this disk, which most tests are not about."""
    return shutil.disk_usage(tempfile.gettempdir()).free < 20 << 30


class Service:
    """A service that runs, in a folder."""

    def __init__(self, folder: Path, *options: str, token: str = "") -> None:
        self.folder, self.options = folder, options
        self.log = folder.parent / f"{folder.name}.log"
        self.process: subprocess.Popen[str] | None = None
        self.url, self.token = "", token
        program()
        self.start()

    def start(self) -> None:
        """Begin; a new folder gives a token."""
        verb = [sys.executable, "-m", "ringmill", "serve", "--dir", str(self.folder)]
        if self.options or scarce():
            room = () if "--disk-free" in self.options else ("--disk-free", "0.001")
            verb = [str(program()), "--dir", str(self.folder), *room, *self.options]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [*verb, "--listen", "127.0.0.1:0", "--threads", "1"],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        elsewhere = "--database" in self.options
        fresh = not elsewhere and not (self.folder / "ringmill.db").exists()
        line = self.process.stdout.readline()
        assert line.startswith("Ringmill serves on http"), self.log.read_text()
        self.url = line.split()[-1]
        if fresh or not self.token:
            self.token = self.process.stdout.readline().split()[-1]

    def kill(self) -> None:
        """End it at once, as a loss of power does."""
        assert self.process is not None
        self.process.kill()
        self.process.communicate()

    def stop(self) -> int:
        """Ask it to end; its exit status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)
        return self.process.returncode

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()

    def client(self, token: str | None = None, **trust: Any) -> Client:
        """A client of the first tenant, or of another token."""
        return Client(self.url, token or self.token, **trust)

    def tenant(self, name: str, *options: str) -> Client:
        """A client of a new tenant."""
        return self.client(self.token_of(name, *options))

    def token_of(self, name: str, *options: str) -> str:
        """A token of a new tenant."""
        verb = [str(program()), "tenant", name, "--dir", str(self.folder), *options]
        done = subprocess.run(verb, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def workers(self) -> list[int]:
        """Processes that work for it."""
        assert self.process is not None
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]

    def connect(self) -> socket.socket:
        """A bare connection."""
        host, port = self.url.removeprefix("http://").split(":")
        return socket.create_connection((host, int(port)), timeout=30)


@contextlib.contextmanager
def halted(pid: int) -> Any:
    """A process that does nothing meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def until(what: Callable[[], Any], seconds: float = 30) -> Any:
    """What a call gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")
