#!/usr/bin/env python3
"""Fills the measured parts of README.md from figures that `make bench` wrote.

``readme.py``
    copies ``build/bench.json`` and ``build/bench-limits.json`` to ``docs/measured`` and rewrites what stands
    between the markers;
``readme.py --check``
    fails if README.md is not what ``docs/measured`` gives.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MEASURED = ROOT / "docs" / "measured"
sys.path.insert(0, str(ROOT))


def time_text(microseconds: float) -> str:
    """Return a time with three figures and a unit."""
    value, unit = (microseconds, "µs") if microseconds < 1000 else (microseconds / 1000, "ms")
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def ratios(rows: list[dict[str, Any]]) -> str:
    """Return the table of ratios, with the machine above it."""
    from benches.rows import ROWS

    bars = {(row.work, row.peer): row for row in ROWS}
    isas = sorted({row["isa"] for row in rows})
    lines = [
        f"One core of {rows[0]['cpu']}, instruction set {', '.join(isas)}; medians; ratio = peer / ours.",
        "",
        "| work | ours | peer | | ratio | bar |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        side = next((key for key in bars if key[0] == row["work"] and _same(key[1], row["peer"])), None)
        bar = bars[side].bar(row["isa"]) if side else None
        verdict = "–" if bar is None else f"≥ {bar:g}{'' if row['ratio'] >= bar else ', missed'}"
        lines.append(
            f"| {row['work']} | {time_text(row['ours_us']['median'])} | {row['peer']} "
            f"| {time_text(row['peer_us']['median'])} | **{row['ratio']:.2f}** | {verdict} |"
        )
    return "\n".join(lines)


def _same(key: str, printed: str) -> bool:
    name = printed.lower().replace(" wheel", "")
    if key in ("single", "fixed"):
        return name.startswith("ringmill")
    # A peer with settings of its own: openfhe-3-3 prints as "OpenFHE wheel 1.6, 3-3".
    peer, _, settings = key.partition("-") if key.startswith("openfhe") else (key, "", "")
    return name.startswith(peer) and name.endswith(settings)


def limits(rows: list[dict[str, Any]]) -> str:
    """Return the table of limits."""
    lines = ["| limit | measured | bar |", "|---|---|---|"]
    for row in rows:
        sign = "≤" if row["at_most"] else "≥"
        verdict = "" if row["kept"] else ", missed"
        bar = f"{sign} {row['bar']:g} {row['unit']}{verdict}"
        lines.append(f"| {row['what']} | {row['value']:.3g} {row['unit']} | {bar} |")
    return "\n".join(lines)


def rendered(text: str) -> str:
    """Return README text with each marked part made anew."""
    for name, render in (("bench", ratios), ("bench-limits", limits)):
        source = MEASURED / f"{name}.json"
        if not source.exists():
            continue
        body = render(json.loads(source.read_text()))
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
        text = marked.sub(lambda match, body=body: f"{match[1]}{body}\n{match[2]}", text)
    return text


def main() -> int:
    """Check, or copy and rewrite."""
    text = README.read_text()
    if "--check" in sys.argv[1:]:
        if rendered(text) != text:
            print("README.md does not show docs/measured: run `make readme`")
            return 1
        return 0
    MEASURED.mkdir(parents=True, exist_ok=True)
    for name in ("bench", "bench-limits"):
        built = ROOT / "build" / f"{name}.json"
        if built.exists():
            shutil.copy(built, MEASURED / built.name)
    README.write_text(rendered(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
