"""CASA's Tables 2 to 6 beside ours: rows of figures, and the tables that show them.

A *slot* is one transform on one lane, ``log2(N)·N/(2·Nbf)`` cycles. ``set`` is (ciphertext limbs, special
primes K, dnum). CASA's own sequence has one digit whatever K is, so that its key switch does not decrypt (P
is smaller than the digit); it is counted here for comparison and refused elsewhere. The others obey P ≥ the
largest digit.

Areas follow the paper's formula LUT/16 + FF/8 + 102.4·DSP + 56·BRAM. Ours are yosys results, theirs Vivado's
after placement; the two count LUTs differently, which every table says. Ours stand there by both tilings.
The area that the paper prints is 5 to 7 % above its own formula: ratios are formed with both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ringmill.studies.papers.casa import energy
from ringmill.studies.papers.figures import read_figures

Row = dict[str, Any]


class Set(NamedTuple):
    """A shape of key switching."""

    limbs: int
    special: int
    dnum: int


class Point(NamedTuple):
    """What is counted.

    ``operation``: key_switch, multiply, multiply_rescale, add or rescale; ``times`` of it in one program,
    with nothing but the key in common.
    """

    operation: str
    n: int
    nbf: int
    set: Set
    sequence: str
    times: int = 1


#: Cycles of a point, by the model that equals the RTL.
Cycles = Callable[[Point], int]
#: Cycles of a point and the busy cycles of each unit in them.
Activity = Callable[[Point], Row]
#: Time of an operation on the CPU machine and what was measured; ``None`` for a set that is refused.
Measured = Callable[[Point], "Row | None"]
#: When each output of a point is in memory under a policy, in order, and the cycles of the whole.
Outputs = Callable[[Point, str], tuple[list[int], int]]
#: ``(n, nbf, device, tiling)`` to counts of lut, ff, dsp and bram, or ``None`` where nothing was synthesised.
Area = Callable[[int, int, str, str], "Row | None"]
#: What multiplies: DSP blocks as in the paper's design, or LUTs alone.
TILINGS = ("dsp", "lut")

#: The sets at 54 bits a prime that keep 128 bits of security (log PQ of 218 at N = 2^13, of 438 at 2^14).
HYBRID = {8192: [Set(3, 1, 3), Set(2, 2, 1)], 16384: [Set(7, 1, 7), Set(6, 2, 3), Set(5, 3, 2), Set(4, 4, 1)]}
#: The units of ours that do the work of the paper's modules.
MODULES = {
    "ntt": "two transform units with their multipliers",
    "arith": "the arithmetic unit with its multipliers",
    "convert": "the arithmetic unit too, which lifts on the way from memory",
    "memory": "six banks of one limb",
    "control": "issue, registers and the memory path",
}
#: Key switches in a row: throughput, where one alone waits at its beginning, its end and between its parts.
ROW = 4
#: What the table of narrow memories counts: buses in bits, latencies in cycles.
NARROW: Row = {
    "n": 8192,
    "nbf": 4,
    "set": Set(3, 1, 3),
    "bus_bits": (64, 128, 256, 512, 1024),
    "latency": (40, 200, 800),
}


def overall(area: Row, weights: Row) -> float:
    """Return the area by the paper's formula, in equivalent slices."""
    return float(sum(weights[name] * area[name] for name in weights))


def slot(n: int, nbf: int) -> int:
    """Return the cycles of one transform on one lane if nothing is lost."""
    return (n.bit_length() - 1) * n // (2 * nbf)


def _ours(table: int, point: Point, cycles: Cycles, area: Area, device: str, weights: Row) -> Row:
    count = cycles(point)
    row: Row = {
        "table": table,
        "operation": point.operation,
        "n": point.n,
        "nbf": point.nbf,
        "set": list(point.set),
        "sequence": point.sequence,
        "cycles": count,
        "slots": round(count / slot(point.n, point.nbf), 3),
    }
    if point.sequence == "casa" and point.operation != "add":
        row["remarks"] = ["the paper's own sequence, which does not decrypt"]
    found = {tiling: area(point.n, point.nbf, device, tiling) for tiling in TILINGS}
    row["areas"] = {tiling: _with_overall(used, weights) for tiling, used in found.items() if used}
    return row


def _with_overall(used: Row, weights: Row) -> Row:
    return {**used, "overall": round(overall(used, weights), 1)}


def _denominators(theirs: Row, weights: Row) -> dict[str, float]:
    """The paper's area as it prints it, where it does, and by its own formula, which is less."""
    printed = {"printed": theirs["overall"]} if "overall" in theirs else {}
    return {**printed, "formula": overall(theirs, weights)}


