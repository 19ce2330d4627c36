"""The comparison with coxHE as sheets of text: for a terminal, and for the report."""

from __future__ import annotations

from typing import Any

from ringmill.compare.table import Sheet

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


def _designs(rows: list[Row], table: str) -> Sheet:
    columns = ["row", "board", "N, bits", "paper, ms", "ours, ms", "ratio", "printed error", "by Eq. 10"]
    columns += [
        "theirs decrypts at",
        "ours decrypts at",
        "security",
        "ours N, primes",
        "Nbf",
        "DSP LUT BRAM URAM",
    ]
    found = []
    for row in rows:
        if row["table"] != table:
            continue
        ours = row["ours"]
        primes = "+".join(map(str, ours["primes"])) if ours else ""
        found.append(
            [
                row["row"],
                row["board"],
                f"{row['n']}, {row['bits']}",
                f"{row['paper']['latency_ms']:.2f}",
                _ours(row, "latency_ms"),
                _digits(row["ratio_latency"]),
                _digits(row["paper"]["error"]),
                _digits(row["model_of_paper"]["error"]),
                _digits(row["paper_by_our_models"]["error"]),
                _digits((ours or {}).get("error")),
                f"{row['paper']['security']} / {_ours(row, 'security')}",
                f"{ours['n']}, {primes}" if ours else "–",
                _ours(row, "pintra_or_nbf"),
                _blocks(row),
            ]
        )
    return Sheet(f"Table {table}: plain-cipher matrix product", columns, found)


def _heax(rows: list[Row]) -> Sheet:
    columns = ["moduli", "", "HEAX, slots", "coxHE, slots", "less", "ours, slots"]
    found = [
        [
            str(row["moduli"]),
            "",
            str(row["model_of_paper"]["heax_slots"]),
            str(row["model_of_paper"]["coxhe_slots"]),
            f"{100 * row['model_of_paper']['less_than_heax']:.0f} %",
            f"{row['ours']['slots']:.2f}",
        ]
        for row in rows
        if row["table"] == "Fig. 5a"
    ]
    title = (
        "Fig. 5(a): key switching in slots of a transform; HEAX and coxHE: a pipeline of modules, ours: two"
    )
    return Sheet(title, columns, found)


def _kernels(rows: list[Row]) -> Sheet:
    columns = ["kernel", "", "key switches", "moduli", "HEAX, cycles", "coxHE, cycles", "less"]
    columns += ["ours, cycles", "Nbf"]
    found = [
        [
            f"{row['row']} {row['kernel']}",
            row["size"],
            str(row["key_switches"]),
            str(row["moduli"]),
            f"{row['model_of_paper']['heax_cycles']:,}",
            f"{row['model_of_paper']['coxhe_cycles']:,}",
            f"{100 * row['model_of_paper']['less_than_heax']:.0f} %",
            f"{row['ours']['cycles']:,}",
            str(row["ours"]["pintra_or_nbf"]),
        ]
        for row in rows
        if row["table"] == "Fig. 5b"
    ]
    title = "Fig. 5(b): kernels at set II without exploration; the paper prints 11 to 26 % less than HEAX"
    return Sheet(title, columns, found)


def _software(rows: list[Row]) -> Sheet:
    columns = ["kernel", "", "CPU machine, ms", "core, set II, ms", "core, explored, ms", "core over CPU"]
    columns += ["core, mJ"]
    found = [
        [
            f"{row['row']} {row['kernel']}",
            row["size"],
            _digits(row["cpu_ms"]),
            _digits(row["fixed_ms"]),
            _ours(row, "latency_ms"),
            _digits(row["core_over_cpu"]),
            _ours(row, "energy_mj"),
        ]
        for row in rows
        if row["table"] == "Fig. 5c"
    ]
    title = (
        "Fig. 5(c): our CPU machine on one thread at set II, and the core; of the CPU no power is known here"
    )
    return Sheet(title, columns, found)


def _multipliers(rows: list[Row]) -> Sheet:
    columns = ["multiplier", "device", "bits", "DSP", "LUT"]
    found = [
        [row["multiplier"], row["flow"], str(row["bits"]), str(row["ours"]["dsp"]), str(row["ours"]["lut"])]
        for row in rows
        if row["table"] == "Fig. 4a"
    ]
    return Sheet("Fig. 4(a): one modular multiplier by width, ours as synthesised", columns, found)


def _errors(rows: list[Row]) -> Sheet:
    columns = ["N", "bits", "drift, Eq. 10", "decrypts at"]
    found = [
        [
            str(row["n"]),
            str(row["bits"]),
            _digits(row["model_of_paper"]["error"]),
            _digits(row["ours"]["error"]),
        ]
        for row in rows
        if row["table"] == "Fig. 4b"
    ]
    return Sheet("Fig. 4(b): what the paper calls error, and the error", columns, found)


def _codesign(rows: list[Row]) -> Sheet:
    columns = ["kernel", "board", "set II, ms", "explored, ms", "times faster", "error, set II", "explored"]
    columns += ["security", "N, primes", "Nbf: II, ours"]
    found = []
    for row in rows:
        if row["table"] != "co-design":
            continue
        ours, before = row["ours"], row["fixed"]
        primes = "+".join(map(str, ours["primes"])) if ours else ""
        found.append(
            [
                f"{row['row']} {row['kernel']} {row['size']}",
                row["board"],
                _digits(before["latency_ms"]),
                _ours(row, "latency_ms"),
                _digits(row["ratio_latency"] and 1 / row["ratio_latency"]),
                _digits(before["error"]),
                _digits((ours or {}).get("error")),
                f"{before['security']} / {_ours(row, 'security')}",
                f"{ours['n']}, {primes}" if ours else "–",
                f"{before['pintra_or_nbf']}, {_ours(row, 'pintra_or_nbf')}",
            ]
        )
    return Sheet(
        "What co-design is worth: set II against explored parameters, the core chosen for each",
        columns,
        found,
    )


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
        _codesign(rows),
    ]
    return [sheet for sheet in made if sheet.rows]


def origin(rows: list[Row]) -> str:
    """What holds for the figures of all sheets."""
    clocks = sorted({row["ours"]["clock_origin"] for row in rows if "clock_origin" in (row["ours"] or {})})
    return ORIGIN.format(clock="; ".join(clocks) or "none")


def notes(found: Row) -> str:
    """What holds for all tables, why rows differ, and the gain of co-design."""
    rows = found["rows"]
    lines = [origin(rows)]
    lines += [f"  {row['row']}: {line}" for row in rows for line in row.get("explained", [])]
    for board, gain in found["gains"].items():
        lines.append(f"{board}: co-design is {gain:.2f} times faster, geometric mean of nine kernels")
    return "\n".join(lines)
