"""The axes of a space that a user narrows, by name: each a list of values that the axis can have."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ringmill._checks.near import near
from ringmill.errors import ExploreError, fail
from ringmill.targets import DEFAULT, target_of

#: Whole numbers that an axis of parameters can have, and an example of a list of them. The degrees are those
#: of the target.
NUMBERS: dict[str, tuple[Sequence[int], str]] = {
    "level_bits": (range(20, 61), "[28, 30]"),
    "scale_offsets": (range(-60, 61), "[0, 1]"),
    "special_extra": (range(61), "[2, 4]"),
}
#: Words that an axis of parameters can have.
WORDS: dict[str, tuple[str, ...]] = {"secrets": ("ternary", "gaussian")}


@dataclass(frozen=True)
class Axes:
    """The axes of a space: whole numbers with an example, and words."""

    numbers: dict[str, tuple[Sequence[int], str]]
    words: dict[str, tuple[str, ...]]

    @staticmethod
    def of(row: dict[str, Any]) -> Axes:
        """Those of a target."""
        least, most = row["log_n"]
        numbers = {"log_n": (range(least, most + 1), "[12, 13]"), **NUMBERS}
        words = dict(WORDS)
        for axis in row["axes"]:
            name, values = axis["name"], axis["values"]
            if isinstance(values[0], str):
                words[name] = tuple(values)
            else:
                numbers[name] = (tuple(values), str(values[:2]))
        return Axes(numbers, words)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.numbers, *self.words)


def narrowed(space: Any, place: str = "The space", target: str = DEFAULT) -> dict[str, Any]:
    """The axes of a space, every one a list of values that it can have; ``place`` is where they stand."""
    axes = Axes.of(target_of(target))
    if not isinstance(space, Mapping):
        _refuse(
            place, f"is {_short(space)}; give axes by name with a list of values each", '{"log_n": [12, 13]}'
        )
    return {axis: _values(axes, axis, values, place) for axis, values in space.items()}


def _values(axes: Axes, axis: Any, values: Any, place: str) -> list[Any]:
    if axis not in axes.names:
        fail(
            ExploreError,
            "UnknownAxis",
            f"{place} has no axis {axis!r}{near(axis, axes.names)}; there are {', '.join(axes.names)}.",
            axis=axis,
        )
    numbers = axis in axes.numbers
    example = axes.numbers[axis][1] if numbers else f'["{axes.words[axis][0]}"]'
    if not isinstance(values, (list, tuple, range)) or not values:
        _refuse(place, f"has {_short(values)} for {axis}; give a list of values", f'"{axis}": {example}')
    if numbers:
        return [_number(axes, axis, v, place) for v in values]
    return [_word(axes, axis, v, place) for v in values]


def _number(axes: Axes, axis: str, value: Any, place: str) -> int:
    known, example = axes.numbers[axis]
    try:
        number = -1 << 30 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1 << 30
    if number in known:
        return number
    right = f"{known[0]} to {known[-1]}" if isinstance(known, range) else ", ".join(map(str, known))
    _refuse(place, f"has {_short(value)} in {axis}; whole numbers there are {right}", f'"{axis}": {example}')


def _word(axes: Axes, axis: str, value: Any, place: str) -> str:
    known = axes.words[axis]
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
