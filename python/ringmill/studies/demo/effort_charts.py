"""The section on levels, time and key switching: charts and sheets from saved results."""

from __future__ import annotations

from typing import Any

import numpy as np

from ringmill.report.charts import human_bytes, human_seconds
from ringmill.report.style import AMBER, INDIGO, INK, MOSS, MUTED, ROSE, TEAL, chart, label_bars
from ringmill.studies.papers.sheets import Sheet

Results = dict[str, Any]

#: Regions take these in turn.
_COLOURS = (TEAL, INDIGO, AMBER, ROSE, MOSS)


def levels(effort: Results) -> str:
    """Level of every operation, one after the other, coloured by region."""
    runs = effort["levels"]
    regions = list(dict.fromkeys(run["region"] for run in runs))
    with chart("Levels over time") as (_, axes, out):
        start = 0
        named: set[str] = set()
        for run in runs:
            colour = _COLOURS[regions.index(run["region"]) % len(_COLOURS)]
            label = None if run["region"] in named else run["region"] or "outside of regions"
            named.add(run["region"])
            end = start + run["operations"]
            axes.plot([start, end], [run["level"]] * 2, color=colour, linewidth=5, label=label)
            start = end
        most = max(run["level"] for run in runs)
        axes.set_ylim(-0.5, most + 1)
        axes.set_yticks(np.arange(0, most + 1, max(1, (most + 4) // 5)))
        axes.set_xlabel("operations, in the order in which they run")
        axes.set_ylabel("level")
        axes.legend(loc="lower left", labelcolor=INK)
    return out[0]


def spent(effort: Results) -> str:
    """Time by kind of work, and how near each kind runs to the nearer ceiling."""
    rows = effort["profile"]["rows"]
    with chart("Time by kind of work", height=0.9 + 0.36 * len(rows)) as (_, axes, out):
        at = np.arange(len(rows))[::-1]
        milliseconds = [1e3 * row["seconds"] for row in rows]
        colours = [
            {"multiplier": INDIGO, "memory": AMBER, "caches": AMBER}.get(r["bound"], MUTED) for r in rows
        ]
        bars = axes.barh(at, milliseconds, height=0.62, color=colours)
        axes.set_yticks(at, [row["kind"] for row in rows])
        axes.set_xlim(0, max(milliseconds) * 1.45)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("milliseconds of one run, one thread")
        label_bars(axes, bars, [f"{human_seconds(r['seconds'])}, {100 * r['share']:.0f} %" for r in rows])
    return out[0]


def section(effort: Results) -> Results:
    """What the page prints beside the charts."""
    profile = effort["profile"]
    return {
        "ceilings": profile["ceilings"],
        "isa": profile["isa"],
        "run": human_seconds(profile["seconds"]),
        "predicted": human_seconds(effort["predicted_seconds"]),
        "costs": effort["costs"],
        "sheets": [_roofline(profile), _switches(effort["switches"]), _workloads(effort["workloads"])],
    }


def _roofline(profile: Results) -> Sheet:
    rows = [
        [
            row["kind"],
            row["bound"],
            human_seconds(row["seconds"]),
            *(f"{100 * row[name]:.0f} %" for name in ("share", "multiplier", "memory")),
        ]
        for row in profile["rows"]
    ]
    columns = ["work", "bound by", "time", "share", "of the multiplier", "of memory"]
    return Sheet("How near each kind of work runs to what the machine can do", columns, rows)


def _switches(switches: list[list[Any]]) -> Sheet:
    rows = [[f"level {level}", method, str(count)] for level, method, count in reversed(switches)]
    return Sheet("Key switching: the method at each level", ["level", "method", "key switches"], rows)


def _workloads(rows: list[Results]) -> Sheet:
    columns = ["program", "ring", "levels", "bootstraps", "rotations", "products", "by constants"]
    columns += ["keys", "bytes of keys read", "transforms", "predicted"]
    names = ("levels", "bootstraps", "rotations", "products", "constant_products", "keys")
    found = [
        [
            row["program"],
            f"2^{row['log_n']}",
            *(f"{row[name]:,}" for name in names),
            human_bytes(row["key_bytes"]),
            f"{row['transforms']:,}",
            human_seconds(row["seconds"])
            + (f" ({row['costs'].split(':')[0]} costs)" if "costs" in row else ""),
        ]
        for row in rows
    ]
    return Sheet("Large workloads as programs", columns, found)
