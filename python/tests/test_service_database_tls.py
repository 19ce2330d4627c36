"""TLS to PostgreSQL: a real server with certificates that are made for the test, and what is refused."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import Authority
from databases import Cluster
from service import Service, program


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def cluster(authority: Authority) -> Iterator[Cluster]:
    """A server that takes TCP under TLS alone, with a certificate for 127.0.0.1."""
    cluster = Cluster(authority.signed("database"))
    try:
        yield cluster
    finally:
        cluster.close()


def refusal(tmp_path: Path, *options: str) -> str:
    """What a service says that does not start."""
    verb = [str(program()), "--dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0", *options]
    ran = subprocess.run(verb, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode != 0
    return ran.stderr


@pytest.mark.parametrize(
    ("mode", "host", "trusted"),
    [
        ("", "127.0.0.1", False),
        ("prefer", "127.0.0.1", False),
        ("require", "localhost", False),
        ("verify-ca", "localhost", True),
        ("verify-full", "127.0.0.1", True),
        ("", "127.0.0.1", True),
    ],
)
def test_connections_are_encrypted(
    cluster: Cluster, authority: Authority, tmp_path: Path, mode: str, host: str, trusted: bool
) -> None:
    more = ("--database-ca", str(authority.ca)) if trusted else ()
    url = cluster.address(host, mode)
    with Service(tmp_path / "data", "--database", url, *more) as service, service.client() as client:
        assert client.jobs() == []
        rows = cluster.psql(
            "postgres",
            "SELECT bool_and(s.ssl), count(*) > 0 FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) "
            f"WHERE a.datname = '{url.split('/')[3].split('?')[0]}'",
        )
        assert rows == "t|t"


def test_a_certificate_of_another_authority_or_name_is_refused(
    cluster: Cluster, authority: Authority, tmp_path: Path
) -> None:
    other = Authority(tmp_path / "other", "other")
    for host, ca, mode, why in (
        ("127.0.0.1", other.ca, "verify-full", "UnknownIssuer"),
        ("127.0.0.1", other.ca, "verify-ca", "UnknownIssuer"),
        ("127.0.0.1", other.ca, "require", "UnknownIssuer"),
        ("localhost", authority.ca, "verify-full", "not valid for name"),
        ("localhost", authority.ca, "", "not valid for name"),
    ):
        reported = refusal(tmp_path, "--database", cluster.address(host, mode), "--database-ca", str(ca))
        assert "the certificate of the database is refused" in reported
        assert why in reported
        assert "--database-ca" in reported


def test_a_connection_in_the_clear_is_refused_by_who_wants_none(
    cluster: Cluster, authority: Authority, tmp_path: Path
) -> None:
    # The server takes TCP under TLS alone.
    assert "no encryption" in refusal(tmp_path, "--database", cluster.address("127.0.0.1", "disable"))
    plain = Cluster(tcp=True)
    try:
        assert "does not support TLS" in refusal(
            tmp_path, "--database", plain.address("127.0.0.1", "require")
        )
    finally:
        plain.close()


def test_what_is_not_checked_is_not_promised(cluster: Cluster, authority: Authority, tmp_path: Path) -> None:
    for mode in ("verify-ca", "verify-full"):
        assert "--database-ca" in refusal(tmp_path, "--database", cluster.address("127.0.0.1", mode))
    for mode in ("disable", "prefer"):
        options = ("--database", cluster.address("127.0.0.1", mode), "--database-ca", str(authority.ca))
        assert "verify-full" in refusal(tmp_path, *options)
    assert "sslmode" in refusal(tmp_path, "--database", cluster.address("127.0.0.1", "allow"))
    assert "--database" in refusal(tmp_path, "--database-ca", str(authority.ca))
    empty = tmp_path / "empty.pem"
    empty.touch()
    options = ("--database", cluster.address("127.0.0.1", "verify-full"), "--database-ca", str(empty))
    assert "certificates (PEM)" in refusal(tmp_path, *options)
