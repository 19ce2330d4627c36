"""The stored validation, drawn.

`python -m ringmill.studies.validation.plot DATA.json OUT.svg` draws the sweep of the error model, or what the
area model (`crates/explore/data/area.json`) says of held-out syntheses.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ringmill.atomic import write_text
from ringmill.studies.validation.error import OPTIMISTIC
from ringmill.validate.plot import COLOURS, figure

Row = dict[str, Any]


#: When all colours are taken, the next kernels have another marker.
MARKERS = ("o", "^", "s", "D")


def svg(rows: list[Row]) -> str:
    """Measured over predicted, a colour a kernel; below the diagonal the model is on the safe side."""
    with figure("error model", 6.4, 4.6) as (axes, out):
        for at, letter in enumerate(sorted({row["kernel"] for row in rows})):
            mine = [row for row in rows if row["kernel"] == letter]
            x, y = ([row[name] for row in mine] for name in ("predicted_log2", "measured_log2"))
            turn, colour = divmod(at, len(COLOURS))
            axes.scatter(x, y, s=14, color=COLOURS[colour], marker=MARKERS[turn], label=letter, linewidths=0)
        ends = [min(row["measured_log2"] for row in rows) - 1, max(row["predicted_log2"] for row in rows) + 1]
        axes.plot(ends, ends, color="#78716c", linewidth=1)
        axes.plot(ends, [end + OPTIMISTIC for end in ends], color="#be123c", linewidth=1, linestyle=":")
        axes.set_xlabel("predicted error of the worst slot, log2")
        axes.set_ylabel("measured, log2")
        axes.legend(title="kernel", ncols=3, frameon=False)
    return out[0]


#: What the area model may be off by.
AREA_BAR = 0.1


def area_svg(held_out: list[Row]) -> str:
    """Each synthesis against what the area model says of it, fitted to all others: deviation over size."""
    marks = {"lut": "o", "ff": "^", "area_um2": "s"}
    names = {"lut": "LUT", "ff": "flip-flops", "area_um2": "µm²"}
    with figure("area model", 6.4, 4.2) as (axes, out):
        kinds = sorted({(row["resource"], row["family"]) for row in held_out}, reverse=True)
        for (resource, family), colour in zip(kinds, COLOURS, strict=False):
            mine = [row for row in held_out if (row["resource"], row["family"]) == (resource, family)]
            axes.scatter(
                [row["measured"] for row in mine],
                [100 * row["error"] for row in mine],
                s=20,
                marker=marks[resource],
                color=colour,
                label=f"{family}, {names[resource]}",
                linewidths=0,
            )
        for bar in (-AREA_BAR, AREA_BAR):
            axes.axhline(100 * bar, color="#be123c", linewidth=1, linestyle=":")
        axes.axhline(0, color="#78716c", linewidth=1)
        axes.set_xscale("log")
        axes.set_ylim(-120 * AREA_BAR, 170 * AREA_BAR)  # space for the legend above the bar
        axes.set_xlabel("synthesised")
        axes.set_ylabel("predicted from the others, deviation in %")
        axes.legend(ncols=2, frameon=False, fontsize=8)
    return out[0]


def main() -> int:
    """Read rows, write the plot."""
    parser = argparse.ArgumentParser(prog="python -m ringmill.studies.validation.plot", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    content = json.loads(options.data.read_text(encoding="utf-8"))
    write_text(options.out, area_svg(content["held_out"]) if "held_out" in content else svg(content["rows"]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
