"""Rows of Taiyi's own tables: what is printed beside what a simulation says, and why they differ."""

from __future__ import annotations

from collections.abc import Iterable

from ringmill.studies.papers.taiyi import field
from ringmill.studies.papers.taiyi.programs import FOUR, VARIANTS
from ringmill.studies.papers.taiyi.row import FIGURES, OURS, PAPERS, Row, figures_of, row

#: Why the printed utilisation cannot be use of multipliers.
UTILISATION = (
    "printed utilisation cannot be use of multipliers: 85.94 % of 24,576 for 2.77 ms are 1,328 key switches "
    "at the top level, and a bootstrapping has 90 to 150"
)
#: What is counted of each machine's traffic.
ACCOUNT = {
    "taiyi-keys-free": "keys cause no traffic, which no memory does; no multiplier of conversions idles",
    "taiyi": "halves of keys from seeds, everything counted at 1 TB/s",
    "taiyi-60": "words of 60 bits, halves of keys from seeds, everything counted at 1 TB/s",
    "taiyi-whole-keys": "both halves of keys counted at 1 TB/s",
    "taiyi-serial-keys-free": "one component at a time, keys cause no traffic; no multiplier of conversions "
    "idles",
    "taiyi-serial": "one component at a time, halves of keys from seeds",
}


def times(figures: Row, simulated: list[Row]) -> list[Row]:
    """Table VII: the paper's bootstrapping by each method, by what of its traffic is counted."""
    printed = {entry["name"]: entry for entry in figures["bootstrapping"]}
    wrong = {variant.name: variant.wrong for variant in VARIANTS}
    found = []
    for reported in simulated:
        machine, method = reported["machine"], reported["method"]
        if reported["workload"] != PAPERS or machine not in ACCOUNT:
            continue
        if machine == "taiyi-60" and method != "KLSS, T of 60 bits":
            continue
        of = printed["Taiyi, serial" if "serial" in machine else "Taiyi"]
        ours = figures_of(reported, paper_shape=True)
        ours["of_paper"] = round(reported["ms"] / of["ms"], 3)
        found.append(
            row(
                "VII",
                f"{method}; {machine}",
                machine=machine,
                workload=PAPERS,
                method=method,
                correct=not wrong[method],
                paper={"ms": of["ms"], "levels": of["levels"]},
                ours=ours,
                why="; ".join(filter(None, (ACCOUNT[machine], wrong[method]))),
            )
        )
    return found


def applications(figures: Row, simulated: list[Row]) -> list[Row]:
    """Table VII: HELR and ResNet-20 as our programs, at words that are long enough."""
    found = []
    for reported in simulated:
        if reported["workload"] in (PAPERS, OURS):
            continue
        printed = figures["applications"]["helr" if "HELR" in reported["workload"] else "resnet"]
        ours = {name: reported[name] for name in FIGURES}
        found.append(
            row(
                "VII, applications",
                f"{reported['workload']}; {reported['machine']}",
                machine=reported["machine"],
                workload=reported["workload"],
                method=reported["method"],
                paper={"ms": printed},
                ours=ours,
                why="our program and parameters, each of its parts from an empty memory; "
                "the paper's counts no key traffic",
            )
        )
    return found


def utilisation(figures: Row, simulated: list[Row]) -> list[Row]:
    """Figure 11: how long units are occupied, and how many of their multipliers are used."""
    printed = figures["utilisation"]
    found = []
    for reported in _of(simulated, ("taiyi-keys-free", "taiyi-serial-keys-free", "taiyi"), FOUR.name):
        mode = "serial" if "serial" in reported["machine"] else "parallel"
        for unit in reported["occupied"]:
            paper = {"percent": printed[f"{mode}_ip"]} if unit == "ip" else {}
            ours = {"occupied": reported["occupied"][unit], "used": reported["used"][unit]}
            found.append(
                row(
                    "Fig. 11",
                    f"{unit}; {reported['machine']}",
                    machine=reported["machine"],
                    workload=PAPERS,
                    method=FOUR.name,
                    correct=False,
                    paper=paper,
                    ours=ours,
                    why=UTILISATION if paper else "",
                )
            )
        means = reported["occupied"]
        three = [means[unit] for unit in ("ntt", "ip", "ewe")]
        found.append(
            row(
                "Fig. 11",
                f"mean of ntt, ip, ewe; {reported['machine']}",
                machine=reported["machine"],
                workload=PAPERS,
                method=FOUR.name,
                correct=False,
                paper={"percent": printed[f"{mode}_mean"]},
                ours={"occupied": round(sum(three) / 3, 4)},
                why="the printed mean is over three applications",
            )
        )
    return found


def _of(simulated: Iterable[Row], machines: Iterable[str], method: str) -> list[Row]:
    by = {
        (reported["machine"], reported["method"]): reported
        for reported in simulated
        if reported["workload"] == PAPERS
    }
    return [by[machine, method] for machine in machines if (machine, method) in by]


