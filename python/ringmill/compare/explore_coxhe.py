"""`python -m ringmill.compare.explore_coxhe`: explores for every row beside coxHE and stores it.

--table NAME …      these alone, the others as they are stored: "I and III", "co-design", "Fig. 4a" …
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from ringmill._native import __version__
from ringmill.atomic import write_text
from ringmill.compare import coxhe, coxhe_figures, explored
from ringmill.compare.coxhe_cycles import BUTTERFLIES, LOG_N, key_switch
from ringmill.explorer import devices

FILE = Path(__file__).with_name("coxhe.json")

Rows = list[coxhe.Row]
#: What makes the rows of each table out of those that were made before, in the order of the file.
TABLES: dict[str, Callable[[Rows], Iterator[coxhe.Row]]] = {
    "I and III": lambda _: coxhe.designs(explored.best, explored.boards()),
    "Fig. 4a": lambda _: coxhe_figures.multipliers(),
    "Fig. 4b": lambda _: coxhe_figures.errors(),
    "Fig. 5a": lambda _: coxhe_figures.heax(key_switch, 1 << LOG_N, BUTTERFLIES),
    "co-design": lambda _: coxhe.codesign(explored.fixed, explored.best),
    "Fig. 5b": coxhe_figures.kernels,
    "Fig. 5c": lambda rows: coxhe_figures.software(rows, devices()[coxhe_figures.BOARD]["power"]["watts"]),
}


def main() -> int:
    """Make the rows of the tables asked for, printing each as it comes."""
    parser = argparse.ArgumentParser(prog="python -m ringmill.compare.explore_coxhe", description=__doc__)
    parser.add_argument("--table", nargs="+", choices=list(TABLES), default=list(TABLES))
    asked = parser.parse_args().table
    before = coxhe.stored()["rows"] if FILE.is_file() else []
    rows: Rows = []
    for name, make in TABLES.items():
        if name not in asked:
            rows += [row for row in before if row["table"] in name.split(" and ")]
            continue
        for row in make(rows):
            rows.append(row)
            print(row["table"], row["row"], row["board"] or "", row["ratio_latency"] or "", flush=True)
    content = {"version": __version__, "rows": rows, "gains": coxhe.gains(rows)}
    write_text(FILE, json.dumps(content, indent=1) + "\n")
    print(content["gains"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
