"""What the service adds to a run: local and remote in turns, in one process each, on loopback.

    python -m benches.service [--runs N] [--upload-gb G] [--beside OPTIONS]

It prints the seconds of a local ``evaluate`` with keys in memory, of the engine in the worker, and of a
whole remote job: submit, wait, fetch. The overhead is the whole job less the engine's own time in the same
run. Then it sends bytes that are no file and prints the most memory that the service took meanwhile.

A job of seconds finds client and service idle for as long. So it also prints what a request to a server of
Python's own takes after such a silence: that much the machine adds by itself.

``--beside "--database URL"`` runs every job at a second service as well, which has these options, in turns.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ringmill as rm
from ringmill.errors import RemoteError
from ringmill.remote import Client, binary

_TUS = {"Tus-Resumable": "1.0.0"}
_BLOCK = 64 << 20


def _kernels() -> dict[str, Any]:
    """Kernels of milliseconds, of some hundred, and of more than a second."""
    small = rm.kernel(lambda x: (x * x + 0.5) * x).compile(rm.vector(64), params=rm.Params.named("II"))
    return {"small": small, "large": _squared_product(512), "long": _squared_product(2048)}


def _squared_product(size: int) -> Any:
    weights = np.random.default_rng(1).uniform(-1, 1, (size, size)) / size
    squared = rm.kernel(lambda x: (weights @ x) ** 2)
    return squared.compile(rm.vector(size), params=rm.Params.named("IV"))


def _bare(silence: float, runs: int) -> dict[str, Any]:
    """A request to a server that does nothing, after nobody said anything for some seconds."""
    verb = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            verb, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process,
    ):
        assert process.stdout is not None
        port = int(process.stdout.readline().split(" port ")[1].split()[0])
        took = []
        for _ in range(runs):
            time.sleep(silence)
            start = time.perf_counter()
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("HEAD", "/")
            connection.getresponse().read()
            took.append(time.perf_counter() - start)
            connection.close()
        process.terminate()
    return _told(f"a bare request after {silence:g} s of silence", took)


def _told(name: str, seconds: list[float]) -> dict[str, Any]:
    return {"what": name, "min_ms": 1e3 * min(seconds), "median_ms": 1e3 * statistics.median(seconds)}


def _overhead(clients: dict[str, Client], name: str, compiled: Any, runs: int) -> list[dict[str, Any]]:
    keys = compiled.keygen()
    shape = next(iter(compiled.signature.inputs.values())).shape
    arguments = compiled.encrypt(keys.secret, x=np.linspace(-1, 1, shape[0]))
    for client in clients.values():
        hashes = [client.push(what) for what in (compiled, keys, arguments)]
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results"
        for run in range(runs + 1):
            start = time.perf_counter()
            results = compiled.evaluate(keys, arguments, machine="cpu:threads=1")
            took = {"local evaluate": time.perf_counter() - start}
            for where, client in clients.items():
                between = time.perf_counter()
                job = client.wait(client.submit(*hashes)["id"])
                client.fetch(job["result"], out)
                whole = time.perf_counter() - between
                assert out.read_bytes() == results.to_bytes()
                took[f"engine in the worker{where}"] = job["seconds"]
                took[f"remote job{where}"] = whole
                took[f"overhead{where}"] = whole - job["seconds"]
            if run:  # the first of each prepares the program and reads the keys
                for what, seconds in took.items():
                    rows.setdefault(what, []).append(seconds)
    return [_told(f"{name}: {what}", seconds) for what, seconds in rows.items()]


def _peak(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def _upload(client: Client, pid: int, size: int) -> dict[str, Any]:
    """Send bytes that are no file; they are refused when they are complete."""
    before, ask = _peak(pid), client._transport.ask
    where = ask("POST", "/v1/uploads", b"", {**_TUS, "Upload-Length": str(size)}).headers["location"]
    start, code = time.perf_counter(), ""
    for offset in range(0, size, _BLOCK):
        piece = {**_TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": str(offset)}
        try:
            ask("PATCH", where, bytes(min(_BLOCK, size - offset)), piece)
        except RemoteError as error:
            code = error.code
    seconds = time.perf_counter() - start
    reported = {"what": f"upload of {size / 1e9:.1f} GB", "ended": code, "mb_a_second": size / 1e6 / seconds}
    return {**reported, "peak_mb_before": before, "peak_mb": _peak(pid)}


@contextlib.contextmanager
def _service(more: list[str]) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    """A service with these options beside its own, and a client of it."""
    with tempfile.TemporaryDirectory() as folder:
        verb = [str(binary.find()), "--dir", folder, "--listen", "127.0.0.1:0", "--threads", "1"]
        verb += ["--disk-free", "0", *more]
        with subprocess.Popen(verb, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            url, token = (process.stdout.readline().split()[-1] for _ in range(2))
            try:
                with Client(url, token) as client:
                    yield process, client
            finally:
                process.terminate()


def main() -> None:
    """Measure, and print a row for each figure as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--upload-gb", type=float, default=1.0)
    parser.add_argument("--beside", default="", help="options of a second service")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        process, client = stack.enter_context(_service([]))
        clients = {"": client}
        if options.beside:
            clients[f" ({options.beside.split()[0]})"] = stack.enter_context(
                _service(options.beside.split())
            )[1]
        rows = [{"what": "machine", "cpu": os.cpu_count(), "isa": rm._native.isa()}]
        for name, compiled in _kernels().items():
            rows += _overhead(clients, name, compiled, options.runs)
        rows += [_bare(silence, options.runs) for silence in (0.0, 0.3, 1.3)]
        if options.upload_gb:
            rows.append(_upload(client, process.pid, int(options.upload_gb * 1e9)))
    for row in rows:
        print(json.dumps(row), file=sys.stdout)


if __name__ == "__main__":
    main()
