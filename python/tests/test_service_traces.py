"""Traces of the service at a collector of the test's own, read by the wire form that OTLP states."""

# A fixture of another file is imported, and is the name of arguments.
# ruff: noqa: F811

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from service import Service, program
from test_service import World, done, world  # noqa: F401  a fixture

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
CANARY = "canary-of-a-header"


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Numbers and values of a message's fields."""

    def number(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte, at = message[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value, at

    at = 0
    while at < len(message):
        tag, at = number(at)
        if tag & 7 == 0:
            value, at = number(at)
            yield tag >> 3, value
            continue
        size, at = {1: (8, at), 5: (4, at)}.get(tag & 7) or number(at)
        yield tag >> 3, message[at : at + size]
        at += size


def all_of(message: bytes, place: int) -> list[Any]:
    return [value for found, value in fields(message) if found == place]


def attribute(message: bytes) -> tuple[str, Any]:
    """A name, and the one value that it has."""
    name, value = dict(fields(message))[1].decode(), dict(fields(message))[2]
    return name, next(fields(value))[1]


class Collector:
    """What takes spans at ``/v1/traces``, at once or after some seconds."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.spans: list[dict[str, Any]] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(seconds)
                assert self.path == "/v1/traces"
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                outer.bodies.append(body)
                scopes = [scope for part in all_of(body, 1) for scope in all_of(part, 2)]
                outer.spans += [outer.span(span) for scope in scopes for span in all_of(scope, 2)]
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    @staticmethod
    def span(message: bytes) -> dict[str, Any]:
        found = dict(fields(message))
        begin, end = (int.from_bytes(found[place], "little") for place in (7, 8))
        return {
            "trace": found[1].hex(),
            "id": found[2].hex(),
            "parent": found.get(4, b"").hex(),
            "name": found[5].decode(),
            "seconds": (end - begin) / 1e9,
            **dict(attribute(one) for one in all_of(message, 9)),
        }

    def named(self, name: str) -> dict[str, Any]:
        (found,) = [span for span in self.spans if span["name"] == name and span["trace"] == TRACE]
        return found

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def asked(service: Service, hashes: list[str]) -> str:
    """A job that is part of the client's trace."""
    body = dict(zip(("program", "keys", "arguments"), hashes, strict=True))
    headers = {"Content-Type": "application/json", "traceparent": f"00-{TRACE}-{PARENT}-01"}
    with service.client() as client:
        job = client._transport.ask("POST", "/v1/jobs", json.dumps(body).encode(), headers).json()
        assert client.wait(job["id"], timeout=60)["state"] == "done"
    return str(job["id"])


def test_requests_jobs_and_workers_are_parts_of_the_client_s_trace(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = Collector()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization={CANARY}")
    try:
        with Service(tmp_path / "data") as service:
            with service.client() as client:
                hashes = world.push(client)
            job = asked(service, hashes)
            assert service.stop() == 0
        request, run = collector.named("POST /v1/jobs"), collector.named("job")
        worker, results = collector.named("worker"), collector.named("results")
        assert request["parent"] == PARENT
        assert (run["parent"], run["ringmill.job"]) == (request["id"], job.encode())
        assert worker["parent"] == results["parent"] == run["id"]
        assert run["seconds"] >= worker["seconds"] > 0
        assert request["http.response.status_code"] == 201
        # Requests without a header are traces of their own.
        others = [span for span in collector.spans if span["trace"] != TRACE]
        assert {"GET /v1/jobs/{id}", "PUT /v1/objects/{hash}"} & {span["name"] for span in others}
        assert all(span["parent"] == "" for span in others)
        sent = b"".join(collector.bodies)
        for secret in (service.token, *hashes, "canaryscore", "default", CANARY):
            assert secret.encode() not in sent
        assert {headers["authorization"] for headers in collector.headers} == {CANARY}
        log = service.log.read_text()
        assert CANARY not in log
        lines = [json.loads(line) for line in log.splitlines()]
        assert [line["trace"] for line in lines if line["message"] == "job ran"] == [TRACE]
    finally:
        collector.close()


@pytest.mark.parametrize("kind", ["away", "slow"])
def test_a_collector_that_does_not_take_spans_harms_nothing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    collector = Collector(seconds=60.0)
    url = collector.url
    if kind == "away":
        with socket.create_server(("127.0.0.1", 0)) as unused:
            url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    # A queue of a few spans: it overflows.
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    with Service(tmp_path / "data", "--otlp", url) as service:
        with service.client() as client:
            hashes = world.push(client)
            jobs = [done(client, hashes) for _ in range(5)]
            client.fetch(jobs[-1]["result"], tmp_path / "results")
        assert {job["state"] for job in jobs} == {"done"}
        assert (tmp_path / "results").read_bytes() == world.local()
        begin = time.monotonic()
        assert service.stop() == 0
        assert time.monotonic() - begin < 15
        log = service.log.read_text()
        assert '"status":500' not in log
        if kind == "away":
            assert "the collector did not take them" in log


def test_an_address_of_a_collector_holds_no_password(tmp_path: Path) -> None:
    for wrong in ("127.0.0.1:4318", "ftp://127.0.0.1", f"http://me:{CANARY}@127.0.0.1"):
        verb = [str(program()), "--dir", str(tmp_path), "--otlp", wrong]
        ran = subprocess.run(verb, capture_output=True, text=True, check=False)
        assert ran.returncode == 2
        assert "http://HOST:PORT" in ran.stderr
        assert CANARY not in ran.stderr
