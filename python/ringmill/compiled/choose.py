"""From a traced kernel to a compiled one: parameters chosen, or given ones checked."""

from __future__ import annotations

from functools import partial

from ringmill._checks import sizes
from ringmill._checks.bounds import bounded
from ringmill._checks.integers import whole
from ringmill._checks.ownership import of_kind
from ringmill._checks.requirements import (
    algebra_of,
    encryption_of,
    hold_precision,
    hold_security,
    precision_of,
    security_of,
)
from ringmill._native import Params, Plan
from ringmill.algebra import folded
from ringmill.choice import Wanted
from ringmill.client import MOST_KEYS
from ringmill.compiled.kernel import Compiled
from ringmill.errors import ParameterError, fail
from ringmill.flooding import BITS, Flooding
from ringmill.functions import Functions
from ringmill.switching import LIBRARIES, check_switching
from ringmill.trace.bounds import positive
from ringmill.trace.program import Traced

#: Bits of primes, least and most.
WORDS = (20, 60)


def compile_traced(
    traced: Traced,
    *,
    precision: int | None = None,
    magnitude: float = 1.0,
    security: int | None = None,
    params: Params | None = None,
    switching: str = "hybrid",
    output_level: int | None = None,
    rotation_keys: int | None = None,
    encryption: str = "public",
    publish: int | None = None,
    sanitise: bool | int = False,
    statistical: int = BITS,
    algebra: bool = False,
    word: int | None = None,
    capacity: int | str | None = None,
) -> Compiled:
    """Choose parameters for a traced kernel (unless given) and manage its program for them.

    Given ones are held to the precision and the security that are asked for, if any. ``output_level`` is the
    least level of results for a program after this one, where parameters are given; ``rotation_keys`` the
    most that the program may take, as ``Kernel.compile`` says, which has the other options too. With
    ``algebra`` an equal program may take its place, as there.
    """
    held = None if capacity is None else sizes.capacity(ParameterError, "The capacity", capacity)
    compiled = partial(
        _compiled,
        precision=precision,
        security=security,
        params=params,
        switching=switching,
        output_level=output_level,
        rotation_keys=rotation_keys,
        encryption=encryption,
        publish=publish,
        sanitise=sanitise,
        statistical=statistical,
        word=word,
    )
    magnitude = positive(magnitude)
    bound = bounded(traced, magnitude)
    other, saved = folded(traced, magnitude) if algebra_of(algebra) else (traced, None)
    if saved is not None:
        try:
            found = compiled(other, magnitude, max(bound, saved.largest))
        except ParameterError:
            pass  # its values may be larger than parameters hold
        else:
            found.algebra = saved
            if params is not None or saved.largest <= 2 * bound:
                return _for_chip(found, held)
            # Larger values take a wider modulus, which can be more than the levels that are saved.
            written = compiled(traced, magnitude, bound)
            return _for_chip(min(found, written, key=lambda of: _size(of.params)), held)
    return _for_chip(compiled(traced, magnitude, bound), held)


def _for_chip(compiled: Compiled, held: sizes.Capacity | None) -> Compiled:
    """The same kernel, whose limb program is chosen for a chip; a chip that is too small is refused now."""
    compiled.capacity = held
    if held is not None:
        _ = compiled.ways
    return compiled


def _size(params: Params) -> tuple[int, float]:
    """What decides the time of every operation: the degree, then the bits of all primes."""
    return params.log_n, params.log_q + params.log_p


def _compiled(
    traced: Traced,
    magnitude: float,
    bound: float,
    *,
    precision: int | None,
    security: int | None,
    params: Params | None,
    switching: str,
    output_level: int | None,
    rotation_keys: int | None,
    encryption: str,
    publish: int | None,
    sanitise: bool | int,
    statistical: int,
    word: int | None,
) -> Compiled:
    """Compile the program as it is, whose values are no larger than ``bound``."""
    if params is not None:
        left = 'Make them, as rm.Params.named("III"), or leave them out to have them chosen.'
        of_kind("kernel.compile()", "params", params, (Params,), left)
    check_switching(switching)
    if params is None and switching in LIBRARIES:
        fail(
            ParameterError,
            "Switching",
            f"switching={switching!r} computes on a client of that library, whose parameters are given: "
            f"params=, as ringmill.interop.{switching} reads them.",
            switching=switching,
        )
    precision, security = precision_of(precision), security_of(security)
    encryption = encryption_of(encryption)
    flooding = None if publish is None else Flooding.of(publish, statistical)
    sanitising = Flooding.of_results(sanitise, statistical)
    real = traced.signature.real
    if rotation_keys is not None:
        rotation_keys = whole(ParameterError, "The number of rotation keys", rotation_keys, 0, MOST_KEYS)
    if word is not None:
        word = whole(ParameterError, "The word", word, *WORDS)
        if params is not None:
            fail(
                ParameterError,
                "Word",
                "A word is for parameters that are chosen, and these are given. Leave word= out, or params=.",
                word=word,
            )
    if params is None:
        wanted = Wanted(
            traced, magnitude, bound, security, rotation_keys, encryption, flooding, sanitising, word=word
        )
        plan, bits = wanted.chosen(precision)
        compiled = Compiled(traced.text, traced.signature, plan, switching, output_level, bits)
    else:
        hold_security(params, security)
        plan = Plan.with_params(
            traced.text, params, magnitude, bound, real, output_level, rotation_keys, encryption
        )
        compiled = Compiled(traced.text, traced.signature, plan, switching, output_level, precision)
    compiled.flooding, compiled.sanitising = flooding, sanitising
    compiled.functions = Functions.of(traced, magnitude)
    if params is not None:
        # Approximations follow from the kernel, not from parameters.
        hold_precision(params, compiled._flooded(compiled._noise()), precision)
    return compiled