def _ratios(row: Row, theirs: Row, weights: Row) -> Row:
    row["paper"] = theirs
    row["ratio_cycles"] = round(row["cycles"] / theirs["cycles"], 4)
    row["ratio_area_cycles"] = {
        tiling: {
            kind: round(row["cycles"] * used["overall"] / (theirs["cycles"] * denominator), 4)
            for kind, denominator in _denominators(theirs["area"], weights).items()
        }
        for tiling, used in row["areas"].items()
    }
    return row


def _nothing(point: Point) -> None:
    """No measurement."""


def _others(table: int, names: tuple[str, ...]) -> Iterator[Row]:
    """Rows of a table that are designs of others, with the figures that this table prints of them."""
    for entry in read_figures(__package__)["other"]:
        reported = {name: entry[name] for name in names if name in entry}
        area = {name: entry[name] for name in ("lut", "ff", "dsp", "bram", "overall")}
        row = {"table": table, "n": entry["n"], "nbf": None, "set": None, "sequence": None}
        yield {**row, "paper": {"name": entry["name"], "n": entry["n"], "area": area, **reported}}


def _cores(table: int, design: Row, theirs: Row, area: Area, device: str, weights: Row) -> Iterator[Row]:
    """A core of ours by each tiling beside one of the paper's."""
    n, nbf = design["n"], design["nbf"]
    for tiling in TILINGS:
        row: Row = {"table": table, "n": n, "nbf": nbf, "set": None, "sequence": None, "tiling": tiling}
        ours = area(n, nbf, device, tiling)
        if ours is not None:
            row["area"] = _with_overall(ours, weights)
            ratios = _denominators(theirs, weights).items()
            row["ratio_area"] = {kind: round(row["area"]["overall"] / of, 4) for kind, of in ratios}
        shown = {"overall": round(overall(theirs, weights), 1), **theirs}
        row["paper"] = {"n": n, "nbf": nbf, "area": shown, "fmax_mhz": design["fmax_mhz"]}
        yield row


def areas(area: Area) -> Iterator[Row]:
    """Table 2: the whole core on the ZCU102."""
    figures = read_figures(__package__)
    for design in figures["design"]:
        theirs = {k: design[k] for k in ("lut", "ff", "dsp", "bram", "overall")}
        yield from _cores(2, design, theirs, area, design["device"], figures["area"])
    yield from _others(2, ())


def key_switching(
    cycles: Cycles, area: Area, measured: Measured = _nothing, half: Cycles | None = None
) -> Iterator[Row]:
    """Table 3: key switching on the ZCU102, CASA's sequence and the sets that decrypt.

    One alone, from start to done, and each of several in a row. ``half`` counts with half the search for a
    plan: how much fewer cycles the whole search finds says how far a count is the planner's luck.
    """
    figures = read_figures(__package__)
    weights = figures["area"]
    for design in figures["design"]:
        n, nbf = design["n"], design["nbf"]
        theirs = {
            "n": n,
            "nbf": nbf,
            "set": [design["limbs"], 1, 1],
            "sequence": "casa",
            "cycles": design["cycles"],
            "slots": round(design["cycles"] / slot(n, nbf), 3),
            "area": {k: design[k] for k in ("lut", "ff", "dsp", "bram", "overall")},
            "fmax_mhz": design["fmax_mhz"],
            "delay_us": {
                "printed": design["delay_us"],
                "cycles_over_fmax": round(design["cycles"] / design["fmax_mhz"], 1),
            },
            "adp": design["adp"],
        }
        shapes = [("casa", Set(design["limbs"], 1, 1)), *(("hybrid", s) for s in HYBRID[n])]
        for sequence, shape in shapes:
            point = Point("key_switch", n, nbf, shape, sequence)
            row = _ratios(_ours(3, point, cycles, area, design["device"], weights), theirs, weights)
            if half is not None:
                row["noise"] = round(half(point) / row["cycles"] - 1, 4)
            each = cycles(point._replace(times=ROW)) / ROW
            row["in_a_row"] = {
                "times": ROW,
                "cycles": round(each),
                "slots": round(each / slot(n, nbf), 3),
                "per_second_at_paper_fmax": round(1e6 * design["fmax_mhz"] / each, 1),
            }
            row["us_at_paper_fmax"] = round(row["cycles"] / design["fmax_mhz"], 1)
            row["adp"] = {
                tiling: round(used["overall"] * row["us_at_paper_fmax"] * 1e-6, 2)
                for tiling, used in row["areas"].items()
            }
            row["per_second_at_paper_fmax"] = round(1e6 * design["fmax_mhz"] / row["cycles"], 1)
            row["cpu"] = measured(point)
            yield row
    yield from _others(3, ("fmax_mhz", "cycles", "delay_us", "adp"))


