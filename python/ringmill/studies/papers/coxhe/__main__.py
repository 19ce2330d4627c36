"""`python -m ringmill.studies.papers.coxhe`: explores for every row beside coxHE and stores it.

--table NAME …      these alone, the others as they are stored: "I and III", "co-design", "Fig. 4a" …
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from ringmill._native import __version__
from ringmill.atomic import write_text
from ringmill.explorer import devices
from ringmill.studies.papers.coxhe import charts, explored
from ringmill.studies.papers.coxhe import rows as tables
from ringmill.studies.papers.coxhe.key_switch import BUTTERFLIES, LOG_N, key_switch
from ringmill.studies.stored import text_of

FILE = Path(__file__).with_name("explored.json")

Rows = list[tables.Row]
#: What makes the rows of each table out of those that were made before, in the order of the file.
TABLES: dict[str, Callable[[Rows], Iterator[tables.Row]]] = {
    "I and III": lambda _: tables.designs(explored.best, explored.boards()),
    "Fig. 4a": lambda _: charts.multipliers(),
    "Fig. 4b": lambda _: charts.errors(),
    "Fig. 5a": lambda _: charts.heax(key_switch, 1 << LOG_N, BUTTERFLIES),
    "co-design": lambda _: tables.codesign(explored.fixed, explored.best),
    "Fig. 5b": charts.kernels,
    "Fig. 5c": lambda rows: charts.software(rows, devices()[charts.BOARD]["power"]["watts"]),
}


def main() -> int:
    """Make the rows of the tables asked for, printing each as it comes."""
    parser = argparse.ArgumentParser(prog="python -m ringmill.studies.papers.coxhe", description=__doc__)
    parser.add_argument("--table", nargs="+", choices=list(TABLES), default=list(TABLES))
    asked = parser.parse_args().table
    before = tables.stored()["rows"] if FILE.is_file() else []
    rows: Rows = []
    for name, make in TABLES.items():
        if name not in asked:
            rows += [row for row in before if row["table"] in name.split(" and ")]
            continue
        for row in make(rows):
            rows.append(row)
            print(row["table"], row["row"], row["board"] or "", row["ratio_latency"] or "", flush=True)
    content = {"version": __version__, "rows": rows, "gains": tables.gains(rows)}
    write_text(FILE, text_of(content))
    print(content["gains"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
