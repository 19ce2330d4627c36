"""Number the equal lines of a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def numbered(lines: Sequence[str]) -> list[str]:
    """The lines, those that repeat with their place among their like.

    >>> numbered(["in a loop", "before it", "in a loop"])
    ['in a loop (1st of 2)', 'before it', 'in a loop (2nd of 2)']
    """
    often, seen, reported = Counter(lines), Counter[str](), []
    for line in lines:
        seen[line] += 1
        place = f" ({ordinal(seen[line])} of {often[line]})" if often[line] > 1 else ""
        reported.append(line + place)
    return reported


def ordinal(number: int) -> str:
    """A number as a place in order.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '111th', '113th']
    """
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