def modules(cycles: Cycles, area: Area) -> Iterator[Row]:
    """Table 4: the whole core on the Artix-7; the paper's split by module beside it."""
    figures = read_figures(__package__)
    for entry in figures["module"]:
        n, nbf = entry["n"], entry["nbf"]
        yield from _cores(4, entry, entry["core"], area, "xc7a200t", figures["area"])
        parts = {k: v for k, v in entry.items() if isinstance(v, dict) and k != "core"}
        for name, part in parts.items():
            reported: Row = {"table": 4, "n": n, "nbf": nbf, "set": None, "sequence": None, "module": name}
            reported["paper"] = {"area": {**part, "overall": round(overall(part, figures["area"]), 1)}}
            reported["remarks"] = [f"ours: {MODULES[name]}, whose shares of the core docs/area.md has"]
            yield reported


def _addition(point: Point, theirs: Row, bus_bits: int, word_bits: int) -> tuple[Row, str]:
    """What bounds an addition: its sums on chip, and its operands through the memory port.

    A beat of ours has whole words of 64 bits; packed densely, words take what the first figure says.
    """
    limbs = 2 * point.set.limbs
    dense = 2 * limbs * point.n * word_bits // bus_bits
    sums = limbs * point.n // (2 * point.nbf)
    bound = {"sums": sums, "operands_dense": dense, "operands_64": 2 * limbs * point.n * 64 // bus_bits}
    text = (
        f"{2 * limbs} limbs at {bus_bits} bits take {dense:,} cycles ({bound['operands_64']:,} with words "
        f"of 64 bits), so the paper's {theirs['cycles']:,} cannot include memory; "
        f"the sums alone take {sums:,} on chip"
    )
    return bound, text


def operations(
    cycles: Cycles, area: Area, activity: Activity | None = None, *, word_bits: int = 54
) -> Iterator[Row]:
    """Table 5: addition, multiplication with key switch, and rescaling at the paper's frequency.

    The power-delay product is watts times milliseconds.
    """
    figures = read_figures(__package__)
    for entry in figures["operations"]:
        n, nbf, fmax = entry["n"], entry["nbf"], entry["fmax_mhz"]
        for operation in ("add", "multiply", "rescale"):
            sets = [("casa", Set(entry["limbs"], 1, 1))]
            if operation == "multiply":
                sets += [("hybrid", s) for s in HYBRID[n]]
            for sequence, shape in sets:
                point = Point(operation, n, nbf, shape, sequence)
                row = _ours(5, point, cycles, area, "xc7a200t", figures["area"])
                row["us_at_paper_fmax"] = round(row["cycles"] / fmax, 1)
                printed = entry[f"{operation}_us"]
                row["paper"] = {"us": printed, "fmax_mhz": fmax, "cycles": round(printed * fmax)}
                row["paper"] |= {"power_w": entry["power_w"], "pdp": entry["pdp"][operation]}
                row["ratio_cycles"] = round(row["cycles"] / row["paper"]["cycles"], 4)
                if operation == "add":
                    bits = figures["memory"]["bits_per_cycle"]
                    row["bound"], text = _addition(point, row["paper"], bits, word_bits)
                    row["remarks"] = [*row.get("remarks", []), text]
                _powered(row, point, activity, word_bits, "xc7a200t", fmax)
                yield row
        for other in entry["others"]:
            yield from _software(other, n)


def _software(other: Row, n: int) -> Iterator[Row]:
    """Rows of Table 5 that are a CPU or a GPU."""
    for operation, pdp in other["pdp"].items():
        us, watts = other[f"{operation}_us"], other["power_w"]
        row: Row = {"table": 5, "operation": operation, "n": n, "nbf": None, "set": None, "sequence": None}
        row["paper"] = {"name": other["name"], "us": us, "power_w": watts, "pdp": pdp}
        if abs(watts * us / 1e3 / pdp - 1) > 0.05:
            row["remarks"] = [f"{us:g} us printed; its product with the power fits {1e3 * pdp / watts:g} us"]
        yield row


def _powered(
    row: Row, point: Point, activity: Activity | None, word_bits: int, device: str, mhz: float
) -> None:
    """Add what the activity of a point gives: power, and its product with the time in milliseconds."""
    if activity is None:
        return
    row["power"] = energy.estimate(activity(point), point.nbf, word_bits, device, mhz)
    row["pdp"] = round(row["power"]["microjoules"] / 1e3, 4)
    row["remarks"] = [*row.get("remarks", []), energy.REMARK]


def throughput(
    cycles: Cycles, area: Area, activity: Activity | None = None, *, word_bits: int = 54
) -> Iterator[Row]:
    """Table 6: multiplications with key switch a second at N = 2^14, Nbf = 8, at the paper's frequencies."""
    figures = read_figures(__package__)
    n, nbf = 16384, 8
    for entry in figures["throughput"]:
        if "fmax_mhz" not in entry:
            yield {"table": 6, "n": n, "nbf": None, "set": None, "sequence": None, "paper": entry}
            continue
        for sequence, shape in [("casa", Set(7, 1, 1)), *(("hybrid", s) for s in HYBRID[n])]:
            device = "zcu102" if "ZCU102" in entry["name"] else "xc7a200t"
            point = Point("multiply", n, nbf, shape, sequence)
            row = _ours(6, point, cycles, area, device, figures["area"])
            row["per_second"] = round(1e6 * entry["fmax_mhz"] / row["cycles"], 1)
            row["per_area"] = {
                tiling: round(1000 * row["per_second"] / used["overall"], 2)
                for tiling, used in row["areas"].items()
            }
            row["paper"] = entry
            _powered(row, point, activity, word_bits, device, entry["fmax_mhz"])
            yield row


def merged(cycles: Cycles, area: Area) -> Iterator[Row]:
    """One table more: multiplication, key switch and rescaling, with the rescaling merged into ModDown."""
    figures = read_figures(__package__)
    for design in figures["design"]:
        n, nbf = design["n"], design["nbf"]
        for shape in HYBRID[n]:
            point = Point("multiply_rescale", n, nbf, shape, "hybrid")
            row = _ours(7, point, cycles, area, design["device"], figures["area"])
            apart = cycles(Point("multiply", n, nbf, shape, "hybrid"))
            apart += cycles(Point("rescale", n, nbf, shape, "hybrid"))
            row["cycles_apart"] = apart
            row["paper"] = None
            row["ratio_merged"] = round(row["cycles"] / apart, 4)
            yield row


def narrow(memory: Callable[[int, int], Cycles]) -> Iterator[Row]:
    """Key switching over narrower and slower memories; ``memory(bus_bits, latency)`` counts its cycles."""
    for bus_bits in NARROW["bus_bits"]:
        for latency in NARROW["latency"]:
            point = Point("key_switch", NARROW["n"], NARROW["nbf"], NARROW["set"], "hybrid")
            count = memory(bus_bits, latency)(point)
            yield {
                "table": 8,
                "n": point.n,
                "nbf": point.nbf,
                "set": list(point.set),
                "sequence": point.sequence,
                "bus_bits": bus_bits,
                "latency": latency,
                "cycles": count,
                "slots": round(count / slot(point.n, point.nbf), 3),
                "paper": None,
            }


def policies(outputs: Outputs) -> Iterator[Row]:
    """Key switching by the two policies of the scheduler: all cycles, and when the outputs are there."""
    for n, nbf in ((8192, 4), (16384, 4)):
        for shape in HYBRID[n]:
            point = Point("key_switch", n, nbf, shape, "hybrid")
            for policy in ("throughput", "low-latency"):
                ends, count = outputs(point, policy)
                yield {
                    "table": 9,
                    "n": n,
                    "nbf": nbf,
                    "set": list(shape),
                    "sequence": "hybrid",
                    "policy": policy,
                    "cycles": count,
                    "slots": round(count / slot(n, nbf), 3),
                    "first_output": ends[0],
                    "mean_output": round(sum(ends) / len(ends)),
                    "paper": None,
                }


def rows(
    cycles: Cycles,
    area: Area,
    measured: Measured = _nothing,
    activity: Activity | None = None,
    *,
    half: Cycles | None = None,
    word_bits: int = 54,
) -> list[Row]:
    """All tables of the paper in its order, and the one with rescaling merged."""
    found = [*areas(area), *key_switching(cycles, area, measured, half), *modules(cycles, area)]
    found += operations(cycles, area, activity, word_bits=word_bits)
    found += throughput(cycles, area, activity, word_bits=word_bits)
    return [*found, *merged(cycles, area)]
