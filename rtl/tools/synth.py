"""Synthesis of the blocks with open tools: what each point of `block.json` costs, as rows of JSON.

Flows: `xc7` (Artix-7 cells, delays of the cells alone), `xcup` (UltraScale+, area alone), `ecp5` (area; with
--route placed and routed), `asic45` (45 nm cells before placement). Only a routed ecp5 row has a frequency.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rtl.tools.block import ROOT, RTL, BlockError, expand, load, names, sources

DATA = RTL / "synth" / "data"

# Device of a routed ecp5 row: the largest that the open flow knows, its slowest speed grade.
_ECP5 = (
    "--85k",
    "--package",
    "CABGA756",
    "--speed",
    "6",
    "--router",
    "router1",
    "--seed",
    "1",
    "--freq",
    "200",
)


@dataclass(frozen=True)
class Point:
    """One synthesis: a top of a block at given parameters through one flow."""

    block: str
    top: str
    params: dict[str, str]
    flow: str

    @property
    def label(self) -> str:
        """For a person, and for looking a row up."""
        return f"{self.block}/{self.top} {self.flow} " + " ".join(f"{k}={v}" for k, v in self.params.items())


def overall(lut: int, ff: int, dsp: int, bram36: float) -> float:
    """Return CASA's area: LUT/16 + FF/8 + 102.4 DSP + 56 BRAM (of 36 kbit)."""
    return round(lut / 16 + ff / 8 + 102.4 * dsp + 56 * bram36, 1)


