"""Taiyi's choice of parameters beside ours: what key switching takes, counted for the exact algorithms.

Numbers are multiplications of words for each coefficient of a polynomial: a transform takes
``log2(N) / 2``. *Exact* means that T is as long as its bound says (T > beta·N·D·D~ with centred digits) and
that conversions out of T are centred block by block, as ``crates/program/src/lower/klss.rs`` writes them.
``limbs`` are those of the polynomial: level + 1.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from ringmill._native import security_limit
from ringmill.studies.papers.figures import read_figures

Row = dict[str, Any]

#: Longest blocks looked at; the best of every row is shorter.
LONGEST = 48
#: Bits of the primes of T that figures are given for: the paper's word, and what 64-bit machines have.
T_BITS = (36, 60)
#: Why Table IV has no time of ours at these degrees.
UNMEASURED = {
    17: "no set of ours: a slot takes longer than at 2^16, by the paper's own figures",
    18: "rings end at 2^17 here, as do the tables of 2024",
}


class Switch(NamedTuple):
    """A key switch: limbs of the polynomial, special primes, limbs a digit, at degree 2^log_n."""

    log_n: int
    limbs: int
    special: int
    alpha: int


class Count(NamedTuple):
    """Multiplications for each coefficient, by kind."""

    transforms: float
    conversions: int
    products: int

    @property
    def total(self) -> float:
        """All of them."""
        return self.transforms + self.conversions + self.products

    def row(self) -> Row:
        """Return them by name."""
        return {**self._asdict(), "total": self.total}


def _groups(limbs: int, size: int) -> list[int]:
    return [min(size, limbs - first) for first in range(0, limbs, size)]


def _convert(source: int, targets: int) -> int:
    """Scaling of the sources and their quotient, then a sum and the quotient's multiple for each target."""
    return 2 * source + targets * (source + 1) if source > 1 else 0


def hybrid(s: Switch) -> Count:
    """Count hybrid key switching: (beta + 2)(limbs + K) transforms."""
    digits, all_limbs = _groups(s.limbs, s.alpha), s.limbs + s.special
    transforms = (len(digits) + 2) * all_limbs
    conversions = sum(_convert(d, all_limbs - d) for d in digits) + 2 * _convert(s.special, s.limbs)
    return Count(transforms * s.log_n / 2, conversions + 2 * s.limbs, 2 * len(digits) * all_limbs)


def t_primes(s: Switch, block: int, word_bits: int, t_bits: int) -> int:
    """Return alpha', the primes that the bound asks for at this number of limbs: the first ones of T.

    A block of which fewer limbs are used is as long as ever.
    """
    beta = math.ceil(s.limbs / s.alpha)
    needed = word_bits * (min(s.alpha, s.limbs) + block) + s.log_n + math.log2(beta)
    return math.floor(needed / t_bits) + 1


def klss(s: Switch, block: int, primes: int) -> Count:
    """Count KLSS key switching with blocks of ``block`` limbs and ``primes`` primes in T."""
    digits, blocks = _groups(s.limbs, s.alpha), _groups(s.limbs + s.special, block)
    transforms = 3 * s.limbs + primes * (len(digits) + 2 * len(blocks))
    conversions = sum(_convert(d, primes) for d in digits) + 2 * sum(_convert(primes, b) for b in blocks)
    conversions += 2 * _convert(s.special, s.limbs) + 2 * s.limbs
    return Count(transforms * s.log_n / 2, conversions, 2 * len(digits) * len(blocks) * primes)


def best_klss(s: Switch, word_bits: int, t_bits: int) -> tuple[int, int, Count]:
    """Return the block length with the fewest multiplications, alpha' and the count."""
    found = []
    for block in range(1, min(s.limbs + s.special, LONGEST) + 1):
        primes = t_primes(s, block, word_bits, t_bits)
        found.append((block, primes, klss(s, block, primes)))
    return min(found, key=lambda one: one[2].total)


def level(dnum: int, target: int) -> int:
    """Return Equation 1: the top level for a number of digits."""
    return (dnum * target - 1) // (dnum + 1)


def shape(log_n: int, dnum: int, target: int) -> Switch:
    """Return the key switch at the top of Equation 1's chain."""
    limbs = level(dnum, target) + 1
    alpha = math.ceil(limbs / dnum)
    return Switch(log_n, limbs, alpha, alpha)


