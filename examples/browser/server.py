"""A server whose client is a browser: the page encrypts with SEAL, this computes on what it sends.

    npm ci --prefix examples/browser
    python examples/browser/server.py

It is a demonstration for one visitor on this machine. With ``--remote`` it computes nothing: it turns files
of SEAL into files of Ringmill and back, and the page has the service compute that `ringmill remote login`
knows. The service has to allow this page: ``--allow-origin http://127.0.0.1:8000``. The page gets its token
from here.

    npm ci --ignore-scripts --prefix clients/typescript
    npm run build --prefix clients/typescript
    python examples/browser/server.py --remote
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

import ringmill as rm
from ringmill.interop import arguments, seal
from ringmill.remote import Credentials

HERE = Path(__file__).resolve().parent
#: The client of a service that the page takes.
CLIENT = HERE.parents[1] / "clients" / "typescript" / "dist" / "browser.js"
#: The scale that the page encodes with, in bits.
SCALE_BITS = 40
#: What the page may send, and the most bytes of each.
OBJECTS = {"parms": 10_000, "relin.keys": 8_000_000, "galois.keys": 8_000_000, "x.ct": 2_000_000}
#: The most bytes of results that the page may send back.
MOST_RESULTS = 8_000_000
TYPES = {
    ".html": "text/html",
    ".mjs": "text/javascript",
    ".js": "text/javascript",
    ".wasm": "application/wasm",
}


def prepared(sent: dict[str, bytes]) -> tuple[Any, rm.EvaluationKeys, rm.Values]:
    """A kernel that adds squares of neighbours of a vector, with keys and argument from files of SEAL."""
    params = seal.load_parameters(sent["parms"], scale_bits=SCALE_BITS)
    keys = seal.load_evaluation_keys(params, sent["relin.keys"], sent["galois.keys"])

    @rm.kernel
    def energy(x: Any = rm.vector(params.slots)) -> Any:
        return x * x + np.roll(x * x, -1)

    compiled = energy.compile(params=params)
    return compiled, keys, arguments(compiled, x=seal.load_ciphertext(params, sent["x.ct"]))


def written(results: rm.Values) -> bytes:
    """Results as SEAL 4.1 in the browser reads them: files of its own version and older ones."""
    return seal.dump_ciphertext(results.parts["out"], version="4.1")


class Handler(BaseHTTPRequestHandler):
    """The page, its objects, and the computation."""

    server: Server

    def do_GET(self) -> None:
        """Send the page, its scripts, or files for a service."""
        name = self.path.partition("?")[0].lstrip("/") or "index.html"
        if name in self.server.files:
            self._send(HTTPStatus.OK, self.server.files[name], "application/octet-stream")
            return
        if name == "service.json":
            kept = self.server.service
            known = {"url": kept.url, "token": kept.token} if kept else None
            self._send(HTTPStatus.OK, json.dumps(known).encode(), "application/json")
            return
        if name == "ringmill-client.js":
            folder, name = CLIENT.parent, CLIENT.name
        elif name.startswith("node-seal/"):
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
        """Compute on what was sent, or write it as files of a service; turn results into SEAL's."""
        missing = [name for name in OBJECTS if name not in self.server.sent]
        tasks = {"/evaluate": self._evaluate, "/files": self._files, "/results": self._results}
        if missing:
            self._say(HTTPStatus.CONFLICT, f"Send {', '.join(missing)} first.")
        elif self.path not in tasks:
            self._say(HTTPStatus.NOT_FOUND, f"There is no {self.path} here.")
        else:
            try:
                tasks[self.path]()
            except rm.RingmillError as error:
                self._say(HTTPStatus.BAD_REQUEST, str(error))

    def _evaluate(self) -> None:
        start = time.perf_counter()
        compiled, keys, given = prepared(dict(self.server.sent))
        result = written(compiled.evaluate(keys, given))
        seconds = f"{time.perf_counter() - start:.3f}"
        self._send(HTTPStatus.OK, result, "application/octet-stream", {"x-seconds": seconds})

    def _files(self) -> None:
        compiled, keys, given = prepared(dict(self.server.sent))
        self.server.params = compiled.params
        self.server.files = {
            "files/program": compiled.to_bytes(),
            "files/keys": keys.to_bytes(),
            "files/arguments": given.to_bytes(),
        }
        self._send(HTTPStatus.NO_CONTENT, b"")

    def _results(self) -> None:
        length = self.headers.get("content-length", "")
        if self.server.params is None:
            self._say(HTTPStatus.CONFLICT, "Ask for files first: POST /files.")
        elif not length.isdigit() or int(length) > MOST_RESULTS:
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"Results have {MOST_RESULTS} bytes at most.")
        else:
            results = rm.Values.from_bytes(self.rfile.read(int(length)), "results", self.server.params)
            self._send(HTTPStatus.OK, written(results), "application/octet-stream")

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
        service: Credentials | None = None,
    ) -> None:
        if not (modules / "node-seal").is_dir():
            raise SystemExit(f"node-seal is not in {modules}: npm ci --prefix examples/browser")
        self.modules = modules
        if service is not None and not CLIENT.is_file():
            raise SystemExit(f"{CLIENT} is missing: npm run build --prefix clients/typescript")
        #: The service that the page speaks to; without one this server computes.
        self.service = service
        self.sent: dict[str, bytes] = {}
        self.files: dict[str, bytes] = {}
        self.params: rm.Params | None = None
        super().__init__(("127.0.0.1", port), Handler)

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.server_address[1]}/"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--remote", action="store_true", help="the service that is logged in to computes")
    options = parser.parse_args()
    kept = Credentials.load() if options.remote else None
    with Server(options.port, service=kept) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
