"""`ringmill compare taiyi-parameters`: exact counts, and levels by the paper's equation."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest

import ringmill as rm
from ringmill import cli
from ringmill.compiled import compile_traced
from ringmill.studies.papers.figures import read_figures
from ringmill.studies.papers.taiyi_parameters import rows as taiyi
from ringmill.studies.papers.taiyi_parameters import sheets
from ringmill.studies.papers.taiyi_parameters.rows import Switch


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
    figures = read_figures(taiyi.__package__)
    targets = {row["log_n"]: row["target"] for row in figures["security"]}
    assert taiyi.level(6, targets[16]) == 38
    assert taiyi.level(18, targets[17]) == 86
    # Printed as 194, which is more than the 189 primes that there are.
    assert taiyi.level(39, targets[18]) == 184
    assert figures["amortised"]["chosen"]["18"][0] == 194


def test_exact_klss_saves_with_long_words_and_many_digits_only() -> None:
    rows = {(r["log_n"], r["dnum"]): r for r in taiyi.multiplications(read_figures(taiyi.__package__))}
    row = rows[16, 6]
    assert -35 < row["klss36"]["saving_percent"] < -25
    assert row["klss60"]["saving_percent"] > 5
    assert rows[16, 45]["klss36"]["saving_percent"] > 40
    for row in rows.values():
        for name in ("klss36", "klss60"):
            assert row[name]["block"] < taiyi.LONGEST
            parts = row[name]["transforms"] + row[name]["conversions"] + row[name]["products"]
            assert parts == row[name]["total"]


def test_kinds_of_multiplications_change_as_their_counts_do() -> None:
    figures = read_figures(taiyi.__package__)
    # One number of digits at one degree: the change of each kind is that of its two counts.
    counted = taiyi.multiplications(figures)
    one = next(row for row in counted if (row["log_n"], row["dnum"]) == (16, 6))
    ours, hybrid = one["klss36"], one["hybrid"]
    rows = {row["what"]: row for row in taiyi.kinds(figures, [one])}
    assert rows["transforms"]["klss36"]["mean"] == pytest.approx(
        100 * (ours["transforms"] - hybrid["transforms"]) / hybrid["transforms"]
    )
    share = ours["products"] / ours["total"] - hybrid["products"] / hybrid["total"]
    assert rows["products_share"]["klss36"]["mean"] == pytest.approx(100 * share)
    # Of all: what the paper prints, and what it says of transforms contradicts itself.
    rows = {row["what"]: row for row in taiyi.kinds(figures, counted)}
    assert rows["transforms"]["klss36"]["mean"] == pytest.approx(-59.6, abs=10)
    printed = rows["transforms"]["paper"]
    assert 1 / (1 + printed["mean"] / 100) == pytest.approx(2.5, abs=0.03)
    assert printed["times_fewer"] == 3.6
    # A share p of what then falls becomes 1.443 p at least.
    grown, points = (rows[name]["paper"]["mean"] for name in ("products", "products_share"))
    assert points / grown < 0.073 < hybrid["products"] / hybrid["total"]
    assert all(
        row[name]["least"] <= row[name]["mean"] <= row[name]["most"]
        for row in rows.values()
        for name in ("klss36", "klss60")
    )


def test_every_figure_is_beside_the_papers_or_says_why_not() -> None:
    rows = taiyi.rows([])
    *chains, mean = [row for row in rows if row["table"] == "Fig. 2"]
    assert mean["digits_mb"] == pytest.approx(sum(row["digits_mb"] for row in chains) / 45)
    assert mean["paper"] == {"digits_mb": 102.9, "key_mb": None}
    first, *others = [row for row in rows if row["table"] == "IV"]
    # The paper's own levels less the 21 of its bootstrapping.
    assert (first["levels_left"], first["paper_levels_left"]) == (9, 38 - 21)
    assert all(row["origin"] for row in others)
    lacking = [row["log_n"] for row in rows if row["table"] == "I" and row["log_pq"] is None]
    assert lacking == [row["log_n"] for row in rows if row["table"] == "I" and row["reason"]] == [18]
    assert {row["table"] for row in rows if row["paper"] is None} == {"Fig. 4"}
    assert any("Figure 4 is a chart without figures" in note for note in sheets.NOTES)


def test_the_best_digit_gets_shorter_with_the_level() -> None:
    rows = taiyi.by_level(read_figures(taiyi.__package__))
    assert [row["level"] for row in rows] == list(range(39))
    for name in ("klss36", "klss60"):
        assert rows[0][name]["best_alpha"] == 1
        assert rows[-1][name]["best_alpha"] > 3
        assert all(row[name]["least"] == min(row[name]["by_alpha"].values()) for row in rows)


@rm.kernel
def product(x: Any, y: Any) -> Any:
    return x * y


@pytest.mark.parametrize("block", [2, 3, 6])
def test_primes_of_t_are_counted_as_the_lowering_takes_them(block: int) -> None:
    params = rm.Params.from_bits(11, [36] * 7, [36] * 2, 4, scale_bits=36, insecure=True)
    levels = dict.fromkeys(range(1, 7), f"klss~{block}")
    method = rm.key_switching("hybrid", levels=levels)
    power = rm.kernel(lambda x: x**32).compile(rm.vector(8), params=params, switching=method)
    found = {level: name for level, name, _ in power.work()["switches"]}
    assert len(found) == 5
    for level, name in found.items():
        primes, bits = map(int, re.findall(r"(\d+) primes of (\d+) bits", name)[0])
        assert f"blocks of {block}" in name
        assert primes == taiyi.t_primes(Switch(11, level + 1, 2, 2), block, 36, bits)


def test_amortised_time_is_measured_or_says_where_it_comes_from() -> None:
    figures = read_figures(taiyi.__package__)
    stored, *others = taiyi.amortised(figures, [])
    own = figures["own"]
    assert stored["ns"] * 1e-9 * 2**15 * own["levels"] == pytest.approx(
        own["boot_seconds"] + own["product_seconds"], rel=1e-5
    )
    assert "bootstrapping.md" in stored["origin"]
    assert [row["ns"] for row in others] == [None, None]
    boot = {"work": "boot/full/2^16", "ours_us": {"min": 3e6}, "levels_left": own["levels"]}
    first = taiyi.amortised(figures, [boot])[0]
    together = 3 + own["product_seconds"]
    assert first["ns"] == pytest.approx(together * 1e9 / own["levels"] * 2 / 65536, abs=0.01)
    assert first["origin"].startswith("the last bench run")
    # One that leaves other levels is another bootstrapping.
    assert taiyi.amortised(figures, [{**boot, "levels_left": 5}])[0] == stored


def test_the_longest_modulus_is_that_of_the_published_tables() -> None:
    rows = {row["log_n"]: row for row in taiyi.security(read_figures(taiyi.__package__))}
    printed = {
        name: [rows[n][name] for n in (15, 16, 17, 18)] for name in rows[15] if name.startswith("log_pq")
    }
    assert printed == {
        "log_pq": [868, 1747, 3523, None],
        "log_pq_192": [597, 1199, 2411, None],
        "log_pq_256": [462, 929, 1866, None],
        "log_pq_2018": [881, None, None, None],
    }


@pytest.mark.long
def test_the_stored_time_of_products_is_what_the_costs_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGMILL_COSTS", "/nowhere")  # the shipped ones
    own = read_figures(taiyi.__package__)["own"]
    params = rm.Params.bootstrapping(own["levels"])
    traced = product.trace(rm.vector(params.slots), rm.vector(params.slots))
    ends = range(own["levels"])
    programs = [compile_traced(traced, params=params, output_level=end) for end in ends]
    seconds = sum(program.work()["seconds"] for program in programs)
    assert seconds == pytest.approx(own["product_seconds"], rel=0.01)


def test_the_command_prints_tables_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "taiyi-parameters", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert {row["table"] for row in facts["rows"]} == {
        *("I", "Eq. 1", "Fig. 1", "III", "Fig. 2", "IV", "Fig. 4"),
        *("IV, dnum", "Fig. 3", "VII", "Fig. 10"),
    }
    assert all("paper" in row for row in facts["rows"])
    assert cli.main(["compare", "taiyi-parameters"]) == 0
    printed = capsys.readouterr().out
    for sheet in sheets.sheets(facts["rows"]):
        assert sheet.title in printed
        assert sheet.rows
