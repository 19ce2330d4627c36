"""The words for how keys are switched."""

from __future__ import annotations

from ringmill.errors import ParameterError, fail

#: Digits raised to every prime, KLSS, or what takes this machine the least at each level.
SWITCHING = ("hybrid", "klss", "auto")


def check_switching(method: object) -> None:
    """Refuse what is no way of switching keys."""
    if method not in SWITCHING:
        fail(
            ParameterError,
            "Switching",
            f"There is no key switching {method!r}; there are {', '.join(map(repr, SWITCHING))}.",
            switching=method,
        )