def security(figures: Row) -> list[Row]:
    """Table I: the longest modulus for 128 bits and more; for 128 by the table of 2018 too."""
    rows = []
    for printed in figures["security"]:
        ours = security_limit(printed["log_n"])
        other = {f"log_pq_{bits}": security_limit(printed["log_n"], bits) for bits in (192, 256)}
        rows.append(
            {
                "table": "I",
                "log_n": printed["log_n"],
                "log_pq": ours,
                **other,
                "log_pq_2018": security_limit(printed["log_n"], table=2018),
                "primes": None if ours is None else ours // figures["word_bits"],
                "paper": {k: printed[k] for k in ("log_pq", "bits", "target")},
                "paper_primes": printed["log_pq"] // figures["word_bits"],
                "reason": None if ours else "the tables of 2024 end at 2^17",
            }
        )
    return rows


def levels(figures: Row) -> list[Row]:
    """Equation 1: levels for each number of digits, and whether the primes that it asks for are there."""
    rows = []
    for printed in figures["security"]:
        log_n, target = printed["log_n"], printed["target"]
        allowed = printed["log_pq"] // figures["word_bits"]
        for dnum in range(1, target + 1):
            s = shape(log_n, dnum, target)
            needed = s.limbs + s.special
            fits = needed <= allowed
            row = {"table": "Eq. 1", "log_n": log_n, "dnum": dnum, "level": s.limbs - 1, "special": s.special}
            chosen = figures["amortised"]["chosen"].get(str(log_n))
            given = chosen[0] if chosen and chosen[1] == dnum else None
            rows.append({**row, "primes": needed, "fits": fits, "paper": {"level": given}})
    return rows


def multiplications(figures: Row) -> list[Row]:
    """Table III: hybrid against KLSS for every number of digits."""
    rows = []
    for printed in figures["security"][1:]:
        log_n, target = printed["log_n"], printed["target"]
        for dnum in range(1, target + 1):
            s = shape(log_n, dnum, target)
            ours = hybrid(s)
            row: Row = {"table": "III", "log_n": log_n, "dnum": dnum, "limbs": s.limbs, "special": s.special}
            row["hybrid"] = ours.row()
            for bits in T_BITS:
                block, primes, count = best_klss(s, figures["word_bits"], bits)
                saving = 100 * (1 - count.total / ours.total)
                found = {"block": block, "primes": primes, **count.row(), "saving_percent": round(saving, 1)}
                row[f"klss{bits}"] = found
            given = figures["savings"].get(str(dnum))
            row["paper"] = {"saving_percent": given[log_n - 16] if given else None}
            rows.append(row)
    return rows


def kinds(figures: Row, counted: list[Row]) -> list[Row]:
    """Figure 1: how multiplications of each kind change, over all numbers of digits at the three degrees.

    In percent of those of hybrid key switching; of shares, in points.
    """

    def change(row: Row, name: str, what: str) -> float:
        kind, _, share = what.partition("_")
        ours, other = (float(row[of][kind] / (row[of]["total"] if share else 1)) for of in (name, "hybrid"))
        return 100 * (ours - other if share else ours / other - 1)

    rows = []
    for what, printed in figures["kinds"].items():
        row: Row = {"table": "Fig. 1", "what": what}
        for bits in T_BITS:
            found = [change(one, f"klss{bits}", what) for one in counted]
            mean = sum(found) / len(found)
            row[f"klss{bits}"] = {"mean": mean, "least": min(found), "most": max(found)}
            if what == "transforms":
                row[f"klss{bits}"]["times_fewer"] = 1 / (1 + mean / 100)
        rows.append({**row, "paper": printed})
    return rows


