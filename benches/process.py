"""A measured process, seen from the runner."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: The best settings of peers. Memory that is freed stays with the process, in huge pages: OpenFHE allocates
#: every limb anew, and glibc would give it back. Threads of OpenMP do not spin between requests.
SETTINGS = {
    "GLIBC_TUNABLES": ":".join(
        f"glibc.malloc.{name}={value}"
        for name, value in {
            "hugetlb": 1,
            "mmap_threshold": 1 << 30,
            "trim_threshold": 8 << 30,
            "top_pad": 256 << 20,
        }.items()
    ),
    "KMP_BLOCKTIME": "0",
}


class NotOfferedError(Exception):
    """A side cannot do a work; the message says why."""


class Process:
    """A long-lived process behind the protocol of :mod:`benches.peers.protocol`, held to given cores."""

    def __init__(self, command: Sequence[str], cores: set[int], *, peer: bool = False) -> None:
        threads = str(len(cores))
        environment = (
            os.environ
            | (SETTINGS if peer else {})
            | {
                "PYTHONPATH": str(ROOT),
                "OMP_NUM_THREADS": threads,
                "RAYON_NUM_THREADS": threads,
            }
        )
        self._child = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
        self.header = self._read()
        self.name: str = self.header["name"]

    def times(self, work: str, count: int, *, wall: bool = False) -> list[float]:
        """Run a work ``count`` times; microseconds of each run, of the processor or by the clock on the wall.

        Raises
        ------
        NotOfferedError
            The library does not offer the work, or failed while preparing it.
        """
        answer = self._ask(f"{work} {count} wall" if wall else f"{work} {count}")
        if "missing" in answer:
            raise NotOfferedError(answer["missing"])
        return list(answer["us"])

    def facts(self, work: str) -> dict[str, float]:
        """Return what else there is to say of a work that has been prepared."""
        return self._ask(f"facts {work}")

    def drop(self, parameter_set: str) -> None:
        """Let the process forget a set."""
        self._ask(f"drop {parameter_set}")

    def peak_bytes(self) -> int:
        """Return the largest resident size of the process so far."""
        return int(self._ask("peak")["peak_bytes"])

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._child.poll() is not None

    def close(self) -> None:
        """End the process by ending its input; one that has ended is no error."""
        assert self._child.stdin is not None
        # What a process that was killed did not take is still to be written.
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.close()
        self._child.wait(timeout=60)

    def _ask(self, line: str) -> dict[str, Any]:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(line + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise self._ended()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _ended(self) -> NotOfferedError:
        return NotOfferedError(f"the process ended with status {self._child.wait()}")
