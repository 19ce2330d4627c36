"""What may be a kernel: functions, methods, partial functions, objects that are called."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


def code_of(function: Any) -> types.CodeType | None:
    """The code behind a function, a method, a partial one or an object that is called; ``None`` of others."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type) or not callable(function):
        return None
    found = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return found if isinstance(found, types.CodeType) else None


def named(function: Any) -> Callable[..., Any]:
    """The function, under its name; partial ones and objects that are called have none of their own."""
    if hasattr(function, "__name__"):
        return function  # type: ignore[no-any-return]
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func

    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    called.__name__ = getattr(inner, "__name__", type(inner).__name__)
    called.__doc__ = inner.__doc__
    called.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return called


def with_arguments(function: Callable[..., Any], name: str, arguments: Iterable[str]) -> Callable[..., Any]:
    """Give a function of ``**arguments`` a name and the names of its arguments, as a kernel reads them."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature([inspect.Parameter(each, keyword) for each in arguments])
    function.__name__ = name
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def of_numbers(given: Any) -> bool:
    """Whether a list is one of numbers, or of such lists: others are weights of several layers."""
    if not isinstance(given, (list, tuple)):
        return isinstance(given, (int, float, complex, np.number)) or not isinstance(
            given, (np.ndarray, dict)
        )
    return len(given) > 0 and all(of_numbers(each) for each in given)
