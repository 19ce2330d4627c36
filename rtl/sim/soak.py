"""A campaign of random programs on random cores: `make soak`, or `python -m rtl.sim.soak --hours 8`.

Each case draws a core (every parameter that `rtl/core/parameters.json` lists as simulated), builds it, and
runs random limb programs and random lists of instructions on it, each on a random memory. Bits must be those
of the reference machine, and every counter that of the cycle model. Everything follows from the campaign's
seed and the number of the case.

`OUT/log-SEED.jsonl` has a line for each case that has ended, so a campaign that was stopped goes on where it
was, and `--case K` repeats one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from rtl.sim.build import BuildError, Parameters, build
from rtl.tools.block import ROOT, declared

#: Programs of a case: some minutes, where a core takes one to build.
PROGRAMS = 60
#: Parameters that are drawn from less than what is built: cores up to 2^12, so that a case takes minutes.
_NARROWER = {"LOGN_MAX": [10, 11, 12], "MODS": [2, 3, 4, 5, 8, 16, 32], "ONES": [0]}
#: Of q = 2^31 + f, f < 2^16, there is one prime that is 1 modulo 2^11.
_PRF_FIKO, _SHORTEST = 2, 32
_CARGO = ("cargo", "test", "-q", "--locked", "--profile", "full", "-p", "ringmill-machine", "--lib")
_TEST = "compact::tests::simulated::soak"


def drawn(seed: int, case: int) -> tuple[Parameters, int]:
    """The core of a case, and the seed of its first program."""
    generator = random.Random(f"{seed}/{case}")
    kinds = next(p for p in declared() if p.get("rtl") == "KIND")["values"]
    while True:
        values = {
            p["rtl"]: generator.choice(
                list(range(len(kinds))) if p["rtl"] == "KIND" else _NARROWER.get(p["rtl"]) or p["values"]
            )
            for p in declared()
            if p.get("simulated")
        }
        if (values["KIND"], values["W"]) != (_PRF_FIKO, _SHORTEST):
            return Parameters(**values), generator.randrange(2**40)


def step(seed: int, case: int, programs: int, place: Path) -> dict[str, object]:
    """Run one case; return its line of the log."""
    parameters, first = drawn(seed, case)
    start = time.monotonic()
    line: dict[str, object] = {
        "case": case,
        "seed": first,
        "programs": programs,
        "core": asdict(parameters),
    }
    try:
        library = build(parameters, observes=True, into=place / "core")
    except BuildError as error:
        return {**line, "ok": False, "said": str(error), "seconds": round(time.monotonic() - start, 1)}
    done = subprocess.run(
        [*_CARGO, "--", "--ignored", "--exact", _TEST],
        cwd=ROOT,
        env={
            **os.environ,
            "RINGMILL_TEST_CORE": str(library),
            "RINGMILL_SOAK_SEED": str(first),
            "RINGMILL_SOAK_PROGRAMS": str(programs),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(place / "core", ignore_errors=True)
    ok = done.returncode == 0 and "1 passed" in done.stdout
    line |= {"ok": ok, "seconds": round(time.monotonic() - start, 1)}
    return line if ok else {**line, "said": (done.stdout + done.stderr)[-4000:]}


def read(log: Path) -> list[dict[str, object]]:
    """The cases that have ended. A last line that was cut off is none."""
    found = []
    for text in log.read_text().splitlines() if log.is_file() else ():
        try:
            found.append(json.loads(text))
        except json.JSONDecodeError:
            break
    return found


def main() -> int:
    """Run cases until the time is over; status 1 when one of the log failed."""
    parser = argparse.ArgumentParser(prog="python -m rtl.sim.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=8, help="no case begins after that (8)")
    parser.add_argument("--seed", type=int, default=1, help="of the campaign (1)")
    parser.add_argument("--programs", type=int, default=PROGRAMS, help=f"of a case ({PROGRAMS})")
    parser.add_argument("--case", type=int, help="this case alone, without a log")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "soak", help="folder (build/soak)")
    options = parser.parse_args()
    if "EDA_HOME" not in os.environ:
        parser.error("the hardware tools are not in the environment: scripts/eda.sh; . build/eda/env.sh")
    if options.case is not None:
        line = step(options.seed, options.case, options.programs, options.out)
        print(json.dumps(line, indent=2))
        return 0 if line["ok"] else 1
    log = options.out / f"log-{options.seed}.jsonl"
    options.out.mkdir(parents=True, exist_ok=True)
    lines = read(log)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    end = time.monotonic() + 3600 * options.hours
    while time.monotonic() < end:
        line = step(options.seed, len(lines), options.programs, options.out)
        with log.open("a") as file:
            file.write(json.dumps(line) + "\n")
        lines.append(line)
        core = " ".join(f"{name}={value}" for name, value in line["core"].items())  # type: ignore[attr-defined]
        print(
            f"{'ok  ' if line['ok'] else 'FAIL'} case {line['case']:<5} {line['seconds']} s  {core}",
            flush=True,
        )
    bad = [line["case"] for line in lines if not line["ok"]]
    print(
        f"{len(lines) - len(bad)} of {len(lines)} cases passed" + "".join(f"; failed: {case}" for case in bad)
    )
    return 1 if bad or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
