"""Simulations of the comparison, stored: `python -m ringmill.studies.papers.taiyi` makes them anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ringmill.errors import MachineError
from ringmill.studies.papers.taiyi import applications, programs, space
from ringmill.studies.papers.taiyi.machines import place, reported
from ringmill.studies.papers.taiyi.programs import FOUR, VARIANTS, Variant
from ringmill.studies.stored import read_stored

Row = dict[str, Any]
FILE = "simulated.json"

#: Taiyi by what of its key traffic is counted, at once and one component at a time.
TAIYI = ("taiyi-keys-free", "taiyi", "taiyi-whole-keys", "taiyi-serial-keys-free", "taiyi-serial")
#: The field: machines that run the same bootstrappings.
FIELD = ("taiyi", "taiyi-60", "sharp", "ark", "craterlake", "bts", "falcon", "fast")
#: Taiyi's lanes with words that primes of 60 bits need.
LONG = "taiyi-60"


def _row(machine: str, workload: str, method: str, run: Callable[[], dict[str, Any]]) -> Row:
    row: Row = {"machine": machine, "workload": workload, "method": method}
    try:
        return {**row, **reported(run())}
    except MachineError as error:
        return {**row, "refused": error.message}


def paper_row(variant: Variant, machine: str) -> Row:
    """Simulate the paper's bootstrapping by one method."""
    # A word of 60 bits needs longer lanes than the paper's.
    machine = LONG if variant.bits > 36 and machine == "taiyi" else machine
    return _row(
        machine,
        "bootstrapping, the paper's",
        variant.name,
        lambda: programs.of_paper(variant, place(machine)),
    )


def _ours(machine: str, transforms: int) -> Row:
    method = f"ours, {transforms} maps each way"
    return _row(
        machine, "bootstrapping, ours", method, lambda: programs.ours(transforms).estimate(place(machine))
    )


def rows(show: Callable[[Row], None]) -> list[Row]:
    """Simulate every bootstrapping, a row after the other."""
    found: list[Row] = []

    def keep(row: Row) -> None:
        found.append(row)
        show(row)

    for variant in VARIANTS:
        for machine in TAIYI if variant.bits == 36 else ("taiyi",):
            keep(paper_row(variant, machine))
    for machine in FIELD:
        for variant in VARIANTS[:3] if machine != "taiyi" else ():
            keep(paper_row(variant, machine))
        for transforms in programs.TRANSFORMS:
            keep(_ours(machine, transforms))
    keep(paper_row(FOUR, "sharp"))
    return found


def made(show: Callable[[Row], None]) -> dict[str, Any]:
    """Simulate everything: bootstrappings, applications, and machines of our own."""
    return {"rows": rows(show) + applications.rows(show), "space": space.searched(show)}


def stored() -> dict[str, Any]:
    """Return the stored simulations."""
    return read_stored(__package__, FILE)
