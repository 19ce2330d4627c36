"""Options of an exploration together: each design that is found is built, emulated and decrypted.

Every two values meet in some request, and every value in a design that is built.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from allpairspy import AllPairs
from cores import in_class

import ringmill as rm
from ringmill._native import core_sizes, multipliers
from ringmill.explorer import devices, machine_fields
from ringmill.explorer.constraints import OBJECTIVES, TABLES
from ringmill.project import design
from ringmill.project.write import contents

SIZES = core_sizes()
#: One of each family of devices; the first has UltraRAM.
DEVICES = ("zcu102", "kintex7-325t", "ecp5-85", "asic45")
#: Devices with the widths of a memory bus that they have.
BUSES = [
    (name, bus)
    for name in DEVICES
    for bus in SIZES["buses"]
    if bus <= devices()[name]["memory"]["bus_bits_max"]
]

AXES: dict[str, list[Any]] = {
    "multiplier": [name for name in multipliers() if name != "ntt"],
    "word": SIZES["words"],
    "device": BUSES,
    "minimise": list(OBJECTIVES),
    "butterflies": SIZES["butterflies"],
    "table": list(TABLES),
    "secret": ["ternary", "gaussian"],
    "security": [0, 128],
    "packing": ["slots", "columns"],
}
ROWS = [dict(zip(AXES, row, strict=True)) for row in AllPairs(list(AXES.values()))]


def _kernel(packing: str) -> rm.Kernel:
    @rm.kernel
    def score(x: Any = rm.matrix(4, 2, packing=packing)) -> Any:
        return x.sum(axis=1) ** 2 + 0.125

    return score


def _name(row: dict[str, Any]) -> str:
    device, bus = row["device"]
    return "-".join(map(str, [row["multiplier"], row["word"], device, bus, *list(row.values())[3:]]))


def _check(row: dict[str, Any]) -> dict[str, Any] | None:
    """Explore, build and decrypt; the design, or nothing where the request is refused for what it says."""
    word, (device, bus) = row["word"], row["device"]
    space = {
        "log_n": [11] if row["security"] == 0 else [13],
        "level_bits": [word - 6, word - 2],
        "words": [word],
        "butterflies": [row["butterflies"]],
        "multipliers": [row["multiplier"]],
        "buses": [bus],
        "secrets": [row["secret"]],
    }
    constraints = {name: row[name] for name in ("minimise", "table", "security")}
    asked: dict[str, Any] = {
        "space": space,
        "seconds": 0,
        "progress": "none",
        "magnitude": 0.5,
        **constraints,
    }
    traced = _kernel(row["packing"]).trace()
    # Of the ECP5 no energies of operations are published.
    if row["minimise"] == "energy" and devices()[device]["family"] == "ecp5":
        with pytest.raises(rm.ExploreError, match=r"Minimise is energy; .* whose file gives no \[power\]"):
            rm.explore(traced, device, **asked)
        return None
    found = binding = None
    try:
        found = rm.explore(traced, device, **asked)
    except rm.ExploreError as refused:
        binding = (refused.code, re.findall(r"(\w+) binds: ", refused.message))
    if found is None:
        assert binding in [("Infeasible", [what]) for what in ("device", "kernel", "security")]
        return None
    hardware, parameters = machine_fields(found.best), found.best["parameters"]
    moduli = [*parameters["q"], *parameters["p"]]
    assert all(in_class(q, row["multiplier"], word) for q in moduli), "primes that the multiplier serves"
    chosen = (hardware["multiplier"], hardware["word_bits"], hardware["butterflies"], hardware["bus_bits"])
    assert chosen == (row["multiplier"], word, row["butterflies"], bus)
    assert parameters["secret"] == row["secret"]
    made = design.of(found.best)
    files = contents(made.compiled, made.core, found.best)
    # What the emulated core gives is the reference machine's result, and that decrypts to what NumPy says.
    assert made.core.image(made.compiled.plan).emulate(files["test/inputs.bin"]) == files["test/expected.bin"]
    values = json.loads(files["test/values.json"])
    (x,), (result,) = values["arguments"].values(), values["results"].values()
    error = np.max(np.abs(np.sum(x, axis=1) ** 2 + 0.125 - np.array(result)))
    # Results are written with ten digits.
    assert error <= found.best["predicted"]["error"]["value"] + 1e-9 < 1e-3
    return dict(found.best)


@pytest.mark.parametrize("row", ROWS[:6], ids=_name)
def test_options_of_an_exploration_work_together(row: dict[str, Any]) -> None:
    _check(row)


@pytest.mark.long
def test_every_value_is_in_a_design_and_every_two_in_a_request() -> None:
    built = [row for row in ROWS if _check(row)]
    assert len(built) > len(ROWS) / 2
    for name, wanted in AXES.items():
        assert {str(row[name]) for row in built} == {str(value) for value in wanted}, name
