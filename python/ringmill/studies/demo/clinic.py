"""Encrypted diagnosis through files: a client that holds the secret key, a server that never sees it.

The folders show who has what: ``client/`` holds the keys and the records, ``server/`` only what was sent.
The server is a process of its own, started in its folder.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ringmill.compiled import Compiled
from ringmill.errors import CommandError, fail
from ringmill.kernels import logistic_regression, sigmoid
from ringmill.keys import SECRET
from ringmill.progress import Show, steps
from ringmill.studies.demo.effort import run_effort
from ringmill.studies.demo.model import Clinic, train
from ringmill.trace import matrix
from ringmill.values import Values

DEGREE = 15
PRECISION = 20
STAGES = ("train in the clear", "compile", "make keys", "encrypt", "evaluate", "decrypt")


class _Clock:
    """Seconds of each stage."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    @contextmanager
    def stage(self, name: str, where: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.rows.append({"name": name, "where": where, "seconds": time.perf_counter() - start})


def outline(text: str) -> str:
    """A program's text without its tables of constants."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("data "))


def serve(folder: Path) -> dict[str, Any]:
    """Evaluate in a process of its own that sees the server's folder; returns what it printed."""
    command = [sys.executable, "-m", "ringmill", "evaluate", "--json", "--quiet"]
    command += ["--kernel", "kernel", "--keys", "evaluation.keys", "--input", "arguments", "--out", "results"]
    # The package may be importable only through the current folder, which the server does not share.
    paths = os.pathsep.join(str(Path(p).resolve()) for p in sys.path if p)
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(CommandError, "Server", f"The server process failed: {done.stderr.strip() or done.returncode}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@dataclass(frozen=True, slots=True)
class Job:
    """What the clinic wants done: its model, and the sigmoid as a polynomial."""

    clinic: Clinic
    activation: Any

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the kernel is traced with."""
        records, features = self.clinic.test.shape
        encrypted = matrix(records, features, packing="columns")
        return encrypted, self.clinic.weights, self.clinic.bias, self.activation

    def expected(self) -> Any:
        """What would come out in the clear."""
        return np.asarray(self.activation(self.clinic.scores()))


def run_clinic(folder: Path, show: Show) -> tuple[dict[str, Any], Job]:
    """The whole job; returns the results that the report draws, and the job."""
    client, server = folder / "client", folder / "server"
    shutil.rmtree(folder, ignore_errors=True)
    client.mkdir(parents=True)
    server.mkdir()
    clock = _Clock()
    with steps("clinic", len(STAGES), show) as step:
        step("train in the clear")
        with clock.stage("train in the clear", "once"):
            clinic = train()
            job = Job(clinic, sigmoid(DEGREE, clinic.bound))
        step("compile")
        with clock.stage("compile", "once"):
            compiled = logistic_regression.compile(*job.arguments, precision=PRECISION)
            sent = {"kernel file": compiled.save(server / "kernel")}
        step("make keys")
        with clock.stage("make keys", "client"):
            keys = compiled.keygen()
            keys.save(client)
            shutil.move(client / "evaluation.keys", server / "evaluation.keys")
            sent["evaluation keys"] = (server / "evaluation.keys").stat().st_size
        step("encrypt")
        with clock.stage("encrypt", "client"):
            arguments = compiled.encrypt(keys.secret, x=clinic.test)
            sent["encrypted records"] = arguments.save(server / "arguments")
        step("evaluate")
        with clock.stage("server process", "server"):
            answer = serve(server)
        step("decrypt")
        with clock.stage("decrypt", "client"):
            results = Values.load(server / "results", "results", compiled.params)
            decrypted = np.asarray(compiled.decrypt(keys.secret, results))
    received = {"encrypted results": (server / "results").stat().st_size}
    assert not (server / SECRET).exists()
    reported = _results(job, compiled, decrypted, results.error_log2, clock, answer, sent, received)
    return {**reported, "effort": run_effort(compiled, keys, show)}, job


def _results(
    job: Job,
    compiled: Compiled,
    decrypted: Any,
    predicted: float,
    clock: _Clock,
    answer: dict[str, Any],
    sent: dict[str, int],
    received: dict[str, int],
) -> dict[str, Any]:
    clinic, activation = job.clinic, job.activation
    exact = clinic.probabilities()
    errors = np.abs(decrypted - job.expected())
    clear = (exact > 0.5).astype(int)
    encrypted = (decrypted > 0.5).astype(int)
    measured = math.log2(float(np.max(errors)))
    files = [{"name": n, "bytes": b, "direction": "up"} for n, b in sent.items()]
    files += [{"name": n, "bytes": b, "direction": "down"} for n, b in received.items()]
    params = compiled.params
    return {
        "records": {
            "train": clinic.train_records,
            "test": len(clinic.test),
            "features": clinic.test.shape[1],
        },
        "accuracy": {
            "encrypted": float(np.mean(encrypted == clinic.labels)),
            "plain": float(np.mean(clear == clinic.labels)),
        },
        "agreement": {"same": int(np.sum(encrypted == clear))},
        "sigmoid": {"degree": DEGREE, "bound": round(clinic.bound, 2), "error": activation.error},
        "probabilities": {
            "clear": exact.tolist(),
            "encrypted": decrypted.tolist(),
            "labels": clinic.labels.tolist(),
        },
        "error": {
            "predicted_log2": predicted,
            "measured_log2": measured,
            "bits_below_polynomial": math.log2(activation.error) - measured,
            "log2_each": np.log2(np.maximum(errors, 2.0**-60)).tolist(),
        },
        "params": {"security": params.security, "log_n": params.log_n},
        "rationale": compiled.rationale,
        "stages": clock.rows,
        "evaluate_seconds": answer["seconds"],
        "files": files,
        "program": {"name": compiled.name, "text": compiled.text, "outline": outline(compiled.text)},
        "statistics": statistics(compiled),
    }


def statistics(compiled: Compiled) -> list[list[str]]:
    """Facts about a compiled program, for a reader."""
    params, cost = compiled.params, compiled.cost
    rows = [
        ["ring degree", f"2^{params.log_n}"],
        ["slots in use", f"{compiled.signature.slots} of {params.slots}"],
        ["ciphertext primes", f"{len(params.q)}, {params.log_q:.0f} bits together"],
        ["special primes", f"{len(params.p)}, {params.log_p:.0f} bits together"],
        ["digits of a key switch", str(params.dnum)],
        ["levels used", str(cost["levels"])],
        ["key switches", str(cost["key_switches"])],
        ["evaluation keys", compiled.keys_needed],
    ]
    operations = {
        n: c for n, c in cost.items() if n not in ("levels", "key_switches", "hoisted", "key_bytes")
    }
    rows.append(["operations", ", ".join(f"{count} {name}" for name, count in operations.items())])
    return rows
