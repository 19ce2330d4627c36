"""A design held to what happens: errors decrypted, cycles counted by the RTL, blocks counted by a synthesis.

Each row says what was predicted, what was measured (`None` where nothing could be), and by what.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ringmill.compiled import Compiled
from ringmill.errors import MachineError, fail
from ringmill.progress import Show, steps
from ringmill.project.design import Design
from ringmill.project.make import Done, last_words, make
from ringmill.project.simulator import verilator
from ringmill.project.write import write

Row = dict[str, Any]

#: Encrypted runs of a design, each with fresh keys.
RUNS = 4
#: How stored rows name what a prediction names.
_RESOURCES = {
    "lut": ("lut", "srl", "lutram"),
    "ff": ("ff",),
    "dsp": ("dsp",),
    "bram36": ("bram36",),
    "ebr": ("ebr",),
    "uram": ("uram",),
}
#: What the self-test of a built folder prints.
_PASSED = re.compile(
    r"PASS \d+ output limbs of \d+ words, (\d+) and (\d+) cycles, (\d+) and (\d+) by the model"
)


def corner(compiled: Compiled, rng: np.random.Generator) -> dict[str, Any]:
    """Arguments as large as the kernel was compiled for, of random signs: what the prediction is for."""
    size = compiled.plan.magnitude
    inputs = compiled.signature.inputs
    return {name: size * rng.choice([-1.0, 1.0], spec.shape) for name, spec in inputs.items()}


def worst_slot(compiled: Compiled, arguments: dict[str, Any]) -> float:
    """log2 of the error of the worst slot of one run with fresh keys."""
    keys = compiled.keygen()
    results = compiled.evaluate(keys, compiled.encrypt(keys, arguments))
    expected = compiled.plan.clear(compiled.signature.pack(arguments))
    compared = [c.compare(keys.secret.decrypt(c), expected[name]) for name, c in results.parts.items()]
    return max(comparison.measured_log2 for comparison in compared)


def error(design: Design, runs: int = RUNS) -> Row:
    """The worst slot of some runs, beside the prediction, which one run in a million exceeds."""
    rng = np.random.default_rng(int(design.compiled.digest[:8], 16))
    worst = max(worst_slot(design.compiled, corner(design.compiled, rng)) for _ in range(runs))
    predicted = math.log2(design.content["predicted"]["error"]["value"])
    return _row("error", "log2", predicted, worst, f"decrypted: the worst of {runs} runs")


def _row(what: str, unit: str, predicted: float, measured: float | None, by: str) -> Row:
    return {"what": what, "unit": unit, "predicted": predicted, "measured": measured, "by": by}


@contextmanager
def _made(design: Design, target: str) -> Iterator[tuple[Path, Done]]:
    """The built folder of a design after `make` of a target in it; removed in the end."""
    with tempfile.TemporaryDirectory(prefix="ringmill-validate-") as name:
        folder = Path(name) / "core"
        write(design.compiled, design.core, folder, design=design.content)
        yield folder, make(folder, target)


def cycles(design: Design) -> list[Row]:
    """Cycles of the RTL under Verilator, from the self-test of the built folder, which compares bits."""
    predicted = design.content["predicted"]["cycles"]["value"]
    if not verilator():
        return [_row("cycles", "cycles", predicted, None, "no Verilator as new as 5.048 in the environment")]
    with _made(design, "selftest") as (_, done):
        passed = _PASSED.search(done.stdout)
        if done.returncode != 0 or passed is None:
            said = f"The self-test of the core failed: {last_words(done)}. Please report it."
            fail(MachineError, "SelfTest", said)
    first, again, *model = (int(number) for number in passed.groups())
    by = "RTL under Verilator, bits compared"
    return [
        _row("cycles of the first run", "cycles", predicted, first, by),
        _row("cycles of later runs", "cycles", model[1], again, by),
    ]


def synthesis(design: Design) -> Row:
    """Figures of the core's cells, from yosys in the built folder: minutes to hours."""
    with _made(design, "synth") as (folder, done):
        if done.returncode != 0:
            fail(MachineError, "Synthesis", f"The core was not synthesised: {last_words(done)}.")
        made: Row = json.loads((folder / "build" / "cells.json").read_text(encoding="utf-8"))
    return made


def stored_syntheses() -> list[Row]:
    """Syntheses of whole cores that this tree stores; none in a wheel."""
    data = Path(__file__).resolve().parents[3] / "rtl" / "synth" / "data" / "core.json"
    rows: list[Row] = json.loads(data.read_text(encoding="utf-8")) if data.is_file() else []
    return rows


def of_core(design: Design, rows: list[Row]) -> Row | None:
    """The synthesis of this very core among stored ones."""
    # Entries of the modulus table hardly show, and are not among the parameters of the syntheses.
    wanted = {**design.core.parameters(), "MODS": 0}
    # What older rows do not name they have as by default.
    usual = {"ONES": 0, "LUT_UNIT": 0, "RD_ROWS": 64}
    rows = [{**row, "params": {**usual, **row["params"]}} for row in rows]
    family = design.core.family
    if design.core.banks != "block":
        return None  # all stored ones are in block memory
    return next((r for r in rows if r["flow"] == family and {**r["params"], "MODS": 0} == wanted), None)


def resources(design: Design, row: Row | None) -> Iterator[Row]:
    """Blocks by a synthesis of this very core, where there is one."""
    for name, figure in design.content["predicted"]["resources"].items():
        parts = _RESOURCES.get(name)
        if row is None or parts is None or name not in row:
            yield _row(name, "", figure["value"], None, "no synthesis of this core; --synthesise makes one")
        else:  # an ECP5's LUTs are one figure already
            yield _row(name, "", figure["value"], sum(row.get(part, 0) for part in parts), str(row["status"]))


def validate(
    designs: list[Design],
    *,
    rtl: bool = True,
    synthesise: bool = False,
    runs: int = RUNS,
    show: Show = "none",
) -> list[Row]:
    """Every row of every design; with `synthesise`, each core is synthesised for its device's family."""
    reported = []
    with steps("validate", len(designs), show) as step:
        for number, design in enumerate(designs):
            step(design.compiled.name)
            makes = synthesise and design.core.family != "asic45"
            cells = synthesis(design) if makes else of_core(design, stored_syntheses())
            found = [error(design, runs), *(cycles(design) if rtl else []), *resources(design, cells)]
            reported += [{"design": number, "kernel": design.compiled.name, **row} for row in found]
    return reported


def deviation(row: Row) -> str:
    """Predicted against measured in the unit that fits: bits, or per cent."""
    if row["measured"] is None:
        return "–"
    if row["unit"] == "log2":
        return f"{row['predicted'] - row['measured']:+.2f} bits"
    if row["measured"] == 0:
        return "0" if row["predicted"] == 0 else f"{row['predicted']:g} for none"
    return f"{100 * (row['predicted'] / row['measured'] - 1):+.2f} %"
