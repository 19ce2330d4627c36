"""The comparison with coxHE as sheets of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ringmill.studies.papers.sheets import Sheet, listed, number

Row = dict[str, Any]

#: What holds for every figure of ours.
ORIGIN = (
    "Ours: explored for the row's error and security on the row's board, and for Table III within the row's"
    " resources; cycles by the model that equals the RTL, the clock as stated: {clock}. The paper's latencies"
    " are measured on the boards; it prints neither its clock nor its packing."
)


def _digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _ours(row: Row, name: str) -> str:
    found = (row["ours"] or {}).get(name)
    return "–" if found is None else f"{found:,.4g}" if isinstance(found, float) else str(found)


def _blocks(row: Row) -> str:
    if not row["ours"]:
        return "–"
    names = ("dsp", "lut", "bram", "uram")
    return " ".join(f"{row['ours'][name] or 0:,.0f}" for name in names)


def _primes(row: Row) -> str:
    ours = row["ours"]
    return f"{ours['n']}, {'+'.join(map(str, ours['primes']))}" if ours else "–"


def _error(row: Row) -> str:
    return _digits((row["ours"] or {}).get("error"))


def _designs(rows: list[Row], table: str) -> Sheet:
    cells: dict[str, Callable[[Row], str]] = {
        "row": lambda row: row["row"],
        "board": lambda row: row["board"],
        "N, bits": lambda row: f"{row['n']}, {row['bits']}",
        "paper, ms": lambda row: f"{row['paper']['latency_ms']:.2f}",
        "ours, ms": lambda row: _ours(row, "latency_ms"),
        "ratio": lambda row: _digits(row["ratio_latency"]),
        "printed error": lambda row: _digits(row["paper"]["error"]),
        "by Eq. 10": lambda row: _digits(row["model_of_paper"]["error"]),
        "theirs decrypts at": lambda row: _digits(row["paper_by_our_models"]["error"]),
        "ours decrypts at": _error,
        "security": lambda row: f"{row['paper']['security']} / {_ours(row, 'security')}",
        "paper, W": lambda row: number(row["paper"].get("power_w"), 2),
        "ours N, primes": _primes,
        "Nbf": lambda row: _ours(row, "pintra_or_nbf"),
        "DSP LUT BRAM URAM": _blocks,
    }
    return listed(f"Table {table}: plain-cipher matrix product", rows, table, cells)


def _heax(rows: list[Row]) -> Sheet:
    cells: dict[str, Callable[[Row], str]] = {
        "moduli": lambda row: str(row["moduli"]),
        "": lambda _: "",
        "HEAX, slots": lambda row: str(row["model_of_paper"]["heax_slots"]),
        "coxHE, slots": lambda row: str(row["model_of_paper"]["coxhe_slots"]),
        "less": _less,
        "ours, slots": lambda row: number(row["ours"]["slots"], 2),
    }
    title = "Fig. 5(a): key switching in slots of a transform; HEAX, coxHE: a pipeline of modules, ours: two"
    return listed(title, rows, "Fig. 5a", cells)


def _less(row: Row) -> str:
    return f"{100 * row['model_of_paper']['less_than_heax']:.0f} %"


#: The first columns of both tables of kernels.
_KERNEL: dict[str, Callable[[Row], str]] = {
    "kernel": lambda row: f"{row['row']} {row['kernel']}",
    "": lambda row: str(row["size"]),
}


def _kernels(rows: list[Row]) -> Sheet:
    cells: dict[str, Callable[[Row], str]] = {
        **_KERNEL,
        "key switches": lambda row: str(row["key_switches"]),
        "moduli": lambda row: str(row["moduli"]),
        "HEAX, cycles": lambda row: number(row["model_of_paper"]["heax_cycles"]),
        "coxHE, cycles": lambda row: number(row["model_of_paper"]["coxhe_cycles"]),
        "less": _less,
        "ours, cycles": lambda row: number(row["ours"]["cycles"]),
        "Nbf": lambda row: str(row["ours"]["pintra_or_nbf"]),
    }
    title = "Fig. 5(b): kernels at set II without exploration; the paper prints 11 to 26 % less than HEAX"
    return listed(title, rows, "Fig. 5b", cells)


def _software(rows: list[Row]) -> Sheet:
    cells: dict[str, Callable[[Row], str]] = {
        **_KERNEL,
        "CPU machine, ms": lambda row: _digits(row["cpu_ms"]),
        "core, set II, ms": lambda row: _digits(row["fixed_ms"]),
        "core, explored, ms": lambda row: _ours(row, "latency_ms"),
        "core over CPU": lambda row: _digits(row["core_over_cpu"]),
        "core, mJ": lambda row: _ours(row, "energy_mj"),
    }
    title = "Fig. 5(c): our CPU machine on one thread at set II, and the core; of the CPU no power is known"
    return listed(title, rows, "Fig. 5c", cells)


def _multipliers(rows: list[Row]) -> Sheet:
    cells: dict[str, Callable[[Row], str]] = {
        "multiplier": lambda row: str(row["multiplier"]),
        "device": lambda row: str(row["flow"]),
        "bits": lambda row: str(row["bits"]),
        "DSP": lambda row: str(row["ours"]["dsp"]),
        "LUT": lambda row: str(row["ours"]["lut"]),
        "DSP, transform unit of four butterflies": lambda row: str(row["transform_dsp"]),
    }
    title = "Fig. 4(a): one modular multiplier by width, ours as synthesised, and a transform unit, counted"
    return listed(title, rows, "Fig. 4a", cells)


def _errors(rows: list[Row]) -> Sheet:
    cells: dict[str, Callable[[Row], str]] = {
        "N": lambda row: str(row["n"]),
        "bits": lambda row: str(row["bits"]),
        "drift, Eq. 10": lambda row: _digits(row["model_of_paper"]["error"]),
        "decrypts at": lambda row: _digits(row["ours"]["error"]),
    }
    return listed("Fig. 4(b): what the paper calls error, and the error", rows, "Fig. 4b", cells)


def _codesign(rows: list[Row]) -> Sheet:
    cells: dict[str, Callable[[Row], str]] = {
        "kernel": lambda row: f"{row['row']} {row['kernel']} {row['size']}",
        "board": lambda row: row["board"],
        "set II, ms": lambda row: _digits(row["fixed"]["latency_ms"]),
        "explored, ms": lambda row: _ours(row, "latency_ms"),
        "times faster": lambda row: _digits(row["ratio_latency"] and 1 / row["ratio_latency"]),
        "error, set II": lambda row: _digits(row["fixed"]["error"]),
        "explored": _error,
        "security": lambda row: f"{row['fixed']['security']} / {_ours(row, 'security')}",
        "N, primes": _primes,
        "Nbf: II, ours": lambda row: f"{row['fixed']['pintra_or_nbf']}, {_ours(row, 'pintra_or_nbf')}",
    }
    title = "What co-design is worth: set II against explored parameters, the core chosen for each"
    return listed(title, rows, "co-design", cells)


def _ports(rows: list[Row]) -> Sheet:
    cells: dict[str, Callable[[Row], str]] = {
        "row": lambda row: row["row"],
        "board": lambda row: row["board"],
        "Pintra": lambda row: str(row["paper"]["pintra"]),
        "portnum x packnum": lambda row: f"{row['paper']['portnum']} x {row['paper']['packnum']}",
        "words a cycle, Eq. 5": lambda row: _digits(row["model_of_paper"]["by_ports"]),
        "balanced, Eq. 3 and 4": lambda row: _digits(row["model_of_paper"]["balanced"]),
        "ms, Eq. 8 by ports": lambda row: _digits(row["model_of_paper"]["ms_by_ports"]),
        "ms, Eq. 8 balanced": lambda row: _digits(row["model_of_paper"]["ms_balanced"]),
        "printed, ms": lambda row: _digits(row["paper"]["latency_ms"]),
    }
    return listed("Eq. 3 to 8: the designs of Table III by the paper's models", rows, "Eq. 5", cells)


def _depths(rows: list[Row]) -> Sheet:
    cells: dict[str, Callable[[Row], str]] = {
        "depth": lambda row: str(row["depth"]),
        "N, bits": lambda row: f"{row['n']}, {row['bits']}",
        "drift, Eq. 11": lambda row: _digits(row["model_of_paper"]["error"]),
        "decrypts at": _error,
    }
    return listed("Eq. 11: error over the depth", rows, "Eq. 11", cells)


def _memory(rows: list[Row]) -> Sheet:
    cells: dict[str, Callable[[Row], str]] = {
        "N, bits": lambda row: f"{row['n']}, {row['bits']}",
        "board": lambda row: row["board"],
        "72 polynomials, Mbit": lambda row: number(row["model_of_paper"]["mbit"], 2),
        "printed, Mbit": lambda row: number(row["paper"]["mbit"], 2),
        "board, Mbit": lambda row: number(row["paper"]["board_mbit"], 1),
    }
    return listed("Section III: memory on chip of an infeasible example", rows, "Section III", cells)


def sheets(rows: list[Row]) -> list[Sheet]:
    """Every table that has rows."""
    made = [
        _designs(rows, "I"),
        _designs(rows, "III"),
        _multipliers(rows),
        _errors(rows),
        _heax(rows),
        _kernels(rows),
        _software(rows),
        _ports(rows),
        _depths(rows),
        _memory(rows),
        _codesign(rows),
    ]
    return [sheet for sheet in made if sheet.rows]


def origin(rows: list[Row]) -> str:
    """What holds for the figures of all sheets."""
    clocks = sorted({row["ours"]["clock_origin"] for row in rows if "clock_origin" in (row["ours"] or {})})
    return ORIGIN.format(clock="; ".join(clocks) or "none")


def notes(found: Row) -> list[str]:
    """What holds for all tables, why rows differ, and the gain of co-design."""
    rows = found["rows"]
    lines = [origin(rows)]
    lines += [f"{row['row']}: {line}" for row in rows for line in row.get("explained", [])]
    for board, gain in found["gains"].items():
        lines.append(f"{board}: co-design is {gain:.2f} times faster, geometric mean of nine kernels")
    return lines
