"""Arguments of plain types: a value of another type is refused with a message, by one rule for all functions.

The native module does so with its own arguments (`crates/python/src/argument.rs`).
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec, TypeVar

import numpy as np

from ringmill._checks.integers import shown
from ringmill._native import Params
from ringmill.errors import MismatchError, fail

P = ParamSpec("P")
R = TypeVar("R")


def _is_path(given: object) -> bool:
    path = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
    return isinstance(path, str) and "\0" not in path


def _is_list(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping))


#: The types that an annotation admits, and their description.
_KINDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "bool": (lambda given: isinstance(given, (bool, np.bool_)), "True or False"),
    "float": (lambda given: isinstance(given, (int, float, np.integer, np.floating)), "a number"),
    "str": (lambda given: isinstance(given, str), "a text"),
    "bytes": (lambda given: isinstance(given, bytes), "bytes"),
    "str | Path": (_is_path, "a path"),
    "str | os.PathLike[str]": (_is_path, "a path"),
    "Iterable[str]": (_is_list, "a list of texts"),
    "Mapping[int, str]": (lambda given: isinstance(given, Mapping), "texts by number, as a dict"),
    "Mapping[str, ArrayLike]": (
        lambda given: isinstance(given, Mapping),
        "arrays by name, as a dict",
    ),
    "Params": (lambda given: isinstance(given, Params), 'Params, as rm.Params.named("III")'),
}
_PLAIN = (bool, int, float, str, type(None))


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments that are not of the plain types that ``function`` is annotated with; others pass."""
    signature = inspect.signature(function)
    wanted = {
        p.name: (_KINDS[kind], kind != p.annotation)
        for p in signature.parameters.values()
        if (kind := str(p.annotation).removesuffix(" | None")) in _KINDS
    }

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, given in (*zip(signature.parameters, args, strict=False), *kwargs.items()):
            if name in wanted:
                (admits, words), optional = wanted[name]
                if not (admits(given) or (optional and given is None)):
                    _refuse(name, given, words)
        return function(*args, **kwargs)

    return call


def _refuse(name: str, given: object, words: str) -> None:
    # Of other things the type alone: bytes may be a secret key's.
    found = shown(given) if isinstance(given, _PLAIN) else f"of type {type(given).__name__}"
    fail(
        MismatchError,
        "WrongKind",
        f"The argument {name} is {found}; give {words}.",
        argument=name,
        expected=words,
        found=found,
    )
