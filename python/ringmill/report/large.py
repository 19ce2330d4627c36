"""The page of a search for large accelerators."""

from __future__ import annotations

from typing import Any

from ringmill.report.style import AMBER, INK, TEAL, chart

Row = dict[str, Any]

#: What limits a machine, as bounds are called.
LIMITS = {"work": "work of a unit", "off_chip": "bytes off chip", "critical_path": "longest path"}
NAMES = (
    *("mm²", "ms", "mJ", "word", "lanes", "products", "conversions", "elements", "MiB"),
    *("spilled in MB", "limit", "of the time"),
)


def limit(row: Row) -> tuple[str, float]:
    """What the greatest bound is of, and which part of the cycles it is."""
    name = max(row["bounds"], key=row["bounds"].__getitem__)
    return LIMITS[name], row["bounds"][name] / row["cycles"]


def cells(row: Row) -> tuple[str, ...]:
    """A row of the table under `NAMES`."""
    what, part = limit(row)
    figures = (f"{row['area_mm2']:.1f}", f"{row['ms']:.4g}", f"{row['energy_mj']:.3g}", str(row["word"]))
    widths = (f"{row[name]:,}" for name in ("lanes", "multipliers", "conversions", "elements", "mebibytes"))
    return (*figures, *widths, f"{row['bytes_spilled'] / 1e6:,.1f}", what, f"{100 * part:.0f} %")


def picture(front: list[Row], best: Row) -> str:
    """Time by area: a point a machine, with a bar down to its greatest bound."""
    with chart("Machines by area and time", height=3.6, width=6.4) as (_, axes, out):
        for row in front:
            mine = row == best
            axes.vlines(
                row["area_mm2"], limit(row)[1] * row["ms"], row["ms"], color=INK, linewidth=0.8, zorder=1
            )
            axes.plot(
                [row["area_mm2"]],
                [row["ms"]],
                marker="D" if mine else "o",
                markersize=9 if mine else 6,
                color=AMBER if mine else TEAL,
                markeredgecolor=INK,
                markeredgewidth=1.2 if mine else 0.4,
                linestyle="none",
                zorder=3 if mine else 2,
            )
        times = [row["ms"] for row in front]
        if max(times) > 8 * min(times):
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.set_xlabel("mm² at 7 nm")
        axes.set_ylabel("ms a run")
    return out[0]
