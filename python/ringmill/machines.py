"""Machines as values: ``rm.machines.compact(butterflies=8)`` is the machine ``"compact:butterflies=8"``.

There is a function for each machine (``dir(rm.machines)``, docs/machines.md), made from the table from which
texts are read; its arguments are the machine's options.

>>> import ringmill as rm
>>> rm.machines.compact(butterflies=8, word=54)
MachineSpec("compact:word=54,butterflies=8")
>>> rm.machines.cpu() == rm.MachineSpec("cpu")
True
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from ringmill._native import MachineSpec, machine_table
from ringmill.errors import MachineError, fail

#: A machine elsewhere: the limb program's text and input limbs in, output limbs out; bytes of 64-bit words.
Outside = Callable[[str, list[bytes]], list[bytes]]

_TABLE = {name: (about, options) for name, about, options in machine_table()}


def _maker(name: str) -> Callable[..., MachineSpec]:
    about, options = _TABLE[name]

    def make(**options: int | str | None) -> MachineSpec:
        return MachineSpec(name).with_options(**options)

    make.__name__ = make.__qualname__ = name
    kind = inspect.Parameter.KEYWORD_ONLY
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(option, kind, default=None, annotation=f"{'int' if number else 'str'} | None")
            for option, number, *_ in options
        ],
        return_annotation="MachineSpec",
    )
    reported = [
        f"    {option}: {meaning}: {allowed}; left out, {left_out}."
        for option, _, allowed, left_out, meaning in options
    ]
    make.__doc__ = "\n".join(
        [
            f"The machine ``{name}``: {about}.",
            "",
            *(["Args:", *reported, ""] if reported else []),
            "Raises",
            "------",
            "    MachineError: an option that it has not, or a value that the option cannot have.",
        ]
    )
    return make


def __getattr__(name: str) -> Callable[..., MachineSpec]:
    """The function of a machine."""
    if name in _TABLE:
        maker = globals()[name] = _maker(name)
        return maker
    raise AttributeError(f"there is no machine {name!r}; machines are {', '.join(_TABLE)}")


def __dir__() -> list[str]:
    return [*_TABLE]


def machine_of(machine: object) -> MachineSpec:
    """The machine that a text names, or the value itself.

    Raises
    ------
        MachineError: what is neither, or a text that names none.
    """
    if isinstance(machine, MachineSpec):
        return machine
    if not isinstance(machine, str):
        _refuse(machine, "")
    return MachineSpec(machine)


def machine_or_function(machine: object) -> MachineSpec | Outside:
    """As `machine_of`, or a function that runs limbs elsewhere."""
    if callable(machine):
        return machine
    if not isinstance(machine, (str, MachineSpec)):
        _refuse(machine, ", or a function that runs limbs elsewhere")
    return machine_of(machine)


def _refuse(machine: object, function: str) -> NoReturn:
    fail(
        MachineError,
        "NotAMachine",
        f'The machine is {machine!r}. Give its text, as machine="cpu" or machine="compact:butterflies=8", or '
        f"a value, as rm.machines.cpu(threads=4){function}.",
        machine=repr(machine),
    )


def beside(machine: object, level: int, **options: int | None) -> Any:
    """A machine with options that were given beside it, as they were before they were part of it.

    Each raises a ``DeprecationWarning`` at the call ``level`` frames above.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if not given or callable(machine):
        return machine
    spec = machine_of(machine).with_options(**given)
    names = " and ".join(f"{name}=" for name in given)
    warnings.warn(
        f'{names} beside machine= will go: write machine="{spec}"', DeprecationWarning, stacklevel=level + 1
    )
    return spec
