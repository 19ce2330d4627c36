"""The exploration section: the Pareto front to look around in, the chosen design, why its neighbours lost.

Designs are those of `design.json`. Charts are drawn by Matplotlib as everywhere in the report. Every design
is a group `design-X-Y-N` of the drawing. `exploration.js` shows a design under the pointer, filters the
table, and saves the picture.
"""

from __future__ import annotations

import json
import math
from typing import Any

from ringmill.report.style import AMBER, INDIGO, INK, TEAL, chart
from ringmill.targets import summary
from ringmill.validate.design import deviation
from ringmill.validate.plot import draw_held, ratios

Results = dict[str, Any]

#: What a front is drawn over: (name, label of the axis, short form).
AXES = {
    "latency": "latency of one run, ms",
    "error": "error of the worst slot",
    "area": "part of the device, of what runs out first",
    "security": "security, bits",
}
#: The pictures: what is drawn over what.
PICTURES = (("latency", "error"), ("latency", "area"), ("latency", "security"), ("area", "error"))

_RESOURCES = {"lut": "LUT", "ff": "FF", "dsp": "DSP", "bram36": "BRAM", "ebr": "EBR", "uram": "URAM"}


def value(design: Results, axis: str) -> float:
    """Where a design stands on an axis."""
    names = {"latency": "latency_ms", "error": "error", "area": "area", "security": "security_bits"}
    return float(design["predicted"][names[axis]]["value"])


def _bits(primes: list[int]) -> str:
    sizes = [q.bit_length() for q in primes]
    return "+".join(str(size) for size in sizes)


def facts(number: int, design: Results) -> Results:
    """What table and tooltip say of a design."""
    p, known = design["parameters"], design["predicted"]
    resources = known["resources"]
    used = [
        f"{_RESOURCES[name]} {figure['value']:,.0f}"
        for name, figure in resources.items()
        if name in _RESOURCES
    ]
    return {
        "number": number,
        "latency": value(design, "latency"),
        "error": value(design, "error"),
        # Percent.
        "area": 100 * value(design, "area"),
        "runs_out": known["area"]["origin"]["source"],
        "security": value(design, "security"),
        "cycles": known["cycles"]["value"],
        "clock": known["frequency_mhz"]["value"],
        "clock_origin": known["frequency_mhz"]["origin"]["kind"],
        "ring": p["log_n"],
        "primes": f"{_bits(p['q'])} | {_bits(p['p'])}",
        "dnum": p["dnum"],
        "core": summary(design),
        "machine": design["machine"],
        "variant": design["kernel"]["variant"],
        "resources": ", ".join(used),
    }


def _times(ratio: float) -> str:
    return f"{100 * (ratio - 1):.0f} %" if ratio < 2 else f"{ratio:.1f}×"


def why(design: Results, chosen: Results, constraints: Results) -> str:
    """Return why a design was not chosen: a constraint that it breaks, or where it is worse and better."""
    if value(design, "error") > constraints["max_error"]:
        return f"error above the bound of {constraints['max_error']:.2g}"
    limit = constraints.get("max_latency_ms")
    if limit is not None and value(design, "latency") > limit:
        return f"slower than the bound of {limit:g} ms"
    worse, better = [], []
    for axis, word in (("latency", "slower"), ("area", "larger"), ("error", "less exact")):
        ratio = value(design, axis) / value(chosen, axis)
        if ratio > 1.005:
            worse.append(f"{_times(ratio)} {word}")
        elif ratio < 0.995:
            better.append({"slower": "faster", "larger": "smaller", "less exact": "more exact"}[word])
    bits = value(design, "security") - value(chosen, "security")
    if abs(bits) >= 1:
        (better if bits > 0 else worse).append(
            f"{abs(bits):.0f} bits {'more' if bits > 0 else 'less'} secure"
        )
    return f"{', '.join(worse) or 'equal'}{'; but ' + ', '.join(better) if better else ''}"


