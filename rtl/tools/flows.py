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

from rtl.tools.block import RTL, BlockError

Row = dict[str, object]

# Of a routed ecp5 row: the largest device that the open flow knows, at its slowest speed grade. The ports of
# a block are no pads, hence out of context; the target only tells the tool how hard to try.
_ECP5_DEVICE = ("--85k", "--package", "CABGA756", "--speed", "6", "--router", "router1")
_ECP5_MODE = (
    "--out-of-context",
    "--timing-allow-fail",
    "--freq",
    "100",
    "--quiet",
)


def overall(lut: int, ff: int, dsp: int, bram36: float) -> float:
    """Return CASA's area: LUT/16 + FF/8 + 102.4 DSP + 56 BRAM (of 36 kbit)."""
    return round(lut / 16 + ff / 8 + 102.4 * dsp + 56 * bram36, 1)


def yosys(script: str, where: Path, name: str) -> None:
    """Run a script in a folder; what yosys calls an error is raised."""
    (where / f"{name}.ys").write_text(script)
    done = subprocess.run(
        ["yosys", "-ql", f"{name}.log", f"{name}.ys"], cwd=where, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        log = (where / f"{name}.log").read_text() + done.stderr
        raise RuntimeError("\n".join(line for line in log.splitlines() if "rror" in line)[:2000])


def _cells(where: Path, top: str) -> tuple[dict[str, int], Row]:
    text = (where / "stat.json").read_text()
    modules = json.loads(text[text.index("{") :])["modules"]
    module = modules.get(f"\\{top}") or modules[top]
    found = {}
    for name, value in module["num_cells_by_type"].items():
        found[name.lstrip("\\")] = value["count"] if isinstance(value, dict) else value
    return found, module


def _total(cells: dict[str, int], pattern: str) -> int:
    return sum(count for name, count in cells.items() if re.fullmatch(pattern, name))


def _xilinx(cells: dict[str, int], dsp: str) -> Row:
    lut, srl = _total(cells, r"LUT[1-6]"), _total(cells, r"SRL.*")
    ram = _total(cells, r"RAM\d+(X\d+)?[SDM].*")
    ff, dsps = _total(cells, r"FD[CPRS]E(_1)?|LD[CP]E"), cells.get(dsp, 0)
    bram = _total(cells, r"RAMB36E\d") + _total(cells, r"RAMB18E\d") / 2
    area = overall(lut + srl + ram, ff, dsps, bram)
    return {"lut": lut, "srl": srl, "lutram": ram, "ff": ff, "dsp": dsps, "bram36": bram, "overall": area}


def xc7(read: str, top: str, where: Path, seeds: tuple[int, ...]) -> Row:
    """Synthesise for 7-series and add up cell delays."""
    yosys(
        f"{read}\nsynth_xilinx -family xc7 -flatten -abc9 -noiopad -noclkbuf -top {top}\n"
        f"tee -q -o stat.json stat -json -tech xilinx -top {top}\nrename -wire\nwrite_rtlil net.il\n",
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
    row = _xilinx(_cells(where, top)[0], "DSP48E1")
    status = "synthesised, not placed, not routed; cell delays only, Artix-7 models"
    return row | {"path_ns": int(arrival.group(1)) / 1000 if arrival else None, "status": status}


def xcup(read: str, top: str, where: Path, seeds: tuple[int, ...]) -> Row:
    """Synthesise for UltraScale+."""
    yosys(
        f"{read}\nsynth_xilinx -family xcup -flatten -abc9 -noiopad -noclkbuf -top {top}\n"
        f"tee -q -o stat.json stat -json -tech xilinx -top {top}\n",
        where,
        "synth",
    )
    return _xilinx(_cells(where, top)[0], "DSP48E2") | {"status": "synthesised for xcup, no timing"}


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
        f"{read}\nsynth_ecp5 -abc9 -top {top}\n"
        f"tee -q -o stat.json stat -json -top {top}\nwrite_json net.json\n",
        where,
        "synth",
    )
    cells = _cells(where, top)[0]
    carry, ram = cells.get("CCU2C", 0), cells.get("TRELLIS_DPR16X4", 0)
    row: Row = {
        "lut": cells.get("LUT4", 0) + 2 * carry + 4 * ram,  # a carry cell sits on two LUTs
        "lut4": cells.get("LUT4", 0),
        "ccu2c": carry,
        "ff": cells.get("TRELLIS_FF", 0),
        "dsp": cells.get("MULT18X18D", 0),
        "ebr": cells.get("DP16KD", 0) + cells.get("PDPW16KD", 0),
        "status": "synthesised, not placed, not routed",
    }
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
        "status": "placed and routed out of context, LFE5U-85F, speed 6, router1; median of the seeds",
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
    cells, module = _cells(where, top)
    return {
        "area_um2": round(float(str(module["area"])), 1),
        "ff": _total(cells, r"(S?DFF|DLH|DLL).*"),
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
