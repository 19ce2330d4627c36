"""Asking for an exploration."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringmill import _native
from ringmill._checks.arguments import checked as plain
from ringmill._checks.bounds import largest_value
from ringmill.algebra import within
from ringmill.errors import ExploreError, RingmillError, fail
from ringmill.explorer.constraints import TABLES, Constraints, checked
from ringmill.explorer.result import Exploration
from ringmill.explorer.space import narrowed
from ringmill.kernels import PaperKernel
from ringmill.progress import Show, chosen, write
from ringmill.project.design import SCHEMA
from ringmill.targets import DEFAULT, target_of
from ringmill.trace import Kernel, Spec, Traced
from ringmill.trace.spec import Packing

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: How a matrix can be packed.
PACKINGS: tuple[Packing, ...] = ("slots", "columns")

Explorable = Kernel | Traced | PaperKernel | Sequence[Traced]


def devices() -> dict[str, dict[str, Any]]:
    """The stored devices by name."""
    return {device["name"]: device for device in json.loads(_native.stored_devices())}


def variants(
    kernel: Kernel, *args: Any, magnitude: float | None = None, **kwargs: Any
) -> list[tuple[str, Traced]]:
    """Traces of a kernel with every packing of its encrypted matrices that it can be traced with.

    A matrix goes into one ciphertext, or by columns into one each; the first trace packs as the kernel says.
    ``magnitude`` is that of ``Kernel.trace``.
    """
    bound = kernel.parameters.bind_partial(*args, **kwargs)
    bound.apply_defaults()
    missing = [name for name in kernel.parameters.parameters if name not in bound.arguments]
    if missing:
        name, words = kernel.function.__name__, ", ".join(missing)
        fail(
            ExploreError,
            "Arguments",
            f"{name}{kernel.parameters} says nothing of {words}. Give encrypted arguments their description "
            f"and the others their value as defaults: def {name}(x=ringmill.vector(100), w=weights); or "
            "explore a trace.",
            missing=missing,
        )
    given = dict(bound.arguments)
    matrices = [name for name, value in given.items() if isinstance(value, Spec) and len(value.shape) == 2]
    own = {name: given[name].packing for name in matrices}
    found: list[tuple[str, Traced]] = [("", kernel.trace(magnitude=magnitude, **given))]
    for packings in itertools.product(PACKINGS, repeat=len(matrices)):
        chosen: dict[str, Packing] = dict(zip(matrices, packings, strict=True))
        if chosen == own:
            continue
        changed = {
            name: Spec(given[name].shape, packing, given[name].real) for name, packing in chosen.items()
        }
        try:
            traced = kernel.trace(magnitude=magnitude, **{**given, **changed})
        except RingmillError:
            continue  # A packing that the kernel's operations do not allow.
        by_columns = [name for name, packing in chosen.items() if packing == "columns"]
        found.append((f"{', '.join(by_columns)} by columns" if by_columns else "one ciphertext each", traced))
    return found


def _traces(kernel: Explorable, arguments: tuple[Any, ...], magnitude: float) -> list[tuple[str, Traced]]:
    if isinstance(kernel, Kernel):
        return variants(kernel, *arguments, magnitude=magnitude)
    if isinstance(kernel, PaperKernel):
        return [("", kernel.trace())]
    if isinstance(kernel, Traced):
        return [("", kernel)]
    traces = list(kernel) if isinstance(kernel, Sequence) else []
    if not traces or not all(isinstance(traced, Traced) for traced in traces):
        fail(
            ExploreError,
            "NoKernel",
            f"{kernel!r} cannot be explored. Give a @ringmill.kernel, its trace(), or a list of traces.",
        )
    return [(f"variant {at}", traced) for at, traced in enumerate(traces)]


def _source(variant: str, traced: Traced, magnitude: float, *, fold: bool) -> dict[str, Any]:
    bound = largest_value(traced, magnitude)
    if fold:  # as Kernel.compile does
        traced, bound = within(traced, magnitude, bound)
    return {
        "name": traced.name,
        "variant": variant,
        "program": traced.text,
        "signature": traced.signature.to_json(),
        "magnitude": magnitude,
        "bound": bound,
        "real": traced.signature.real,
    }


def request(
    kernel: Explorable,
    /,
    device: str,
    *arguments: Any,
    target: str = DEFAULT,
    space: dict[str, Any] | None = None,
    results: str | os.PathLike[str] | None = None,
    **constraints: Unpack[Constraints],
) -> dict[str, Any]:
    """Return the request to the native module: the arguments of ``explore``, checked and by its names."""
    asked = checked(constraints)
    traces = _traces(kernel, arguments, asked["magnitude"])
    wished = ("max_error", "security", "max_latency_ms", "utilisation", "minimise")
    return {
        "kernels": [
            _source(name, traced, asked["magnitude"], fold=isinstance(kernel, Kernel))
            for name, traced in traces
        ],
        "target": target_of(target)["name"],
        "device": str(device),
        "mhz": asked["mhz"],
        "wishes": {"table": TABLES[asked["table"]], **{name: asked[name] for name in wished}},
        "space": {} if space is None else narrowed(space, target=target),
        "seconds": asked["seconds"],
        "seed": asked["seed"],
        "results": None if results is None else str(Path(results)),
    }


@plain
def explore(
    kernel: Explorable,
    /,
    device: str,
    *arguments: Any,
    target: str = DEFAULT,
    space: dict[str, Any] | None = None,
    results: str | os.PathLike[str] | None = None,
    progress: Show = "auto",
    **constraints: Unpack[Constraints],
) -> Exploration:
    """Find parameters and a core for a kernel on a device.

    Args:
        kernel: a ``@ringmill.kernel``, whose matrices are tried in every packing; a trace, or several.
        device: name of a stored device, or path of a TOML file.
        arguments: for a kernel, what it is traced with; not needed where its arguments have defaults.
        target: the kind of machines, one of ``ringmill.explorer.targets()``.
        space: axes to narrow, by name: see docs/explorer.md.
        results: SQLite file that holds what was found; an interrupted exploration goes on from it.
        progress: "auto", "bar", "lines" or "none".
        constraints: those of ``ringmill.explorer.Constraints``: ``max_error``, ``security``, ``minimise`` …

    Raises
    ------
        ExploreError: an object that is no kernel, target or device; an unknown constraint or axis, or one
            with an invalid value. Also constraints that nothing in the space meets, with what binds and the
            nearest value that can be met.
        KernelError: an operation of the kernel that no program can do, with its line.
        FileFormatError: a file of results that cannot be opened or has another format.
        ParameterError: an unknown value of ``progress``.
    """
    asked = request(kernel, device, *arguments, target=target, space=space, results=results, **constraints)
    with _Shown(progress) as shown:
        outcome = json.loads(_native.explore_designs(json.dumps(asked), shown))
    return exploration_of(outcome, asked)


def exploration_of(outcome: dict[str, Any], asked: dict[str, Any]) -> Exploration:
    """The outcome of a request with the kernel and the device in every design."""
    device = outcome["device"]

    def design(found: dict[str, Any]) -> dict[str, Any]:
        kernel = asked["kernels"][found["variant"]]
        rest = {name: found[name] for name in ("parameters", "machine", "hardware", "predicted")}
        return {"schema": SCHEMA, "ringmill": _native.__version__, "kernel": kernel, "device": device, **rest}

    return Exploration(
        best=design(outcome["best"]),
        front=[design(found) for found in outcome["front"]],
        best_proven=outcome["best_proven"],
        front_proven=outcome["front_proven"],
        front_gap=outcome["front_gap"],
        stopped=outcome["stopped"],
        statistics=outcome["statistics"],
        constraints=asked["wishes"],
        device=device,
    )


class _Shown:
    """Progress on a terminal as a line that is rewritten; as lines otherwise."""

    def __init__(self, show: Show) -> None:
        import sys

        self.stream = sys.stderr
        how = chosen(show, self.stream)
        self.rewrite, self.silent = how == "bar", how == "none"
        self.stage = ""

    def __enter__(self) -> _Shown:
        return self

    def __exit__(self, *_: object) -> None:
        if self.rewrite and self.stage and not self.silent:
            write("", self.stream)

    def __call__(self, stage: str, done: int, left: int, best: float | None) -> bool:
        if self.silent:
            return True
        reported = f"exploring: {stage}"
        if done or left:
            reported += f", {done} simulated, {left} open"
        if best is not None:
            reported += f", best {best:.4g}"
        if self.rewrite:
            write(f"\r{reported:<78}", self.stream, end="")
        elif stage != self.stage:
            write(reported, self.stream)
        self.stage = stage
        return True
