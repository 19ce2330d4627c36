"""The comparison as tables of text, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ringmill.studies.papers.sheets import Sheet, listed, number

Row = dict[str, Any]
Cells = dict[str, Callable[[Row], str]]

NOTES = (
    "Ours are simulations of limb programs on descriptions of machines (docs/large-machines.md). Nothing "
    "was built, and no time was measured. Each figure of a description has a source or says that it is "
    "assumed.",
    "The paper's bootstrapping is made after its section III-B: 6 maps each way, 38 products at nine "
    "levels of the sine. It names no counts, so the shape is a reading of it.",
    "The printed 2.77 ms fit α' = 4 without key traffic, and no other program. α' = 4 is no correct "
    "computation: T has 4 of the 15 words that its bound asks for, and sums wrap around.",
    "At 1 TB/s keys from off chip bound everything. KLSS has longer keys than hybrid key switching and "
    "takes longer.",
    "*Occupied* is the part of the cycles in which a unit works, *used* the part of its multipliers that "
    "had work. The array for inner products is used below 10 %.",
    "The serial mode is printed as one component a cycle without overlap. Ours waits for the last word of "
    "each instruction; with 347 cycles to a transform's first word that alone is longer than the printed "
    "time, so the paper's components overlap their fill.",
    "Levels of one prime of 36 bits hold no bootstrapping of ours, whose first product needs a scale of "
    "46 bits. Programs of the paper's shape are schedules there, without a claim of precision. Ours run "
    "on machines of 60 bits.",
    "Areas of our machines scale the shares of Fig. 13 and leave the memory interface out, as the paper "
    "does.",
)


def _of(side: str, name: str, digits: int = 0, scale: float = 1) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        value = row[side].get(name)
        return number(None if value is None else value * scale, digits)

    return cell


def _name(row: Row) -> str:
    return str(row["row"])


def _why(row: Row) -> str:
    return str(row["why"])


_TRAFFIC: Cells = {
    "keys, GB": _of("ours", "bytes_keys", 2, 1e-9),
    "spilled, GB": _of("ours", "bytes_spilled", 2, 1e-9),
    "off chip, GB": _of("ours", "bytes_off_chip", 2, 1e-9),
}


def sheets(rows: list[Row]) -> list[Sheet]:
    """Return a table for each of the paper, the field, and our own machines."""
    areas: Cells = {
        "machine": _name,
        "mm², printed": _of("paper", "mm2", 1),
        "W, printed": _of("paper", "watts", 1),
        "MB on chip": _of("paper", "chip_mb", 2),
        "TB/s on chip": _of("paper", "chip_tb_s"),
    }
    times: Cells = {
        "method; machine": _name,
        "what is counted": _why,
        "ms": _of("ours", "ms", 2),
        "Taiyi, ms": _of("paper", "ms", 2),
        "ours / Taiyi": _of("ours", "of_paper", 2),
        **_TRAFFIC,
    }
    applications: Cells = {
        "application; machine": _name,
        "what is counted": _why,
        "ms": _of("ours", "ms", 1),
        "Taiyi, ms": _of("paper", "ms", 2),
        **_TRAFFIC,
    }
    utilisation: Cells = {
        "unit; machine": _name,
        "why": _why,
        "occupied, %": _of("ours", "occupied", 1, 100),
        "used, %": _of("ours", "used", 1, 100),
        "Taiyi, %": _of("paper", "percent", 1),
    }
    energy: Cells = {
        "work; machine": _name,
        "why": _why,
        "J": _of("ours", "energy_j", 3),
        "W": _of("ours", "watts"),
        "Taiyi, NTT J": _of("paper", "ntt", 2),
        "HP-IP J": _of("paper", "ip", 2),
        "W of these": _of("paper", "watts_of_joules"),
        "W, printed": _of("paper", "watts"),
    }
    parts: Cells = {
        "what": _name,
        "why": _why,
        **{name: _of("ours", name, 1) for name in ("memory", "ip", "ntt", "bconv", "rest")},
    }
    text: Cells = {
        "claim": _name,
        "why": _why,
        "printed": lambda row: number(row["paper"].get("times", row["paper"].get("percent")), 2),
        "from the tables": lambda row: number(row["ours"].get("times", row["ours"].get("percent")), 2),
        "with levels left": _of("ours", "times_by_levels", 2),
    }
    field: Cells = {
        "machine": _name,
        "why": _why,
        "method": lambda row: row["method"] or "–",
        "ms": _of("ours", "ms", 2),
        "published, ms": _of("paper", "ms", 2),
        "ours / published": _of("ours", "of_paper", 2),
        "levels × bits": _of("ours", "level_bits"),
        "ns a level-bit": _of("ours", "ns_per_level_bit", 1),
        "off chip, GB": _of("ours", "bytes_off_chip", 2, 1e-9),
        "mm²": _of("paper", "mm2", 1),
    }
    ours: Cells = {
        "machine": _name,
        "why": _why,
        "mm²": _of("ours", "area_mm2", 1),
        "ms": _of("ours", "ms", 2),
        "bits right": _of("ours", "precision_bits"),
        "ns a level-bit": _of("ours", "ns_per_level_bit", 1),
        "lead": _of("ours", "lead_per_level_bit", 2),
        "J": _of("ours", "energy_j", 3),
        **_TRAFFIC,
    }
    titles = {
        "VI": ("Table VI: machines as printed", areas),
        "VII": ("Table VII: the paper's bootstrapping on its machine", times),
        "VII, applications": ("Table VII: HELR and ResNet-20 as our programs", applications),
        "Fig. 11": ("Figure 11: utilisation by both definitions, α' = 4", utilisation),
        "Fig. 12": ("Figure 12: energy against power", energy),
        "Fig. 13": ("Figure 13: mm² of the parts", parts),
        "text": ("Claims of the text", text),
        "field": ("The field on one scale: 1 TB/s off chip, everything counted", field),
        "ours": ("Machines of our own: no smaller one is faster", ours),
    }
    return [listed(title, rows, table, cells) for table, (title, cells) in titles.items()]