def memory(figures: Row) -> list[Row]:
    """Figure 2: what the inner product holds, digits modulo T and the key, at words of the paper's length.

    The last row is the mean over all numbers of digits.
    """
    rows: list[Row] = []
    printed = figures["security"][1]
    for dnum in range(1, printed["target"] + 1):
        s = shape(16, dnum, printed["target"])
        block, primes, _ = best_klss(s, figures["word_bits"], figures["word_bits"])
        polynomial = figures["word_bits"] / 8 * 2**s.log_n / 1e6
        beta, blocks = len(_groups(s.limbs, s.alpha)), len(_groups(s.limbs + s.special, block))
        row = {"table": "Fig. 2", "dnum": dnum, "alpha": s.alpha, "block": block, "primes": primes}
        row["digits_mb"] = round(beta * primes * polynomial, 1)
        row["key_mb"] = round(2 * beta * blocks * primes * polynomial, 1)
        row["hybrid_key_mb"] = round(2 * beta * (s.limbs + s.special) * polynomial, 1)
        chosen = dnum == figures["digits"]
        paper = {"digits_mb": None, "key_mb": figures["memory"]["key_mb"] if chosen else None}
        rows.append({**row, "paper": paper})
    mean = {
        key: sum(row[key] for row in rows) / len(rows) for key in ("digits_mb", "key_mb", "hybrid_key_mb")
    }
    paper = {"digits_mb": figures["memory"]["mean_mb"], "key_mb": None}
    return [*rows, {"table": "Fig. 2", "dnum": "mean", **mean, "paper": paper}]


def amortised(figures: Row, measured: list[Row]) -> list[Row]:
    """Table IV: time of a multiplication and slot, bootstrapping included.

    ``measured`` are rows of a bench file, which may have a bootstrapping, ``boot/full/2^N``; where it has
    none, a stored measurement stands, with its origin. A product at each level that it leaves takes what the
    costs say. Where there is no time, the origin says why.
    """
    times, own = {row["work"]: row for row in measured}, figures["own"]
    rows = []
    for log_n in (16, 17, 18):
        boot = times.get(f"boot/full/2^{log_n}")
        ours, origin = None, UNMEASURED.get(log_n)
        if log_n == own["log_n"]:
            seconds, origin = own["boot_seconds"], own["origin"]
            if boot and boot.get("levels_left") == own["levels"]:
                seconds, origin = boot["ours_us"]["min"] * 1e-6, "the last bench run; products by the costs"
            ours = (seconds + own["product_seconds"]) * 1e9 / own["levels"] * 2 / 2**log_n
        scale = [f"{d:g}" for d in figures["amortised"]["d"]]
        printed = dict(zip(scale, figures["amortised"][str(log_n)], strict=True))
        row = {
            "table": "IV",
            "log_n": log_n,
            "ns": None if ours is None else round(ours, 2),
            "origin": origin,
        }
        row["levels_left"] = own["levels"] if ours else None
        left = figures["amortised"]["chosen"][str(log_n)][0] - figures["amortised"]["boot_levels"]
        rows.append({**row, "paper": printed, "paper_levels_left": left})
    return rows


def by_level(figures: Row) -> list[Row]:
    """Figure 4: multiplications against the level for each length of digits, at the paper's chain.

    Each level has the primes of T that it needs and the best length of blocks, as the lowering and the choice
    of methods have them. A chart there, no figure of which is printed.
    """
    top = shape(16, figures["digits"], figures["security"][1]["target"])
    rows = []
    for limbs in range(1, top.limbs + 1):
        row: Row = {"table": "Fig. 4", "level": limbs - 1}
        for bits in T_BITS:
            counts = {}
            for alpha in range(1, min(top.special, limbs) + 1):
                s = Switch(16, limbs, top.special, alpha)
                counts[str(alpha)] = best_klss(s, figures["word_bits"], bits)[2].total
            best = min(counts, key=lambda alpha: counts[alpha])
            row[f"klss{bits}"] = {"by_alpha": counts, "best_alpha": int(best), "least": counts[best]}
        least = min(hybrid(Switch(16, limbs, top.special, a)).total for a in range(1, top.special + 1))
        rows.append({**row, "hybrid": least, "paper": None})
    return rows


def stored(path: Path | None = None) -> list[Row]:
    """Return the rows of the last bench run, if there was one."""
    path = path or Path("build/bench.json")
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [row for row in rows if isinstance(row, dict) and "work" in row]


def rows(measured: list[Row]) -> list[Row]:
    """Return the rows that are counted: all but those of the applications (`applications.py`)."""
    figures = read_figures(__package__)
    counted = multiplications(figures)
    made = [security(figures), levels(figures), kinds(figures, counted), counted, memory(figures)]
    made += [amortised(figures, measured), by_level(figures)]
    return [row for some in made for row in some]
