"""Key switches of the simulated engine by their definition: python3 test/selftest.py LIBRARY [JOBS [LOG_N]].

It needs Python alone, and nothing of Ringmill. Operands, keys and addends are random residues; sums of
products, conversions and the division are Python's integers. So a result is right to the last bit, or it is
named. The engine is the one of this folder, with its primes; LOG_N is log2 of its degree, 10 when left out.
"""

from __future__ import annotations

import ctypes
import json
import random
import sys
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from polynomials import Words, coefficients, root_of, values, words

Limbs = list[Words]
ABI = 1
#: Bits of a quotient's estimate in several limbs, and of the words that it is made of.
HEAD, ROUND = 14, 28
PLAIN, CENTRED = 0, 3
WORDS, NUMBERS = ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint32)


class Built(ctypes.Structure):
    """rm_key_switch_parameters."""

    _fields_ = [
        (x, ctypes.c_uint32)
        for x in ("abi", "pool", "limbs", "special", "alpha", "digits", "w", "log_n_max", "log_n_min")
    ]


class Job(ctypes.Structure):
    """rm_key_switch_job."""

    _fields_ = [
        *((x, ctypes.c_uint32) for x in ("log_n", "level", "special", "alpha", "centred", "count", "miss")),
        ("rows", ctypes.c_uint32),
        ("table", NUMBERS),
        *((x, WORDS) for x in ("q", "psi", "aux", "operand", "key", "addend", "result", "ended")),
        ("bad", NUMBERS),
    ]


@dataclass(frozen=True)
class Ran:
    """Results by key switch, component and limb; the last cycle of each key switch; which ones miss a row."""

    results: list[list[Limbs]]
    ended: list[int]
    bad: list[int]


# ------------------------------------------------- the definition


