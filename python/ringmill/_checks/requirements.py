"""Precision and security that a kernel is compiled for: parameters are chosen by them, given ones held."""

from __future__ import annotations

from ringmill._checks.integers import shown, whole
from ringmill._native import Params
from ringmill.errors import ParameterError, fail

# Bits after the binary point; no prime is wider.
MOST_BITS = 60

# Where parameters are chosen and nothing is said.
PRECISION, SECURITY = 20, 128


def precision_of(required: int | None) -> int | None:
    """Bits after the binary point, if they are asked for."""
    return None if required is None else whole(ParameterError, "The precision", required, 0, MOST_BITS)


def security_of(required: int | None) -> int | None:
    """Bits of security, if they are asked for."""
    return None if required is None else whole(ParameterError, "The security", required, 128, 256)


def encryption_of(wanted: str) -> str:
    """The key that arguments are encrypted under: "public", "undivided" or "secret"."""
    if not isinstance(wanted, str) or wanted not in ("public", "undivided", "secret"):
        fail(
            ParameterError,
            "Encryption",
            f"encryption={shown(wanted)} is not possible: choose 'public', the key that anyone may encrypt "
            "under, 'secret', the key of the owner, which adds less error, or 'undivided', a public key of a "
            "library or version whose encryptions are not divided by one prime more, which adds more.",
        )
    return wanted


def algebra_of(wanted: bool) -> bool:
    """Whether an equal program may take the place of the kernel's own."""
    if not isinstance(wanted, bool):
        fail(
            ParameterError,
            "Algebra",
            f"algebra={shown(wanted)} is not possible: choose True, an equal program of fewer levels where "
            "one is found, or False, the program as the kernel says it.",
        )
    return wanted


def hold_security(params: Params, required: int | None) -> None:
    """Refuse given parameters that are less secure than is asked for."""
    if required is None or (params.security or 0) >= required:
        return
    found = (
        f"have {params.security}"
        if params.security
        else f"have {min(round(params.security_estimate), 127)} at best"
    )
    fail(
        ParameterError,
        "TooLittleSecurity",
        f"{required} bits of security are required, and the parameters given {found}. Give others, as "
        f"rm.Params.by_need(depth=…, security={required}), or leave params out to have them chosen.",
        required=required,
        found=params.security,
    )


def hold_precision(params: Params, errors: dict[str, float], required: int | None) -> None:
    """Refuse given parameters that leave larger errors than is asked for; ``errors`` are predicted (log2)."""
    if required is None:
        return
    name, worst = max(errors.items(), key=lambda item: item[1])
    if worst <= -required:
        return
    chain, scale = "rm.Params.bootstrapping(levels, bits=…)", "scale_bits=… of rm.Params.by_need"
    more = chain if params.bootstraps else scale
    fail(
        ParameterError,
        "TooLittlePrecision",
        f"A precision of {required} bits is required, errors up to 2^-{required}, and with the parameters "
        f"given the predicted error of {name!r} is 2^{worst:.1f}. Give parameters of more bits ({more}), or "
        "leave params out to have them chosen.",
        required=required,
        predicted=worst,
        result=name,
    )
