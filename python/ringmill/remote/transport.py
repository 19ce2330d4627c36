"""HTTP by the standard library: one connection, made anew when it breaks; refusals as exceptions."""

from __future__ import annotations

import http.client
import json
import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any, NoReturn
from urllib.parse import urlsplit

from ringmill.errors import RemoteError, fail

#: Bytes that are read and sent at once.
BLOCK = 1 << 20

#: A token is sent in a header: no spaces, no controls.
_TOKEN = re.compile(r"[!-~]{1,512}")


@dataclass(frozen=True, slots=True)
class Trust:
    """Files that a connection with TLS is made with."""

    #: The authorities that the service may be of; those of the system without it.
    ca: str | None = None
    #: The client's certificate, and its private key.
    cert: str | None = None
    key: str | None = None

    def context(self) -> ssl.SSLContext:
        """What connections are made with.

        Raises
        ------
            RemoteError: code ``BadCertificate``.
        """
        if (self.cert is None) != (self.key is None):
            fail(
                RemoteError,
                "BadCertificate",
                "A client's certificate needs its private key, and a key its certificate. Give both.",
            )
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.cert is not None:
                context.load_cert_chain(self.cert, self.key, _no_password)
        except OSError as error:
            files = ", ".join(file for file in (self.ca, self.cert, self.key) if file)
            fail(
                RemoteError,
                "BadCertificate",
                f"These are no certificates and their key, as PEM: {files} ({error}). Check the files.",
            )
        return context


def _no_password() -> bytes:
    # The library would ask at the terminal.
    raise PermissionError("the private key has a password; give one without")


