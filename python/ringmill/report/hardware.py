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


def _bars(switch: Results) -> dict[tuple[str, str], list[list[float]]]:
    """Start and length of the work of each unit in each colour, in slots; what nearly touches is one bar."""
    slot, gap = switch["slot"], switch["cycles"] / switch["slot"] / 2000
    bars: dict[tuple[str, str], list[list[float]]] = {}
    for span in switch["spans"]:
        of = bars.setdefault((span["unit"], _colour(span)), [])
        start, end = span["start"] / slot, span["end"] / slot
        if of and 0 <= start - sum(of[-1]) < gap:
            of[-1][1] = end - of[-1][0]
        else:
            of.append([start, end - start])
    return bars


def occupancy(switch: Results, title: str = "Units of the core during one key switch") -> str:
    """Both lanes and the arithmetic unit over one program, in slots of one transform."""
    slot = switch["slot"]
    with chart(title, height=2.5, width=11.2) as (_, axes, out):
        for (unit, colour), of in _bars(switch).items():
            row = len(_UNITS) - 1 - _UNITS.index(unit)
            axes.broken_barh(
                [(start, length) for start, length in of],
                (row - 0.33, 0.66),
                color=colour,
                linewidth=0,
                alpha=0.85,
            )
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
