"""coxHE beside ours: Tables I and III, what co-design is worth, a row each. Fig. 4 and 5: `charts.py`.

The paper's figures stand in `figures.toml`. Ours are explored for every row (`explored.py`): the same kernel
on the same board, with the error and the security of the row as constraints. What was explored is stored in
`explored.json`; `python -m ringmill.studies.papers.coxhe` makes it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ringmill._native import Params
from ringmill.compiled import compile_traced
from ringmill.errors import ProgramError
from ringmill.kernels import NINE, PaperKernel
from ringmill.studies.papers.coxhe import models
from ringmill.studies.papers.figures import read_figures
from ringmill.studies.stored import read_stored

Row = dict[str, Any]

#: The kernel of Tables I and III: a plain-cipher product whose matrix fills the slots of their smallest ring.
KERNEL = "g"
#: Ciphertext primes for its one level: with one special prime three in all, and then N·bits of every row of
#: Table III keeps the security that the row prints.
LIMBS = 2
#: Bits of the narrowest primes that we have.
NARROWEST = 20
#: Size of arguments whose sums of ten products stay below 1/2.
SMALL = 1 / 64
#: The paper names no clock; where its cycles become a time here, it is this one.
CLOCK_MHZ = 200.0
BOARDS = ("zcu104", "zcu102")
#: The fixed parameters that co-design is compared with.
FIXED = "II"


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints that a design must keep."""

    kernel: str
    board: str
    max_error: float
    security: int
    #: The greatest part of each named resource.
    within: tuple[tuple[str, float], ...] = ()


#: From constraints to the figures of our design; `None` if no design meets them.
Best = Callable[[Constraints], Row | None]


#: What every row says; `None` where the paper, its model or ours has no figure.
COLUMNS = ("table", "row", "n", "bits", "board", "paper", "model_of_paper", "ours", "ratio_latency")
OURS = ("latency_ms", "error", "security", "dsp", "lut", "bram", "pintra_or_nbf")


def complete(row: Row) -> Row:
    """The row with every column, in their order, whatever else it says behind them."""
    ours = row.get("ours")
    reported = {name: row.get(name) for name in COLUMNS}
    for name in ("paper", "model_of_paper"):
        reported[name] = reported[name] or {}
    reported["ours"] = ours and {**dict.fromkeys(OURS), **ours}
    return {**reported, **{name: value for name, value in row.items() if name not in reported}}


def kernel(letter: str) -> PaperKernel:
    """A kernel of Table II."""
    return next(row for row in NINE if row.letter == letter)


def drift(n: int, bits: int) -> float:
    """Eq. 10: 1 − q/2^bits for the largest prime q below 2^bits with q ≡ 1 mod 2N."""
    q = ((1 << bits) - 2) // (2 * n) * (2 * n) + 1
    while not _is_prime(q):
        q -= 2 * n
    return 1 - q / 2.0**bits


def _is_prime(q: int) -> bool:
    """Miller–Rabin to the bases that decide every number below 2^64."""
    odd, twos = q - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1

    def witness(base: int) -> bool:
        x = pow(base, odd, q)
        if x in (0, 1, q - 1):
            return False
        for _ in range(twos - 1):
            x = x * x % q
            if x == q - 1:
                return False
        return True

    return not any(witness(base) for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37) if base % q)


def slots_of(design: str, k: int) -> int:
    """Slots of one transform that a key switch over k moduli takes: HEAX's pipeline, and Eq. 6 of coxHE."""
    return {"heax": 3 * k + 1, "coxhe": models.key_switch_slots(k)}[design]


def model_of_paper(design: Row, key_switches: int) -> Row:
    """Eq. 3 and 6 for a row of a table, with transforms the slowest module, and Eq. 10."""
    n, pintra = design["n"], design.get("pintra")
    reported: Row = {"error": drift(n, design["bits"])}
    if pintra:
        cycles = slots_of("coxhe", LIMBS) * models.transform_cycles(n, pintra)
        reported |= {
            "key_switch_cycles": cycles,
            "key_switch_ms": round(cycles / CLOCK_MHZ / 1e3, 5),
            "key_switches_of_latency": round(design["latency_ms"] * CLOCK_MHZ * 1e3 / cycles, 1),
            "our_key_switches_ms": round(key_switches * cycles / CLOCK_MHZ / 1e3, 4),
        }
    return reported


