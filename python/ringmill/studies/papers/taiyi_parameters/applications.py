"""Taiyi's applications beside ours: Fig. 3, Fig. 10, Table IV over digits and Table VII."""

from __future__ import annotations

from typing import Any

from ringmill.studies.papers.taiyi_parameters import sweep
from ringmill.studies.papers.taiyi_parameters.rows import (
    T_BITS,
    Count,
    Switch,
    best_klss,
    hybrid,
    shape,
)

Row = dict[str, Any]

#: The applications by the names of Table VII.
NAMES = {"helr": "HELR1024", "resnet": "ResNet-20", "bootstrap": "bootstrapping"}
KINDS = ("transforms", "conversions", "products")


def _shares(counts: list[Count]) -> Row:
    total = sum(count.total for count in counts)
    return {kind: round(100 * sum(getattr(c, kind) for c in counts) / total, 1) for kind in KINDS}


def shares(figures: Row) -> list[Row]:
    """Figure 3: shares of multiplications by kind, over the levels that the paper's bootstrapping passes.

    A key switch at each of them, at the chosen chain; the paper prints shares of time on units of another
    accelerator, where inner products have few multipliers.
    """
    top = shape(16, figures["digits"], figures["security"][1]["target"])
    levels = range(top.limbs - figures["amortised"]["boot_levels"], top.limbs + 1)
    switches = [Switch(16, limbs, top.special, top.alpha) for limbs in levels]
    found = {"hybrid": [hybrid(s) for s in switches]}
    for bits in T_BITS:
        found[f"klss{bits}"] = [best_klss(s, figures["word_bits"], bits)[2] for s in switches]
    printed = figures["shares"]
    return [
        {
            "table": "Fig. 3",
            "what": kind,
            **{name: _shares(counts)[kind] for name, counts in found.items()},
            "paper": {"share": printed.get(kind)},
        }
        for kind in KINDS
    ]


def times(figures: Row) -> list[Row]:
    """Table VII: times on a CPU, theirs and ours where it was measured, and those of accelerators."""
    own, stored = figures["own"], {row["work"]: row for row in figures["own_time"]}
    boot = {"seconds": own["boot_seconds"], "what": f"{own['levels']} levels left; {own['origin']}"}
    rows = []
    for work, name in NAMES.items():
        ours = stored.get(work, boot)
        printed = {entry["name"]: entry[work] for entry in figures["applications"]}
        row = {"table": "VII", "what": name, "seconds": ours["seconds"], "remarks": [ours["what"]]}
        row["ratio_cpu"] = round(ours["seconds"] * 1e3 / printed["CPU"], 3)
        rows.append({**row, "paper": {"ms": printed}})
    levels = {entry["name"]: entry["levels"] for entry in figures["applications"]}
    left: Row = {"table": "VII", "what": "levels left", "seconds": None, "levels": own["levels"]}
    return [*rows, {**left, "paper": {"levels": levels}}]


def bootstrapping(figures: Row) -> list[Row]:
    """Figure 10: the share of bootstrapping in each application, by predictions of the same costs."""
    rows = []
    for reported in figures["own_share"]:
        percent = 100 * reported["bootstrappings"] * figures["own"]["boot_seconds"] / reported["seconds"]
        row = {"table": "Fig. 10", "what": NAMES[reported["work"]], "percent": round(percent, 1)}
        rows.append({**row, **reported, "paper": {"percent": figures["boot_share"][reported["work"]]}})
    return rows


def digits(figures: Row) -> list[Row]:
    """Table IV over the number of digits at N = 2^16, by stored predictions (`sweep.py`)."""
    printed = figures["amortised"]
    chosen_level, chosen = printed["chosen"]["16"]
    rows = []
    for reported in sweep.stored()["rows"]:
        paper = None
        if (reported["level"], reported["dnum"]) == (chosen_level, chosen):
            paper = {"ns": min(printed["16"])}
        row: Row = {"table": "IV, dnum", **reported, "ns": None, "paper": paper}
        if "reason" in reported:
            row["remarks"] = [reported["reason"]]
        else:
            row["ns"] = round(sweep.nanoseconds(reported), 2)
        rows.append(row)
    return rows


def rows(figures: Row) -> list[Row]:
    """Return every row."""
    return [*digits(figures), *shares(figures), *times(figures), *bootstrapping(figures)]
