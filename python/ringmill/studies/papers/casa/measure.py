"""Everything that is put beside CASA, counted and measured here."""

from __future__ import annotations

from functools import partial
from typing import Any

from ringmill.explorer import devices
from ringmill.studies.papers.casa import area, cpu, cycles, rows
from ringmill.studies.papers.figures import read_figures
from ringmill.studies.papers.paper import Settings
from ringmill.studies.papers.sheets import excess

#: The device of each table that has areas, as device files call it.
DEVICES = {2: "zcu102", 3: "zcu102", 4: "artix7-200t", 5: "artix7-200t"}
#: Tables with a time of ours.
TIMED = (3, 5, 6)
#: The counts of an area by the names of device files.
COUNTS = {"lut": "lut", "ff": "ff", "dsp": "dsp", "bram": "bram36"}


def beside(settings: Settings) -> dict[str, Any]:
    """Return ``{"rows": …, "area_origin": …}``: all tables, on a memory as wide as the paper's by default."""
    bits = settings.bus_bits or read_figures(__package__)["memory"]["bits_per_cycle"]
    word, latency, effort = settings.word_bits, settings.latency, settings.effort
    counter = partial(cycles.counter, word_bits=word, effort=effort)
    half = (cycles.SWITCH if effort is None else effort) // 2
    areas = area.stored()
    found = rows.rows(
        counter(bus_bits=bits, latency=latency),
        area.lookup(areas, word),
        cpu.timer(word_bits=word),
        cycles.activity(word_bits=word, bus_bits=bits, latency=latency, effort=effort),
        half=counter(bus_bits=bits, latency=latency, effort=half),
        word_bits=word,
    )
    found += rows.narrow(lambda width, delay: counter(bus_bits=width, latency=delay))
    found += rows.policies(cycles.outputs(word_bits=word, bus_bits=bits, latency=latency, effort=effort))
    known = {name: device["resources"] for name, device in devices().items()}
    for row in found:
        row["remarks"] = remarks(row, known)
    return {"rows": found, "area_origin": areas["origin"]}


def _cores(figures: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The areas of a row, each with the words that name its tiling behind whose it is."""
    if figures.get("area"):
        return {"": figures["area"]}
    names = {"dsp": " with DSP blocks", "lut": " with multipliers of LUTs"}
    return {names[tiling]: used for tiling, used in (figures.get("areas") or {}).items()}


def remarks(row: dict[str, Any], resources: dict[str, Any]) -> list[str]:
    """Say what limits a row: a core that its device does not hold, a clock that nobody measured.

    Behind what the row says itself. Areas of ours get ``fits``.
    """
    said = list(row.get("remarks", []))
    if row.get("nbf", 0) is None or row.get("module"):
        return said or ["a design of others, as printed"]
    device = DEVICES.get(row["table"])
    for whose, figures in (("ours", row), ("the paper's", row.get("paper") or {})):
        for tiling, used in _cores(figures).items():
            if device is None:
                continue
            counts = {name: used.get(count) for count, name in COUNTS.items()}
            text = excess(counts, device, resources[device])
            if whose == "ours":
                used["fits"] = text is None
            said += [f"{whose}{tiling} {text}"] if text else []
    if row["table"] in TIMED and "cycles" in row:
        said.append("clock of ours not measured: the paper's")
    return said
