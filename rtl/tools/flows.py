"""One synthesis by each of the open flows, as a row of figures.

`xc7` (Artix-7 cells, delays of the cells alone), `xcup` (UltraScale+, area alone), `ecp5` (area; placed and
routed when seeds are given), `asic45` (45 nm cells before placement). Only a routed ecp5 row has a frequency.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path

from rtl.synth.cells import Row, cells, figures, script, total
from rtl.tools.block import RTL, BlockError

# Of a routed ecp5 row: the largest device that the open flow knows, at its slowest speed grade. The ports of
# a block are no pads, hence out of context; the target only sets the effort of the tool. The electrostatic
# placer (`static`) lays a core out with two thirds of the wire of the default one, in less time.
_ECP5_DEVICE = ("--85k", "--package", "CABGA756", "--speed", "6", "--placer", "static", "--router", "router1")
_ECP5_MODE = (
    "--out-of-context",
    "--timing-allow-fail",
    "--freq",
    "100",
    "--quiet",
)


def yosys(commands: str, where: Path, name: str) -> None:
    """Run a script in a folder; what yosys calls an error is raised."""
    (where / f"{name}.ys").write_text(commands)
    done = subprocess.run(
        ["yosys", "-ql", f"{name}.log", f"{name}.ys"], cwd=where, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        log = (where / f"{name}.log").read_text() + done.stderr
        errors = "\n".join(line for line in log.splitlines() if "error" in line.lower())[:2000]
        raise RuntimeError(errors or f"yosys ended with {done.returncode}, and said nothing of an error")


def _figures(family: str, where: Path, top: str) -> Row:
    return figures(family, cells(where / "stat.json", top)[0])


def xc7(read: str, top: str, where: Path, seeds: tuple[int, ...]) -> Row:
    """Synthesise for 7-series and add up cell delays."""
    yosys(
        f"{read}\n{script('xc7', top)}rename -wire\nwrite_rtlil net.il\n",
        where,
        "synth",
    )
    # Synthesis strips the delays of the cells it has used: forget all models and read them again.
    yosys(
        "read_rtlil net.il\ndelete =A:blackbox =A:whitebox %u\n"
        "read_verilog -lib -specify +/xilinx/cells_sim.v\n"
        f"read_verilog -lib -specify -overwrite {RTL / 'synth' / 'xc7_sta_ff.v'}\ntee -q -o sta.txt sta\n",
        where,
        "sta",
    )
    arrival = re.search(r"Latest arrival time in '.*' is (\d+)", (where / "sta.txt").read_text())
    row = _figures("xc7", where, top)
    status = "synthesised, not placed, not routed; cell delays only, Artix-7 models"
    return row | {"path_ns": int(arrival.group(1)) / 1000 if arrival else None, "status": status}


def xcup(read: str, top: str, where: Path, seeds: tuple[int, ...]) -> Row:
    """Synthesise for UltraScale+."""
    yosys(
        f"{read}\n{script('xcup', top)}",
        where,
        "synth",
    )
    return _figures("xcup", where, top) | {"status": "synthesised for xcup, no timing"}


def _route(where: Path, seed: int) -> tuple[float | None, int]:
    """Return the frequency that a seed reaches, none where it does not route, and the LUTs in use."""
    names = ["--json", "net.json", "--report", f"pnr{seed}.json", "--log", f"pnr{seed}.log"]
    done = subprocess.run(
        ["nextpnr-ecp5", *_ECP5_DEVICE, *_ECP5_MODE, "--seed", str(seed), *names],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        print(f"seed {seed}: {done.stderr[-1000:]}", flush=True)
        return None, 0
    report = json.loads((where / f"pnr{seed}.json").read_text())
    fmax = min(clock["achieved"] for clock in report["fmax"].values())
    return round(fmax, 2), report["utilization"]["TRELLIS_COMB"]["used"]


def ecp5(read: str, top: str, where: Path, seeds: tuple[int, ...]) -> Row:
    """Synthesise for ECP5; with seeds, place and route on the LFE5U-85F."""
    yosys(
        f"{read}\n{script('ecp5', top)}write_json net.json\n",
        where,
        "synth",
    )
    row = _figures("ecp5", where, top) | {"status": "synthesised, not placed, not routed"}
    if not seeds:
        return row
    routed = {seed: _route(where, seed) for seed in seeds}
    reached = [fmax for fmax, _ in routed.values() if fmax is not None]
    if not reached:
        raise RuntimeError("no seed routes")
    return row | {
        "fmax_mhz": statistics.median(reached),
        "seeds": {str(seed): fmax for seed, (fmax, _) in routed.items()},
        "comb": max(comb for _, comb in routed.values()),
        "status": "placed and routed out of context, LFE5U-85F, speed 6, static placer, router1; median",
    }


def asic45(read: str, top: str, where: Path, seeds: tuple[int, ...]) -> Row:
    """Synthesise to 45 nm cells; delays by OpenSTA."""
    if "PDK_LIB" not in os.environ:
        raise BlockError("the 45 nm cells are not here: scripts/eda.sh --asic")
    library = os.environ["PDK_LIB"]
    (where / "abc.constr").write_text("set_driving_cell BUF_X2\nset_load 5.0 [all_outputs]\n")
    yosys(
        f"{read}\nsynth -flatten -top {top} -booth\ndfflibmap -liberty {library}\nopt\n"
        f"abc -liberty {library} -constr abc.constr -D 1000\n"
        "setundef -zero\nsplitnets -ports\nopt_clean -purge\n"
        f"tee -q -o stat.json stat -json -liberty {library} -top {top}\n"
        "write_verilog -noattr -noexpr -nohex net.v\n",
        where,
        "synth",
    )
    (where / "sta.tcl").write_text(
        f"read_liberty {library}\nread_verilog net.v\nlink_design {top}\n"
        "create_clock -name clk -period 1.0 [get_ports clk_i]\n"
        "report_checks -path_delay max -from [all_registers -clock_pins] -to [all_registers -data_pins]"
        " -digits 4\n"
        "exit\n"
    )
    text = subprocess.run(
        ["sta", "-no_splash", "-exit", "sta.tcl"], cwd=where, capture_output=True, text=True, check=True
    ).stdout
    slack = re.search(r"^\s*(-?[\d.]+)\s+slack", text, re.M)
    found, module = cells(where / "stat.json", top)
    return {
        "area_um2": round(float(str(module["area"])), 1),
        "ff": total(found, r"(S?DFF|DLH|DLL).*"),
        "min_period_ns": round(1.0 - float(slack.group(1)), 4) if slack else None,
        "status": "synthesised to 45 nm standard cells, not placed; no wire load, no clock tree",
    }


FLOWS: dict[str, Callable[[str, str, Path, tuple[int, ...]], Row]]
FLOWS = {"xc7": xc7, "xcup": xcup, "ecp5": ecp5, "asic45": asic45}


def versions() -> dict[str, str]:
    """Return the versions of the tools at hand."""

    def first(command: list[str]) -> str:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return "absent"
        return (done.stdout + done.stderr).strip().splitlines()[-1] if done.returncode == 0 else "absent"

    return {
        "yosys": first(["yosys", "-V"]).split(" (")[0],
        "nextpnr": first(["nextpnr-ecp5", "--version"]).rsplit("Version ", 1)[-1].rstrip(")."),
        "opensta": first(["sta", "-version"]),
    }
