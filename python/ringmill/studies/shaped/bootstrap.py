"""A bootstrapping as Taiyi's section III-B describes it, which names levels and transforms but no counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ringmill.studies.shaped.operations import Operations, Style, hybrid
from ringmill.studies.shaped.switching import Method, Pair

#: log2 of the radices of six maps each way, at 2^15 slots.
RADICES = (3, 2, 3, 2, 3, 2)
#: Products of one half at each of the nine levels of the sine: 19, so 38 for both halves.
PRODUCTS = (1, 2, 4, 5, 3, 1, 1, 1, 1)


#: Hybrid key switching with the paper's digits of seven limbs.
HYBRID = hybrid(7)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a bootstrapping is made of; Table V of the paper unless said otherwise.

    Attributes
    ----------
        log_n: log2 of the degree.
        limbs, special: primes q and p at its start.
        method: the key switch by number of limbs.
        style: how linear maps are written.
        word, t_word: bits of primes, and of those of KLSS's T.
    """

    method: Callable[[int], Method] = HYBRID
    style: Style = "bsgs"
    log_n: int = 16
    limbs: int = 39
    special: int = 7
    word: int = 36
    t_word: int = 36
    radices: tuple[int, ...] = RADICES
    products: tuple[int, ...] = PRODUCTS


@dataclass(frozen=True, slots=True)
class Written:
    """A program: its text, its instructions by kind, and the levels that it leaves."""

    text: str
    counts: dict[str, int]
    levels: int


def written(shape: Shape) -> Written:
    """Write the program: maps to slots, the sine on both halves, maps back."""
    p = Operations(
        "bootstrap", shape.log_n, shape.limbs, shape.special, shape.method, shape.word, shape.t_word
    )
    x = _maps(p, p.ciphertext("x", shape.limbs), shape, "to_slots")
    p.region("conjugate")
    other = p.rotated(x, "conjugate")
    halves = []
    for kind in ("add", "sub"):
        p.region(f"sine_{kind}")
        halves.append(_sine(p, p.added(x, other, kind), shape.products))
    p.region("join")
    x = _maps(p, p.added(halves[0], halves[1]), shape, "to_coefficients")
    return Written(p.text({"y0": x[0], "y1": x[1]}), p.counts, len(x[0]) - 1)


def _maps(p: Operations, x: Pair, shape: Shape, label: str) -> Pair:
    for i, radix in enumerate(shape.radices):
        p.region(f"{label}_{i}")
        x = p.mapped(x, (2 << radix) - 1, (label, i), shape.style)
    return x


def _sine(p: Operations, x: Pair, products: tuple[int, ...]) -> Pair:
    for count in products:
        found = [p.product(x, x) for _ in range(count)]
        x = found[0]
        for more in found[1:]:
            x = p.added(x, more)
    return x
