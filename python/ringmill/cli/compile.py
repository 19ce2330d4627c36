"""The verb `compile`: a kernel as a file for its client and one for its server."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from ringmill.atomic import make_folder
from ringmill.cli.explore import target
from ringmill.cli.places import to_write
from ringmill.compiled import Compiled, compile_traced
from ringmill.errors import CommandError, fail
from ringmill.keys import load_params
from ringmill.trace import Kernel, Traced

Facts = dict[str, Any]

CLIENT, SERVER = "client.rm", "server.rm"
#: Options of a compilation, as the command line and `Kernel.compile` call them.
_OPTIONS = (
    "precision",
    "magnitude",
    "security",
    "switching",
    "rotation_keys",
    "batch",
    "encryption",
    "publish",
    "sanitise",
    "statistical",
    "word",
    "capacity",
)


def compile(options: Namespace) -> Facts:
    """Compile a kernel of a Python file; write what the client needs and what the server does."""
    compiled = _compiled(options)
    folder = Path(options.out)
    make_folder(folder)
    source = options.source.rpartition(":")[0]
    client, server = (to_write(str(folder / name), source) for name in (CLIENT, SERVER))
    sizes = {server: compiled.save(server), client: compiled.client().save(client)}
    return {
        "kernel": compiled.name,
        "parameters": repr(compiled.params),
        "depth": compiled.plan.depth,
        "keys needed": compiled.keys_needed,
        "predicted_error_log2": round(max(compiled.predicted_error.values()), 2),
        **_published(compiled),
        **_capacity(compiled),
        "files": [f"{path} ({size} bytes)" for path, size in sizes.items()],
    }


def _published(compiled: Compiled) -> Facts:
    """What remains of the precision after flooding, if results are published."""
    if compiled.sanitising:
        count, bits = compiled.sanitising.decryptions, compiled.sanitising.statistical
        return {"sanitised_error_log2": round(compiled.sanitised_error(count, bits), 2)}
    if compiled.flooding is None:
        return {}
    left = compiled.published_error(compiled.flooding.decryptions, compiled.flooding.statistical)
    return {"published_error_log2": round(left, 2)}


def _capacity(compiled: Compiled) -> Facts:
    """What the limb program moves over the edge of the chip, and the ways that were counted."""
    if compiled.capacity is None:
        return {}
    return {"capacity": str(compiled.capacity), "ways": [_way(way) for way in compiled.ways]}


def _way(way: Facts) -> str:
    does = [name.replace("_", " ") for name in ("recompute", "by_primes", "by_cost") if way[name]]
    return (
        f"{', '.join(does) or 'as written'}: {way['off_chip'] / 1e6:,.1f} MB off chip, "
        f"{way['spilled_and_refilled'] / 1e6:,.1f} of these spilled and refilled, "
        f"{way['peak_limbs']:,} live limbs at most{'; taken' if way['chosen'] else ''}"
    )


def _compiled(options: Namespace) -> Compiled:
    given = {n: value for n in _OPTIONS if (value := getattr(options, n)) is not None}
    if options.params is not None:
        given["params"] = load_params(options.params)
    found = target(options.source)
    if isinstance(found, Kernel):
        return found.compile(**given)
    if isinstance(found, Traced):
        if "batch" in given:
            fail(
                CommandError,
                "Traced",
                f"{options.source} gives a trace, of one record. Return the kernel for --batch.",
                options=["batch"],
            )
        return compile_traced(found, **{"magnitude": found.magnitude or 1.0, **given})
    if isinstance(found, Compiled):
        if given:
            names = ", ".join("--" + name.replace("_", "-") for name in given)
            fail(
                CommandError,
                "Compiled",
                f"{options.source} gives a compiled kernel, for which {names} comes too late. "
                "Compile it there with these options, or return the kernel.",
                options=sorted(given),
            )
        return found
    fail(
        CommandError,
        "NoKernel",
        f"{options.source} is of type {type(found).__name__}, not a kernel. Name a @ringmill.kernel whose "
        "encrypted arguments have descriptions as defaults, or a function that returns a compiled kernel.",
        found=type(found).__name__,
    )
