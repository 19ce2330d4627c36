#!/usr/bin/env python3
"""Fills the measured parts of README.md from figures that `make bench` wrote.

``readme.py``
    puts the figures of ``bench.json``, ``bench-avx2.json`` and ``bench-limits.json`` in ``build`` in place of
    those of the same rows and limits in ``docs/measured`` and rewrites what stands between the markers;
``readme.py --check``
    fails if README.md is not what ``docs/measured`` gives.
"""

from __future__ import annotations

import json
import re
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
    from benches.results import row_of

    isas = sorted({row["isa"] for row in rows})
    lines = [
        f"One core of {rows[0]['cpu']}, instruction set {', '.join(isas)}; medians; ratio = peer / ours.",
        "",
        "| work | ours | peer | | ratio | bar |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        known = row_of(row)
        bar = known.bar(row["isa"]) if known else None
        verdict = "–" if bar is None else f"≥ {bar:g}{'' if row['ratio'] >= bar else ', missed'}"
        lines.append(
            f"| {row['work']} | {time_text(row['ours_us']['median'])} | {row['peer']} "
            f"| {time_text(row['peer_us']['median'])} | **{row['ratio']:.2f}** | {verdict} |"
        )
    return "\n".join(lines)


def limits(rows: list[dict[str, Any]]) -> str:
    """Return the table of limits."""
    lines = ["| limit | measured | bar |", "|---|---|---|"]
    for row in rows:
        sign = "≤" if row["at_most"] else "≥"
        verdict = "" if row["kept"] else ", missed"
        bar = f"{sign} {row['bar']:g} {row['unit']}{verdict}"
        value = f"{row['value']:.3g}" if abs(row["value"]) < 1000 else f"{row['value']:.0f}"
        lines.append(f"| {row['what']} | {value} {row['unit']} | {bar} |")
    return "\n".join(lines)


def rendered(text: str) -> str:
    """Return README text with each marked part made anew."""
    for name, render in (("bench", ratios), ("bench-avx2", ratios), ("bench-limits", limits)):
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
    keep()
    README.write_text(rendered(text))
    return 0


def keep() -> None:
    """Put what was built last into what is kept, each figure in place of the one of its name."""
    from benches.results import merged, merged_limits, read

    built = ROOT / "build"
    results, avx2 = (
        merged(read(MEASURED / name), read(built / name)) for name in ("bench.json", "bench-avx2.json")
    )
    limits = merged_limits(read(MEASURED / "bench-limits.json"), read(built / "bench-limits.json"), results)
    for name, rows in (("bench", results), ("bench-avx2", avx2), ("bench-limits", limits)):
        (MEASURED / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
