"""The charts of the report, each a pure function of saved results that returns inline SVG."""

from __future__ import annotations

from typing import Any

import numpy as np

from ringmill.report.style import AMBER, INDIGO, INK, LINE, MUTED, ROSE, TEAL, chart, label_bars

Results = dict[str, Any]


def human_bytes(count: float) -> str:
    """Bytes in the largest unit that leaves at least one before the point."""
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} GB"


def human_seconds(seconds: float) -> str:
    """A duration with about three digits."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def probabilities(clinic: Results) -> str:
    """Clear and encrypted probability of every test record, by the model's score."""
    clear = np.asarray(clinic["probabilities"]["clear"])
    encrypted = np.asarray(clinic["probabilities"]["encrypted"])
    labels = np.asarray(clinic["probabilities"]["labels"])
    order = np.argsort(clear)
    rank = np.arange(len(order))
    with chart("Probability of every test record, encrypted and clear") as (_, axes, out):
        axes.plot(rank, clear[order], color=MUTED, linewidth=1.2, label="clear, exact sigmoid", zorder=1)
        for value, colour, name in ((0, ROSE, "malignant"), (1, TEAL, "benign")):
            chosen = labels[order] == value
            axes.scatter(
                rank[chosen],
                encrypted[order][chosen],
                s=16,
                color=colour,
                alpha=0.8,
                linewidths=0,
                label=f"encrypted, {name}",
            )
        axes.axhline(0.5, color=LINE, linewidth=1)
        axes.set_xlabel("test records, ordered by score")
        axes.set_ylabel("probability of benign")
        axes.legend(loc="lower right", labelcolor=INK)
    return out[0]


def error_histogram(clinic: Results) -> str:
    """Error of every decrypted probability, with the predicted and the measured worst."""
    errors = np.asarray(clinic["error"]["log2_each"])
    predicted, measured = clinic["error"]["predicted_log2"], clinic["error"]["measured_log2"]
    with chart("Distribution of decryption errors") as (_, axes, out):
        axes.hist(errors, bins=24, color=INDIGO, alpha=0.55)
        top = axes.get_ylim()[1]
        axes.set_ylim(0, top * 1.22)
        for at, colour, name, height in (
            (measured, TEAL, "measured", 1.05),
            (predicted, AMBER, "predicted", 1.14),
        ):
            # No further up than its label: the one above it reaches across.
            axes.vlines(at, 0, top * (height + 0.06), color=colour, linewidth=2)
            axes.annotate(
                f"{name} 2^{at:.1f}",
                (at, top * height),
                xytext=(-6, 0),
                textcoords="offset points",
                ha="right",
                color=colour,
                fontsize=9,
                fontweight="bold",
            )
        axes.set_xlabel("error of a decrypted value, log2 (bits)")
        axes.set_ylabel("records")
    return out[0]


def error_comparison(rows: list[Results]) -> str:
    """Predicted against measured error of every program, as one line each."""
    with chart("Predicted and measured errors", height=0.9 + 0.32 * len(rows)) as (
        _,
        axes,
        out,
    ):
        at = np.arange(len(rows))[::-1]
        predicted = np.array([row["predicted_log2"] for row in rows])
        measured = np.array([row["measured_log2"] for row in rows])
        axes.hlines(at, measured, predicted, color=LINE, linewidth=3)
        axes.scatter(measured, at, s=46, color=TEAL, label="measured", zorder=3)
        axes.scatter(predicted, at, s=46, color=AMBER, label="predicted", zorder=3)
        axes.set_yticks(at, [row["label"] for row in rows])
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("error of the worst result, log2 (bits)")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, labelcolor=INK, handletextpad=0.2)
    return out[0]


def stages(clinic: Results) -> str:
    """Time of every stage, by who spends it."""
    rows = clinic["stages"]
    with chart("Time per stage", height=0.8 + 0.34 * len(rows)) as (_, axes, out):
        at = np.arange(len(rows))[::-1]
        seconds = [row["seconds"] for row in rows]
        colours = [{"client": TEAL, "server": INDIGO}.get(row["where"], AMBER) for row in rows]
        bars = axes.barh(at, seconds, height=0.62, color=colours)
        axes.set_yticks(at, [row["name"] for row in rows])
        axes.set_xlim(0, max(seconds) * 1.28)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("seconds")
        label_bars(axes, bars, [human_seconds(s) for s in seconds])
    return out[0]


def wire(clinic: Results) -> str:
    """Bytes of every file that passes between client and server."""
    rows = clinic["files"]
    with chart("Bytes on the wire", height=0.8 + 0.34 * len(rows)) as (_, axes, out):
        at = np.arange(len(rows))[::-1]
        sizes = [row["bytes"] / 1e6 for row in rows]
        colours = [TEAL if row["direction"] == "up" else INDIGO for row in rows]
        bars = axes.barh(at, sizes, height=0.62, color=colours)
        axes.set_yticks(at, [row["name"] for row in rows])
        axes.set_xlim(0, max(sizes) * 1.32)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("megabytes")
        label_bars(axes, bars, [human_bytes(row["bytes"]) for row in rows])
    return out[0]


def kernel_times(rows: list[Results]) -> str:
    """Evaluation time of the nine kernels, warm, on a logarithmic axis."""
    with chart("Evaluation time of the nine kernels", height=0.8 + 0.32 * len(rows)) as (_, axes, out):
        at = np.arange(len(rows))[::-1]
        milliseconds = [row["seconds"] * 1e3 for row in rows]
        colours = [INDIGO if row["operands"] == "cipher–cipher" else TEAL for row in rows]
        bars = axes.barh(at, milliseconds, height=0.62, color=colours, left=0)
        axes.set_yticks(at, [row["label"] for row in rows])
        axes.set_xlim(0, max(milliseconds) * 1.28)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("milliseconds")
        label_bars(axes, bars, [human_seconds(row["seconds"]) for row in rows])
    return out[0]
