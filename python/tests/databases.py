"""A PostgreSQL cluster of its own in a temporary folder, for tests: it ends with who started it."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

#: Who runs the server where tests run as root: it refuses root itself.
USER = "postgres"

#: Ends the server when the pipe to it closes, however its starter ends; leaves no file.
KEEPER = """
trap '' INT TERM HUP
"$@" & server=$!
cat > /dev/null
kill -INT $server
wait $server
[ -e "$FOLDER/again" ] || rm -rf "$FOLDER"
"""


def programs() -> Path | None:
    """The folder of the newest server that is installed."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    if found:
        return max(found, key=lambda path: int(path.parent.name))
    on_path = shutil.which("postgres")
    return Path(on_path).parent if on_path else None


class Cluster:
    """A server with a socket in its folder; on 127.0.0.1 too by ``tcp``, or, with TLS, by a certificate."""

    def __init__(self, certificate: tuple[Path, Path] | None = None, *, tcp: bool = False) -> None:
        found = programs()
        if found is None:
            pytest.skip("PostgreSQL is not installed: install the package postgresql to run this")
        self.bin, self.user, self.prefix = found, USER, []
        self.folder = Path(tempfile.mkdtemp(prefix="rm-pg"))
        if os.geteuid() == 0:
            account = pwd.getpwnam(USER)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self.prefix = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
        else:
            self.user = pwd.getpwuid(os.geteuid()).pw_name
        options = ["--no-sync", "-A", "trust", "-U", self.user, "-E", "UTF8", "--locale=C"]
        made = subprocess.run(self.command("initdb", *options), cwd="/", capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        self.names, self.options, self.port = itertools.count(), ["listen_addresses="], 5432
        if tcp or certificate:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
            # These are no tests of the disk.
            self.options = ["listen_addresses=127.0.0.1", f"port={self.port}", "fsync=off"]
        if certificate:
            self._encrypt(*certificate)
        self.start()

    def command(self, program: str, *options: str) -> list[str]:
        """A command of the server's user."""
        return [*self.prefix, str(self.bin / program), "-D", str(self.folder / "data"), *options]

    def _encrypt(self, certificate: Path, key: Path) -> None:
        """Take TCP under TLS alone."""
        data = self.folder / "data"
        for source, name in ((certificate, "server.crt"), (key, "server.key")):
            copy = self.folder / name
            shutil.copy(source, copy)
            copy.chmod(0o600)
            shutil.chown(copy, self.user)
        (data / "pg_hba.conf").write_text("local all all trust\nhostssl all all 127.0.0.1/32 trust\n")
        files = (f"ssl_cert_file={self.folder / 'server.crt'}", f"ssl_key_file={self.folder / 'server.key'}")
        self.options += ["ssl=on", *files]

    def start(self) -> None:
        """Begin, and wait until it answers."""
        # As a server in earnest: a commit waits for the disk.
        options = (*self.options, f"unix_socket_directories={self.folder}")
        words = [word for option in options for word in ("-c", option)]
        self.keeper = subprocess.Popen(
            ["sh", "-c", KEEPER, "keeper", *self.command("postgres", *words)],
            cwd="/",
            env={**os.environ, "FOLDER": str(self.folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 30
        while self.psql("postgres", "SELECT 1", check=False) is None:
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.05)

    def psql(self, database: str, sql: str, *, check: bool = True) -> str | None:
        """What a statement answers; nothing if it fails and may."""
        words = [
            "-X",
            "-q",
            "-A",
            "-t",
            "-h",
            str(self.folder),
            "-p",
            str(self.port),
            "-U",
            self.user,
            "-d",
            database,
            "-c",
            sql,
        ]
        ran = subprocess.run(
            [str(self.bin / "psql"), *words], cwd="/", capture_output=True, text=True, check=False
        )
        assert not check or ran.returncode == 0, ran.stderr
        return ran.stdout.strip() if ran.returncode == 0 else None

    def _new(self) -> str:
        name = f"service{next(self.names)}"
        self.psql("postgres", f"CREATE DATABASE {name}")
        return name

    def database(self) -> str:
        """The address of a new database."""
        return f"postgres://{self.user}@/{self._new()}?host={self.folder}&port={self.port}"

    def address(self, host: str, mode: str = "") -> str:
        """The address of a new database by TCP, with an ``sslmode`` if one is given."""
        more = f"?sslmode={mode}" if mode else ""
        return f"postgres://{self.user}@{host}:{self.port}/{self._new()}{more}"

    def stop(self) -> None:
        """End it for a while."""
        (self.folder / "again").touch()
        self.close()
        (self.folder / "again").unlink()

    def close(self) -> None:
        """End it; nothing stays."""
        with contextlib.suppress(OSError):
            assert self.keeper.stdin is not None
            self.keeper.stdin.close()
        self.keeper.wait(60)


class Relay:
    """A way to a cluster that can be cut: then what is sent stays on the way, and neither end hears of it."""

    def __init__(self, cluster: Cluster) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rm-relay")
        self._name = f".s.PGSQL.{cluster.port}"
        self._cluster = cluster
        self._open, self._ends = threading.Event(), list[socket.socket]()
        self._open.set()
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(f"{self._folder.name}/{self._name}")
        self._server.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def through(self, address: str) -> str:
        """The same database by this way."""
        return address.replace(str(self._cluster.folder), self._folder.name)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, far = self._server.accept()[0], socket.socket(socket.AF_UNIX)
                far.connect(f"{self._cluster.folder}/{self._name}")
                self._ends += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                data = source.recv(1 << 16)
                self._open.wait()
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    return
                sink.sendall(data)

    @contextlib.contextmanager
    def cut(self) -> Iterator[None]:
        """Nothing passes meanwhile; what waited passes afterwards."""
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    def close(self) -> None:
        """End all connections."""
        for end in (self._server, *self._ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._folder.cleanup()