def picture(front: list[Results], chosen: int, x: str, y: str, constraints: Results) -> str:
    """Return the front over two axes, each design a group of its own; the bound on the error as a line."""
    with chart(f"Designs by {x} and {y}", height=3.6, width=6.4) as (_, axes, out):
        for number, design in enumerate(front):
            mine = number == chosen
            axes.plot(
                [value(design, x)],
                [value(design, y)],
                marker="D" if mine else "o",
                markersize=9 if mine else 6,
                color=AMBER if mine else TEAL,
                markeredgecolor=INK,
                markeredgewidth=1.2 if mine else 0.4,
                linestyle="none",
                gid=f"design-{x}-{y}-{number}",
                zorder=3 if mine else 2,
            )
        for axis, scale, line in ((x, axes.set_xscale, axes.axvline), (y, axes.set_yscale, axes.axhline)):
            values = [value(design, axis) for design in front]
            if min(values) > 0 and (axis == "error" or max(values) > 20 * min(values)):
                scale("log")
            if axis == "error":
                line(constraints["max_error"], color=INDIGO, linewidth=1.2, linestyle="--")
        axes.set_xlabel(AXES[x])
        axes.set_ylabel(AXES[y])
    return out[0]


def occupancy_facts(core: Results) -> list[tuple[str, str]]:
    """How busy the units of the chosen core are over one run."""
    busy = {"transform 0": 0, "transform 1": 0, "arithmetic": 0}
    for unit, _, start, end in core["spans"]:
        if unit in busy:
            busy[unit] += end - start
    return [(unit, f"{100 * cycles / core['cycles']:.0f} %") for unit, cycles in busy.items()]


def validated_chart(rows: list[Results]) -> str:
    """Measured over predicted of every figure that was measured; nothing if none was."""
    count = len(ratios(rows))
    if not count:
        return ""
    with chart("Measured over predicted", height=0.9 + 0.32 * count, width=6.4) as (_, axes, out):
        draw_held(axes, rows, TEAL, AMBER)
    return out[0]


def _share(exploration: Results) -> str:
    """How much of the front the page shows, where that is not all of it."""
    shown, total = len(exploration["front"]), exploration.get("front_total", 0)
    if shown >= total:
        return ""
    chosen = "the chosen one, planned longer, beats the others"
    why_not_all = ", evenly chosen" if exploration["front_thinned"] else f": {chosen}"
    return f"{shown} of {total:,} designs of the front{why_not_all}."


def _plans(exploration: Results, latency: float) -> str:
    """Which plans the times are of, where the chosen design's is of another than those beside it."""
    quick = exploration.get("quick_ms")
    if quick is None:
        return ""
    return (
        f"Times are those of a quick plan, but for the chosen design: {digits(latency)} ms are those of a "
        f"longer search, where the quick plan takes {digits(quick)} ms."
    )


def section(exploration: Results) -> Results:
    """Everything that the template shows."""
    front, chosen, constraints = exploration["front"], exploration["chosen"], exploration["wishes"]
    reported = [facts(number, design) for number, design in enumerate(front)]
    for row, design in zip(reported, front, strict=True):
        row["why"] = "chosen" if row["number"] == chosen else why(design, front[chosen], constraints)
    origins = {
        name: f"{figure['origin']['kind']}: {figure['origin']['source']}"
        for name, figure in front[chosen]["predicted"].items()
        if isinstance(figure, dict) and "origin" in figure
    }
    return {
        **exploration,
        "designs": reported,
        "notes": [
            note for note in (_share(exploration), _plans(exploration, reported[chosen]["latency"])) if note
        ],
        "latency_title": "latency, ms" if exploration.get("quick_ms") is None else "latency (quick plan), ms",
        "chosen": reported[chosen],
        # < is the one character that could end the script element.
        "data": json.dumps(reported).replace("<", "\\u003c"),
        "pictures": [(x, y, picture(front, chosen, x, y, constraints)) for x, y in PICTURES],
        "origins": origins,
        "occupancy": occupancy_facts(exploration["core"]) if "core" in exploration else [],
        "validated": [{**row, "deviation": deviation(row)} for row in exploration.get("validated", [])],
    }


def digits(number: float) -> str:
    """A number with three digits, powers of ten where it is small."""
    if number == 0 or not math.isfinite(number):
        return f"{number:g}"
    return f"{number:.3g}" if 1e-3 <= abs(number) < 1e6 else f"{number:.2e}"
