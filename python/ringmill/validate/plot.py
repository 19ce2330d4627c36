"""`python -m ringmill.validate.plot DATA.json OUT.svg`: predicted and measured error, from stored rows."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ringmill.atomic import write_text
from ringmill.validate.error import OPTIMISTIC

_COLOURS = ("#0f766e", "#b45309", "#be123c", "#4338ca", "#4d7c0f", "#0369a1", "#a21caf", "#57534e", "#ca8a04")


def svg(rows: list[dict[str, Any]]) -> str:
    """Measured over predicted, a colour a kernel; below the diagonal the model is on the safe side."""
    import io

    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "error model", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(6.4, 4.6), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots()
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
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def main() -> int:
    """Read rows, write the plot."""
    parser = argparse.ArgumentParser(prog="python -m ringmill.validate.plot", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    write_text(options.out, svg(json.loads(options.data.read_text(encoding="utf-8"))["rows"]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
