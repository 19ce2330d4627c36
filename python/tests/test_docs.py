"""Every example in a docstring is executed."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import ringmill

MODULES = sorted(
    m.name for m in pkgutil.walk_packages(ringmill.__path__, "ringmill.") if "__main__" not in m.name
)


@pytest.mark.parametrize("name", ["ringmill", *MODULES])
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
