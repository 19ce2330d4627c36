"""Predicted and measured, drawn from stored rows.

`python -m ringmill.validate.plot DATA.json OUT.svg` draws the sweep of the error model, or what the area
model (`crates/explore/data/area.json`) says of held-out syntheses; `held_svg` and the report draw validated
designs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringmill.atomic import write_text
from ringmill.validate.error import OPTIMISTIC

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]

_COLOURS = ("#0f766e", "#b45309", "#be123c", "#4338ca", "#4d7c0f", "#0369a1", "#a21caf", "#57534e", "#ca8a04")


#: Where a ratio is marked.
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2, 5, 10)


@contextmanager
def _figure(name: str, width: float, height: float) -> Iterator[tuple[Axes, list[str]]]:
    """Axes to draw on; the same drawing gives the same bytes, which are appended to the list."""
    import io

    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    out: list[str] = []
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure.subplots(), out
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    out.append(buffer.getvalue())


def ratios(rows: list[Row]) -> dict[str, list[tuple[int, float]]]:
    """Measured over predicted by what was measured: the design's number and the ratio, where there is one."""
    found: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        predicted, measured = row["predicted"], row["measured"]
        if measured is None:
            continue
        if row["unit"] == "log2":
            found.setdefault(row["what"], []).append((row["design"], 2.0 ** (measured - predicted)))
        elif predicted and measured:
            found.setdefault(row["what"], []).append((row["design"], measured / predicted))
    return found


def draw_held(axes: Axes, rows: list[Row], point: str, line: str) -> None:
    """A line for each figure of designs, a point a design: measured over predicted, 1 where they agree."""
    drawn = ratios(rows)
    for at, points in enumerate(drawn.values()):
        # Designs that agree would hide each other: they stand a little apart.
        heights = [at + 0.07 * ((number % 5) - 2) for number, _ in points]
        axes.scatter([ratio for _, ratio in points], heights, s=26, color=point, linewidths=0, zorder=3)
    every = [ratio for points in drawn.values() for _, ratio in points] or [1.0]
    axes.axvline(1, color=line, linewidth=1.2)
    axes.set_xscale("log")
    axes.set_xlim(min(0.8, 0.8 * min(every)), max(1.25, 1.25 * max(every)))
    ticks = [tick for tick in _TICKS if _inside(tick, axes)]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(drawn)), list(drawn))
    axes.set_ylim(len(drawn) - 0.5, -0.5)
    axes.set_xlabel("measured over predicted")


def _inside(tick: float, axes: Axes) -> bool:
    least, most = axes.get_xlim()
    return bool(least <= tick <= most)


def held_svg(rows: list[Row]) -> str:
    """The rows of `ringmill validate`, as a file of its own."""
    with _figure("validated designs", 6.4, 1.2 + 0.34 * max(1, len(ratios(rows)))) as (axes, out):
        draw_held(axes, rows, _COLOURS[0], "#78716c")
    return out[0]


def svg(rows: list[Row]) -> str:
    """Measured over predicted, a colour a kernel; below the diagonal the model is on the safe side."""
    with _figure("error model", 6.4, 4.6) as (axes, out):
        for letter, colour in zip(sorted({row["kernel"] for row in rows}), _COLOURS, strict=False):
            mine = [row for row in rows if row["kernel"] == letter]
            x, y = ([row[name] for row in mine] for name in ("predicted_log2", "measured_log2"))
            axes.scatter(x, y, s=14, color=colour, label=letter, linewidths=0)
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
    with _figure("area model", 6.4, 4.2) as (axes, out):
        kinds = sorted({(row["resource"], row["family"]) for row in held_out}, reverse=True)
        for (resource, family), colour in zip(kinds, _COLOURS, strict=False):
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
        axes.set_ylim(-120 * AREA_BAR, 170 * AREA_BAR)  # room for the legend above the bar
        axes.set_xlabel("synthesised")
        axes.set_ylabel("predicted from the others, deviation in %")
        axes.legend(ncols=2, frameon=False, fontsize=8)
    return out[0]


def main() -> int:
    """Read rows, write the plot."""
    parser = argparse.ArgumentParser(prog="python -m ringmill.validate.plot", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    content = json.loads(options.data.read_text(encoding="utf-8"))
    write_text(options.out, area_svg(content["held_out"]) if "held_out" in content else svg(content["rows"]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
