#!/usr/bin/env python3
"""Fills the measured parts of README.md and docs/benchmarks.md from figures that `make bench` wrote.

``readme.py``
    puts the figures of ``bench.json``, ``bench-avx2.json`` and ``bench-limits.json`` in ``build`` in place of
    those of the same rows and limits in ``docs/measured`` and rewrites what stands between the markers;
``readme.py --check``
    fails if a page is not what ``docs/measured`` gives.
"""

from __future__ import annotations

import datetime
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "benchmarks.md")
MEASURED = ROOT / "docs" / "measured"
sys.path.insert(0, str(ROOT))

#: Rows of the README's table: work, a pattern of the peer's name, the operation in plain words.
CHOSEN = [
    ("ntt/2^14/50", "tfhe-ntt", "forward transform of one limb, N = 2^14, a prime of 50 bits"),
    ("mul_ct_ct/III", "SEAL", "product of two ciphertexts before relinearisation, set III"),
    ("relin/III", "SEAL", "relinearisation, set III"),
    ("rotate/III", "SEAL", "rotation, set III"),
    ("relin/V", "OpenFHE", "relinearisation, set V"),
    ("encode/V", "SEAL", "encoding, set V"),
    ("matvec256/IV", "SEAL", "256 × 256 matrix times an encrypted vector, set IV"),
    ("boot/full/2^16", "OpenFHE.*, 3-3$", "bootstrapping of 2^15 slots, N = 2^16"),
]

Rows = list[dict[str, Any]]


def time_text(microseconds: float) -> str:
    """Return a time with three figures and a unit."""
    value, unit = (microseconds, "µs") if microseconds < 1000 else (microseconds / 1000, "ms")
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def machine(rows: Rows) -> str:
    """Return the sentence on where and how the rows of one processor were measured."""
    isas = ", ".join(sorted({row["isa"] for row in rows}))
    return f"One core of {rows[0]['cpu']}, instruction set {isas}; medians; ratio = peer / ours."


def _cells(row: dict[str, Any]) -> str:
    return (
        f"{time_text(row['ours_us']['median'])} | {row['peer']} "
        f"| {time_text(row['peer_us']['median'])} | **{row['ratio']:.2f}** | {row['date']} |"
    )


def speeds(rows: Rows) -> str:
    """Return the README's table: a row for each kind of work, and its ratio on every other processor."""
    from benches.results import of_processors

    first, *others = of_processors(rows)
    lines = [
        machine(first),
        "",
        f"| operation | ours | peer | | ratio | recorded |{''.join(f' {cpu(other)} |' for other in others)}",
        f"|---|---|---|---|---|---|{'---|' * len(others)}",
    ]
    for work, peer, words in CHOSEN:
        (row,) = _chosen(first, work, peer)
        ratios_there = [
            f" {found[0]['ratio']:.2f} |" if (found := _chosen(other, work, peer)) else " – |"
            for other in others
        ]
        lines.append(f"| {words} | {_cells(row)}{''.join(ratios_there)}")
    return "\n".join(lines)


def _chosen(rows: Rows, work: str, peer: str) -> Rows:
    return [row for row in rows if row["work"] == work and re.match(peer, row["peer"])]


def cpu(rows: Rows) -> str:
    """Return the processor of rows, as the head of a column."""
    return f"ratio on {rows[0]['cpu'].replace('(R)', '').replace(' Processor', '')}"


def reached(row: dict[str, Any]) -> str:
    """Return the ceiling that our side is nearest to, and how near."""
    if "bound" not in row:
        return "–"
    parts = {name: row["bound"][f"{name}_us"] / row["ours_us"]["median"] for name in ("multiplier", "memory")}
    name = "multiplier" if parts["memory"] > 1 else max(parts, key=lambda name: parts[name])
    return f"{name} {parts[name]:.0%}"


