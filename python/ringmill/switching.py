"""The words for how keys are switched, and key forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ringmill import _native
from ringmill._checks.arguments import checked
from ringmill._checks.integers import whole
from ringmill._native import Costs, MachineSpec, Params
from ringmill.errors import ParameterError, fail
from ringmill.machines import beside, machine_of

if TYPE_CHECKING:
    from ringmill.project import Core

#: Digits raised to every prime, KLSS, or what takes the machine that evaluates the least at each level; or as
#: another library does it.
SWITCHING = ("hybrid", "klss", "auto", "seal", "openfhe")

#: The libraries whose residues can be computed.
LIBRARIES = ("seal", "openfhe")

# Chains have 64 primes at most.
MOST_LEVEL = 63


@checked
def key_switching(
    method: str = "auto", *, forms: Iterable[str] = (), levels: Mapping[int, str] | None = None
) -> str:
    """How keys are switched, for ``compile(…, switching=…)``: a method, key forms, methods of some levels.

    Args:
        method: "hybrid", "klss" or "auto", which takes what costs the machine that evaluates the least at
            each level. "seal" and "openfhe" stand alone: every residue is the one that the library computes.
        forms: what keys have beside their base form, each written LIMBS+SPECIAL/DIGIT: "26+9/9" switches
            polynomials of up to 26 limbs over 9 special primes in digits of 9 limbs. `key_forms` names those
            worth having.
        levels: the method at some levels, whatever it costs: "hybrid", "klss", one of ``forms``, or "klss:"
            and one of them. After those of KLSS, "~7" takes blocks of 7 limbs in place of the best length.

    Raises
    ------
        ParameterError: a method or a level that there is not. Forms are held to the parameters by `compile`.

    >>> key_switching("auto", forms=["3+2/2"], levels={1: "3+2/2", 3: "klss", 4: "klss~5"})
    'auto 3+2/2 @1=3+2/2 @3=klss @4=klss~5'
    """
    check_switching(method)
    named = [_text("A key form is", form, "26+9/9") for form in forms]
    chosen = [
        (whole(ParameterError, "A level", level, 0, MOST_LEVEL), how) for level, how in (levels or {}).items()
    ]
    at = [
        f"@{level}={_text(f'At level {level} keys are switched by', how, 'hybrid')}"
        for level, how in sorted(chosen)
    ]
    return " ".join([method, *named, *at])


def _text(what: str, given: object, example: str) -> str:
    if not isinstance(given, str):
        fail(ParameterError, "Switching", f'{what} {given!r}; give a text, as "{example}".', switching=given)
    return given


def costs_of(machine: str | MachineSpec | Core = "cpu") -> Costs:
    """What a machine takes for each kind of work: one that ``evaluate`` takes, or a core to be built."""
    if not isinstance(machine, (str, MachineSpec)):
        from ringmill.project import Core

        if isinstance(machine, Core):
            return machine.costs()
    return Costs.of(machine_of(machine))


@checked
def key_forms(
    params: Params,
    count: int = 5,
    *,
    machine: str | MachineSpec | Core = "cpu",
    butterflies: int | None = None,
) -> list[str]:
    """Up to ``count`` key forms that save the most time over all levels, by the costs of a machine.

    Each one is a further key of its own for every rotation and for relinearisation.

    Args:
        params: the parameters.
        count: the most forms.
        machine: the one that is to evaluate, as ``evaluate`` takes it, or a `ringmill.project.Core`. The
            costs of "cpu" are those that ``ringmill calibrate`` measured, the shipped ones otherwise; a
            core's follow from its cycle model.
        butterflies: an option of ``machine`` in its old place; it will go.

    Raises
    ------
        MachineError: a machine that does not exist.
        ParameterError: a number of forms that is no whole number.
    """
    count = whole(ParameterError, "The count", count, 0, 1000)
    return _native.key_forms(params, count, costs_of(beside(machine, 3, butterflies=butterflies)))


def check_switching(method: object) -> None:
    """Refuse what is no key-switching method."""
    if not isinstance(method, str) or method.split(" ")[0] not in SWITCHING:
        fail(
            ParameterError,
            "Switching",
            f"There is no key switching {method!r}; there are {', '.join(map(repr, SWITCHING))}.",
            switching=method,
        )
