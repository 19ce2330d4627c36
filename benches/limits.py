"""Limits that are no ratio: memory at set V, import, wheel size, what a second thread gives.

Called by :mod:`benches.run`; each figure stands beside the bar it must keep.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benches.process import ROOT, NotOfferedError, Process


class Limit(NamedTuple):
    """One figure and its bar; ``at_most`` says on which side of the bar it must lie."""

    what: str
    value: float
    unit: str
    bar: float
    at_most: bool

    @property
    def kept(self) -> bool:
        """Whether the figure lies on the right side of its bar."""
        return self.value <= self.bar if self.at_most else self.value >= self.bar

    def row(self) -> dict[str, Any]:
        """Return what the file holds of it."""
        return self._asdict() | {"kept": self.kept}

    def line(self) -> str:
        """Return one line of the table."""
        sign = "≤" if self.at_most else "≥"
        verdict = "kept" if self.kept else "MISSED"
        return f"{self.what:36} {self.value:9.2f} {self.unit:4} {sign} {self.bar:g}  {verdict}"


def memory(command: list[str], cores: set[int]) -> Limit:
    """Peak memory of a process that makes the keys of set V and multiplies once, on one core."""
    process = Process(command, {max(cores)})
    process.times("keygen_multiply/V", 1)
    peak = process.peak_bytes() / 1e6
    process.close()
    return Limit("memory, keygen and multiply at V", peak, "MB", 300, at_most=True)


def import_time(_command: list[str], _cores: set[int]) -> Limit:
    """What `import ringmill` adds to starting the interpreter, median of several processes."""

    def start(code: str) -> float:
        times = []
        for _ in range(9):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
            times.append(time.perf_counter() - begin)
        return statistics.median(times)

    return Limit("import ringmill", start("import ringmill") - start("pass"), "s", 0.3, at_most=True)


def wheel_size(_command: list[str], _cores: set[int]) -> Limit:
    """The wheel that a release would upload."""
    with tempfile.TemporaryDirectory() as folder:
        build = [
            sys.executable,
            "-m",
            "maturin",
            "build",
            "--quiet",
            "--release",
            "--locked",
            "--out",
            folder,
        ]
        subprocess.run(build, check=True, cwd=ROOT, stderr=subprocess.DEVNULL)
        (wheel,) = Path(folder).glob("*.whl")
        return Limit("wheel", wheel.stat().st_size / 1e6, "MB", 6, at_most=True)


def second_thread(command: list[str], cores: set[int]) -> Limit:
    """How much faster relinearisation at V is on two cores than on one, taken in turns."""
    if len(cores) < 2:
        raise NotOfferedError("one core only")
    one, two = Process(command, {max(cores)}), Process(command, set(sorted(cores)[-2:]))
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(8):
        for process, times in zip((one, two), found, strict=True):
            times += process.times("relin/V", 3, wall=True)[1:]
    one.close()
    two.close()
    speedup = statistics.median(found[0]) / statistics.median(found[1])
    return Limit("two threads, relin/V", speedup, "x", 1.8, at_most=False)


#: How the names of the limits begin that results of heavy rows give.
OF_RESULTS = ("mem/", "precision, ", "levels left, ")


def limits_of(results: list[dict[str, Any]]) -> Iterator[Limit]:
    """Yield what the results of heavy rows say of our side, the worst of a work beside any of its peers.

    Ours is the same work on one thread whatever the peer and its settings are: one limit of each kind a work.
    """
    heavy = [result for result in results if "bits" in result]
    for work in dict.fromkeys(result["work"] for result in heavy):
        own = [result for result in heavy if result["work"] == work]
        peak = max(result["mb"]["ours"] for result in own)
        bits = min(result["bits"]["ours"] for result in own)
        left = min(result["levels_left"] for result in own)
        yield Limit(f"mem/{work}", peak, "MB", 4000, at_most=True)
        yield Limit(f"precision, {work}", bits, "bits", 20, at_most=False)
        yield Limit(f"levels left, {work}", left, "", 9, at_most=False)


#: The work of which :func:`second_thread_bootstrapping` speaks.
SECOND_THREAD_WORK = "boot/full/2^16"


def second_thread_bootstrapping(command: list[str], cores: set[int]) -> Limit:
    """How much faster one bootstrapping is on two cores than on one, by the clock."""
    if len(cores) < 2:
        raise NotOfferedError("one core only")
    walls = []
    for some in ({max(cores)}, set(sorted(cores)[-2:])):  # one after the other: each takes gigabytes
        process = Process(command, some)
        walls.append(min(process.times(SECOND_THREAD_WORK, 2, wall=True)))
        process.close()
    return Limit(f"two threads, {SECOND_THREAD_WORK}", walls[0] / walls[1], "x", 1.8, at_most=False)


def facade_overhead(command: list[str], cores: set[int]) -> Limit:
    """What the facade (checks, cached lowerings, error bookkeeping) adds to the limb program at set II."""
    facade, bare = Process(command, {max(cores)}), Process([*command[:-1], "limb"], {max(cores)})
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(30):
        for process, times in zip((facade, bare), found, strict=True):
            times += process.times("relin/II", 20)[1:]
    facade.close()
    bare.close()
    percent = 100 * (statistics.median(found[0]) / statistics.median(found[1]) - 1)
    return Limit("facade over limb program, relin/II", percent, "%", 3, at_most=True)


def simulated_key_switch(_command: list[str], _cores: set[int]) -> Limit:
    """A rotation of 4096 slots by three limbs of 54 bits, a digit each, on the RTL under Verilator."""
    import ringmill as rm
    from ringmill.project.simulator import verilator

    if not verilator():
        raise NotOfferedError("no Verilator on the path: scripts/eda.sh")
    kernel = rm.kernel(lambda x: x.rotate(1)).compile(
        rm.vector(4096), params=rm.Params.from_bits(13, [54, 54, 54], [54], 3, insecure=True)
    )
    keys = kernel.keygen()
    given = kernel.encrypt(keys, x=[0.5] * 4096)
    times = []
    for _ in range(4):  # the first one loads the program
        begin = time.perf_counter()
        kernel.evaluate(keys, given, machine="verilator:butterflies=4")
        times.append(time.perf_counter() - begin)
    what = "simulated key switch, N = 2^13, 4 butterflies"
    return Limit(what, statistics.median(times[1:]), "s", 10, at_most=True)


Measure = Callable[[list[str], set[int]], Limit]

#: What a run without arguments takes.
LIGHT: list[Measure] = [
    facade_overhead,
    memory,
    second_thread,
    import_time,
    wheel_size,
    simulated_key_switch,
]


def limits(measures: list[Measure], command: list[str], cores: set[int]) -> Iterator[Limit]:
    """Yield each figure that can be taken; the others are named with the reason."""
    for measure in measures:
        try:
            yield measure(command, cores)
        except (NotOfferedError, subprocess.CalledProcessError) as reason:
            print(f"{measure.__name__}: {reason}", flush=True)
