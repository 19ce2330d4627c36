"""`python -m ringmill.compare.explore_coxhe`: explores for every row beside coxHE and stores it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ringmill._native import __version__
from ringmill.atomic import write_text
from ringmill.compare import coxhe, explored
from ringmill.compare.coxhe_cycles import key_switch

FILE = Path(__file__).with_name("coxhe.json")


#: Multipliers as `modmul_pkg` numbers them.
_KINDS = ("word-montgomery", "sparse-word-montgomery", "prf-fiko", "montgomery", "barrett")
SYNTHESES = Path(__file__).resolve().parents[3] / "rtl" / "synth" / "data" / "modmul.json"


def multipliers() -> Iterator[coxhe.Row]:
    """Fig. 4(a): blocks of one multiplier by width, from the stored syntheses."""
    rows = json.loads(SYNTHESES.read_text(encoding="utf-8"))
    for row in sorted(rows, key=lambda r: (r["params"]["Kind"], r["flow"], r["params"]["W"])):
        if row.get("dsp"):
            kind = _KINDS[row["params"]["Kind"]]
            told = {"multiplier": kind, "flow": row["flow"], "bits": row["params"]["W"]}
            yield {"table": "Fig. 4a", "row": kind, **told, "dsp": row["dsp"], "lut": row["lut"]}


def main() -> int:
    """Make every row, printing each as it comes."""
    rows = []
    boards = explored.boards()
    parts = (
        coxhe.designs(explored.best, boards),
        multipliers(),
        coxhe.errors(),
        coxhe.heax(key_switch),
        coxhe.codesign(explored.fixed, explored.best),
    )
    for part in parts:
        for row in part:
            rows.append(row)
            print(row["table"], row["row"], row.get("board", ""), row.get("ratio_latency", ""), flush=True)
    content = {"version": __version__, "rows": rows, "gains": coxhe.gains(rows)}
    write_text(FILE, json.dumps(content, indent=1) + "\n")
    print(content["gains"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
