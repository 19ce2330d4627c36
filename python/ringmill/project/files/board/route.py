"""From the sources that LiteX wrote to a bitstream: yosys, nextpnr-ecp5, ecppack, and a report of it.

``soc.py`` calls this. It takes minutes to an hour, says every half minute where it is, and gives no bitstream
whose clocks do not reach what was asked for.
"""

import hashlib
import importlib.metadata
import json
import re
import subprocess
import time
from pathlib import Path

#: Options of nextpnr beside LiteX's. Its default placer needs half as much wire again.
PLACE_AND_ROUTE = "--placer static --router router1 --quiet --report timing.json --log nextpnr.log "
#: Seconds between two lines of progress.
SAYS_EVERY = 30
#: What is counted, by nextpnr's names.
CELLS = {
    "lut": "TRELLIS_COMB",
    "ff": "TRELLIS_FF",
    "dsp": "MULT18X18D",
    "ebr": "DP16KD",
    "io": "TRELLIS_IO",
    "pll": "EHXPLLL",
}
PACKAGES = ("litex", "litedram", "migen", "litex-boards", "pythondata-cpu-vexriscv")


class RouteError(Exception):
    """A tool failed, or a clock is too slow."""


def bitstream(folder, name, mhz, seed):
    """Run LiteX's script of ``name`` in ``folder``, and give what the report says of it."""
    start, steps = time.monotonic(), {}
    stage, began = "yosys", start
    made = {"yosys": f"{name}.json", "nextpnr": f"{name}.config", "ecppack": f"{name}.bit"}
    for file in (*made.values(), "timing.json"):
        (folder / file).unlink(missing_ok=True)
    log = folder / "build.log"
    with log.open("w") as out:
        build = subprocess.Popen(
            ["bash", f"build_{name}.sh"], cwd=folder, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            said = start
            while build.poll() is None:
                time.sleep(0.5)
                now = time.monotonic()
                if stage != "ecppack" and (folder / made[stage]).is_file():
                    steps[stage], began = now - began, now
                    stage = "nextpnr" if stage == "yosys" else "ecppack"
                if now - said > SAYS_EVERY:
                    said = now
                    print(f"{stage}, {(now - start) / 60:.1f} minutes", flush=True)
        finally:
            build.kill()
            build.wait()
    steps[stage] = time.monotonic() - began
    timing = folder / "timing.json"
    clocks = _clocks(json.loads(timing.read_text())) if timing.is_file() else {}
    slow = {clock: one for clock, one in clocks.items() if one["reached_mhz"] < one["asked_mhz"]}
    if slow:
        (folder / made["ecppack"]).unlink(missing_ok=True)
        clock, one = min(slow.items(), key=lambda item: item[1]["reached_mhz"] / item[1]["asked_mhz"])
        raise RouteError(
            f"clock {clock} reaches {one['reached_mhz']} of {one['asked_mhz']} MHz with seed {seed}: "
            f"take another --seed, or an --mhz below {mhz:g}; there is no bitstream"
        )
    if build.returncode:
        raise RouteError(f"{stage} failed: {_last(log)} (all of it: {log})")
    report = json.loads(timing.read_text())
    bits = (folder / made["ecppack"]).read_bytes()
    return {
        "clocks": clocks,
        "used": _used(report["utilization"]),
        "seed": seed,
        "minutes": {step: round(seconds / 60, 1) for step, seconds in steps.items()},
        "tools": _tools(),
        "bitstream": {"bytes": len(bits), "sha256": hashlib.sha256(bits).hexdigest()},
    }


def sources(folder):
    """One digest of what the bitstream is made from: the core as plain Verilog, and the system around it."""
    digest = hashlib.sha256()
    for place in ("build/ringmill_axi.v", "board/litex_module.py", "board/soc.py"):
        digest.update(hashlib.sha256((folder / place).read_bytes()).digest())
    return digest.hexdigest()


def _clocks(report):
    """Each clock with what it reaches; the names of nets are shortened."""
    return {
        re.sub(r"^.*\$glbnet\$", "", name): {
            "reached_mhz": round(one["achieved"], 2),
            "asked_mhz": round(one["constraint"], 2),
        }
        for name, one in report["fmax"].items()
    }


def _used(counts):
    """Cells in use and on the device."""
    return {
        cell: {"used": counts[there]["used"], "of": counts[there]["available"]}
        for cell, there in CELLS.items()
    }


def _last(log):
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["it said nothing"])[-1]


def _tools():
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    for name, option in (("yosys", "-V"), ("nextpnr-ecp5", "--version")):
        done = subprocess.run([name, option], capture_output=True, text=True, check=True)
        said = (done.stdout + done.stderr).strip().splitlines()[-1]
        found[name] = re.search(r"\d+\.\d+(\.\d+)?", said)[0]
    return found


def write(path, report):
    """Write a report whole, or not at all."""
    path = Path(path)
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(report, indent=1) + "\n")
    beside.replace(path)
