"""Predicted and measured of validated designs, drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]

COLOURS = ("#0f766e", "#b45309", "#be123c", "#4338ca", "#4d7c0f", "#0369a1", "#a21caf", "#57534e", "#ca8a04")


#: Where a ratio is marked.
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2, 5, 10)


@contextmanager
def figure(name: str, width: float, height: float) -> Iterator[tuple[Axes, list[str]]]:
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
    with figure("validated designs", 6.4, 1.2 + 0.34 * max(1, len(ratios(rows)))) as (axes, out):
        draw_held(axes, rows, COLOURS[0], "#78716c")
    return out[0]