def _yosys(script: str, where: Path, name: str) -> None:
    (where / f"{name}.ys").write_text(script)
    done = subprocess.run(
        ["yosys", "-ql", f"{name}.log", f"{name}.ys"], cwd=where, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        log = (where / f"{name}.log").read_text() + done.stderr
        raise RuntimeError("\n".join(line for line in log.splitlines() if "rror" in line)[:2000])


def _cells(where: Path, top: str) -> tuple[dict[str, int], dict[str, object]]:
    text = (where / "stat.json").read_text()
    modules = json.loads(text[text.index("{") :])["modules"]
    module = modules.get(f"\\{top}") or modules[top]
    found = {}
    for name, value in module["num_cells_by_type"].items():
        found[name.lstrip("\\")] = value["count"] if isinstance(value, dict) else value
    return found, module


def _total(cells: dict[str, int], pattern: str) -> int:
    return sum(count for name, count in cells.items() if re.fullmatch(pattern, name))


def _read(point: Point) -> str:
    files, _ = sources(load(point.block))
    generics = "".join(f" -G {key}={value}" for key, value in point.params.items())
    return f"read_slang --top {point.top}{generics} " + " ".join(map(str, files))


def _xilinx(cells: dict[str, int], dsp: str) -> dict[str, object]:
    lut, srl = _total(cells, r"LUT[1-6]"), _total(cells, r"SRL.*")
    ram = _total(cells, r"RAM\d+(X\d+)?[SDM].*")
    ff, dsps = _total(cells, r"FD[CPRS]E(_1)?|LD[CP]E"), cells.get(dsp, 0)
    bram = _total(cells, r"RAMB36E\d") + _total(cells, r"RAMB18E\d") / 2
    area = overall(lut + srl + ram, ff, dsps, bram)
    return {"lut": lut, "srl": srl, "lutram": ram, "ff": ff, "dsp": dsps, "bram36": bram, "overall": area}


def xc7(point: Point, where: Path) -> dict[str, object]:
    """Synthesise for 7-series and add up cell delays."""
    _yosys(
        f"{_read(point)}\nsynth_xilinx -family xc7 -flatten -abc9 -noiopad -noclkbuf -top {point.top}\n"
        f"tee -q -o stat.json stat -json -tech xilinx -top {point.top}\nrename -wire\nwrite_rtlil net.il\n",
        where,
        "synth",
    )
    # Synthesis strips the delays of the cells it has used: forget all models and read them again.
    _yosys(
        "read_rtlil net.il\ndelete =A:blackbox =A:whitebox %u\n"
        "read_verilog -lib -specify +/xilinx/cells_sim.v\n"
        f"read_verilog -lib -specify -overwrite {RTL / 'synth' / 'xc7_sta_ff.v'}\ntee -q -o sta.txt sta\n",
        where,
        "sta",
    )
    arrival = re.search(r"Latest arrival time in '.*' is (\d+)", (where / "sta.txt").read_text())
    row = _xilinx(_cells(where, point.top)[0], "DSP48E1")
    status = "synthesised, not placed, not routed; cell delays only, Artix-7 models"
    return row | {"path_ns": int(arrival.group(1)) / 1000 if arrival else None, "status": status}


def xcup(point: Point, where: Path) -> dict[str, object]:
    """Synthesise for UltraScale+."""
    _yosys(
        f"{_read(point)}\nsynth_xilinx -family xcup -flatten -abc9 -noiopad -noclkbuf -top {point.top}\n"
        f"tee -q -o stat.json stat -json -tech xilinx -top {point.top}\n",
        where,
        "synth",
    )
    return _xilinx(_cells(where, point.top)[0], "DSP48E2") | {"status": "synthesised for xcup, no timing"}


def ecp5(point: Point, where: Path, route: bool = False) -> dict[str, object]:
    """Synthesise for ECP5; route on the LFE5U-85F when asked."""
    _yosys(
        f"{_read(point)}\nsynth_ecp5 -abc9 -top {point.top}\n"
        f"tee -q -o stat.json stat -json -top {point.top}\nwrite_json net.json\n",
        where,
        "synth",
    )
    cells = _cells(where, point.top)[0]
    carry, ram = cells.get("CCU2C", 0), cells.get("TRELLIS_DPR16X4", 0)
    row: dict[str, object] = {
        "lut": cells.get("LUT4", 0) + 2 * carry + 4 * ram,  # a carry cell sits on two LUTs
        "lut4": cells.get("LUT4", 0),
        "ccu2c": carry,
        "ff": cells.get("TRELLIS_FF", 0),
        "dsp": cells.get("MULT18X18D", 0),
        "ebr": cells.get("DP16KD", 0) + cells.get("PDPW16KD", 0),
        "status": "synthesised, not placed, not routed",
    }
    if not route:
        return row
    done = subprocess.run(
        ["nextpnr-ecp5", *_ECP5, "--json", "net.json", "--report", "pnr.json", "--log", "pnr.log"],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    report = json.loads((where / "pnr.json").read_text())
    fmax = min(clock["achieved"] for clock in report["fmax"].values())
    return row | {
        "fmax_mhz": round(fmax, 2),
        "comb": report["utilization"]["TRELLIS_COMB"]["used"],
        "status": "placed and routed out of context, LFE5U-85F, speed 6, router1, seed 1",
    }


def asic45(point: Point, where: Path) -> dict[str, object]:
    """Synthesise to 45 nm cells; delays by OpenSTA."""
    if "PDK_LIB" not in os.environ:
        raise BlockError("the 45 nm cells are not here: scripts/eda.sh --asic")
    library = os.environ["PDK_LIB"]
    (where / "abc.constr").write_text("set_driving_cell BUF_X2\nset_load 5.0 [all_outputs]\n")
    _yosys(
        f"{_read(point)}\nsynth -flatten -top {point.top} -booth\ndfflibmap -liberty {library}\nopt\n"
        f"abc -liberty {library} -constr abc.constr -D 1000\n"
        "setundef -zero\nsplitnets -ports\nopt_clean -purge\n"
        f"tee -q -o stat.json stat -json -liberty {library} -top {point.top}\n"
        "write_verilog -noattr -noexpr -nohex net.v\n",
        where,
        "synth",
    )
    (where / "sta.tcl").write_text(
        f"read_liberty {library}\nread_verilog net.v\nlink_design {point.top}\n"
        "create_clock -name clk -period 1.0 [get_ports clk_i]\n"
        "report_checks -path_delay max -from [all_registers -clock_pins] -to [all_registers -data_pins]"
        " -digits 4\n"
        "exit\n"
    )
    text = subprocess.run(
        ["sta", "-no_splash", "-exit", "sta.tcl"], cwd=where, capture_output=True, text=True, check=True
    ).stdout
    slack = re.search(r"^\s*(-?[\d.]+)\s+slack", text, re.M)
    cells, module = _cells(where, point.top)
    return {
        "area_um2": round(float(str(module["area"])), 1),
        "ff": _total(cells, r"(S?DFF|DLH|DLL).*"),
        "min_period_ns": round(1.0 - float(slack.group(1)), 4) if slack else None,
        "status": "synthesised to 45 nm standard cells, not placed; no wire load, no clock tree",
    }


def _versions() -> dict[str, str]:
    def first(command: list[str]) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return (done.stdout + done.stderr).strip().splitlines()[-1] if done.returncode == 0 else "absent"

    return {
        "yosys": first(["yosys", "-V"]).split(" (")[0],
        "nextpnr": first(["nextpnr-ecp5", "--version"]).rsplit("Version ", 1)[-1].rstrip(")."),
    }


def points(chosen: list[str], flows: list[str]) -> list[Point]:
    """Every point of the `synth` entries of the chosen blocks, narrowed to `flows` when given."""
    return [
        Point(block, str(one["top"]), params, flow)
        for block in chosen or names()
        for one in load(block).synth
        for _, params in expand(one.get("each", {}), one.get("params", {}))
        for flow in one.get("flows", ["xc7"])
        if not flows or flow in flows
    ]


def _one(point: Point, route: bool) -> dict[str, object]:
    flows: dict[str, Callable[[Point, Path], dict[str, object]]]
    flows = {"xc7": xc7, "xcup": xcup, "ecp5": lambda p, w: ecp5(p, w, route), "asic45": asic45}
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as where:
        return flows[point.flow](point, Path(where))


def run(chosen: list[str], flows: list[str], route: bool = False, jobs: int = 1, want: str = "") -> int:
    """Synthesise and merge the rows into rtl/synth/data/BLOCK.json; return how many points failed."""
    work = [point for point in points(chosen, flows) if re.search(want, point.label)]
    versions, failed = _versions(), 0

    def one(point: Point) -> dict[str, object] | None:
        try:
            row = _one(point, route)
        except RuntimeError as error:
            print(f"FAIL {point.label}\n{error}", flush=True)
            return None
        print(f"{point.label}: " + " ".join(f"{k}={v}" for k, v in row.items() if k != "status"), flush=True)
        params = {k: int(v) if v.isdigit() else v for k, v in point.params.items()}
        return {"top": point.top, "flow": point.flow, "params": params, "tools": versions} | row

    with ThreadPoolExecutor(jobs) as pool:
        for point, row in zip(work, pool.map(one, work), strict=True):
            failed += row is None
            if row is not None:
                _merge(point.block, row)
    return failed


def _merge(block: str, row: dict[str, object]) -> None:
    file = DATA / f"{block}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = json.loads(file.read_text()) if file.is_file() else []

    def key(r: dict[str, object]) -> str:
        return json.dumps([r["top"], r["flow"], r["params"]], sort_keys=True)

    rows = sorted([r for r in rows if key(r) != key(row)] + [row], key=key)
    file.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")


def table(chosen: list[str]) -> None:
    """Print the stored rows, the smallest of each flow first."""
    for block in chosen or [file.stem for file in sorted(DATA.glob("*.json"))]:
        rows = json.loads((DATA / f"{block}.json").read_text())
        rows.sort(key=lambda r: (r["flow"], r["top"], r.get("overall", r.get("area_um2", r.get("lut", 0)))))
        for row in rows:
            point = " ".join(f"{key}={value}" for key, value in row["params"].items())
            shown = {k: v for k, v in row.items() if k not in ("flow", "top", "params", "tools", "status")}
            figures = " ".join(f"{key}={value}" for key, value in shown.items() if value not in (0, None))
            print(f"{row['flow']:<6} {row['top']} {point:<24} {figures}")