def ratios(rows: Rows) -> str:
    """Return a table of all ratios for each processor, with its name above it."""
    from benches.results import of_processors

    tables = []
    for of_one in of_processors(rows):
        lines = [
            machine(of_one),
            "",
            "| work | ours | peer | | ratio | recorded | ceiling |",
            "|---|---|---|---|---|---|---|",
            *(f"| {row['work']} | {_cells(row)} {reached(row)} |" for row in of_one),
        ]
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def parameters(rows: Rows) -> str:
    """Return what each side's context of a set has."""
    lines = ["| set | side | N | limbs | special primes | dnum | log PQ |", "|---|---|---|---|---|---|---|"]
    found: dict[tuple[str, str], str] = {}
    for row in (row for row in rows if "parameters" in row):
        name = row["work"].partition("/")[2]
        for side, of in (("Ringmill", row["parameters"]["ours"]), (row["peer"], row["parameters"]["peer"])):
            if of is None:
                found[name, side] = "not said | | | | |"
                continue
            size = f"{of['log_pq']:.0f}{', beyond 128 bits' if of['beyond_128'] else ''}"
            cells = [f"2^{of['log_n']}", of["limbs"], of["special"], of["dnum"], size]
            found[name, side] = " | ".join(map(str, cells)) + " |"
    return "\n".join([*lines, *(f"| {name} | {side} | {found[name, side]}" for name, side in sorted(found))])


def limits(rows: Rows) -> str:
    """Return the table of figures that are no ratio to a peer."""
    lines = ["| quantity | measured |", "|---|---|"]
    for row in rows:
        value = f"{row['value']:.3g}" if abs(row["value"]) < 1000 else f"{row['value']:.0f}"
        lines.append(f"| {row['what']} | {value} {row['unit']} |".replace("  |", " |"))
    return "\n".join(lines)


def rendered(text: str) -> str:
    """Return a page with each marked part made anew."""
    parts = (
        ("speeds", "bench", speeds),
        ("bench", "bench", ratios),
        ("bench-avx2", "bench-avx2", ratios),
        ("bench-parameters", "bench", parameters),
        ("bench-limits", "bench-limits", limits),
    )
    for marker, name, render in parts:
        source = MEASURED / f"{name}.json"
        if not source.exists():
            continue
        body = render(json.loads(source.read_text()))
        marked = re.compile(rf"(<!-- {marker} -->\n).*?(<!-- /{marker} -->)", re.S)
        text = marked.sub(lambda match, body=body: f"{match[1]}{body}\n{match[2]}", text)
    return text


def main() -> int:
    """Check, or copy and rewrite."""
    if "--check" in sys.argv[1:]:
        stale = [page for page in PAGES if rendered(page.read_text()) != page.read_text()]
        for page in stale:
            print(f"{page.relative_to(ROOT)} does not show docs/measured: run `make readme`")
        return bool(stale)
    MEASURED.mkdir(parents=True, exist_ok=True)
    keep()
    for page in PAGES:
        page.write_text(rendered(page.read_text()))
    return 0


def dated(path: Path, kept: Rows) -> Rows:
    """Return what a bench wrote, each row with the day of the file; what is kept already keeps its day."""
    from benches.results import read

    if not path.exists():
        return []
    day = datetime.date.fromtimestamp(path.stat().st_mtime).isoformat()
    known = {json.dumps({**row, "date": ""}, sort_keys=True): row["date"] for row in kept}
    return [
        {**row, "date": known.get(json.dumps({**row, "date": ""}, sort_keys=True), day)} for row in read(path)
    ]


def keep() -> None:
    """Put what was built last into what is kept, each figure in place of the one of its name."""
    from benches.results import merged, merged_limits, read
    from ringmill.studies.stored import text_of

    built = ROOT / "build"
    results, avx2 = (
        merged(kept := read(MEASURED / name), dated(built / name, kept))
        for name in ("bench.json", "bench-avx2.json")
    )
    limits = merged_limits(read(MEASURED / "bench-limits.json"), read(built / "bench-limits.json"), results)
    for name, rows in (("bench", results), ("bench-avx2", avx2), ("bench-limits", limits)):
        (MEASURED / f"{name}.json").write_text(text_of(rows), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
