"""Constraints and objective by name: one list for an exploration, a sweep of many, and the command line."""

from __future__ import annotations

import math
from typing import Any, TypedDict

from ringmill._checks.near import near
from ringmill.errors import ExploreError, fail

#: Tables that decide on security, as the user and as the native module spell them.
TABLES = {"2018": "Standard2018", "2024": "Guidelines2024"}
#: No core is clocked faster than the fastest silicon.
MHZ_MAX = 10_000
OBJECTIVES = ("latency", "area", "error", "security", "energy")


class Constraints(TypedDict, total=False):
    """Constraints on a design, the objective, and the settings of the search.

    Attributes
    ----------
        max_error: the error of the worst slot of the worst output, at most.
        security: 128, 192 or 256 bits, at least; 0 for any.
        minimise: latency, area, error, security (the most of it) or energy.
        max_latency_ms: milliseconds of one run, at most.
        utilisation: the part of each of the device's resources that may be used.
        table: "2024" (security guidelines) or "2018" (the standard): which published table decides.
        mhz: the clock of the core, in place of the device's.
        magnitude: bound on the size of the encrypted arguments.
        seconds: after these no further program of the front is simulated; the best is found in any case.
        seed: order in which points of the front are simulated.
    """

    max_error: float
    security: int
    minimise: str
    max_latency_ms: float | None
    utilisation: float
    table: str
    mhz: float | None
    magnitude: float
    seconds: float
    seed: int


#: The defaults.
DEFAULTS: Constraints = {
    "max_error": 1e-3,
    "security": 128,
    "minimise": "latency",
    "max_latency_ms": None,
    "utilisation": 0.75,
    "table": "2024",
    "mhz": None,
    "magnitude": 1.0,
    "seconds": 7.0,
    "seed": 1,
}


def checked(constraints: Constraints) -> dict[str, Any]:
    """Return the constraints with the defaults; check that numbers are numbers and names are known.

    Ranges that need a device or a table are checked by the native module.
    """
    for name in constraints:
        if name not in DEFAULTS:
            _unknown("constraint", name, tuple(DEFAULTS))
    asked: dict[str, Any] = {**DEFAULTS, **constraints}
    for name in ("max_error", "utilisation", "magnitude", "seconds"):
        asked[name] = _number(name, asked[name])
    for name in ("max_latency_ms", "mhz"):
        asked[name] = None if asked[name] is None else _number(name, asked[name])
    if not isinstance(asked["table"], str) or asked["table"] not in TABLES:
        known = ", ".join(TABLES)
        fail(ExploreError, "UnknownTable", f"No security table {asked['table']!r}; there are {known}.")
    if asked["magnitude"] <= 0:
        given = constraints.get("magnitude")
        fail(
            ExploreError,
            "Constraint",
            f"magnitude is {given!r}; it must be positive.",
            constraint="magnitude",
        )
    if asked["seconds"] < 0:
        given = constraints.get("seconds")
        fail(ExploreError, "Constraint", f"seconds is {given!r}; it must be 0 or more.", constraint="seconds")
    if asked["mhz"] is not None and not 0 < asked["mhz"] <= MHZ_MAX:
        given = constraints.get("mhz")
        fail(
            ExploreError,
            "Constraint",
            f"mhz is {given!r}; it must be above 0, and {MHZ_MAX:,} at most.",
            constraint="mhz",
        )
    if asked["minimise"] not in OBJECTIVES:
        _unknown("objective", str(asked["minimise"]), OBJECTIVES)
    return asked


def _number(constraint: str, x: Any) -> float:
    """Return a number that JSON can represent."""
    if isinstance(x, bool) or not isinstance(x, (int, float)) or not math.isfinite(x):
        fail(
            ExploreError,
            "Constraint",
            f"{constraint} is {x!r}; it must be a finite number.",
            constraint=constraint,
        )
    return float(x)


def _unknown(what: str, word: str, known: tuple[str, ...]) -> None:
    fail(
        ExploreError,
        "UnknownWord",
        f"No {what} {word!r}{near(word, known)}; there are {', '.join(known)}.",
        word=word,
    )
