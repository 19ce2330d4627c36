"""Key switching as limb programs: hybrid, and KLSS with a T as long as is asked for.

Sources: Han and Ki, CT-RSA 2020 (hybrid); Kim, Lee, Seo and Song, CRYPTO 2023 (KLSS). Divisions centre their
residues, and conversions out of T are centred block by block (docs/algorithms/klss.md).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ringmill.studies.shaped.text import Limb, Writer, primes

Poly = list[Limb]
Pair = tuple[Poly, Poly]


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Hybrid key switching with digits of ``alpha`` limbs."""

    alpha: int


@dataclass(frozen=True, slots=True)
class Klss:
    """KLSS: digits of ``alpha`` limbs, blocks of ``block`` limbs, a T of ``t_primes`` primes.

    ``t_primes`` is as long as the bound asks if ``None``. Shorter ones decrypt to noise.
    """

    alpha: int
    block: int
    t_primes: int | None = None


Method = Hybrid | Klss


def groups(limbs: int, size: int) -> list[range]:
    """Return the digits of ``limbs`` limbs."""
    return [range(first, min(first + size, limbs)) for first in range(0, limbs, size)]


class Switcher(Writer):
    """A program at a chain of ``limbs`` primes q and ``special`` primes p, and primes of a T.

    Attributes
    ----------
        limbs, special: the length of the chain.
        word, t_word: bits of its primes, and of those of T.
    """

    def __init__(
        self, name: str, log_n: int, limbs: int, special: int, word: int = 36, t_word: int = 36
    ) -> None:
        chain = primes(word, log_n, limbs + special)
        names = [f"q{i}" for i in range(limbs)] + [f"p{i}" for i in range(special)]
        moduli = dict(zip(names, chain, strict=True))
        more = [p for p in primes(t_word, log_n, 80) if p not in chain]
        moduli |= {f"t{i}": prime for i, prime in enumerate(more)}
        super().__init__(name, log_n, moduli)
        self.limbs, self.special, self.word, self.t_word = limbs, special, word, t_word
        self._keys: dict[Hashable, int] = {}

    def each(self, kind: str, *polys: Sequence[Limb], constant: int | None = None) -> Poly:
        """Write an instruction for each limb of polynomials."""
        return [self.op(kind, *limbs, constant=constant) for limbs in zip(*polys, strict=True)]

    def targets(self, limbs: int) -> list[str]:
        """Return the moduli of a polynomial of ``limbs`` limbs, raised: q first, then p."""
        return [f"q{i}" for i in range(limbs)] + [f"p{i}" for i in range(self.special)]

    def key(self, name: Hashable, half: int, digit: int, place: Hashable, modulus: str) -> Limb:
        """Return a limb of a key: half 1 is uniform, so that a seed can stand for it."""
        number = self._keys.setdefault(name, len(self._keys))
        return self.input("key", f"k{number}_{'ba'[half]}{digit}", place, modulus)

    def least_t(self, limbs: int, method: Klss) -> int:
        """Return how many primes the bound asks of T: T > beta·alpha·2N·D·D~ in the paper's terms."""
        digits = math.ceil(limbs / method.alpha)
        bits = self.word * (method.alpha + method.block) + self.log_n + 1
        return math.ceil((bits + math.log2(digits) + math.log2(method.alpha)) / self.t_word)

    def raised(self, poly: Poly, method: Method) -> list[Poly]:
        """ModUp: the digits of a polynomial, each modulo all primes (hybrid) or T (KLSS)."""
        coefficients = self.each("intt", poly)
        digits = groups(len(poly), method.alpha)
        if isinstance(method, Klss):
            t = [f"t{i}" for i in range(method.t_primes or self.least_t(len(poly), method))]
            of = [self.converted([coefficients[i] for i in digit], t, exact=False) for digit in digits]
            return [self.each("ntt", digit) for digit in of]
        found = []
        for digit in digits:
            rest = [t for i, t in enumerate(self.targets(len(poly))) if i not in digit]
            others = iter(self.each("ntt", self.converted([coefficients[i] for i in digit], rest)))
            found.append([poly[i] if i in digit else next(others) for i in range(len(poly) + self.special)])
        return found

    def switched(
        self, limbs: int, raised: list[Poly], name: Hashable, method: Method, *, divided: bool = True
    ) -> Pair:
        """Products with a key, and ModDown; without it the pair stays multiplied by P, modulo q and p."""
        of = self._klss if isinstance(method, Klss) else self._hybrid
        first, second = (of(limbs, raised, name, half, method, divided) for half in (0, 1))
        return first, second

    def _hybrid(
        self, limbs: int, raised: list[Poly], name: Hashable, half: int, _: Method, divided: bool
    ) -> Poly:
        sums = []
        for at, modulus in enumerate(self.targets(limbs)):
            key = [self.key(name, half, digit, modulus, modulus) for digit in range(len(raised))]
            sums.append(self.dot([digit[at] for digit in raised], key))
        return self.divided(sums, limbs) if divided else sums

    def divided(self, poly: Poly, limbs: int) -> Poly:
        """ModDown: the quotient by P, centred."""
        special = self.each("intt", poly[limbs:])
        residues = self.each("ntt", self.converted(special, self.targets(limbs)[:limbs]))
        return self.each("sub_mul_const", poly[:limbs], residues, constant=1)

    def _klss(
        self, limbs: int, raised: list[Poly], name: Hashable, half: int, method: Method, divided: bool
    ) -> Poly:
        assert isinstance(method, Klss)
        # The special primes come first, so that they are in the first blocks.
        moduli = [*self.targets(limbs)[limbs:], *self.targets(limbs)[:limbs]]
        found: Poly = []
        for at, block in enumerate(groups(len(moduli), method.block)):
            sums = []
            for i, limb in enumerate(raised[0]):
                place = (method, at, limb.modulus)
                named = (name, method.alpha, method.block)
                key = [self.key(named, half, digit, place, limb.modulus) for digit in range(len(raised))]
                sums.append(self.op("intt", self.dot([digit[i] for digit in raised], key)))
            found += self.converted(sums, [moduli[j] for j in block])
        special, rest = found[: self.special], found[self.special :]
        if not divided:
            return self.each("ntt", [*rest, *special])
        residues = self.converted(special, moduli[self.special :])
        return self.each("ntt", self.each("sub_mul_const", rest, residues, constant=1))
