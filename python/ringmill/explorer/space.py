"""The axes of a space that a user narrows, by name: each a list of values that the axis can have."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ringmill._native import core_sizes, multipliers
from ringmill.errors import ExploreError, fail
from ringmill.explorer.constraints import near

_CORE = core_sizes()
#: Whole numbers that an axis can have, and an example of a list of them.
NUMBERS: dict[str, tuple[Sequence[int], str]] = {
    "log_n": (range(10, 16), "[12, 13]"),
    "level_bits": (range(20, 61), "[28, 30]"),
    "scale_offsets": (range(-60, 61), "[0, 1]"),
    "special_extra": (range(61), "[2, 4]"),
    "words": (_CORE["words"], "[36, 54]"),
    "butterflies": (_CORE["butterflies"], "[8, 16]"),
    "buses": (_CORE["buses"], "[256, 512]"),
}
#: Words that an axis can have.
WORDS: dict[str, tuple[str, ...]] = {
    "secrets": ("ternary", "gaussian"),
    # `ntt` is for imported chains: of those that are searched, other kinds have smaller multipliers.
    "multipliers": tuple(name for name in multipliers() if name != "ntt"),
}
AXES = (*NUMBERS, *WORDS)


def narrowed(space: Any, place: str = "The space") -> dict[str, Any]:
    """The axes of a space, every one a list of values that it can have; ``place`` is where they stand."""
    if not isinstance(space, Mapping):
        _refuse(
            place, f"is {_short(space)}; give axes by name with a list of values each", '{"log_n": [12, 13]}'
        )
    return {axis: _values(axis, values, place) for axis, values in space.items()}


def _values(axis: Any, values: Any, place: str) -> list[Any]:
    if axis not in AXES:
        fail(
            ExploreError,
            "UnknownAxis",
            f"{place} has no axis {axis!r}{near(axis, AXES)}; there are {', '.join(AXES)}.",
            axis=axis,
        )
    numbers = axis in NUMBERS
    example = NUMBERS[axis][1] if numbers else f'["{WORDS[axis][0]}"]'
    if not isinstance(values, (list, tuple, range)) or not values:
        _refuse(place, f"has {_short(values)} for {axis}; give a list of values", f'"{axis}": {example}')
    return [_number(axis, v, place) if numbers else _word(axis, v, place) for v in values]


def _number(axis: str, value: Any, place: str) -> int:
    known, example = NUMBERS[axis]
    try:
        number = -1 << 30 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1 << 30
    if number in known:
        return number
    right = f"{known[0]} to {known[-1]}" if isinstance(known, range) else ", ".join(map(str, known))
    _refuse(place, f"has {_short(value)} in {axis}; whole numbers there are {right}", f'"{axis}": {example}')


def _word(axis: str, value: Any, place: str) -> str:
    known = WORDS[axis]
    if value in known:
        return str(value)
    fail(
        ExploreError,
        "UnknownWord",
        f"{place} has {_short(value)} in {axis}{near(value, known)}; there are {', '.join(known)}.",
        word=value,
    )


def _refuse(place: str, wrong: str, example: str) -> NoReturn:
    fail(ExploreError, "Space", f"{place} {wrong}, as in {example}.")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
