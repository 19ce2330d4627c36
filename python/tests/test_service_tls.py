"""TLS of the service and its clients: certificates of both sides, read again when they change."""

# A fixture of another file is imported, and is the name of arguments.
# ruff: noqa: F811

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority
from service import Service, program, until
from test_service import World, done, refused, world  # noqa: F401  a fixture

import ringmill as rm
from ringmill.remote import AsyncClient, Client


def shown(service: Service) -> str:
    """The certificate that a service shows."""
    host, port = service.url.removeprefix("https://").split(":")
    return ssl.get_server_certificate((host, int(port)), timeout=30)


def test_certificates_of_both_sides(world: World, tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    cert, key = ours.signed("service")
    mine = dict(zip(("cert", "key"), ours.signed("client", server=False), strict=True))
    strange = dict(zip(("cert", "key"), theirs.signed("client", server=False), strict=True))
    options = ("--tls-cert", str(cert), "--tls-key", str(key), "--client-ca", str(ours.ca))
    with Service(tmp_path / "data", *options) as service:
        assert service.url.startswith("https://")

        def client(**trust: Any) -> Client:
            return Client(service.url, service.token, **trust)

        with client(ca=ours.ca, **mine) as right:
            assert done(right, world.push(right))["state"] == "done"
        for wrong in ({}, {"ca": theirs.ca, **mine}):
            with refused("Untrusted"):
                client(**wrong).jobs()
        for wrong in ({"ca": ours.ca}, {"ca": ours.ca, **strange}):
            with refused("Unreachable"):
                client(**wrong).jobs()
        with refused("Unreachable"):
            Client(service.url.replace("https", "http"), service.token).jobs()

        async def jobs(**trust: Any) -> int:
            async with AsyncClient(service.url, service.token, **trust) as one:
                return len(await one.jobs())

        assert asyncio.run(jobs(ca=ours.ca, **mine)) == 1
        with refused("Untrusted"):
            asyncio.run(jobs(ca=theirs.ca, **mine))
        # The command line keeps the files with the token.
        environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")}

        def ran(*words: str) -> subprocess.CompletedProcess[str]:
            verb = [sys.executable, "-m", "ringmill", "remote", "--json", "--quiet", *words]
            text = f"{service.token}\n"
            return subprocess.run(
                verb, env=environment, input=text, capture_output=True, text=True, check=False
            )

        assert "Untrusted" in ran("login", service.url).stdout
        files = ("--ca", str(ours.ca), "--cert", str(mine["cert"]), "--key", str(mine["key"]))
        assert ran("login", service.url, *files).returncode == 0
        assert '"state": "done"' in ran("status").stdout
        log = service.log.read_text()
        assert service.token not in log
        assert "PRIVATE" not in log


def test_certificates_are_read_again(world: World, tmp_path: Path) -> None:
    ours = Authority(tmp_path / "ours")
    cert, key = (tmp_path / name for name in ("cert", "key"))

    def installed(name: str) -> str:
        for new, place in zip(ours.signed(name), (cert, key), strict=True):
            shutil.copy(new, place)
        return cert.read_text()

    first = installed("first")
    options = ("--tls-cert", str(cert), "--tls-key", str(key))
    with Service(tmp_path / "data", *options) as service, service.client(ca=ours.ca) as client:
        assert service.process is not None
        assert shown(service) == first
        assert client.jobs() == []
        # What is no certificate changes nothing.
        cert.write_text("nothing")
        service.process.send_signal(signal.SIGHUP)
        until(lambda: "were not taken" in service.log.read_text())
        assert shown(service) == first
        second = installed("second")
        service.process.send_signal(signal.SIGHUP)
        until(lambda: shown(service) == second)
        # Without a signal, it is seen after some seconds.
        third = installed("third")
        until(lambda: shown(service) == third)
        # A connection that was made before goes on.
        assert client.jobs() == []
        assert service.stop() == 0


def test_files_that_are_no_certificates_are_refused(tmp_path: Path) -> None:
    ours = Authority(tmp_path / "ours")
    cert, key = ours.signed("service")
    _, other = ours.signed("other")
    folder = ("--dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0")
    for options, why in (
        (("--tls-cert", str(cert)), "--tls-key"),
        (("--tls-cert", str(key), "--tls-key", str(key)), "file of certificates"),
        (("--tls-cert", str(cert), "--tls-key", str(cert)), "private key"),
        (("--tls-cert", str(cert), "--tls-key", str(other)), "certificate of the private key"),
        (("--tls-cert", str(tmp_path / "none"), "--tls-key", str(key)), "file of certificates"),
        (("--tls-cert", str(cert), "--tls-key", str(key), "--client-ca", str(key)), "file of certificates"),
    ):
        ran = subprocess.run(
            [str(program()), *folder, *options], capture_output=True, text=True, check=False, timeout=60
        )
        assert ran.returncode != 0
        assert why in ran.stderr
    for trust in ({"ca": tmp_path / "none"}, {"cert": cert}, {"cert": cert, "key": other}, {"ca": key}):
        with refused("BadCertificate"):
            Client("https://127.0.0.1:9", "x", **trust)
    with pytest.raises(rm.RemoteError):
        Client("https://127.0.0.1:9", "x", ca=ours.ca).jobs()
