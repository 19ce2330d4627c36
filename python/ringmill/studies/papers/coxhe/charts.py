"""coxHE's Fig. 4 and 5 beside ours.

The values of its bars are not printed: what stands here of the paper is what its text says of them, and what
its own models give.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ringmill._native import Params
from ringmill._native import multipliers as kinds
from ringmill.compiled import compile_traced
from ringmill.kernels import NINE, PaperKernel
from ringmill.studies.papers.coxhe import models
from ringmill.studies.papers.coxhe.rows import FIXED, LIMBS, Row, complete, drift, engine, slots_of
from ringmill.studies.papers.figures import read_figures

SYNTHESES = Path(__file__).resolve().parents[5] / "rtl" / "synth" / "data" / "modmul.json"
#: Fig. 4(a): butterflies of a transform unit of ours, and multipliers that make its roots.
UNIT, ROOTS = 4, 2
#: Fig. 5(b): butterflies of a transform module, and words that the others take a cycle, in both pipelines.
TRANSFORM, MODULE = 16, 8
#: The board of Fig. 5(c), and evaluations of which the least counts.
BOARD, EVALUATIONS = "zcu102", 20


def multipliers() -> Iterator[Row]:
    """Fig. 4(a): blocks of one multiplier by width, as synthesised, and of a transform unit, counted.

    A transform unit has blocks in its multipliers alone.
    """
    rows = json.loads(SYNTHESES.read_text(encoding="utf-8"))
    for row in sorted(rows, key=lambda r: (r["params"]["Kind"], r["flow"], r["params"]["W"])):
        # Those of a core, for all primes of their class.
        if row.get("dsp") and row["params"]["Kind"] < len(kinds()):
            kind = kinds()[row["params"]["Kind"]]
            blocks = {"dsp": row["dsp"], "lut": row["lut"]}
            reported: Row = {"table": "Fig. 4a", "row": f"{kind}, {row['flow']}, {row['params']['W']} bits"}
            yield complete(
                {
                    **reported,
                    "bits": row["params"]["W"],
                    "ours": blocks,
                    "multiplier": kind,
                    "flow": row["flow"],
                    "transform_dsp": (UNIT + ROOTS) * row["dsp"],
                }
            )


def errors() -> Iterator[Row]:
    """Fig. 4(b): the paper's error by width and degree, and the one that decrypts."""
    for n in (2048, 4096, 8192, 16384):
        for bits in (*range(22, 34, 3), 37, 43):
            params = Params.from_bits(n.bit_length() - 1, [bits] * LIMBS, [bits], LIMBS, insecure=True)
            # Three primes of this width within 128 bits: the security that the figure keeps to.
            if params.security is None:
                continue
            yield complete(
                {
                    "table": "Fig. 4b",
                    "row": f"N = {n}, {bits} bits",
                    "n": n,
                    "bits": bits,
                    "model_of_paper": {"error": drift(n, bits)},
                    "ours": {"error": engine(n, bits)["error"], "security": params.security},
                }
            )


def heax(cycles: Callable[[int], tuple[int, int]], n: int, butterflies: int) -> Iterator[Row]:
    """Fig. 5(a): slots of a key switch over k moduli; `cycles` gives ours and the cycles of a slot."""
    printed = read_figures(__package__)["heax"]
    for k in range(2, 9):
        ours, slot = cycles(k)
        theirs, coxhe = slots_of("heax", k), slots_of("coxhe", k)
        yield complete(
            {
                "table": "Fig. 5a",
                "row": f"k = {k}",
                "n": n,
                "paper": {"less_than_heax": [printed["least"], printed["most"]]},
                "model_of_paper": {
                    "heax_slots": theirs,
                    "coxhe_slots": coxhe,
                    "less_than_heax": round(1 - coxhe / theirs, 3),
                },
                "ours": {"slots": round(ours / slot, 2), "cycles": ours, "pintra_or_nbf": butterflies},
                "moduli": k,
            }
        )


def kernels(stored: list[Row]) -> Iterator[Row]:
    """Fig. 5(b): each kernel with HEAX's key switch and with the paper's; ours for the same parameters.

    A kernel is its key switches and the products of limbs beside them, by the operations that our compiler
    needs; nothing is explored.
    """
    printed, params = read_figures(__package__)["heax"], Params.named(FIXED)
    n = 1 << params.log_n
    slot = models.transform_cycles(n, TRANSFORM)
    for row in NINE:
        compiled = compile_traced(row.trace(), params=params)
        cost, k = compiled.cost, compiled.plan.start_level + 1
        plain = cost.get("mul_plain", 0) + cost.get("mul_scalar", 0)
        products = 4 * cost.get("mul", 0) + 3 * cost.get("square", 0) + 2 * plain
        beside = int(k * products * models.module_cycles(n, MODULE))
        switches = cost["key_switches"]
        cycles = {name: switches * slots_of(name, k) * slot + beside for name in ("heax", "coxhe")}
        found = _stored(stored, row)["fixed"]
        yield complete(
            {
                "table": "Fig. 5b",
                "row": row.letter,
                "n": n,
                "bits": max(q.bit_length() for q in params.q),
                "board": BOARD,
                "paper": {"less_than_heax": [printed["kernel_least"], printed["kernel_most"]]},
                "model_of_paper": {
                    "heax_cycles": cycles["heax"],
                    "coxhe_cycles": cycles["coxhe"],
                    "less_than_heax": round(1 - cycles["coxhe"] / cycles["heax"], 3),
                },
                "ours": found,
                "kernel": row.title,
                "size": row.size,
                "moduli": k,
                "key_switches": switches,
            }
        )


def _stored(rows: list[Row], kernel: PaperKernel) -> Row:
    """The co-design row of a kernel on the board of the figure."""
    return next(r for r in rows if (r["table"], r["row"], r["board"]) == ("co-design", kernel.letter, BOARD))


def software(stored: list[Row], watts: float) -> Iterator[Row]:
    """Fig. 5(c): the core that was explored beside the CPU machine on one thread, kernel by kernel.

    `watts` is what the board draws. The power of the CPU is not known here, so it has no energy.
    """
    printed, params = read_figures(__package__)["hexl"], Params.named(FIXED)
    for row in NINE:
        compiled = compile_traced(row.trace(), params=params)
        keys = compiled.keygen()
        arguments = compiled.encrypt(keys, row.encrypted())
        seconds = []
        for _ in range(EVALUATIONS):
            start = time.process_time()
            compiled.evaluate(keys, arguments, machine="cpu:threads=1")
            seconds.append(time.process_time() - start)
        before, cpu = _stored(stored, row), 1e3 * min(seconds)
        ours = before["ours"]
        yield complete(
            {
                "table": "Fig. 5c",
                "row": row.letter,
                "n": 1 << params.log_n,
                "bits": max(q.bit_length() for q in params.q),
                "board": BOARD,
                "paper": {"energy_efficiency_most": printed["energy_efficiency_most"]},
                "ours": ours and {**ours, "energy_mj": round(ours["latency_ms"] * watts, 4)},
                "kernel": row.title,
                "size": row.size,
                "cpu_ms": round(cpu, 4),
                "fixed_ms": before["fixed"]["latency_ms"],
                "core_over_cpu": ours and round(ours["latency_ms"] / cpu, 3),
            }
        )