def energy(figures: Row, simulated: list[Row]) -> list[Row]:
    """Figure 12 against Table VI: printed joules over printed time; ours by named energies of operations."""
    printed = figures["energy"]
    seconds = figures["applications"]["resnet"] / 1e3
    joules = printed["ntt"] + printed["ip"]
    found = [
        row(
            "Fig. 12",
            "ResNet-20, transforms and inner products",
            machine="taiyi",
            workload="ResNet-20",
            paper={**printed, "watts_of_joules": round(joules / seconds, 1), "watts": 80},
            why="printed joules over the printed time are more watts than the printed power; they fit the "
            "serial time",
        )
    ]
    for reported in _of(simulated, ("taiyi-keys-free", "taiyi"), "hybrid"):
        ours = {
            "energy_j": reported["energy_j"],
            "watts": round(reported["energy_j"] / reported["ms"] * 1e3, 1),
        }
        ours |= {f"{unit}_j": joules for unit, joules in reported["energy"].items()}
        found.append(
            row(
                "Fig. 12",
                f"bootstrapping; {reported['machine']}",
                machine=reported["machine"],
                workload=PAPERS,
                method="hybrid",
                ours=ours,
                why="energies of 32-bit products at 45 nm, scaled to 7 nm; without leakage, clock and wires",
            )
        )
    return found


def areas(figures: Row) -> list[Row]:
    """Table VI and Figure 13: printed areas against each other."""
    by = {entry["name"]: entry for entry in figures["machines"]}
    found = [
        row(
            "VI",
            entry["name"],
            machine=entry["name"],
            paper={k: v for k, v in entry.items() if k != "name"},
            why="printed; the descriptions of the simulation take these figures",
        )
        for entry in figures["machines"]
    ]
    smaller = 100 * (1 - by["Taiyi"]["mm2"] / by["SHARP"]["mm2"])
    shares = {k: v for k, v in figures["area"].items() if k != "smaller_than_sharp"}
    found.append(
        row(
            "Fig. 13",
            "shares of the area",
            machine="taiyi",
            paper=shares,
            ours={name: round(by["Taiyi"]["mm2"] * share / 100, 2) for name, share in shares.items()},
            why="mm² by the printed shares; syntheses of ours stand in rtl/taiyi_arrays and rtl/taiyi_prng",
        )
    )
    found.append(
        row(
            "text",
            "smaller than SHARP, %",
            machine="taiyi",
            paper={"percent": figures["area"]["smaller_than_sharp"]},
            ours={"percent": round(smaller, 1)},
            why="ours follows from Table VI",
        )
    )
    return found


def ratios(figures: Row) -> list[Row]:
    """The text's ratios, made anew from Table VII."""
    by = {entry["name"]: entry for entry in figures["bootstrapping"]}
    all_of = figures["applications"]

    def mean(top: Row, bottom: Row) -> float:
        of = [top[name] / bottom[name] for name in ("helr", "resnet", "boot")]
        return float(round(sum(of) / len(of), 2))

    sharp = {"helr": all_of["helr_sharp"], "resnet": all_of["resnet_sharp"], "boot": by["SHARP"]["ms"]}
    taiyi = {"helr": all_of["helr"], "resnet": all_of["resnet"], "boot": by["Taiyi"]["ms"]}
    serial = {"helr": all_of["helr_sharp_serial"], "resnet": all_of["resnet_sharp_serial"]}
    serial["boot"] = by["SHARP, serial"]["ms"]
    own = {
        "helr": all_of["helr_serial"],
        "resnet": all_of["resnet_serial"],
        "boot": by["Taiyi, serial"]["ms"],
    }
    area = {entry["name"]: entry["mm2"] for entry in figures["machines"]}
    per_area = mean(sharp, taiyi) * area["SHARP"] / area["Taiyi"]
    printed = figures["ratios"]
    levels = by["Taiyi"]["levels"] / by["SHARP"]["levels"]
    why = "from Table VII"
    return [
        row(
            "text",
            "Taiyi, serial over SHARP, serial",
            paper={"times": printed["serial_over_sharp_serial"]},
            ours={"times": mean(serial, own)},
            why=why,
        ),
        row(
            "text",
            "Taiyi over SHARP",
            paper={"times": printed["over_sharp"]},
            ours={"times": mean(sharp, taiyi)},
            why=why,
        ),
        row(
            "text",
            "Taiyi over SHARP, per area",
            paper={"times": printed["per_area_sharp"]},
            ours={"times": round(per_area, 2), "times_by_levels": round(per_area * levels, 2)},
            why="the printed ratio divides times by the levels left, 17 and 8, beside the area",
        ),
    ]


def rows(figures: Row, stored: Row) -> list[Row]:
    """Return every row."""
    simulated = stored["rows"]
    return [
        *areas(figures),
        *times(figures, simulated),
        *applications(figures, simulated),
        *utilisation(figures, simulated),
        *energy(figures, simulated),
        *ratios(figures),
        *field.rows(figures, simulated),
        *field.space(stored["space"], simulated),
    ]
