"""Cores of every multiplier, tiling and word: the RTL gives the bits of the reference in the model's cycles.

Combinations come from allpairspy, so that every two values of two options meet in some core.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from allpairspy import AllPairs
from cores import in_class, kernel, self_test

import ringmill as rm
from ringmill._native import CoreImage, core_sizes, multipliers
from ringmill.project import Core, vectors, write
from ringmill.project.parameters import NAMES
from ringmill.project.simulator import verilator

WORDS: list[int] = core_sizes()["words"]
#: The smallest.
SMALL = Core(butterflies=1, log_n_max=10, moduli=4, bus_bits=64)
needs_verilator = pytest.mark.skipif(not verilator(), reason="the hardware tools are not in the environment")


def _family(tile: str) -> str:
    return {"ecp5": "ecp5", "dsp48e1": "xc7"}.get(tile, "xcup")


def _core(multiplier: str, tile: str, word: int, **others: Any) -> Core:
    return replace(SMALL, multiplier=multiplier, tile=tile, family=_family(tile), word_bits=word, **others)


def _name(core: Core) -> str:
    return f"{core.multiplier}-{core.tile}-{core.word_bits}"


def _served(multiplier: str, word: int) -> bool:
    """Whether the class has primes for a kernel: of q = 2^31 + f, f < 2^16, one is 1 mod 2^11."""
    return (multiplier, word) != ("prf-fiko", 32)


# Kinds that no other test of `make test` has a core of; `test_project.py` has Montgomery's.
FEW = [
    # The places of ones that f of every prime = 1 mod 2^11 can have.
    _core("prf-fiko", "ecp5", 36, ones=2**18 - 2**11 + 1, beat_cycles=3, policy="low-latency"),
    _core("barrett", "dsp48e1", 60, memory_latency=1),
]


@needs_verilator
@pytest.mark.parametrize("core", FEW, ids=_name)
def test_a_core_has_the_bits_of_the_reference(core: Core, tmp_path: Path) -> None:
    self_test(core, tmp_path / "core")


@needs_verilator
@pytest.mark.long
@pytest.mark.parametrize(
    "core",
    [
        _core(kind, tile, word)
        for kind, tile, word in itertools.product(multipliers(), NAMES["tile"], WORDS)
        if _served(kind, word)
    ],
    ids=_name,
)
def test_every_kind_tiling_and_word_has_the_bits_of_the_reference(core: Core, tmp_path: Path) -> None:
    library = self_test(core, tmp_path / "core")
    # The same hardware behind other memory, with another plan.
    self_test(
        replace(core, policy="low-latency", memory_latency=3, beat_cycles=2), tmp_path / "slow", library
    )


def _pairs() -> Iterator[Core]:
    sizes = core_sizes()
    axes: dict[str, list[Any]] = {
        "multiplier": list(multipliers()),
        "tile": list(NAMES["tile"]),
        "word_bits": WORDS,
        "butterflies": sizes["butterflies"],
        "bus_bits": sizes["buses"],
        "log_n_max": [10, 11, 13, 15],
        "moduli": [4, 5, 16, 32],
        "memory_latency": [1, 40, 300],
        "beat_cycles": [1, 2, 9],
        "policy": ["throughput", "low-latency"],
        "effort": [0, 500, 8000],
    }

    def allowed(row: list[Any]) -> bool:
        # Rows are built from the left; the word is the third.
        return len(row) < 3 or _served(row[0], row[2])

    for row in AllPairs(list(axes.values()), filter_func=allowed):
        values = dict(zip(axes, row, strict=True))
        yield Core(**values, family=_family(values["tile"]))


@needs_verilator
@pytest.mark.long
@pytest.mark.parametrize("core", list(_pairs()), ids=_name)
def test_every_two_options_of_a_core_work_together(core: Core, tmp_path: Path) -> None:
    self_test(core, tmp_path / "core")


@pytest.mark.parametrize("core", list(_pairs()), ids=_name)
def test_every_two_options_of_a_core_work_together_emulated(core: Core) -> None:
    compiled = kernel(core.multiplier, core.word_bits)
    image = core.image(compiled.plan)
    made = vectors.make(compiled, image)
    assert image.emulate(made.inputs) == made.expected


def test_a_program_with_wrong_bits_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        """An image whose vectors expect another word."""

        def __init__(self, image: CoreImage) -> None:
            self.image = image

        def __getattr__(self, name: str) -> Any:
            return getattr(self.image, name)

        def vectors(self, *given: Any) -> tuple[bytes, bytes, Any]:
            inputs, expected, slots = self.image.vectors(*given)
            return inputs, bytes([expected[0] ^ 1]) + expected[1:], slots

    real = Core.image
    monkeypatch.setattr(Core, "image", lambda core, plan: Wrong(real(core, plan)))
    with pytest.raises(rm.MachineError, match="does not give the bits of the reference machine") as caught:
        write(kernel("montgomery", 54), SMALL, tmp_path / "out")
    assert caught.value.code == "Emulated"
    assert not list(tmp_path.iterdir())


def test_an_image_is_emulated_on_whole_inputs() -> None:
    image = SMALL.image(kernel("montgomery", 54).plan)
    with pytest.raises(rm.MachineError, match="9 bytes are no inputs of this image: "):
        image.emulate(bytes(9))


def test_a_multiplier_is_refused_primes_outside_its_class() -> None:
    """A core of each kind takes the primes of another's, or refuses them and says which it serves."""
    classes = {
        "word-montgomery": "q ≡ 1 mod 2^(W/2), q < 2^W",
        "sparse-word-montgomery": "q = 2^(W−1) + δ·2^(W/2) + 1, −2^11 ≤ δ < 2^11",
        "prf-fiko": "q = 2^(W−1) + f, 0 < f < 2^(W/2)",
        "montgomery": "q < 2^W",
        "barrett": "q < 2^W",
        "ntt": "q = 2^b + δ·2^13 + 1 < 2^W, 26 ≤ b ≤ W, −2^12 ≤ δ < 2^12",
    }
    built = refused = 0
    for made_for, made_of in itertools.product(multipliers(), repeat=2):
        for word, other in [*zip(WORDS, WORDS, strict=True), (36, 60), (60, 36)]:
            if not _served(made_of, other):
                continue
            core, compiled = _core(made_for, "lut", word, effort=0), kernel(made_of, other)
            moduli = [*compiled.params.q, *compiled.params.p]
            outside = [q for q in moduli if not in_class(q, made_for, word)]
            if not outside:
                core.image(compiled.plan)
                built += 1
                continue
            with pytest.raises(rm.MachineError) as caught:
                core.image(compiled.plan)
            sentence = (
                f"is outside the class of the core's {made_for} multiplier: {classes[made_for]}, W = {word}"
            )
            assert sentence in caught.value.message
            assert any(caught.value.message.startswith(f"Modulus {q} ") for q in outside)
            refused += 1
    assert built > 30
    assert refused > 80
