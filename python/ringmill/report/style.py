"""How charts look: drawn by Matplotlib as SVG, coloured by the page's own variables.

Each colour is drawn as a marker value that no chart uses otherwise, and replaced by a CSS variable
afterwards, so that one drawing serves the light and the dark page. Letters stay letters.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MUTED, LINE, PANEL = "#010203", "#010204", "#010205", "#010206"
TEAL, AMBER, ROSE, INDIGO, MOSS = "#010207", "#010208", "#010209", "#01020a", "#01020b"

_VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    LINE: "--line",
    PANEL: "--panel",
    TEAL: "--teal",
    AMBER: "--amber",
    ROSE: "--rose",
    INDIGO: "--indigo",
    MOSS: "--moss",
}

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 9,
}


@contextmanager
def chart(name: str, height: float = 3.1, width: float = 5.4) -> Iterator[tuple[Figure, Axes, list[str]]]:
    """A figure of ``width`` × ``height`` inches; the finished SVG is appended to the list it yields."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    out: list[str] = []
    # A fixed salt makes the same results give the same bytes, and ids unique on the page.
    with mpl.rc_context({**_SETTINGS, "svg.hashsalt": name}):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure, figure.subplots(), out
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    out.append(_inline(buffer.getvalue(), name))


def _inline(svg: str, name: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    box = re.search(r'viewBox="([^"]+)"', svg)
    assert box  # Matplotlib always writes one
    opening = f'<svg class="chart" role="img" aria-label="{name}" viewBox="{box[1]}">'
    svg = opening + svg[svg.index(">") + 1 :]
    # Matplotlib numbers its groups from one in every chart; only ids that something refers to are needed.
    referred = set(re.findall(r"#([\w.-]+)", svg))
    # Designs are referred to by the page's script.
    svg = re.sub(
        r' id="([^"]*)"',
        lambda match: match[0] if match[1] in referred or match[1].startswith("design-") else "",
        svg,
    )
    svg = re.sub(r"font(-family)?: ?[^;\"]*'DejaVu Sans'[^;\"]*", _without_family, svg)
    for marker, variable in _VARIABLES.items():
        svg = svg.replace(marker, f"var({variable})")
    return svg


def _without_family(match: re.Match[str]) -> str:
    """Keep a font's size, leave its family to the page."""
    size = re.search(r"([\d.]+px)", match[0])
    return f"font-size: {size[1]}" if size else "font-style: normal"


def label_bars(axes: Any, bars: Any, texts: list[str]) -> None:
    """Write a text at the end of every horizontal bar."""
    axes.bar_label(bars, labels=texts, padding=4, color=INK, fontsize=9)
