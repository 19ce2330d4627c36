"""A server whose client is a browser: the page encrypts with SEAL, this computes on what it sends.

    npm ci --prefix examples/browser
    python examples/browser/server.py

It is a demonstration for one visitor on this machine. With ``--remote`` it computes nothing itself: it turns
files of SEAL into files of Ringmill, and the service that `ringmill remote login` knows computes.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

import ringmill as rm
from ringmill.interop import arguments, seal
from ringmill.remote import Client, Credentials

HERE = Path(__file__).resolve().parent
#: The scale that the page encodes with, in bits.
SCALE_BITS = 40
#: What the page may send, and the most bytes of each.
OBJECTS = {"parms": 10_000, "relin.keys": 8_000_000, "galois.keys": 8_000_000, "x.ct": 2_000_000}
TYPES = {
    ".html": "text/html",
    ".mjs": "text/javascript",
    ".js": "text/javascript",
    ".wasm": "application/wasm",
}


def evaluate(sent: dict[str, bytes], service: Client | None = None) -> bytes:
    """Add squares of neighbours of an encrypted vector, here or at a service; the bytes are files of SEAL."""
    params = seal.load_parameters(sent["parms"], scale_bits=SCALE_BITS)
    keys = seal.load_evaluation_keys(params, sent["relin.keys"], sent["galois.keys"])

    @rm.kernel
    def energy(x: Any = rm.vector(params.slots)) -> Any:
        return x * x + np.roll(x * x, -1)

    compiled = energy.compile(params=params)
    given = arguments(compiled, x=seal.load_ciphertext(params, sent["x.ct"]))
    results = service.run(compiled, keys, given) if service else compiled.evaluate(keys, given)
    # SEAL 4.1 in the browser reads files of its own version and older ones.
    return seal.dump_ciphertext(results.parts["out"], version="4.1")


class Handler(BaseHTTPRequestHandler):
    """The page, its objects, and the computation."""

    server: Server

    def do_GET(self) -> None:
        """Send the page, its script, or a file of node-seal."""
        name = self.path.partition("?")[0].lstrip("/") or "index.html"
        if name.startswith("node-seal/"):
            folder, name = self.server.modules / "node-seal" / "dist", name.removeprefix("node-seal/")
        else:
            folder = HERE
        file = folder / name
        if "/" in name or file.suffix not in TYPES or not file.is_file():
            self._say(HTTPStatus.NOT_FOUND, f"There is no {self.path} here.")
            return
        self._send(HTTPStatus.OK, file.read_bytes(), TYPES[file.suffix])

    def do_PUT(self) -> None:
        """Take an object of the client."""
        name, length = self.path.removeprefix("/objects/"), self.headers.get("content-length", "")
        most = OBJECTS.get(name)
        if most is None:
            self._say(HTTPStatus.NOT_FOUND, f"Objects are {', '.join(OBJECTS)}.")
        elif not length.isdigit() or int(length) > most:
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{name} has {most} bytes at most.")
        else:
            self.server.sent[name] = self.rfile.read(int(length))
            self._send(HTTPStatus.NO_CONTENT, b"")

    def do_POST(self) -> None:
        """Compute on what was sent."""
        missing = [name for name in OBJECTS if name not in self.server.sent]
        if self.path != "/evaluate" or missing:
            self._say(HTTPStatus.CONFLICT, f"Send {', '.join(missing) or 'POST /evaluate'} first.")
            return
        start = time.perf_counter()
        try:
            with self.server.service() as service:
                result = evaluate(dict(self.server.sent), service)
        except rm.RingmillError as error:
            self._say(HTTPStatus.BAD_REQUEST, str(error))
            return
        seconds = f"{time.perf_counter() - start:.3f}"
        self._send(HTTPStatus.OK, result, "application/octet-stream", {"x-seconds": seconds})

    def _say(self, status: HTTPStatus, text: str) -> None:
        self._send(status, text.encode(), "text/plain; charset=utf-8")

    def _send(
        self, status: HTTPStatus, body: bytes, kind: str = "", headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {
            "content-type": kind,
            "content-length": str(len(body)),
            **(headers or {}),
        }.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: Any) -> None:
        """Write no log: sizes and names are all that there is to say."""


class Server(ThreadingHTTPServer):
    """The server of one visitor."""

    def __init__(
        self,
        port: int = 0,
        modules: Path = HERE / "node_modules",
        service: Callable[[], AbstractContextManager[Client | None]] = contextlib.nullcontext,
    ) -> None:
        if not (modules / "node-seal").is_dir():
            raise SystemExit(f"node-seal is not in {modules}: npm ci --prefix examples/browser")
        self.modules = modules
        # A connection for each request: they come in threads of their own.
        self.service = service
        self.sent: dict[str, bytes] = {}
        super().__init__(("127.0.0.1", port), Handler)

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.server_address[1]}/"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--remote", action="store_true", help="compute at the service that is logged in to")
    options = parser.parse_args()
    kept = Credentials.load() if options.remote else None
    place = partial(Client, kept.url, kept.token) if kept else contextlib.nullcontext
    with Server(options.port, service=place) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
