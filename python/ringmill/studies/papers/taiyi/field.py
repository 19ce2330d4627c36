"""Rows of the field's machines on one scale, and of machines of our own."""

from __future__ import annotations

from ringmill.studies.papers.taiyi.programs import VARIANTS
from ringmill.studies.papers.taiyi.row import OURS, PAPERS, Row, figures_of, row

#: Machines of the simulations by the names that are printed.
PRINTED = {
    "craterlake": "CraterLake",
    "bts": "BTS",
    "ark": "ARK",
    "sharp": "SHARP",
    "falcon": "Falcon",
    "fast": "FAST",
    "taiyi": "Taiyi",
    "taiyi-60": "Taiyi",
}
#: Why machines of the data have no simulation.
UNKNOWN = {
    "HE2": "near-memory units; neither rates nor bandwidth are known",
    "UFC": "only times, second hand",
    "SHARP, serial": "a model of Taiyi's authors; they do not say what overlaps",
}


def rows(figures: Row, simulated: list[Row]) -> list[Row]:
    """The field on one scale: the same bootstrappings on every machine, beside what is published of it."""
    printed = {entry["name"]: entry for entry in figures["bootstrapping"]}
    chip = {entry["name"]: entry for entry in figures["machines"]}
    found, told_of = [], set()
    for machine, name in PRINTED.items():
        for workload in (PAPERS, OURS):
            of = [t for t in simulated if (t["machine"], t["workload"]) == (machine, workload)]
            of = [t for t in of if workload == OURS or t["method"].startswith("hybrid")]
            runs = [t for t in of if "ms" in t]
            if not of or (machine == "taiyi-60" and workload == PAPERS):
                continue
            told_of.add(name)
            paper = {k: v for k, v in printed.get(name, {}).items() if k in ("ms", "levels")}
            paper |= {k: v for k, v in chip.get(name, {}).items() if k in ("mm2", "chip_mb", "watts")}
            ours: Row = {}
            why = of[0].get("refused", "")
            method = None
            if runs:
                best = min(runs, key=lambda t: t["ms"])
                method, ours = best["method"], figures_of(best, paper_shape=workload == PAPERS)
                if "ms" in paper:
                    ours["of_paper"] = round(best["ms"] / paper["ms"], 2)
                ours["ns_per_level_bit"] = round(1e6 * best["ms"] / ours["level_bits"], 1)
                why = f"published: {printed[name]['source']}; {_limit(best)}"
            found.append(
                row(
                    "field",
                    f"{name}; {workload}",
                    machine=machine,
                    workload=workload,
                    method=method,
                    paper=paper,
                    ours=ours,
                    why=why,
                )
            )
    for name, entry in printed.items():
        if name in told_of or name == "Taiyi, serial":
            continue
        paper = {k: v for k, v in entry.items() if k in ("ms", "levels")}
        paper |= {k: v for k, v in chip.get(name, {}).items() if k in ("mm2", "chip_mb", "watts")}
        reason = UNKNOWN.get(name, "words of 28 bits: levels of several primes are needed")
        found.append(row("field", name, machine=name, paper=paper, why=f"not simulated: {reason}"))
    return found


def _limit(point: Row) -> str:
    bounds = dict(point["bounds"])
    name = max(bounds, key=lambda n: bounds[n])
    words = {"work": "the busiest unit", "off_chip": "off-chip bytes", "critical_path": "the critical path"}
    share = 100 * bounds[name] / point["cycles"]
    return f"the nearest bound is {words[name]}, {share:.0f} % of the time"


def space(found: list[Row], simulated: list[Row]) -> list[Row]:
    """Our machines: the front of area and time, beside the fastest correct variant of the modelled Taiyi."""
    correct = [v.name for v in VARIANTS if not v.wrong]
    best = min(
        (t for t in simulated if t["machine"] == "taiyi" and t["method"] in correct and "ms" in t),
        key=lambda t: t["ms"],
    )
    theirs = 1e6 * best["ms"] / (17 * 36)
    rows = []
    for point in found:
        ours = {**figures_of(point, paper_shape=False), "precision_bits": point["precision_bits"]}
        ours["area_mm2"] = point["area_mm2"]
        ours["ns_per_level_bit"] = round(1e6 * point["ms"] / ours["level_bits"], 1)
        ours["lead_per_level_bit"] = round(theirs / ours["ns_per_level_bit"], 2)
        shape = f"{point['lanes']} lanes of {point['word']} bits, {point['multipliers']} and "
        shape += f"{point['conversions']} multipliers, {point['elements']} elements, {point['mebibytes']} MiB"
        rows.append(
            row(
                "ours",
                shape,
                machine="ours",
                workload=OURS,
                method=f"{point['transforms']} maps each way",
                ours=ours,
                why=f"areas scaled from Fig. 13, no memory interface; {_limit(point)}",
            )
        )
    return rows
