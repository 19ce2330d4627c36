"""What a compiled kernel knows of the functions that polynomials stand for in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ringmill import bundle
from ringmill.trace.program import Traced

# Lines of a report; a kernel file holds no more.
MOST_LINES = 32


def _sum(a: float, b: float) -> float:
    """log2(2^a + 2^b)."""
    high, low = max(a, b), min(a, b)
    return high + math.log2(1 + 2.0 ** (low - high))


@dataclass(frozen=True, slots=True)
class Functions:
    """How every function is approximated, one line each, and log2 of what that puts into each output.

    Attributes
    ----------
        chosen: a line for every function: place, form, levels, error, and the band around a jump.
        errors: log2 of the error of the worst element of every output that one has a part in.
    """

    chosen: tuple[str, ...] = ()
    errors: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, traced: Traced, magnitude: float) -> Functions:
        """Those of a traced kernel."""
        worst = traced.approximation_errors(magnitude)
        lines = dict.fromkeys(str(found) for found in traced.graph.found)
        return cls(tuple(lines)[:MOST_LINES], {n: math.log2(e) for n, e in worst.items() if e > 0})

    def added(self, noise: Mapping[str, float]) -> dict[str, float]:
        """The errors of encryption and of approximation together."""
        return {n: _sum(e, self.errors[n]) if n in self.errors else e for n, e in noise.items()}

    def apart(self, noise: Mapping[str, float]) -> dict[str, dict[str, float]]:
        """Return both parts, by output."""
        return {
            n: {"encryption": e, **({"approximation": self.errors[n]} if n in self.errors else {})}
            for n, e in noise.items()
        }

    def reported(self, noise: Mapping[str, float]) -> str:
        """Both, for the report of a kernel."""
        if not self.errors:
            return ""
        parts = max(noise.values()), max(self.errors.values())
        return ": 2^{:.1f} by encryption, 2^{:.1f} by approximation".format(*parts)

    def lines(self) -> dict[str, str]:
        """A line of the report of a kernel for the functions, if there are any."""
        return {"functions": "; ".join(self.chosen)} if self.chosen else {}

    def facts(self) -> dict[str, Any]:
        """What a kernel file says of them."""
        return (
            {"functions": {"chosen": list(self.chosen), "errors": dict(self.errors)}} if self.errors else {}
        )

    @classmethod
    def read(cls, facts: Mapping[str, Any], path: str, outputs: Iterable[str]) -> Functions:
        """What ``facts`` gave; refuses a damaged file."""
        given = facts.get("functions", {"chosen": [], "errors": {}})
        try:
            lines = tuple(str(line) for line in given["chosen"])
            errors = {str(n): float(e) for n, e in given["errors"].items()}
        except (TypeError, KeyError, ValueError, AttributeError):
            bundle.refuse_damaged(path, "what it says of functions cannot be read")
        known = set(outputs)
        if len(lines) > MOST_LINES or not all(n in known and -1100 < e < 1100 for n, e in errors.items()):
            bundle.refuse_damaged(path, "what it says of functions is not of its results")
        return cls(lines, errors)
