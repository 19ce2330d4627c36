"""`ringmill compare taiyi-parameters`: exact counts, and levels by the paper's equation."""

from __future__ import annotations

import json
import math

import pytest

from ringmill import cli
from ringmill.compare import taiyi, taiyi_table
from ringmill.compare.taiyi import Switch


def test_hybrid_and_klss_take_the_transforms_of_their_formulas() -> None:
    for s in (Switch(16, 39, 7, 7), Switch(16, 30, 15, 15), Switch(17, 5, 2, 1)):
        beta, all_limbs = math.ceil(s.limbs / s.alpha), s.limbs + s.special
        assert taiyi.hybrid(s).transforms == (beta + 2) * all_limbs * s.log_n / 2
        assert taiyi.hybrid(s).products == 2 * beta * all_limbs
        for block in (1, 4, all_limbs):
            primes = taiyi.t_primes(s, block, 36, 60)
            count, blocks = taiyi.klss(s, block, primes), math.ceil(all_limbs / block)
            assert count.transforms == (3 * s.limbs + primes * (beta + 2 * blocks)) * s.log_n / 2
            assert count.products == 2 * beta * blocks * primes
    # One digit, one special prime: a lift needs no multiplication, and both divisions leave two.
    assert taiyi.hybrid(Switch(16, 1, 1, 1)).conversions == 2


def test_t_is_as_long_as_its_bound() -> None:
    for block in range(1, 47):
        s = Switch(16, 39, 7, 7)
        primes = taiyi.t_primes(s, block, 36, 60)
        needed = 6 * 2**16 * 2 ** (36 * 7) * 2 ** (36 * block)
        assert 2 ** (60 * primes) > needed >= 2 ** (60 * (primes - 1))


def test_the_papers_levels_follow_from_its_equation() -> None:
    figures = taiyi.paper()
    targets = {row["log_n"]: row["target"] for row in figures["security"]}
    assert taiyi.level(6, targets[16]) == 38
    assert taiyi.level(18, targets[17]) == 86
    # Printed as 194, which is more than the 189 primes that there are.
    assert taiyi.level(39, targets[18]) == 184
    assert figures["amortised"]["chosen"]["18"][0] == 194


def test_exact_klss_saves_with_long_words_and_many_digits_only() -> None:
    rows = {(r["log_n"], r["dnum"]): r for r in taiyi.multiplications(taiyi.paper())}
    row = rows[16, 6]
    assert -35 < row["klss36"]["saving_percent"] < -25
    assert row["klss60"]["saving_percent"] > 5
    assert rows[16, 45]["klss36"]["saving_percent"] > 40
    for row in rows.values():
        for name in ("klss36", "klss60"):
            assert row[name]["block"] < taiyi.LONGEST
            parts = row[name]["transforms"] + row[name]["conversions"] + row[name]["products"]
            assert parts == row[name]["total"]


def test_the_best_digit_gets_shorter_with_the_level() -> None:
    rows = taiyi.by_level(taiyi.paper())
    assert [row["level"] for row in rows] == list(range(39))
    for name in ("klss36", "klss60"):
        assert rows[0][name]["best_alpha"] == 1
        assert rows[-1][name]["best_alpha"] > 3
        assert all(row[name]["least"] == min(row[name]["by_alpha"].values()) for row in rows)


def test_amortised_time_needs_a_measured_bootstrapping() -> None:
    figures = taiyi.paper()
    assert [row["ns"] for row in taiyi.amortised(figures, [])] == [None] * 3
    boot = {"work": "boot/full/2^16", "ours_us": {"min": 3e6}, "levels_left": 10}
    products = {"work": "mul_levels/2^16", "ours_us": {"min": 5e5}}
    first = taiyi.amortised(figures, [boot, products])[0]
    assert first["ns"] == pytest.approx(3.5e9 / 10 * 2 / 65536, abs=0.01)


def test_the_command_prints_tables_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "taiyi-parameters", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert {row["table"] for row in facts["rows"]} == {"I", "Eq. 1", "III", "Fig. 2", "IV", "Fig. 4"}
    assert all("paper" in row for row in facts["rows"] if row["table"] != "Fig. 4")
    assert cli.main(["compare", "taiyi-parameters"]) == 0
    printed = capsys.readouterr().out
    for sheet in taiyi_table.sheets(facts["rows"]):
        assert sheet.title in printed
        assert sheet.rows
