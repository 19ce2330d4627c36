"""Building a test with Verilator and running it."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rtl.tools import cover
from rtl.tools.block import ROOT, RTL, Block, Test, load, sources

# Another simulator to compare with, as `make test-full` does with the distribution's: its command. It runs
# unoptimised, since Debian's 5.006 gives wrong sums of wide words (rm_modmul_lut_product) unless -O0 is set.
VERILATOR = os.environ.get("RTL_VERILATOR", "verilator")
BUILD = ROOT / "build" / ("rtl" if VERILATOR == "verilator" else "rtl-compared")

# -Wall stands in lint; here warnings that a test bench raises must not hide behind waivers of the design.
_FLAGS = (
    "--cc",
    "--exe",
    "--build",
    "--assert",
    "-O3" if VERILATOR == "verilator" else "-O0",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
)
# x86-64-v3 is not assumed: the simulators must run where the rest of the project does.
_CFLAGS = ("-std=gnu++17", "-Wall")


@dataclass(frozen=True)
class Outcome:
    """What one simulator said."""

    label: str
    ok: bool
    seconds: float
    text: str
    #: Points of the block's plan that its runs reached, with how often.
    covered: Counter[str] = field(default_factory=Counter)


def _speed(full: bool) -> str:
    """How the compiler optimises: what runs each cycle, and what runs once.

    Short runs take a tenth of the time of compiling at -O2, and half of that is code that runs once.
    """
    return f"OPT_FAST={'-O2' if full else '-O1'} OPT_SLOW=-O0"


def _wrapped(test: Test, out: Path) -> dict[Path, str]:
    """The harness as it is compiled: each file behind the test's parameters.

    Parameters on the command line would make each simulator compile Verilator's runtime anew: with the same
    flags for all, a compiler cache has it from the second one on.
    """
    defines = "".join(f"#define P_{key} {value}\n" for key, value in test.params.items())
    return {
        out / f"with_parameters_{number}.cpp": f'{defines}#include "{path}"\n'
        for number, path in enumerate(test.harness)
    }


def _command(
    test: Test, block: Block, root: Path, out: Path, harness: Iterable[Path], full: bool
) -> list[str]:
    files, waivers = sources(block, root)
    return [
        VERILATOR,
        *_FLAGS,
        *test.verilator,
        *(f"-G{key}={value}" for key, value in test.params.items()),
        "-CFLAGS",
        shlex.join([*_CFLAGS, f"-I{root / 'tools' / 'cpp'}", *test.cflags]),
        "-MAKEFLAGS",
        _speed(full),
        "--Mdir",
        str(out),
        "-o",
        "tb",
        "--prefix",
        "Vtop",
        "--top-module",
        test.top,
        *map(str, [*waivers, *files, *test.files, *harness]),
    ]


def _digest(command: list[str], root: Path, test: Test, wrapped: dict[Path, str]) -> str:
    state = hashlib.sha256("\0".join([*command, *wrapped.values()]).encode())
    inputs = [Path(word) for word in command if word.startswith("/") and Path(word).is_file()]
    inputs = [*(path for path in inputs if path not in wrapped), *test.harness]
    headers = [*(root / "tools" / "cpp").glob("*.h"), *(root / test.block / "test").glob("*.h")]
    for path in sorted({*inputs, *headers}):
        state.update(path.read_bytes())
    return state.hexdigest()


def build(test: Test, root: Path = RTL, into: Path = BUILD, full: bool = False) -> str | None:
    """Build the simulator unless it is there, for long runs if `full`; return what went wrong, or None."""
    out = into / test.block / test.name
    wrapped = _wrapped(test, out)
    command = _command(test, load(test.block, root), root, out, wrapped, full)
    digest, stamp = _digest(command, root, test, wrapped), out / "inputs.sha256"
    if stamp.is_file() and stamp.read_text() == digest:
        return None
    # What a build that was ended left behind can be half written.
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path, text in wrapped.items():
        path.write_text(text, encoding="utf-8")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (out / "build.log").write_text(shlex.join(command) + "\n" + done.stdout + done.stderr)
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).splitlines()
        errors = [line for line in lines if "rror" in line] or lines
        return "does not build:\n    " + "\n    ".join(errors[:8])
    stamp.write_text(digest)
    return None


def run(
    test: Test, full: bool, root: Path = RTL, into: Path = BUILD, limit_s: float | None = None
) -> Outcome:
    """Build the test and make its runs; it passes when every one leaves with status 0."""
    start = time.monotonic()
    said: list[str] = []
    covered: Counter[str] = Counter()
    fault = build(test, root, into, full)
    runs = test.full if full else test.run
    if not runs:
        fault = "has no runs outside of test-full: --full"
    for arguments in () if fault else runs:
        try:
            done = subprocess.run(
                [str(into / test.block / test.name / "tb"), *arguments],
                capture_output=True,
                text=True,
                check=False,
                timeout=limit_s,
            )
        except subprocess.TimeoutExpired:
            fault = f"{' '.join(arguments)}: no end after {limit_s} s"
            break
        lines = (done.stdout + done.stderr).strip().splitlines()
        if done.returncode != 0:
            fault = f"{' '.join(arguments)}: status {done.returncode}\n    " + "\n    ".join(lines[-8:])
            break
        said.append(lines[-1] if lines else "")
        covered += cover.parsed(lines)
    return Outcome(test.label, fault is None, time.monotonic() - start, fault or " | ".join(said), covered)


def run_all(tests: list[Test], full: bool, jobs: int | None = None) -> list[Outcome]:
    """Run tests side by side, one simulator a core, printing each as it ends.

    Then what of the blocks' plans they reached. A hole in a plan is an outcome that is not ok.
    """
    print(f"== {len(tests)} simulators")
    outcomes = []
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        for outcome in pool.map(lambda test: run(test, full), tests):
            mark = "ok  " if outcome.ok else "FAIL"
            print(f"{mark} {outcome.label:<34} {outcome.seconds:6.1f} s  {outcome.text}", flush=True)
            outcomes.append(outcome)
    reached: dict[str, dict[str, Counter[str]]] = defaultdict(dict)
    for test, outcome in zip(tests, outcomes, strict=True):
        if outcome.ok:
            reached[test.block][test.name] = outcome.covered
    for block, by_test in reached.items():
        if missed := cover.holes(block, by_test):
            outcomes.append(Outcome(f"{block}: plan", False, 0.0, f"{len(missed)} points were not reached"))
    return outcomes
