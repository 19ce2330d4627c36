"""The hardware section: the core drawn, and its units over time."""

from __future__ import annotations

from typing import Any

from ringmill.report.style import AMBER, INDIGO, INK, MUTED, ROSE, TEAL, chart

Results = dict[str, Any]

_UNITS = ("transform 0", "transform 1", "arithmetic")


def _colour(span: Results) -> str:
    if span["unit"] != "arithmetic":
        return TEAL if span["what"].startswith("ntt") else INDIGO
    return ROSE if span["what"].split()[0] in ("mac", "mul") else AMBER


def occupancy(switch: Results) -> str:
    """Both lanes and the arithmetic unit over one key switch, in slots of one transform."""
    slot = switch["slot"]
    with chart("Units of the core during one key switch", height=2.5, width=11.2) as (_, axes, out):
        for span in switch["spans"]:
            row = len(_UNITS) - 1 - _UNITS.index(span["unit"])
            start, width = span["start"] / slot, (span["end"] - span["start"]) / slot
            axes.barh(row, width, left=start, height=0.66, color=_colour(span), linewidth=0, alpha=0.85)
        names = ["lane 0", "lane 1", "arithmetic"]
        axes.set_yticks([2, 1, 0], names)
        axes.set_xlim(0, switch["cycles"] / slot)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("slots (one transform on one lane)")
        axes.annotate(
            f"{switch['cycles']:,} cycles",
            (switch["cycles"] / slot, 2.55),
            ha="right",
            color=INK,
            fontsize=9,
        )
        axes.tick_params(axis="y", colors=MUTED)
    return out[0]


def _box(x: int, y: int, width: int, height: int, title: str, lines: tuple[str, ...], colour: str) -> str:
    text = f'<text x="{x + width / 2}" y="{y + 20}" text-anchor="middle" font-weight="600">{title}</text>'
    for at, line in enumerate(lines):
        text += (
            f'<text x="{x + width / 2}" y="{y + 37 + 14 * at}" text-anchor="middle" '
            f'style="fill:var(--muted);font-size:11px">{line}</text>'
        )
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" '
        f'style="fill:var(--panel);stroke:var({colour});stroke-width:1.5"/>{text}'
    )


def _wire(path: str) -> str:
    return (
        f'<path d="{path}" style="fill:none;stroke:var(--muted);stroke-width:1.4" marker-end="url(#arrow)"/>'
    )


def diagram(core: Results) -> str:
    """The blocks of the core and what passes between them."""
    nbf = core["butterflies"]
    boxes = [
        _box(10, 95, 120, 70, "memory", ("AXI4, off chip", "keys, ciphertexts"), "--line"),
        _box(170, 20, 150, 60, "issue", ("in order, a ticket", "a bank"), "--amber"),
        _box(170, 95, 150, 70, "arithmetic", (f"{2 * nbf} multipliers", "a row a cycle"), "--rose"),
        _box(380, 20, 130, 60, "banks 0, 1", ("lane 0",), "--indigo"),
        _box(380, 100, 130, 60, "accumulators", ("banks 4, 5",), "--indigo"),
        _box(380, 180, 130, 60, "banks 2, 3", ("lane 1",), "--indigo"),
        _box(570, 20, 150, 60, "transform 0", (f"{nbf} butterflies",), "--teal"),
        _box(570, 180, 150, 60, "transform 1", (f"{nbf} butterflies",), "--teal"),
    ]
    wires = [
        _wire("M130 120H168"),
        _wire("M170 145H132"),
        _wire("M70 95V50H168"),
        _wire("M245 80V93"),
        _wire("M320 118H350V50H378"),
        _wire("M320 130H378"),
        _wire("M320 142H350V210H378"),
        _wire("M510 42H568"),
        _wire("M570 60H512"),
        _wire("M510 202H568"),
        _wire("M570 220H512"),
    ]
    return (
        '<svg class="chart" role="img" aria-label="Blocks of the compact core" viewBox="0 0 730 255" '
        'style="font-size:13px;fill:var(--ink)">' + "".join(wires + boxes) + "</svg>"
    )
