"""Measured figures are kept one a row and one a limit."""

from __future__ import annotations

import datetime
import importlib
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from benches.limits import limits_of
from benches.results import merged, merged_limits, of_processors, row_of
from benches.rows import ROWS

ROOT = Path(__file__).resolve().parents[2]
FULL = "boot/full/2^16"


def result(work: str, peer: str, milliseconds: float, mb: float | None = None) -> dict[str, Any]:
    """A result as `make bench` writes it, with as much of it as these tests read."""
    times = {"min": 1e3 * milliseconds, "median": 1e3 * milliseconds}
    heavy = {"levels_left": 9, "bits": {"ours": 22.0}, "mb": {"ours": mb}} if mb else {}
    return {"work": work, "ours_us": times, "peer": peer, **heavy}


def limit(what: str, value: float) -> dict[str, Any]:
    return {"what": what, "value": value, "unit": "", "bar": 1, "at_most": True, "kept": True}


@pytest.mark.parametrize(
    ("work", "printed", "peer"),
    [
        (FULL, "OpenFHE wheel 1.6.1.0.22.4, 3-3", "openfhe-3-3"),
        (FULL, "OpenFHE wheel 2.0, 4-4", "openfhe-4-4"),
        ("relin/V", "OpenFHE wheel 1.6.1.0.22.4", "openfhe"),
        ("hoist32/V50", "Ringmill, one by one", "single"),
        ("keyswitch_mix/V50", "Ringmill, one method", "fixed"),
        ("ntt/2^12/50", "tfhe-ntt 0.7.1", "tfhe-ntt"),
    ],
)
def test_a_printed_peer_leads_back_to_its_row(work: str, printed: str, peer: str) -> None:
    row = row_of(result(work, printed, 1))
    assert row is not None
    assert (row.work, row.peer) == (work, peer)


def test_a_result_of_no_row_is_of_none() -> None:
    assert row_of(result(FULL, "OpenFHE wheel 1.6, 5-5", 1)) is None
    assert row_of(result("relin/XV", "SEAL wheel 4", 1)) is None


def test_a_newer_result_takes_the_place_of_the_older_whatever_the_version_of_the_peer() -> None:
    older = [
        result(FULL, "OpenFHE wheel 1.6, 4-4", 9),
        result("relin/III", "SEAL wheel 4.3", 5),
        result("gone/III", "SEAL wheel 4.3", 5),
    ]
    found = merged(
        older, [result(FULL, "OpenFHE wheel 1.6, 3-3", 8), result("relin/III", "SEAL wheel 4.4", 4)]
    )
    assert [(r["work"], r["peer"]) for r in found] == [
        ("relin/III", "SEAL wheel 4.4"),
        (FULL, "OpenFHE wheel 1.6, 3-3"),
        (FULL, "OpenFHE wheel 1.6, 4-4"),
    ]


def test_results_of_different_processors_stand_side_by_side() -> None:
    first, second = (
        {**result("relin/III", "SEAL wheel 4.4", time), "cpu": cpu} for time, cpu in ((5, "a"), (9, "b"))
    )
    other = {**result("relin/III", "SEAL wheel 4.5", 7), "cpu": "a"}
    assert merged([first], [second]) == [first, second]
    assert merged([first, second], [other]) == [other, second]
    assert of_processors([other, second]) == [[other], [second]]


def test_limits_of_our_side_are_the_worst_of_its_rows_and_stand_once() -> None:
    results = [
        result(FULL, "OpenFHE wheel 1.6, 3-3", 8, 3700),
        result(FULL, "OpenFHE wheel 1.6, 4-4", 8, 4100),
    ]
    stale = [limit("wheel", 5), limit(f"mem/{FULL}", 1), limit(f"two threads, {FULL}", 0.9)]
    found = merged_limits(stale, [limit(f"two threads, {FULL}", 1.8)], results)
    values = {row["what"]: (row["value"], row["kept"]) for row in found}
    assert len(values) == len(found) == 5
    assert values[f"two threads, {FULL}"][0] == 1.8
    assert values[f"mem/{FULL}"] == (4100, False)
    assert values[f"precision, {FULL}"] == (22.0, True)


def test_what_is_kept_names_each_row_and_each_limit_once() -> None:
    for name in ("bench-avx2.json", "bench.json"):
        results = json.loads((ROOT / "docs" / "measured" / name).read_text())
        for of_one in of_processors(results):
            rows = [row_of(entry) for entry in of_one]
            assert None not in rows
            assert len(set(rows)) == len(rows)
    limits = json.loads((ROOT / "docs" / "measured" / "bench-limits.json").read_text())
    names = [row["what"] for row in limits]
    assert len(set(names)) == len(names)
    kept = {row["what"]: row["value"] for row in limits}
    assert all(kept[row.what] == row.value for row in limits_of(results))


def test_rows_are_distinguished_by_work_and_peer() -> None:
    assert len({(row.work, row.peer) for row in ROWS}) == len(ROWS)
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    for name in ("bench", "bench-avx2"):
        table = page.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0]
        kept = json.loads((ROOT / "docs" / "measured" / f"{name}.json").read_text())
        parts = re.split(r"^One core of ([^,]+, family \d+ model \d+|[^,]+)", table, flags=re.M)[1:]
        found = of_processors(kept)
        assert len(parts) == 2 * len(found)
        for processor, part, of_one in zip(parts[::2], parts[1::2], found, strict=True):
            assert {processor} == {entry["cpu"] for entry in of_one}
            shown = re.findall(r"^\| (\S+) \| [^|]+ \| ([^|]+) \|", part, re.M)
            assert len(set(shown)) == len(shown)
            assert {work for work, _ in shown} - {"work"} == {entry["work"] for entry in of_one}


def test_a_figure_keeps_the_day_on_which_it_was_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    readme = importlib.import_module("readme")
    built = tmp_path / "bench.json"
    old, new = result("relin/III", "SEAL wheel 4.4", 5), result("rotate/III", "SEAL wheel 4.4", 6)
    built.write_text(json.dumps([old, new]), encoding="utf-8")
    os.utime(built, (1_800_000_000, 1_800_000_000))
    day = datetime.date.fromtimestamp(1_800_000_000).isoformat()
    found = readme.dated(built, [{**old, "date": "2026-11-25"}, {**new, "ratio": 1, "date": "2026-11-24"}])
    assert [row["date"] for row in found] == ["2026-11-25", day]
    assert readme.dated(tmp_path / "none.json", []) == []
