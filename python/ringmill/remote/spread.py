"""Spreads the runs of a batch over actors of Ray: what `ringmill serve --ray` has the service start.

    python -m ringmill.remote.spread WORKER MEMORY FILE [--actors N] [--address ADDRESS]

It stands where a worker of the service stands and speaks as one: a request a line, answers as lines. It opens
no file of a tenant. An actor starts WORKER, the service's own limited process, and hands lines on; that reads
its share of the runs and writes their results to a file, and at the end one joins these files. What is lost
with an actor, or with its process, is given to another. The service decides by the lease which results count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

#: How often the share of an actor that died is given to another.
ATTEMPTS = 4

#: Shares for each actor: one that is slow holds up less.
SHARES = 2

#: Seconds in which actors start.
START = 120.0

#: What workers know of the environment: what chooses instruction sets and costs.
KEPT = ("RINGMILL_ISA", "RINGMILL_COSTS", "HOME", "XDG_CACHE_HOME")

Request = dict[str, Any]
Answer = dict[str, Any]
#: Has requests of a tenant answered side by side; gives answers as they come.
Ask = Callable[[int, list[Request]], Iterator[Answer]]


class LostError(Exception):
    """A worker ended without an answer."""


class Worker:
    """A limited process of the service, which keeps the program and the mapped keys of its last share."""

    def __init__(self, command: list[str]) -> None:
        self.command = command
        self.tenant: int | None = None
        self.process: subprocess.Popen[str] | None = None

    def ask(self, tenant: int, request: Request) -> Answer:
        """The last answer to a request, of a process that has seen no other tenant's files.

        Raises
        ------
            LostError: it ended before.
        """
        if self.tenant != tenant or self.process is None or self.process.poll() is not None:
            self.end()
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in KEPT if name in os.environ},
                text=True,
            )
            self.tenant = tenant
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        for line in self.process.stdout:
            answer: Answer = json.loads(line)
            if answer["is"] != "progress":
                return answer
        raise LostError(f"a worker ended with status {self.process.wait()}")

    def end(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def pid(self) -> int | None:
        """The number of the process."""
        return None if self.process is None else self.process.pid


def shares(runs: int, most: int) -> list[tuple[int, int]]:
    """First run and number of runs of at most ``most`` shares, which differ by one run.

    >>> shares(7, 3)
    [(0, 3), (3, 2), (5, 2)]
    """
    count = min(runs, most)
    sizes = [runs // count + (at < runs % count) for at in range(count)]
    return [(sum(sizes[:at]), size) for at, size in enumerate(sizes)]


def parts_of(request: Request, actors: int) -> list[Request]:
    """The shares of a batch, as requests to workers, each with a file of its own for its results."""
    run = {name: value for name, value in request.items() if name not in ("do", "runs", "tenant")}
    asked = []
    for number, (first, count) in enumerate(shares(request["runs"], SHARES * actors)):
        share = {"first": first, "count": count}
        asked.append({**run, "do": "run", "share": share, "out": f"{run['out']}.{number}"})
    return asked


def joining(request: Request, parts: list[Request]) -> Request:
    """The request that makes one file of the results of all shares."""
    files = [{"path": part["out"], "runs": part["share"]["count"]} for part in parts]
    return {"do": "join", "parts": files, "out": request["out"], "runs": request["runs"]}


def spread(
    request: Request, ask: Callable[[int, list[Request]], Iterator[Answer]], actors: int
) -> Iterator[Answer]:
    """The answers to a request: progress, and how it ended."""
    tenant = request["tenant"]
    parts = parts_of(request, actors)
    try:
        seconds, beside = 0.0, 0.0
        for came, answer in enumerate(ask(tenant, parts), 1):
            if answer["is"] != "done":
                yield answer
                return
            seconds, beside = seconds + answer["seconds"], max(beside, answer["beside"])
            yield {"is": "progress", "done": came, "all": len(parts)}
        for answer in ask(tenant, [joining(request, parts)]):
            whole = answer["is"] == "done"
            yield {**answer, "seconds": seconds, "beside": beside + answer["beside"]} if whole else answer
    finally:
        for part in parts:
            Path(part["out"]).unlink(missing_ok=True)


class Cluster:
    """Actors of Ray with a worker each."""

    def __init__(self, command: list[str], actors: int, address: str | None) -> None:
        import ray

        self.ray = ray
        if not ray.is_initialized():
            # Nobody else reaches a cluster of this machine alone.
            local = {} if address else {"num_cpus": actors, "_node_ip_address": "127.0.0.1"}
            ray.init(address=address, include_dashboard=False, log_to_driver=False, **local)
        # An actor that dies starts anew, and its share is given on below.
        actor = ray.remote(max_restarts=-1, max_task_retries=0, num_cpus=1)(Worker)
        self.actors = [actor.remote(command) for _ in range(actors)]
        ray.get([one.pid.remote() for one in self.actors], timeout=START)

    def ask(self, tenant: int, requests: list[Request]) -> Iterator[Answer]:
        """An `Ask`. What an actor lost is given to the next that is free, up to `ATTEMPTS` times."""
        waiting = [(request, 1) for request in reversed(requests)]
        idle, running = list(self.actors), dict[Any, tuple[Any, Request, int]]()
        while waiting or running:
            while waiting and idle:
                (request, attempt), actor = waiting.pop(), idle.pop()
                running[actor.ask.remote(tenant, request)] = (actor, request, attempt)
            (ended,), _ = self.ray.wait(list(running))
            actor, request, attempt = running.pop(ended)
            idle.insert(0, actor)
            try:
                answer = self.ray.get(ended)
            except (self.ray.exceptions.RayError, LostError) as error:
                if attempt == ATTEMPTS:
                    yield failed(f"a share of the batch was lost {ATTEMPTS} times ({type(error).__name__})")
                    return
                waiting.append((request, attempt + 1))
            else:
                yield answer


def failed(message: str) -> Answer:
    """A failure for want of a process: the service tries again."""
    return {"is": "failed", "class": "resource", "code": "WorkerKilled", "message": message}


def main() -> None:
    """Answer requests until there are no more."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("worker", nargs=3, metavar=("WORKER", "MEMORY", "FILE"))
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--address")
    options = parser.parse_args()
    program, memory, file = options.worker
    # What Ray and its libraries print is no answer.
    out, sys.stdout = sys.stdout, sys.stderr
    cluster: Cluster | None = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            cluster = cluster or Cluster([program, "worker", memory, file], options.actors, options.address)
            for answer in spread(request, cluster.ask, options.actors):
                print(json.dumps(answer), file=out, flush=True)
        except Exception as error:
            # The service has what it says; the file's end shows that nobody answers.
            print(json.dumps(failed(f"Ray cannot be used ({type(error).__name__})")), file=out, flush=True)
            raise


if __name__ == "__main__":
    main()
