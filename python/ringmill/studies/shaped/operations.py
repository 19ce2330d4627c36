"""Operations of CKKS as limb programs: products, rescaling, rotations, linear maps."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Literal

from ringmill.studies.shaped.switching import Hybrid, Method, Pair, Poly, Switcher

#: How a linear map is written: baby and giant steps, one key for each of both, or one division for all.
Style = Literal["bsgs", "one-key", "one-division"]


class Operations(Switcher):
    """Operations on ciphertexts, each by the method that ``method`` names for its number of limbs."""

    def __init__(
        self,
        name: str,
        log_n: int,
        limbs: int,
        special: int,
        method: Callable[[int], Method],
        word: int = 36,
        t_word: int = 36,
    ) -> None:
        super().__init__(name, log_n, limbs, special, word, t_word)
        self.method = method
        self._plain = 0

    def ciphertext(self, name: str, limbs: int) -> Pair:
        """Return an argument of the program."""
        first, second = (
            [self.input("data", f"{name}{half}", i, f"q{i}") for i in range(limbs)] for half in (0, 1)
        )
        return first, second

    def plaintext(self, limbs: int, *, raised: bool = False) -> Poly:
        """Return a plaintext that nothing else uses, with all of its limbs off chip."""
        self._plain += 1
        moduli = self.targets(limbs) if raised else self.targets(limbs)[:limbs]
        return [self.input("plain", f"plain{self._plain}", m, m) for m in moduli]

    def added(self, x: Pair, y: Pair, kind: str = "add") -> Pair:
        """Return a sum, or a difference (``sub``)."""
        return self.each(kind, x[0], y[0]), self.each(kind, x[1], y[1])

    def rescaled(self, x: Pair) -> Pair:
        """Divide by the last prime, centred."""
        return self._rescaled(x[0]), self._rescaled(x[1])

    def _rescaled(self, poly: Poly) -> Poly:
        last = self.op("intt", poly[-1])
        residues = [self.op("ntt", self.lifted(last, limb.modulus)) for limb in poly[:-1]]
        return self.each("sub_mul_const", poly[:-1], residues, constant=1)

    def product(self, x: Pair, y: Pair) -> Pair:
        """Multiply, relinearise and rescale."""
        method, limbs = self.method(len(x[0])), len(x[0])
        ends = [self.each("mul", x[half], y[half]) for half in (0, 1)]
        middle = [self.dot([a, c], [b, d]) for a, b, c, d in zip(x[0], y[1], x[1], y[0], strict=True)]
        keyed = self.switched(limbs, self.raised(ends[1], method), "relinearise", method)
        return self.rescaled(self.added(keyed, (ends[0], middle)))

    def turned_all(self, poly: Poly) -> Poly:
        """Write an automorphism for every limb."""
        return [self.turned(limb, 5) for limb in poly]

    def rotated(self, x: Pair, name: Hashable) -> Pair:
        """Rotate by the key of a name."""
        method, limbs = self.method(len(x[0])), len(x[0])
        keyed = self.switched(limbs, self.raised(x[1], method), name, method)
        return (
            self.each("add", self.turned_all(keyed[0]), self.turned_all(x[0])),
            self.turned_all(keyed[1]),
        )

    def _accumulated(self, sums: Pair | None, x: Pair, plain: Poly) -> Pair:
        if sums is None:
            return self.each("mul", x[0], plain), self.each("mul", x[1], plain)
        return self.each("mac", sums[0], x[0], plain), self.each("mac", sums[1], x[1], plain)

    def mapped(self, x: Pair, diagonals: int, name: Hashable, style: Style = "bsgs") -> Pair:
        """Apply a linear map of a number of diagonals, and rescale."""
        written = {"bsgs": self._baby_giant, "one-key": self._one_key, "one-division": self._one_division}
        return self.rescaled(written[style](x, diagonals, name))

    def _hoisted(self, x: Pair, raised: list[Poly], name: Hashable, *, divided: bool) -> Pair:
        limbs = len(x[0])
        method = self.method(limbs)
        first, second = self.switched(limbs, raised, name, method, divided=False)
        first, second = self.turned_all(first), self.turned_all(second)
        return (self.divided(first, limbs), self.divided(second, limbs)) if divided else (first, second)

    def _baby_giant(self, x: Pair, diagonals: int, name: Hashable) -> Pair:
        limbs, baby = len(x[0]), math.ceil(math.sqrt(diagonals))
        raised = self.raised(x[1], self.method(limbs))
        steps = [x]
        for i in range(1, baby):
            keyed = self._hoisted(x, raised, (name, i), divided=True)
            steps.append((self.each("add", self.turned_all(x[0]), keyed[0]), keyed[1]))
        total: Pair | None = None
        for giant in range(math.ceil(diagonals / baby)):
            sums: Pair | None = None
            for step in steps[: diagonals - giant * baby]:
                sums = self._accumulated(sums, step, self.plaintext(limbs))
            assert sums is not None
            if giant:
                sums = self.rotated(sums, (name, "giant", giant))
            total = sums if total is None else self.added(total, sums)
        assert total is not None
        return total

    def _one_key(self, x: Pair, diagonals: int, name: Hashable) -> Pair:
        limbs, baby = len(x[0]), math.ceil(math.sqrt(diagonals))
        steps = [x]
        for _ in range(1, baby):
            steps.append(self.rotated(steps[-1], (name, "baby")))
        sums: Pair | None = None
        for giant in range(math.ceil(diagonals / baby)):
            if sums is not None:
                sums = self.rotated(sums, (name, "giant"))
            for step in steps[: diagonals - giant * baby]:
                sums = self._accumulated(sums, step, self.plaintext(limbs))
        assert sums is not None
        return sums

    def _one_division(self, x: Pair, diagonals: int, name: Hashable) -> Pair:
        limbs = len(x[0])
        raised = self.raised(x[1], self.method(limbs))
        plain = self.plaintext(limbs, raised=True)
        low: Pair = (self.each("mul", x[0], plain[:limbs]), self.each("mul", x[1], plain[:limbs]))
        high: Pair | None = None
        for i in range(1, diagonals):
            plain = self.plaintext(limbs, raised=True)
            high = self._accumulated(high, self._hoisted(x, raised, (name, i), divided=False), plain)
            low = (self.each("mac", low[0], self.turned_all(x[0]), plain[:limbs]), low[1])
        if high is None:
            return low
        return self.added((self.divided(high[0], limbs), self.divided(high[1], limbs)), low)


def hybrid(alpha: int) -> Callable[[int], Method]:
    """Return the choice of hybrid key switching at every level."""
    return lambda _: Hybrid(alpha)
