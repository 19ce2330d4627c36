"""From a kernel and its arguments to a compiled one, and to a run."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ringmill._checks.requirements import PRECISION
from ringmill.errors import KernelError, ParameterError, ProgramError, RingmillError
from ringmill.log import done
from ringmill.machines import beside
from ringmill.trace.batches import asked, in_lanes, of_data
from ringmill.trace.callables import of_numbers
from ringmill.trace.function import OLD, OPTIONS, RUN
from ringmill.trace.kernel import Kernel
from ringmill.trace.private import (
    Declared,
    Private,
    Sizes,
    declares,
    effect_of_moves,
    hold_in_the_clear,
)
from ringmill.trace.private import traced as privately
from ringmill.trace.program import Traced
from ringmill.trace.samples import sized
from ringmill.trace.spec import Spec, spec_of
from ringmill.trace.tracer import Known, most_slots
from ringmill.trace.where import refuse

if TYPE_CHECKING:
    from ringmill.compiled import Compiled


#: Seconds of a run that a warning is worth, and key switches below which none takes as long.
LONG, MANY_SWITCHES = 20.0, 200


def compiled(kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Compiled:
    """What ``Kernel.compile`` gives."""
    options = {name: kwargs.pop(name) for name in OPTIONS if name in kwargs}
    given = "magnitude" in options
    magnitude = options.setdefault("magnitude", 1.0)
    options.setdefault("algebra", True)
    records = asked(options.pop("batch", None))
    arguments, precision = kernel._bound(args, kwargs), options.get("precision")
    calibrate = options.pop("calibrate", None)
    if calibrate is not None and not given:
        magnitude = None  # as large as the data
    if declares(arguments):
        if calibrate is not None:
            refuse(
                "Private",
                "sample data show what a kernel makes of them by its private weights",
                "Declare bounds of the arguments in place of calibrate=",
                kernel.where,
            )
        return _privately(kernel, arguments, magnitude, options, records)
    trace = functools.partial(
        kernel._trace,
        arguments,
        magnitude,
        precision=precision,
        calibrate=calibrate,
        params=options.get("params"),
    )
    with done("compile", kernel.function.__name__) as facts:
        found = _held(trace, options, records)
        facts.update(ring=f"2^{found.params.log_n}", depth=found.plan.depth)
    return found


def _held(trace: Callable[..., Traced], options: dict[str, Any], records: int) -> Compiled:
    """Compile what is traced; a refusal of a precision names one that parameters hold."""
    try:
        return _compiled(trace, options, records)
    except (ParameterError, ProgramError) as error:
        if "params" in options or not trace().chooses:
            raise
        _less_precise(trace, options, error)


def _compiled(trace: Callable[..., Traced], options: dict[str, Any], records: int) -> Compiled:
    """Compile what is traced; large arguments fill the ciphertexts that parameters have."""
    made, traced = _once(trace, options, records, 1)
    slots = made.params.slots
    if traced.signature.is_cut and slots > made.signature.slots:
        filled = _once(trace, options, records, slots)
        # Values of the kernel may be larger than its arguments, and then ask for a larger ring.
        if filled[0].params.slots <= slots:
            made, traced = filled
    _warn(traced, made)
    return made


def _once(
    trace: Callable[..., Traced], options: dict[str, Any], records: int, least: int
) -> tuple[Compiled, Traced]:
    """Compile what is traced in ``least`` slots or more: in those that bootstrappings ask for."""
    from ringmill.compiled import compile_traced

    traced = trace(least=least)

    def once(lanes: int) -> Compiled:
        nonlocal traced
        while True:
            try:
                return compile_traced(traced.in_lanes(lanes), **{**options, "magnitude": traced.magnitude})
            except ProgramError as error:
                slots = traced.signature.slots * (lanes or 1)
                if error.code != "BootstrapSlots" or error.least <= slots:
                    raise
                # Few values, and they bootstrap, for which they stand in more slots.
                traced = trace(least=error.least // (lanes or 1))

    made = in_lanes(once, records, traced.signature.slots, most_slots(options.get("params")))
    return made, traced


def _warn(traced: Traced, made: Compiled) -> None:
    """Say before anything runs that functions of many elements take long."""
    alive = set(traced.graph.live())
    long = max((one for one in traced.graph.long if one[3] in alive), key=lambda one: one[1], default=None)
    if long is None or made.cost["key_switches"] < MANY_SWITCHES:
        return
    what, count, where, _ = long
    seconds, often = made.work()["seconds"], len(made.bootstraps)
    if seconds >= LONG:
        again = f" and {often} bootstrappings" if often else ""
        warnings.warn(
            f"{where}: {what} of {count} elements takes {made.plan.depth} levels{again}, about "
            f"{seconds:.0f} s a run on one core. Compare fewer elements, ask for less precision, or decrypt "
            "before.",
            stacklevel=2,
        )


def _privately(
    kernel: Kernel, arguments: dict[str, Any], magnitude: float | None, options: dict[str, Any], records: int
) -> Compiled:
    """Compile by what is declared of private numbers, then with the numbers."""
    found: list[Declared] = []
    options = {**options, "algebra": False}  # what is folded follows from numbers
    arguments, magnitude = sized(arguments, magnitude)
    most = most_slots(options.get("params"))

    def trace(least: int = 1, precision: int | None = options.get("precision")) -> Traced:
        def once(tolerance: float) -> Traced:
            def one(numbers: dict[str, Any], sizes: Sizes) -> Traced:
                return kernel._fitting(numbers, Known(magnitude, tolerance, {}, most, sizes), least)

            found.append(privately(arguments, one, kernel.where))
            return found[-1].public

        return kernel._close(once, precision, magnitude)

    made = _held(trace, options, records)
    hold_in_the_clear(kernel.function, arguments, kernel.where)
    actual = found[-1].actual.in_lanes(made.signature.lanes)
    return made.with_private(actual, effect_of_moves(kernel.function, arguments))


def _less_precise(trace: Callable[..., Traced], options: dict[str, Any], error: RingmillError) -> NoReturn:
    """Refuse a precision that no parameters hold through functions; names one that some do."""
    wanted = options.get("precision")
    bits = PRECISION if wanted is None else int(wanted)
    found = next(f for f in trace().graph.found if f.chosen)
    for less in range(bits - 2, 3, -2):
        try:
            _compiled(functools.partial(trace, precision=less), {**options, "precision": less}, 0)
        except (ParameterError, ProgramError, KernelError):
            continue
        refuse(
            "Precision",
            f"{found.name} is {found.how} here, and no parameters keep {bits} bits through the kernel "
            f"({str(error).partition('. ')[0]})",
            f"Compile with precision={less}, which some do, or keep values away from where it bends",
            found.where,
        )
    raise error


def run(kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``Kernel.run`` gives."""
    options, where = ({n: kwargs.pop(n) for n in names if n in kwargs} for names in (OPTIONS, RUN))
    old = [name for name in OLD if name in kwargs and name not in kernel.parameters.parameters]
    if old:
        where["machine"] = beside(where.get("machine", "cpu"), 3, **{n: kwargs.pop(n) for n in old})
    bound = kernel._bind(args, kwargs)
    kernel._described(bound.arguments)
    values = {name: v for name, v in bound.arguments.items() if _is_encrypted(kernel, name, v)}
    specs = {
        name: default
        for name in values
        if isinstance(default := kernel.parameters.parameters[name].default, Spec)
    }
    # An argument without a description has records where a batch is asked for.
    batch = asked(options.get("batch"))
    records = of_data(specs, values, kernel.where) or batch
    for name, given in values.items():
        one = given[0] if name not in specs and batch and len(given) else given
        bound.arguments[name] = specs[name] if name in specs else spec_of(name, one)
    if records:
        options.setdefault("batch", records)
    return kernel.compile(*bound.args, **bound.kwargs, **options).run(**values, **where)


def _is_encrypted(kernel: Kernel, name: str, given: object) -> bool:
    """Whether ``run`` encrypts what is given for an argument."""
    default = kernel.parameters.parameters[name].default
    if isinstance(given, Private):
        return False
    if isinstance(default, Spec):
        return not isinstance(given, Spec)
    array = of_numbers(given) if isinstance(given, (list, tuple)) else hasattr(given, "__array__")
    return default is inspect.Parameter.empty and array and not isinstance(given, np.generic)
