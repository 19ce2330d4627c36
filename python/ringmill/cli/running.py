"""From arguments to an exit status: what every command line does around its verbs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from ringmill._checks.integers import whole
from ringmill.cli.ending import Ended, ended_by_signals
from ringmill.cli.streams import printing, say
from ringmill.errors import CommandError, RingmillError

INTERRUPTED = 130

#: Options that are whole numbers, the same for every verb that has them: least and most.
_RANGES = {
    "threads": (1, 256),
    "workers": (1, 1024),
    "depth": (0, 100),
    "scale_bits": (20, 59),
    "integer_bits": (0, 59),
    "levels": (0, 64),
    "bits": (12, 36),
    "iterations": (1, 2),
    "wide_bits": (46, 58),
    "transforms": (1, 6),
    "slots": (1, 1 << 16),
    "security": (0, 256),
    "runs": (1, 1 << 20),
    "points": (0, 1 << 20),
    "word_bits": (32, 60),
    "bus_bits": (1, 1 << 16),
    "latency": (0, 1 << 20),
    "effort": (0, 1 << 30),
    "seed": (0, (1 << 63) - 1),
}

#: Makes the parser of a verb, of its name and what it does.
Verb = Callable[[str, str], argparse.ArgumentParser]


def new_parser() -> tuple[argparse.ArgumentParser, Verb]:
    """A parser without verbs, and what adds one."""
    from ringmill._native import __version__

    parser = argparse.ArgumentParser(
        prog="ringmill", description="Compute on encrypted numbers.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"ringmill {__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, text: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=text, description=text, allow_abbrev=False)
        sub.add_argument("--json", action="store_true", help="print the outcome as JSON")
        sub.add_argument("--quiet", action="store_true", help="show no progress")
        return sub

    return parser, verb


def print_facts(outcome: dict[str, Any]) -> None:
    """Facts as aligned lines; a list or a dictionary as one line an entry."""
    width = max(len(name) for name in outcome)
    for name, value in outcome.items():
        lines = value if isinstance(value, list) else [value]
        if isinstance(value, dict):
            lines = [f"{part}: {figure}" for part, figure in value.items()]
        for at, line in enumerate(lines or ["none"]):
            print(f"{name if at == 0 else '':<{width}}  {line}")


def _in_range(options: argparse.Namespace) -> None:
    for name, (least, most) in _RANGES.items():
        value = getattr(options, name, None)
        if value is not None:
            whole(CommandError, "--" + name.replace("_", "-"), value, least, most)


def run(
    parser: Callable[[], argparse.ArgumentParser],
    verbs: Callable[[], ModuleType],
    arguments: Sequence[str] | None,
) -> int:
    """Run a command line; returns the exit status. ``verbs`` imports their module."""
    try:
        with ended_by_signals():
            with printing():
                options = parser().parse_args(arguments)
            return _run(options, verbs)
    except KeyboardInterrupt:
        say("ringmill: interrupted; no file was left half written")
        return INTERRUPTED
    except Ended as ended:
        say(f"ringmill: ended by {ended.name}; no file was left half written")
        return ended.status


def _run(options: argparse.Namespace, verbs: Callable[[], ModuleType]) -> int:
    from ringmill._native import isa

    module = verbs()
    try:
        isa()  # refuses an instruction set in RINGMILL_ISA that there is not, before any verb begins
        _in_range(options)
        outcome = getattr(module, options.verb)(options)
    except RingmillError as error:
        say(f"ringmill {options.verb}: {error.message}")
        if options.json:
            reported = {"error": type(error).__name__, "code": error.code, "message": error.message}
            with printing():
                print(json.dumps({**reported, "fields": error.fields}, default=str))
        return 1
    with printing():
        if options.json:
            print(json.dumps(outcome, default=str))
        else:
            getattr(module, f"show_{options.verb}", print_facts)(outcome)
    return 0
