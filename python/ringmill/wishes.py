"""Precision and security that a kernel is compiled for: parameters are chosen by them, given ones held."""

from __future__ import annotations

from ringmill._native import Params
from ringmill.errors import ParameterError, fail
from ringmill.whole import whole

# Bits after the binary point; no prime is wider.
MOST_BITS = 60

# Where parameters are chosen and nothing is said.
PRECISION, SECURITY = 20, 128


def precision_of(wish: int | None) -> int | None:
    """Bits after the binary point, if they are asked for."""
    return None if wish is None else whole(ParameterError, "The precision", wish, 0, MOST_BITS)


def security_of(wish: int | None) -> int | None:
    """Bits of security, if they are asked for."""
    return None if wish is None else whole(ParameterError, "The security", wish, 128, 256)


def hold_security(params: Params, wish: int | None) -> None:
    """Refuse given parameters that are less secure than is asked for."""
    if wish is None or (params.security or 0) >= wish:
        return
    found = (
        f"have {params.security}"
        if params.security
        else f"have {min(round(params.security_estimate), 127)} at best"
    )
    fail(
        ParameterError,
        "TooLittleSecurity",
        f"{wish} bits of security are asked for, and the parameters given {found}. Give "
        f"others, as rm.Params.by_need(depth=…, security={wish}), or leave params out to have them chosen.",
        wish=wish,
        found=params.security,
    )


def hold_precision(params: Params, errors: dict[str, float], wish: int | None) -> None:
    """Refuse given parameters that leave larger errors than is asked for; ``errors`` are predicted (log2)."""
    if wish is None:
        return
    name, worst = max(errors.items(), key=lambda item: item[1])
    if worst <= -wish:
        return
    chain, scale = "rm.Params.bootstrapping(levels, bits=…)", "scale_bits=… of rm.Params.by_need"
    more = chain if params.bootstraps else scale
    fail(
        ParameterError,
        "TooLittlePrecision",
        f"A precision of {wish} bits is asked for, errors up to 2^-{wish}, and with the parameters given the "
        f"predicted error of {name!r} is 2^{worst:.1f}. Give parameters of more bits ({more}), or leave "
        "params out to have them chosen.",
        wish=wish,
        predicted=worst,
        result=name,
    )
