"""The areas of whole cores for `ringmill compare`, from the stored syntheses."""

from __future__ import annotations

import json
from pathlib import Path

from rtl.tools.block import ROOT
from rtl.tools.synth import DATA

#: Bits a cycle of the paper's memory: 1024 at half the clock.
BUS_BITS = 512

FILE = ROOT / "python" / "ringmill" / "studies" / "papers" / "casa" / "area.json"


def cores(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return one entry a core on the paper's bus and a tiling: its smallest multipliers."""
    best: dict[tuple[object, ...], dict[str, object]] = {}
    for row in rows:
        params = row["params"]
        if row["flow"] not in ("xc7", "xcup") or params["D"] != BUS_BITS:
            continue
        tiling = "dsp" if params["TILE"] else "lut"
        key = (params["LOGN_MAX"], params["NBF"], row["flow"], params["W"], tiling)
        if key not in best or row["overall"] < best[key]["overall"]:
            best[key] = row
    return [
        {
            "n": 1 << log_n,
            "nbf": nbf,
            "family": flow,
            "tiling": tiling,
            # Shift registers and distributed memory sit in LUTs.
            "lut": row["lut"] + row["srl"] + row["lutram"],
            "ff": row["ff"],
            "dsp": row["dsp"],
            "bram": row["bram36"],
            "composed": "parts" in row,
            "params": row["params"],
        }
        for (log_n, nbf, flow, _, tiling), row in sorted(best.items())
    ]


def text(data: Path = DATA) -> str:
    """Return the file's contents."""
    rows = json.loads((data / "core.json").read_text(encoding="utf-8"))
    tools = sorted({str(row["tools"]["yosys"]) for row in rows})
    origin = f"{', '.join(tools)}, synthesised, not placed, multipliers apart and added where composed"
    lines = ",\n".join(map(json.dumps, cores(rows)))
    return f'{{\n"origin": {json.dumps(origin)},\n"cores": [\n{lines}\n]\n}}\n'


def files() -> dict[Path, str]:
    """Return the file and its contents."""
    return {FILE: text()}