@dataclass(frozen=True, slots=True)
class Answer:
    """A response whose body was read."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            fail(
                RemoteError,
                "NoJson",
                "The service's answer is no JSON: it is another service, or something between changes it. "
                "Check the address.",
                status=self.status,
            )


class Piece:
    """The rest of a file from an offset, to be sent as a body."""

    def __init__(self, file: IO[bytes], offset: int, size: int) -> None:
        file.seek(offset)
        self.file, self.left = file, size - offset

    def read(self, count: int = -1) -> bytes:
        """At most ``count`` bytes."""
        count = self.left if count < 0 else min(count, self.left)
        data = self.file.read(count)
        self.left -= len(data)
        return data


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service is, and the token that is sent to it."""

    host: str
    port: int | None
    path: str
    secure: bool
    token: str | None

    @classmethod
    def of(cls, url: str, token: str | None) -> Address:
        """Read an address and a token."""
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        bad = parts.scheme not in ("http", "https") or not parts.hostname or port == -1
        if bad or parts.query or parts.fragment or parts.username:
            fail(
                RemoteError,
                "BadAddress",
                f"{url!r:.200} is no address of a service. Give one as 'http://127.0.0.1:8750'.",
            )
        if token is not None and not _TOKEN.fullmatch(token):
            fail(RemoteError, "BadToken", "The token is not one: it has other characters. Copy it again.")
        return cls(str(parts.hostname), port, parts.path.rstrip("/"), parts.scheme == "https", token)

    @property
    def origin(self) -> str:
        """The address that paths are appended to."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = f":{self.port}" if self.port else ""
        return f"{'https' if self.secure else 'http'}://{host}{port}{self.path}"

    def headers(self, body: bytes | Piece | None, given: Mapping[str, str] | None) -> dict[str, str]:
        """The headers of a request."""
        headers = dict(given or {})
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if isinstance(body, Piece):
            headers["Content-Length"] = str(body.left)
        return headers

    def unreachable(self, error: BaseException) -> NoReturn:
        """Raise that there is no answer."""
        where = f"{self.host}:{self.port}" if self.port else self.host
        if isinstance(error, ssl.SSLCertVerificationError) or "certificate verify failed" in str(error):
            fail(
                RemoteError,
                "Untrusted",
                f"The service at {where} has a certificate of an unknown authority or of another name "
                f"({error}). Give the file of its authority as ca=, or --ca at the login.",
            )
        fail(
            RemoteError,
            "Unreachable",
            f"The service at {where} does not answer ({error or type(error).__name__}). "
            "Check that it runs, and the address.",
        )


def repeatable(method: str, body: bytes | Piece | None, headers: Mapping[str, str]) -> bool:
    """Whether a request may be sent a second time where a kept connection had ended.

    A piece of an upload says its offset, so one that had arrived is refused the second time. Of jobs that
    are asked for with one Idempotency-Key there is one.
    """
    whole = body is None or isinstance(body, bytes)
    known = "Upload-Offset" in headers or "Idempotency-Key" in headers
    return method in ("GET", "HEAD") or (known and whole)


class Transport:
    """Requests to one service."""

    def __init__(self, url: str, token: str | None, timeout: float, trust: Trust | None = None) -> None:
        self.address, self.timeout = Address.of(url, token), timeout
        self.context = (trust or Trust()).context() if self.address.secure else None
        self.connection: http.client.HTTPConnection | None = None
        self.pid = os.getpid()

    def _connected(self) -> http.client.HTTPConnection:
        if self.pid != os.getpid():
            # A connection is not shared with the process that this one was forked from.
            self.connection, self.pid = None, os.getpid()
        if self.connection is None:
            host, port = self.address.host, self.address.port
            if self.context is not None:
                self.connection = http.client.HTTPSConnection(
                    host, port, timeout=self.timeout, context=self.context, blocksize=BLOCK
                )
            else:
                self.connection = http.client.HTTPConnection(
                    host, port, timeout=self.timeout, blocksize=BLOCK
                )
        return self.connection

    def close(self) -> None:
        """End the connection; the next request makes another."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def __del__(self) -> None:
        if getattr(self, "connection", None) is not None:
            self.close()

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | Piece | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        into: IO[bytes] | None = None,
        right: tuple[int, ...] = (200, 201, 204),
    ) -> Answer:
        """Send a request and read the answer, its body into a file if one is given.

        Raises
        ------
            RemoteError: a refusal, by the service's own code; code ``Unreachable`` if there is no answer.
        """
        headers = self.address.headers(body, headers)
        # A connection that was kept may have ended meanwhile; what was sent on a new one is not sent again.
        again = self.connection is not None and repeatable(method, body, headers)
        try:
            answer = self._once(method, path, body, headers, into)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if not again:
                self.address.unreachable(error)
            try:
                answer = self._once(method, path, body, headers, into)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                self.address.unreachable(error)
        if answer.status not in right:
            refused(answer)
        return answer

    def _once(
        self,
        method: str,
        path: str,
        body: bytes | Piece | None,
        headers: dict[str, str],
        into: IO[bytes] | None,
    ) -> Answer:
        connection = self._connected()
        broken: OSError | None = None
        try:
            connection.request(method, self.address.path + path, body, headers)
        except (BrokenPipeError, ConnectionResetError) as error:
            # The service has answered before it read everything.
            broken = error
        try:
            response = connection.getresponse()
        except (OSError, http.client.HTTPException):
            if broken is not None:
                raise broken from None
            raise
        if into is not None and response.status == 200:
            while block := response.read(BLOCK):
                into.write(block)
            data = b""
        else:
            data = response.read()
        if broken is not None or response.will_close:
            self.close()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, data)


def refused(answer: Answer) -> NoReturn:
    """Raise what a problem+json says."""
    try:
        reported = json.loads(answer.body)
    except ValueError:
        reported = None
    reported = reported if isinstance(reported, dict) else {}
    unsaid = {401: "the token is not valid; log in with another", 403: "the token does not allow this"}
    other = unsaid.get(answer.status, f"it answers with status {answer.status}")
    detail = str(reported.pop("detail", "") or other)
    # An answer to HEAD has no body.
    code = str(reported.pop("code", "") or answer.headers.get("ringmill-code") or f"Status{answer.status}")
    fields = {name: value for name, value in reported.items() if name not in ("type", "title", "status")}
    if "retry-after" in answer.headers:
        fields["retry_after"] = answer.headers["retry-after"]
    fail(
        RemoteError,
        code,
        f"The service refuses: {detail}{'' if detail.endswith(('.', '?')) else '.'}",
        status=answer.status,
        **fields,
    )
