"""What is known of the results of a kernel whose weights are private: it follows from declared bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ringmill import bundle


@dataclass(frozen=True, slots=True)
class Declared:
    """Errors and bounds of results for all weights within their bounds.

    Attributes
    ----------
        rationale: why the parameters were chosen, if they were.
        errors: by output, log2 of the error of encryption in the worst slot.
        bounds: by output, the bound on a slot.
    """

    rationale: str | None
    errors: Mapping[str, float]
    bounds: Mapping[str, float]

    def facts(self) -> dict[str, Any]:
        """What a kernel file says of them."""
        return {"errors": dict(self.errors), "bounds": dict(self.bounds)}

    @classmethod
    def read(cls, facts: Mapping[str, Any], path: str, outputs: Iterable[str]) -> Declared | None:
        """What ``facts`` gave, if anything; refuses a damaged file."""
        given, known = facts.get("declared"), set(outputs)
        if given is None:
            return None
        try:
            errors, bounds = (
                {str(n): float(x) for n, x in given[name].items()} for name in ("errors", "bounds")
            )
        except (TypeError, KeyError, ValueError, AttributeError):
            bundle.refuse_damaged(path, "what it says of private weights cannot be read")
        of_results = set(errors) == known == set(bounds)
        if not of_results or not all(-1100 < error < 1100 for error in errors.values()):
            bundle.refuse_damaged(path, "what it says of private weights is not of its results")
        if not all(0 < bound < math.inf for bound in bounds.values()):
            bundle.refuse_damaged(path, "its bounds of results are not positive numbers")
        return cls(None, errors, bounds)
