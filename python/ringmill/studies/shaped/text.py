"""Limb programs as text, instruction by instruction."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from ringmill._checks.primes import is_prime


@dataclass(frozen=True, slots=True)
class Limb:
    """A limb: its name in the text, its modulus, and whether it is in the coefficient domain."""

    name: str
    modulus: str
    coefficients: bool = False


@dataclass(slots=True)
class _Group:
    kind: str
    moduli: list[str] = field(default_factory=list)
    limbs: dict[object, Limb] = field(default_factory=dict)


def primes(bits: int, log_n: int, count: int) -> list[int]:
    """Return the largest primes below 2^bits that are 1 modulo 2N.

    Raises
    ------
        ValueError: fewer of them have ``bits`` bits.
    """
    step = 1 << (log_n + 1)
    candidates = range(((1 << bits) - 2) // step * step + 1, 1 << (bits - 1), -step)
    found = list(itertools.islice(filter(is_prime, candidates), count))
    if len(found) < count:
        raise ValueError(
            f"{len(found)} primes of {bits} bits are 1 modulo 2^{log_n + 1}; {count} were asked for"
        )
    return found


class Writer:
    """A limb program as it is written.

    Attributes
    ----------
        log_n: log2 of the degree.
        counts: instructions by kind, sums counted with their terms.
    """

    def __init__(self, name: str, log_n: int, moduli: dict[str, int]) -> None:
        """``moduli`` are the primes by name."""
        self.name, self.log_n, self.moduli = name, log_n, moduli
        self.counts: dict[str, int] = {}
        self._groups: dict[str, _Group] = {}
        self._lines: list[str] = []
        self._values = 0

    def region(self, label: str) -> None:
        """Begin a part of the program."""
        self._lines.append(f"region {label}")

    def input(self, kind: str, group: str, key: object, modulus: str) -> Limb:
        """Return the limb of a group of inputs (``data``, ``key`` or ``plain``); one limb for each key."""
        of = self._groups.setdefault(group, _Group(kind))
        if key not in of.limbs:
            of.limbs[key] = Limb(f"{group}.{len(of.moduli)}", modulus)
            of.moduli.append(modulus)
        return of.limbs[key]

    def _push(self, kind: str, text: str, modulus: str, coefficients: bool, terms: int = 1) -> Limb:
        of = "quotient" if kind == "quotient" else f"{modulus} {'coeff' if coefficients else 'eval'}"
        name = f"%{self._values}"
        self._values += 1
        self._lines.append(f"  {name} = {text} : {of}")
        self.counts[kind] = self.counts.get(kind, 0) + terms
        return Limb(name, modulus, coefficients)

    def op(self, kind: str, *operands: Limb, constant: int | None = None) -> Limb:
        """Write an instruction on limbs of one modulus."""
        last = operands[-1]
        coefficients = {"ntt": False, "intt": True}.get(kind, last.coefficients)
        text = f"{kind} " + ", ".join(
            [o.name for o in operands] + ([] if constant is None else [str(constant)])
        )
        return self._push(kind, text, last.modulus, coefficients)

    def dot(self, left: Sequence[Limb], right: Sequence[Limb]) -> Limb:
        """Write a sum of products."""
        sides = (", ".join(limb.name for limb in side) for side in (left, right))
        text = "dot " + ", ".join(f"[{side}]" for side in sides)
        kind = "dot_key" if self._is_key(right[0]) else "dot"
        return self._push(kind, text, left[0].modulus, False, len(left))

    def _is_key(self, limb: Limb) -> bool:
        group = self._groups.get(limb.name.partition(".")[0])
        return group is not None and group.kind == "key"

    def converted(self, source: Sequence[Limb], targets: Sequence[str], *, exact: bool = True) -> list[Limb]:
        """Convert limbs in coefficients to other moduli: scaled first, centred if ``exact``."""
        scaled = [self.op("mul_const", limb, constant=1) for limb in source]
        self.counts["mul_const"] -= len(scaled)
        self.counts["scale"] = self.counts.get("scale", 0) + len(scaled)
        if len(scaled) == 1:
            return [self._push("lift", f"lift {scaled[0].name}", t, True) for t in targets]
        names = ", ".join(limb.name for limb in scaled)
        if not exact:
            of = f"convert_fast [{names}]"
            return [self._push("convert_fast", of, t, True, len(scaled)) for t in targets]
        quotient = self._push("quotient", f"quotient [{names}]", "", True, len(scaled))
        of = f"convert [{names}], {quotient.name}"
        return [self._push("convert", of, t, True, len(scaled)) for t in targets]

    def lifted(self, limb: Limb, target: str) -> Limb:
        """Return the centred residue of a limb in coefficients modulo another prime."""
        return self._push("lift", f"lift {limb.name}", target, True)

    def turned(self, limb: Limb, element: int) -> Limb:
        """Write an automorphism."""
        return self._push("automorphism", f"automorphism {limb.name}, {element}", limb.modulus, False)

    def text(self, outputs: dict[str, Sequence[Limb]]) -> str:
        """Return the program, with results by name."""
        head = [f"limb {self.name} : 2^{self.log_n} {{"]
        head += [f"  modulus {name} = {prime}" for name, prime in self.moduli.items()]
        for name, group in self._groups.items():
            head.append(f"  input {group.kind} {name} : eval {' '.join(group.moduli)}")
        stores = []
        for name, limbs in outputs.items():
            head.append(f"  output {name} : eval {' '.join(limb.modulus for limb in limbs)}")
            stores += [f"  store {limb.name} -> {name}.{i}" for i, limb in enumerate(limbs)]
        return "\n".join([*head, *self._lines, *stores, "}"]) + "\n"
