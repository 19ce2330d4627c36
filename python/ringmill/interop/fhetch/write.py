"""A limb program as a trace: the same words at the outputs.

The format has no quotient of a base conversion, but it computes on words modulo any number. With M = 2^60 −
1, above all residues, ⌊y/2^h⌋ is (y − (y mod 2^h))·2^−h modulo M: a change of the modulus to 2^h, a
difference, a product. So exact conversions are written with the moduli 2^h and M beside the primes.
Programs whose digits have one prime, and which divide by one prime, have none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from ringmill.atomic import together, writing
from ringmill.errors import ProgramError, RingmillError, fail
from ringmill.interop.fhetch.grammar import COPY

#: An odd modulus above all residues: primes here have 60 bits at most.
WIDE = (1 << 60) - 1

#: Bits of a quotient's fraction, and what each source keeps of its residue (docs/limb-program.md).
_FRACTION, _KEPT = 28, 14

_HEAD = re.compile(r"limb (\S+) : 2\^(\d+) \{\Z")
_INSTRUCTION = re.compile(r"(?:b\d+:)?%(\d+) = (\w+) (.*?)(?: : (\S+)(?: (\w+))?)\Z")
_STORE = re.compile(r"store (\S+) -> (\S+)\.(\d+)\Z")


@dataclass
class _Program:
    name: str = ""
    log_n: int = 0
    moduli: dict[str, int] = field(default_factory=dict)
    address: dict[str, int] = field(default_factory=dict)
    modulus: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, dict[int, int]] = field(default_factory=dict)
    next: int = 1


class _Lines:
    """The lines of a trace, instruction by instruction."""

    def __init__(self, p: _Program) -> None:
        self.p = p
        self.rows: dict[int, int] = {}

    def table(self, quotients: bool) -> list[str]:
        primes = set(self.p.moduli.values())
        if quotients:
            helpers = {1 << max(0, q.bit_length() - _KEPT) for q in primes} - {1}
            primes |= helpers | {WIDE, 1 << _FRACTION}
        table = [COPY, *sorted(primes)]
        self.rows = {modulus: row for row, modulus in enumerate(table)}
        return [
            f"modulus_count {len(table)}",
            *(f"m[{row}] 0x{modulus:X}" for row, modulus in enumerate(table)),
        ]

    def op(self, name: str, target: int, *operands: object, q: int, more: str = "") -> str:
        given = ", ".join(str(operand) for operand in operands)
        return f"sr_{name} %{target}, {given}, m={self.rows[q]}{more}"

    def floor(self, target: int, other: int, source: int, shift: int, factor: int) -> Iterator[str]:
        """`target` = ⌊source/2^shift⌋·factor; `other` is overwritten."""
        if shift == 0:
            yield self.op("mulps", target, f"%{source}", factor, q=WIDE)
            return
        yield self.op("mulps", other, f"%{source}", 1, q=1 << shift)
        yield self.op("subp", target, f"%{source}", f"%{other}", q=WIDE)
        inverse = pow(2, -shift, WIDE)
        yield self.op("mulps", target, f"%{target}", factor * inverse % WIDE, q=WIDE)

    def sum(self, target: int, other: int, terms: Iterable[tuple[str, int, object, int]]) -> Iterator[str]:
        """The sum of products of a limb with a limb or a number."""
        for i, (kind, a, b, q) in enumerate(terms):
            yield self.op(kind, target if i == 0 else other, f"%{a}", b, q=q)
            if i:
                yield self.op("addp", target, f"%{target}", f"%{other}", q=q)

    def lines(self, op: str, target: int, lists: list[list[str]], constant: int, q: int) -> Iterator[str]:
        at = [[self.p.address[name] for name in names] for names in lists]
        a = at[0]
        match op:
            case "ntt" | "intt":
                yield self.op(op, target, f"%{a[0]}", q=q)
            case "neg":
                yield self.op("negp", target, f"%{a[0]}", q=q)
            case "add" | "sub" | "mul":
                yield self.op(op + "p", target, f"%{a[0]}", f"%{a[1]}", q=q)
            case "mac":
                yield self.op("mulp", target, f"%{a[1]}", f"%{a[2]}", q=q)
                yield self.op("addp", target, f"%{a[0]}", f"%{target}", q=q)
            case "mul_const":
                yield self.op("mulps", target, f"%{a[0]}", constant, q=q)
            case "add_const":
                yield self.op("addps", target, f"%{a[0]}", constant, q=q)
            case "sub_mul_const":
                yield self.op("subp", target, f"%{a[0]}", f"%{a[1]}", q=q)
                yield self.op("mulps", target, f"%{target}", constant, q=q)
            case "lift":
                yield from self.lift(target, a[0], self.p.modulus[lists[0][0]], q)
            case "dot":
                terms = [("mulp", x, f"%{y}", q) for x, y in zip(a, at[1], strict=True)]
                yield from self.sum(target, target + 1, terms)
            case "automorphism":
                n = 1 << self.p.log_n
                more = f", mask={n - 1}, logn={self.p.log_n}, k={constant}"
                yield self.op("automorph_eval", target, f"%{a[0]}", q=q, more=more)
            case "quotient":
                yield from self.quotient(target, lists[0], a)
            case _:  # convert, convert_fast
                yield from self.convert(target, lists, at, q)

    def lift(self, target: int, source: int, s: int, q: int) -> Iterator[str]:
        half = (s - 1) // 2
        yield self.op("addps", target, f"%{source}", half, q=s)
        yield self.op("mulps", target, f"%{target}", 1, q=q)
        if half % q:
            yield self.op("subps", target, f"%{target}", half % q, q=q)

    def quotient(self, target: int, names: list[str], a: list[int]) -> Iterator[str]:
        for i, (name, source) in enumerate(zip(names, a, strict=True)):
            s = self.p.modulus[name]
            shift = max(0, s.bit_length() - _KEPT)
            own = target if i == 0 else target + 1
            yield from self.floor(own, target + 2, source, shift, (1 << (_FRACTION + shift)) // s)
            if i:
                yield self.op("addp", target, f"%{target}", f"%{own}", q=WIDE)
        yield self.op("addps", target, f"%{target}", 1 << (_FRACTION - 1), q=WIDE)
        yield from self.floor(target, target + 2, target, _FRACTION, 1)

    def convert(self, target: int, lists: list[list[str]], at: list[list[int]], q: int) -> Iterator[str]:
        moduli = [self.p.modulus[name] for name in lists[0]]
        product = 1
        for s in moduli:
            product *= s
        terms: list[tuple[str, int, object, int]] = [
            ("mulps", source, product // s % q, q) for source, s in zip(at[0], moduli, strict=True)
        ]
        if len(at) > 1:
            terms.append(("mulps", at[1][0], -product % q, q))
        yield from self.sum(target, target + 1, terms)


#: Addresses that an instruction takes beside its result.
_SCRATCH = {"dot": 1, "convert": 1, "convert_fast": 1, "quotient": 2}


def _bad(number: int, line: str) -> NoReturn:
    fail(
        ProgramError,
        "NoProgram",
        f"Line {number} is none of a limb program: {line[:80]!r}. Give the text of one.",
        line=number,
    )


def trace_lines(text: str) -> Iterator[str]:
    """Return a limb program's trace, line by line.

    Raises
    ------
    ProgramError
        What is no limb program, or one with inputs of a client.
    """
    p = _Program()
    out = _Lines(p)
    stated: list[str] = []
    begun = False
    for number, whole in enumerate(text.splitlines(), 1):
        line = whole.split("#", 1)[0].strip()
        if not line or line == "}" or line.startswith(("buffers ", "section ")) or line == "end":
            continue
        try:
            if not p.name:
                found = _HEAD.match(line)
                p.name, p.log_n = found[1], int(found[2])  # type: ignore[index]
            elif line.startswith(("modulus ", "input ", "output ")):
                stated += _declared(p, line)
            else:
                if not begun:
                    begun = True
                    yield from _begin(p, out, stated, text)
                if line.startswith("region "):
                    yield f"# {line}"
                    continue
                yield from _instruction(p, out, line)
        except RingmillError:
            raise
        except (KeyError, TypeError, ValueError, IndexError):
            _bad(number, line)
    if not begun:
        fail(ProgramError, "NoProgram", "A limb program without instructions has no trace.")
    yield "halt"
    for name, limbs in p.outputs.items():
        yield f"# output {name} " + " ".join(f"%{limbs[i]}" for i in sorted(limbs))


def _declared(p: _Program, line: str) -> list[str]:
    words = line.split()
    if words[0] == "modulus":
        p.moduli[words[1]] = int(words[3])
        return []
    if words[0] == "output":
        return []
    if words[1] not in ("data", "key", "plain"):
        fail(
            ProgramError,
            "ClientInput",
            f"The program draws or takes secrets ({' '.join(words[1:3])}): a trace has no such inputs. "
            "Export what a server runs.",
        )
    name, domain, moduli = words[2], words[4], [w for w in words[5:] if not w.startswith("(")]
    addresses = range(p.next, p.next + len(moduli))
    p.next += len(moduli)
    for i, (address, modulus) in enumerate(zip(addresses, moduli, strict=True)):
        p.address[f"{name}.{i}"], p.modulus[f"{name}.{i}"] = address, p.moduli[modulus]
    return [f"# input {words[1]} {name} {domain} " + " ".join(f"%{a}" for a in addresses)]


def _begin(p: _Program, out: _Lines, stated: list[str], text: str) -> Iterator[str]:
    yield "# Niobium FHETCH Trace"
    yield f"# Program: {p.name}"
    yield f"# Ring Dimension: {1 << p.log_n}"
    yield from stated
    yield from out.table(" = quotient " in text)


def _instruction(p: _Program, out: _Lines, line: str) -> Iterator[str]:
    store = _STORE.match(line)
    if store:
        p.outputs.setdefault(store[2], {})[int(store[3])] = p.address[store[1]]
        return
    result, op, rest, modulus, _ = _INSTRUCTION.match(line).groups()  # type: ignore[union-attr]
    lists, constant = _operands(rest)
    name, q = f"%{result}", 0 if modulus == "quotient" else p.moduli[modulus]
    if op == "load" or (op == "add_const" and constant == 0):
        p.address[name], p.modulus[name] = p.address[lists[0][0]], q
        return
    target = p.next
    p.next += 1 + _SCRATCH.get(op, 0)
    yield from out.lines(op, target, lists, constant, q)
    p.address[name], p.modulus[name] = target, q


def _operands(rest: str) -> tuple[list[list[str]], int]:
    """Operands in lists, and the constant."""
    lists: list[list[str]] = []
    for inside, alone in re.findall(r"\[([^\]]*)\]|([^,\[\]\s]+)", rest):
        lists.append([w.strip() for w in inside.split(",")] if inside else [alone])
    constant = int(lists.pop()[0]) if len(lists[-1]) == 1 and lists[-1][0].isdigit() else 0
    bracketed = "[" in rest
    return (lists if bracketed else [[word for one in lists for word in one]]), constant


def write(text: str, path: str | Path) -> int:
    """Write a limb program as a trace; returns its bytes.

    Args:
        text: the limb program, as `ringmill import fhetch` or a machine outside is given it.

    Raises
    ------
    ProgramError
        What is no limb program, or one with inputs of a client.
    """
    size = 0
    with together() as files:
        beside = files.beside(Path(path), 0o666)
        with writing(Path(path)), beside.open("wb") as file:
            for line in trace_lines(text):
                size += file.write(line.encode() + b"\n")
    return size