def raised(x: Limbs, of: Words, q: int, centred: bool) -> Words:
    """Residues modulo q of what residues modulo the primes `of` stand for, of coefficients.

    Of one prime the integer itself, with sign or not. Of several the sum of y_a S/s_a less the multiple of S
    that an estimate of 14 bits a prime says, rounded, or none: `convert` and `convert_fast` of limb programs.
    """
    if len(of) == 1:
        return [(a - of[0] if centred and 2 * a > of[0] else a) % q for a in x[0]]
    whole, out = prod(of), []
    parts = [(s, whole // s, pow(whole // s, -1, s), max(s.bit_length() - HEAD, 0)) for s in of]
    for at in range(len(x[0])):
        scaled = [x[k][at] * by % s for k, (s, _, by, _) in enumerate(parts)]
        estimate = (1 << (ROUND - 1)) + sum(
            (y >> shift) * ((1 << (ROUND + shift)) // s)
            for y, (s, _, _, shift) in zip(scaled, parts, strict=True)
        )
        integer = sum(y * rest for y, (_, rest, _, _) in zip(scaled, parts, strict=True))
        out.append((integer - centred * (estimate >> ROUND) * whole) % q)
    return out


@dataclass(frozen=True)
class Set:
    """Primes of the limbs and special ones, with roots of order 2 N; limbs a digit."""

    q: Words
    psi: Words
    level: int
    alpha: int

    @property
    def digits(self) -> list[range]:
        """The limbs of each digit."""
        return [range(i, min(i + self.alpha, self.level)) for i in range(0, self.level, self.alpha)]

    @property
    def special(self) -> range:
        """The places of the special primes."""
        return range(self.level, len(self.q))

    def back(self, x: Limbs, places: range) -> Limbs:
        """Coefficients of some limbs, whose values are given."""
        return [coefficients(a, self.q[i], self.psi[i]) for a, i in zip(x, places, strict=True)]

    def up(self, x: Limbs, places: range, into: int, centred: bool) -> Words:
        """Values modulo another prime of what coefficients stand for."""
        q = self.q[into]
        return values(raised(x, [self.q[i] for i in places], q, centred), q, self.psi[into])

    def switched(
        self, operand: Limbs, key: list[list[Limbs]], addend: list[Limbs], signs: int
    ) -> list[Limbs]:
        """Both components of a switched operand, with what is added to them."""
        lifted = []
        for own in self.digits:
            x = self.back([operand[i] for i in own], own)
            lifted.append(
                [operand[i] if i in own else self.up(x, own, i, bool(signs & 1)) for i in range(len(self.q))]
            )
        divisor = prod(self.q[k] for k in self.special)
        out = []
        for c in range(2):
            sums = [
                [
                    sum(digit[i][k] * row[c][i][k] for digit, row in zip(lifted, key, strict=True)) % q
                    for k in range(len(operand[0]))
                ]
                for i, q in enumerate(self.q)
            ]
            rest = self.back([sums[k] for k in self.special], self.special)
            part = []
            for i in range(self.level):
                q, less = self.q[i], self.up(rest, self.special, i, bool(signs & 2))
                by = pow(divisor, -1, q)
                part.append(
                    [((a - b) * by + y) % q for a, b, y in zip(sums[i], less, addend[c][i], strict=True)]
                )
            out.append(part)
        return out


# ------------------------------------------------- the library


class Engine:
    """The library, and what the folder says of it."""

    def __init__(self, library: str, facts: dict[str, Any]) -> None:
        self.library = ctypes.CDLL(str(Path(library).resolve()))
        self.built, self.facts = Built(), facts
        self.library.rm_key_switch_parameters_of(ctypes.byref(self.built))
        if self.built.abi != ABI or self.built.limbs != facts["parameters"]["Limbs"]:
            raise SystemExit("this library is not the one of this folder")

    def set(self, level: int, log_n: int) -> Set:
        """The limbs of a level with all special primes, at a degree."""
        n, primes = 1 << log_n, self.facts["primes"]
        q = primes["limbs"][:level] + primes["special"]
        return Set(q, [root_of(x, n) for x in q], level, self.facts["alpha"])

    def run(
        self,
        of: Set,
        log_n: int,
        operands: list[Limbs],
        key: list[list[Limbs]],
        addends: list[list[Limbs]],
        signs: int,
        table: list[list[int]],
        miss: int = 0,
    ) -> Ran | str:
        """Key switches one behind the other, or what the engine says."""
        n, count = 1 << log_n, len(operands)
        aux = self.facts["aux"]
        job = Job(
            log_n=log_n,
            level=of.level,
            special=len(of.special),
            alpha=of.alpha,
            centred=signs,
            count=count,
            miss=miss,
            rows=len(table),
        )
        flat = [x for row in table for x in row]
        job.table = (ctypes.c_uint32 * len(flat))(*flat)
        job.q, job.psi = words(of.q), words(of.psi)
        job.aux = words(aux["limbs"][: of.level] + aux["special"])
        job.operand = words([x for k in operands for limb in k for x in limb])
        job.key = words([x for digit in key for part in digit for limb in part for x in limb])
        job.addend = words([x for k in addends for part in k for limb in part for x in limb])
        result, ended = words([0] * (count * 2 * of.level * n)), words([0] * count)
        bad = (ctypes.c_uint32 * count)()
        job.result, job.ended, job.bad = result, ended, bad
        said = ctypes.create_string_buffer(256)
        if self.library.rm_key_switch_run(ctypes.byref(job), said, ctypes.c_size_t(256)):
            return said.value.decode()

        def limb(k: int, c: int, i: int) -> Words:
            at = ((k * 2 + c) * of.level + i) * n
            return list(result[at : at + n])

        results = [[[limb(k, c, i) for i in range(of.level)] for c in range(2)] for k in range(count)]
        return Ran(results, list(ended), list(bad))


# ------------------------------------------------- the test


def case(engine: Engine, of: Set, log_n: int, count: int, rng: random.Random) -> dict[str, Any]:
    """Random operands, keys and addends; of the second key switch the greatest residues."""
    n = 1 << log_n

    def drawn(places: range) -> Limbs:
        return [[rng.randrange(of.q[i]) for _ in range(n)] for i in places]

    limbs = range(of.level)
    operands = [drawn(limbs) for _ in range(count)]
    if count > 1:
        operands[1] = [[of.q[i] - 1] * n for i in limbs]
    key = [[drawn(range(len(of.q))) for _ in range(2)] for _ in of.digits]
    addends = [[drawn(limbs) for _ in range(2)] for _ in range(count)]
    table = engine.facts["timetables"].get(str(of.level), [])
    return {"operands": operands, "key": key, "addends": addends, "table": table}


def held(engine: Engine, level: int, log_n: int, count: int, signs: int, rng: random.Random) -> None:
    """Key switches of a level against the definition."""
    of = engine.set(level, log_n)
    given = case(engine, of, log_n, count, rng)
    name = f"{level} limbs, {len(of.special)} special primes, {len(of.digits)} digits"
    ran = engine.run(of, log_n, signs=signs, **given)
    if isinstance(ran, str):
        raise SystemExit(f"{name}: the engine says: {ran}")
    for k in range(count):
        wanted = of.switched(given["operands"][k], given["key"], given["addends"][k], signs)
        if ran.bad[k] or ran.results[k] != wanted:
            raise SystemExit(f"{name}: key switch {k} is not the result of its definition")
    first, last = ran.ended[0], ran.ended[-1]
    apart = f", then one every {(last - first) / (count - 1):.0f}" if count > 1 else ""
    print(
        f"ok   {name}, digits {'centred' if signs & 1 else 'plain'}: {count} key switches, "
        f"{count * 2 * level << log_n} residues; {first} cycles{apart}",
        flush=True,
    )


def refused(engine: Engine, log_n: int, rng: random.Random) -> None:
    """What has to be said: a missing row; a degree, a set and a timetable that the engine does not do."""
    of = engine.set(1, log_n)
    given = case(engine, of, log_n, 3, rng)
    ran = engine.run(of, log_n, signs=CENTRED, miss=2, **given)
    good = [of.switched(given["operands"][k], given["key"], given["addends"][k], CENTRED) for k in (0, 2)]
    if isinstance(ran, str) or ran.bad != [0, 1, 0] or [ran.results[0], ran.results[2]] != good:
        raise SystemExit("a key switch whose keys miss a row is not the one that is named, or spoils others")
    small = engine.built.log_n_min - 1
    one = {**given, **{x: given[x][:1] for x in ("operands", "addends")}}
    wrong = [engine.run(of, small, signs=CENTRED, **one)]
    many = Set(of.q, of.psi, engine.built.limbs + 1, of.alpha)
    wrong.append(engine.run(many, log_n, signs=CENTRED, **one))
    if engine.built.pool:
        lacks = {**one, "table": [row for row in one["table"] if row[0] != 2]}
        wrong.append(engine.run(of, log_n, signs=CENTRED, **lacks))
    if not all(isinstance(said, str) for said in wrong):
        raise SystemExit("a degree, a set or a timetable that it was not built for was taken")
    print("ok   refusals", flush=True)


def main(arguments: list[str]) -> None:
    """Key switches of the whole set, of a lower level and of plain digits; then what has to be refused."""
    facts = json.loads((Path(__file__).parent.parent / "engine.json").read_text())
    engine = Engine(arguments[0], facts)
    jobs = int(arguments[1]) if len(arguments) > 1 else 1
    log_n = int(arguments[2]) if len(arguments) > 2 else engine.built.log_n_min
    rng = random.Random(2026)
    limbs = len(facts["primes"]["limbs"])
    for _ in range(jobs):
        held(engine, limbs, log_n, 3, CENTRED, rng)
        held(engine, limbs, log_n, 1, PLAIN, rng)
        held(engine, max(1, limbs - 1), log_n, 2, CENTRED, rng)
    refused(engine, engine.built.log_n_min, rng)


if __name__ == "__main__":
    main(sys.argv[1:])
