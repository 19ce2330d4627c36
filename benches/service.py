"""What the service adds to a run: local and remote in turns, in one process each, on loopback.

    python -m benches.service [--runs N] [--upload-gb G]

It prints the seconds of a local ``evaluate`` with keys in memory, of the engine in the worker, and of a
whole remote job: submit, wait, fetch. The overhead is the whole job less the engine's own time in the same
run. Then it sends bytes that are no file and prints the most memory that the service took meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import ringmill as rm
from ringmill.errors import RemoteError
from ringmill.remote import Client, binary

_TUS = {"Tus-Resumable": "1.0.0"}
_BLOCK = 64 << 20


def _kernels() -> dict[str, Any]:
    """A kernel of milliseconds and one of about a second."""
    small = rm.kernel(lambda x: (x * x + 0.5) * x).compile(rm.vector(64), params=rm.Params.named("II"))
    weights = np.random.default_rng(1).uniform(-1, 1, (512, 512)) / 512
    large = rm.kernel(lambda x: (weights @ x) ** 2).compile(rm.vector(512), params=rm.Params.named("IV"))
    return {"small": small, "large": large}


def _told(name: str, seconds: list[float]) -> dict[str, Any]:
    return {"what": name, "min_ms": 1e3 * min(seconds), "median_ms": 1e3 * statistics.median(seconds)}


def _overhead(client: Client, name: str, compiled: Any, runs: int) -> list[dict[str, Any]]:
    keys = compiled.keygen()
    shape = next(iter(compiled.signature.inputs.values())).shape
    arguments = compiled.encrypt(keys.secret, x=np.linspace(-1, 1, shape[0]))
    hashes = [client.push(what) for what in (compiled, keys, arguments)]
    local, engine, whole, added = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results"
        for run in range(runs + 1):
            start = time.perf_counter()
            results = compiled.evaluate(keys, arguments, machine="cpu:threads=1")
            between = time.perf_counter()
            job = client.wait(client.submit(*hashes)["id"])
            client.fetch(job["result"], out)
            end = time.perf_counter()
            assert out.read_bytes() == results.to_bytes()
            if run:  # the first of each prepares the program and reads the keys
                local.append(between - start)
                engine.append(job["seconds"])
                whole.append(end - between)
                added.append(end - between - job["seconds"])
    rows = {"local evaluate": local, "engine in the worker": engine, "remote job": whole, "overhead": added}
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


def main() -> None:
    """Measure, and print a row for each figure as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--upload-gb", type=float, default=1.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        verb = [str(binary.find()), "--dir", folder, "--listen", "127.0.0.1:0", "--threads", "1"]
        verb += ["--disk-free", "0"]
        with subprocess.Popen(verb, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            url, token = (process.stdout.readline().split()[-1] for _ in range(2))
            try:
                with Client(url, token) as client:
                    rows = [{"what": "machine", "cpu": os.cpu_count(), "isa": rm._native.isa()}]
                    for name, compiled in _kernels().items():
                        rows += _overhead(client, name, compiled, options.runs)
                    rows.append(_upload(client, process.pid, int(options.upload_gb * 1e9)))
            finally:
                process.terminate()
    for row in rows:
        print(json.dumps(row), file=sys.stdout)


if __name__ == "__main__":
    main()
