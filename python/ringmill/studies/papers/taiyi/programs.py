"""The programs that are simulated: the paper's bootstrapping by each method, and ours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ringmill._native import MachineSpec, Params, estimate_program
from ringmill.compiled import Compiled, estimated
from ringmill.studies.shaped.bootstrap import Shape, written
from ringmill.studies.shaped.switching import Hybrid, Klss, Method
from ringmill.studies.workloads.programs import refresh
from ringmill.trace import vector

#: What a bootstrapping of ours leaves: levels, and bits of each.
OUR_LEVELS, OUR_BITS = 9, 40
#: Words that it needs, by the bits to which its worst slot is right.
OUR_WORDS = {18: 55, 22: 60}
#: Digits of the paper: as many limbs as there are special primes.
ALPHA = 7


def _klss(limbs: int) -> Method:
    return Klss(min(ALPHA, limbs), min(ALPHA, limbs))


def _long(limbs: int) -> Method:
    return Klss(min(4, limbs), 6)


def _eight(limbs: int) -> Method:
    return Klss(min(ALPHA, limbs), min(ALPHA, limbs), 8)


def _four(limbs: int) -> Method:
    return Klss(min(ALPHA, limbs), min(ALPHA, limbs), 4)


def _hybrid(limbs: int) -> Method:
    return Hybrid(min(ALPHA, limbs))


@dataclass(frozen=True, slots=True)
class Variant:
    """The paper's bootstrapping by a method.

    Attributes
    ----------
        name: what rows call it.
        shape: the program.
        wrong: why its result does not decrypt; empty if it does.
    """

    name: str
    shape: Shape
    wrong: str = ""

    @property
    def bits(self) -> int:
        """The longest word that it needs."""
        return max(self.shape.word, self.shape.t_word)


_SHORT = "T is {} of the 15 words that its bound asks for: sums wrap around, and the result is noise"

HYBRID = Variant("hybrid", Shape(_hybrid))
FOUR = Variant("KLSS, α' = 4", Shape(_four), _SHORT.format(4))
VARIANTS: tuple[Variant, ...] = (
    HYBRID,
    Variant("hybrid, one key a step", Shape(_hybrid, style="one-key")),
    Variant("hybrid, one division a map", Shape(_hybrid, style="one-division")),
    Variant("KLSS, T of 36 bits", Shape(_klss)),
    Variant("KLSS, T of 60 bits", Shape(_long, t_word=60)),
    Variant("KLSS, α' = 8", Shape(_eight), _SHORT.format(8)),
    FOUR,
)


@cache
def _text(variant: Variant) -> str:
    return written(variant.shape).text


def of_paper(variant: Variant, machine: str) -> dict[str, object]:
    """Simulate the paper's bootstrapping.

    Raises
    ------
        ringmill.MachineError: a machine that does not take the program, with the reason.
    """
    spec = MachineSpec(machine)
    return estimated(spec, estimate_program(_text(variant), spec))


@cache
def ours(transforms: int, precision: int = 22, mebibytes: int | None = None) -> Compiled:
    """Return our bootstrapping at full slots of N = 2^16.

    Args:
        transforms: maps each way.
        precision: bits of the worst slot, a key of `OUR_WORDS`.
        mebibytes: memory of the chip for which the program is ordered; as written without.
    """
    wide = 52 if precision == 18 else None
    params = Params.bootstrapping(
        OUR_LEVELS, scale_bits=OUR_BITS, bits=precision, wide_bits=wide, transforms=transforms
    )
    capacity = f"{mebibytes}MiB" if mebibytes else None
    return refresh.compile(vector(params.slots), params=params, capacity=capacity)


#: Maps each way that are looked at.
TRANSFORMS = (3, 4, 5)
