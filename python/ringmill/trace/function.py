"""The function of a kernel: its arguments and their names, held to what `compile` takes beside them."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from ringmill.errors import KernelError
from ringmill.trace.base import present
from ringmill.trace.callables import code_of, named
from ringmill.trace.spec import Spec
from ringmill.trace.where import Where, refuse

# Options of Kernel.compile, and those of Compiled.run and Compiled.encrypt; a kernel's own arguments must be
# called otherwise.
OPTIONS = (
    "params",
    "precision",
    "magnitude",
    "security",
    "switching",
    "rotation_keys",
    "calibrate",
    "encryption",
    "publish",
    "sanitise",
    "statistical",
    "algebra",
    "batch",
    "word",
    "capacity",
)
RUN = ("machine", "progress")
# Options of a machine in their old places; where a kernel has an argument of that name, it is that.
OLD = ("threads", "butterflies")
RESERVED = (*OPTIONS, *RUN)


class Function:
    """A plain function with fixed arguments, and the arguments of a call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        code = code_of(function)
        if code is None:
            raise KernelError(
                f"@kernel takes a plain function, not {type(function).__name__}. "
                "Write `def` and let the function call the object.",
                "NotAFunction",
                {"line": 0},
            )
        self.function = function = named(function)
        self.where = Where(code.co_filename, code.co_firstlineno)
        self.parameters = inspect.signature(function)
        self._check()

    def _check(self) -> None:
        function, name = self.function, self.function.__name__
        if (
            inspect.isgeneratorfunction(function)
            or inspect.iscoroutinefunction(function)
            or inspect.isasyncgenfunction(function)
        ):
            refuse(
                "UnsupportedConstruct",
                f"{name} is a generator or coroutine",
                "Return the results",
                self.where,
            )
        for parameter in self.parameters.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                refuse(
                    "UnsupportedConstruct",
                    f"{name} takes {parameter}: the arguments of a kernel are fixed",
                    "Name every argument",
                    self.where,
                )
            if parameter.name in RESERVED:
                refuse(
                    "ReservedName",
                    f"the argument {parameter.name!r} of {name} has the name of an option of compile(), "
                    "run() or encrypt()",
                    f"Call it otherwise; reserved are {', '.join(RESERVED)}",
                    self.where,
                )

    def __repr__(self) -> str:
        return f"<kernel {self.function.__name__}{self.parameters} at {self.where}>"

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """Arguments of a call by name; refused with the kernel's line where they do not fit."""
        name = self.function.__name__
        self._check_names(kwargs)
        try:
            return self.parameters.bind(*args, **kwargs)
        except TypeError as error:
            refuse("Arguments", f"{name}: {error}", f"Its signature is {name}{self.parameters}", self.where)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments and defaults by name, of which one or more are encrypted."""
        name = self.function.__name__
        bound = self._bind(args, kwargs)
        bound.apply_defaults()
        self._described(bound.arguments)
        if not any(isinstance(value, Spec) for value in bound.arguments.values()):
            refuse(
                "NothingEncrypted",
                f"no argument of {name} is encrypted",
                "Describe encrypted arguments by ringmill.vector(n), matrix(r, c) or scalar()",
                self.where,
            )
        return dict(bound.arguments)

    def _described(self, arguments: dict[str, Any]) -> None:
        """Refuse vectors that are encrypted already where descriptions or clear arguments are wanted."""
        for name, value in arguments.items():
            if present(value):
                refuse(
                    "Encrypted",
                    f"the argument {name!r} of {self.function.__name__} is an encrypted vector of the prompt",
                    f"Call {self.function.__name__} itself with it; to compile, give its description, "
                    "as ringmill.vector(n)",
                    self.where,
                )

    def _check_names(self, given: Iterable[str]) -> None:
        """Refuse what is neither an argument nor an option, such as an option that is misspelt."""
        name, known = self.function.__name__, [*self.parameters.parameters, *OPTIONS]
        for other in given:
            if other not in known:
                near = difflib.get_close_matches(other, known, 1)
                refuse(
                    "Arguments",
                    f"{name} has no argument {other!r}, and compile() no such option",
                    (f"Did you mean {near[0]}? " if near else "")
                    + f"Its signature is {name}{self.parameters}; options are {', '.join(OPTIONS)}",
                    self.where,
                )