def engine(n: int, bits: int) -> Row:
    """What our error model and the security tables say of the paper's parameters."""
    if bits < NARROWEST:
        return {"error": None, "security": None}
    traced = kernel(KERNEL).trace()
    params = Params.from_bits(n.bit_length() - 1, [bits] * LIMBS, [bits], LIMBS, insecure=True)
    if params.slots < traced.signature.slots:
        return {"error": None, "security": round(params.security_estimate, 1)}
    # All primes have one width, so results must stay below 1/2: sums of ten products of small numbers.
    error = None
    try:
        compiled = compile_traced(traced, params=params, magnitude=SMALL)
        error = 2.0 ** max(compiled.predicted_error.values())
    except ProgramError as refused:
        # The noise is as large as the modulus: nothing decrypts.
        if refused.code != "Depth":
            raise
    return {"error": error, "security": round(params.security_estimate, 1)}


def _limits(design: Row, boards: Row) -> tuple[tuple[str, float], ...]:
    """The amounts behind the row's percentages, by our devices' totals."""
    names = {"dsp": "dsp", "ff": "ff", "lut": "lut", "bram": "bram36", "uram": "uram"}
    total = boards[design["board"]]
    use = {**dict.fromkeys(("uram",), 0), **design["use"]}
    return tuple((ours, use[name] / 100 * total.get(ours, 0)) for name, ours in names.items() if name in use)


def designs(best: Best, boards: Row) -> Iterator[Row]:
    """Rows S1 and S2 of Table I and A1 to F2 of Table III."""
    figures = read_figures(__package__)
    switches = compile_traced(kernel(KERNEL).trace(), precision=10).cost["key_switches"]
    for table, name in (("I", "choice"), ("III", "design")):
        for design in figures[name]:
            board = design.get("board", "zcu104")
            within = _limits(design, boards) if "use" in design else ()
            constraints = Constraints(KERNEL, board, design["error"], design["security"], within)
            ours = best(constraints)
            row: Row = {
                "table": table,
                "row": design["row"],
                "kernel": KERNEL,
                "n": design["n"],
                "bits": design["bits"],
                "board": board,
                "paper": {k: v for k, v in design.items() if k not in ("row", "n", "bits", "board")},
                "model_of_paper": model_of_paper(design, switches),
                "paper_by_our_models": engine(design["n"], design["bits"]),
                "ours": ours,
                "ratio_latency": ours and round(ours["latency_ms"] / design["latency_ms"], 5),
            }
            row["explained"] = explained(row, switches)
            yield complete(row)


def explained(row: Row, key_switches: int) -> list[str]:
    """Why figures of a row differ, each in a sentence."""
    reported = []
    printed, model = row["paper"]["error"], row["model_of_paper"]
    off = printed / model["error"] - 1
    reported.append(
        f"error: the paper prints the drift of the scale, 1 - q/2^b ({model['error']:.3g}"
        + (f"; printed {100 * off:+.1f} %" if abs(off) > 0.005 else "")
        + "); exact scales have none, ours is the error that decrypts"
    )
    if "key_switches_of_latency" in model:
        switches = model["key_switches_of_latency"]
        reported.append(
            f"latency: at {CLOCK_MHZ:g} MHz the printed time is {switches:g} key switches by Eq. 6,"
            f" ours takes {key_switches} for the matrix in one ciphertext; the paper prints neither its clock"
            " nor its packing"
        )
    if row["ours"]:
        reported.append(f"ours: {row['ours']['clock_origin']}")
    else:
        reported.append("ours: no design keeps the row's error, security and resources")
    return reported


def codesign(fixed: Callable[[str, str], Row], best: Best) -> Iterator[Row]:
    """Set II on the best core for it, against parameters and core explored together."""
    for board in BOARDS:
        for row in NINE:
            before = fixed(row.letter, board)
            ours = best(Constraints(row.letter, board, before["error"], 128))
            reported: Row = {
                "table": "co-design",
                "row": row.letter,
                "kernel": row.title,
                "size": row.size,
                "n": 1 << Params.named(FIXED).log_n,
                "bits": max(q.bit_length() for q in Params.named(FIXED).q),
                "board": board,
                "fixed": before,
                "ours": ours,
                "ratio_latency": ours and round(ours["latency_ms"] / before["latency_ms"], 5),
            }
            yield complete(reported)


def gains(rows: list[Row]) -> Row:
    """Geometric mean of how many times faster co-design is, a board."""
    reported = {}
    for board in BOARDS:
        mine = [r for r in rows if r["table"] == "co-design" and r["board"] == board]
        if mine and all(r["ratio_latency"] for r in mine):
            reported[board] = round(math.exp(-sum(math.log(r["ratio_latency"]) for r in mine) / len(mine)), 4)
    return reported


def stored() -> Row:
    """What was explored last: rows, and with which version."""
    return read_stored(__package__, "explored.json")
