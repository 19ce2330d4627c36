"""Taiyi's machine and the field's: rows by stored simulations, and what the paper's own figures say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ringmill import cli
from ringmill.studies.papers.figures import read_figures
from ringmill.studies.papers.taiyi import field, programs, row, rows, simulated, space
from ringmill.studies.papers.taiyi.machines import place

Row = dict[str, Any]

FIELDS = {"table", "row", "machine", "workload", "method", "correct", "paper", "ours", "why", "remarks"}


@pytest.fixture(scope="module")
def found() -> list[Row]:
    return rows.rows(read_figures(rows.__package__ or ""), simulated.stored())


def _of(found: list[Row], table: str) -> list[Row]:
    return [r for r in found if r["table"] == table]


def test_the_printed_time_is_met_without_key_traffic_and_by_nothing_correct(found: list[Row]) -> None:
    times = {(r["machine"], r["method"]): r for r in _of(found, "VII")}
    free = times["taiyi-keys-free", "KLSS, α' = 4"]
    assert not free["correct"]
    assert free["remarks"] == ["not a correct computation"]
    assert abs(free["ours"]["ms"] / 2.77 - 1) <= 0.15
    for (machine, method), r in times.items():
        assert r["correct"] == ("α'" not in method)
        if r["correct"]:
            assert r["ours"]["ms"] > 2.77, (machine, method)
        if machine == "taiyi":
            # Nothing is faster than its keys pass 1 TB/s.
            assert r["ours"]["ms"] >= r["ours"]["bytes_off_chip"] / 1e9


def test_counted_traffic_takes_longer_than_traffic_that_is_left_out(found: list[Row]) -> None:
    times = {(r["machine"], r["method"]): r["ours"] for r in _of(found, "VII")}
    for method in ("hybrid", "KLSS, T of 36 bits", "KLSS, α' = 4"):
        free, seeded, whole = (
            times[machine, method] for machine in ("taiyi-keys-free", "taiyi", "taiyi-whole-keys")
        )
        assert free["ms"] < seeded["ms"] < whole["ms"]
        # A seed stands for half of each key, as far as limbs stay on chip alike.
        assert 0.8 < 2 * seeded["bytes_keys"] / whole["bytes_keys"] < 1.25


def test_the_array_is_occupied_and_hardly_used(found: list[Row]) -> None:
    array = [r for r in _of(found, "Fig. 11") if r["row"].startswith("ip;")]
    assert {r["machine"] for r in array} == {"taiyi-keys-free", "taiyi", "taiyi-serial-keys-free"}
    for r in array:
        assert r["ours"]["used"] < 0.1 < r["paper"]["percent"] / 100


def test_printed_joules_are_more_than_printed_watts(found: list[Row]) -> None:
    printed = next(r for r in _of(found, "Fig. 12") if r["workload"] == "ResNet-20")["paper"]
    assert printed["watts_of_joules"] == pytest.approx((5.99 + 3.15) / 0.05933, abs=0.1)
    assert printed["watts_of_joules"] > 1.9 * printed["watts"]


def test_the_texts_ratios_follow_from_its_tables(found: list[Row]) -> None:
    text = {r["row"]: r for r in _of(found, "text")}
    for name in ("Taiyi, serial over SHARP, serial", "Taiyi over SHARP"):
        assert text[name]["ours"]["times"] == pytest.approx(text[name]["paper"]["times"], rel=0.02)
    by_area = text["Taiyi over SHARP, per area"]
    assert by_area["ours"]["times_by_levels"] == pytest.approx(by_area["paper"]["times"], rel=0.02)
    assert text["smaller than SHARP, %"]["ours"]["percent"] == 15.2


def test_a_stored_row_is_what_the_simulation_says() -> None:
    stored = next(
        r for r in simulated.stored()["rows"] if (r["machine"], r["method"]) == ("taiyi", "KLSS, α' = 4")
    )
    assert simulated.paper_row(programs.FOUR, "taiyi") == stored


@pytest.mark.long
def test_every_stored_row_is_what_the_simulation_says() -> None:
    made = {(r["machine"], r["workload"], r["method"]): r for r in simulated.rows(lambda _: None)}
    stored = {(r["machine"], r["workload"], r["method"]): r for r in simulated.stored()["rows"]}
    assert made == {key: row for key, row in stored.items() if key in made}


def test_machines_of_the_field_run_the_same_programs_or_say_why_not(found: list[Row]) -> None:
    rows_of = _of(found, "field")
    assert {r["machine"] for r in rows_of} >= set(field.PRINTED) | set(field.UNKNOWN)
    for r in rows_of:
        assert r["why"]
        assert bool(r["ours"]) == ("not simulated" not in r["why"] and "cannot run" not in r["why"])
    refused = [r for r in rows_of if "cannot run" in r["why"]]
    assert refused
    assert all("have 28" in r["why"] or "have 36" in r["why"] for r in refused)


def test_our_machines_keep_to_the_area_and_none_is_beaten_by_a_smaller_one(found: list[Row]) -> None:
    ours = _of(found, "ours")
    for precision in programs.OUR_WORDS:
        front = [r["ours"] for r in ours if r["ours"]["precision_bits"] == precision]
        assert front
        areas, times = [r["area_mm2"] for r in front], [r["ms"] for r in front]
        assert areas == sorted(areas)
        assert times == sorted(times, reverse=True)
        assert max(areas) <= space.AREA


def test_areas_are_the_papers_at_its_own_sizes() -> None:
    machine = space.Machine(36, 1024, 24576, 12288, 1024, 128)
    # Fig. 13's shares add up to the printed area, less a quarter of a MiB.
    assert machine.area == pytest.approx(151.6, abs=0.2)


def test_a_row_has_every_field_that_json_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "taiyi", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert all(set(r) == FIELDS for r in facts["rows"])
    simulations = [r["ours"] for r in facts["rows"] if r["table"] in ("VII", "ours")]
    names = {*row.FIGURES, "levels", "level_bits", "precision_bits", "bandwidth_tb_s"}
    assert all(names <= set(ours) for ours in simulations)
    assert cli.main(["compare", "taiyi"]) == 0
    printed = capsys.readouterr().out
    for text in ("not a correct computation", "The field on one scale", "Machines of our own"):
        assert text in printed


def test_a_machine_of_the_folder_is_found_before_one_that_is_shipped() -> None:
    assert place("bts").endswith("machines/bts.toml")
    assert place("sharp") == "file:sharp"
