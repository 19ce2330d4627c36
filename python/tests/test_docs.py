"""Every example in a docstring is executed, and every algorithm names its sources."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import ringmill

MODULES = sorted(
    m.name for m in pkgutil.walk_packages(ringmill.__path__, "ringmill.") if "__main__" not in m.name
)

PAGES = sorted(Path(__file__).parents[2].glob("docs/algorithms/*.md"))


@pytest.mark.parametrize("name", ["ringmill", *MODULES])
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.parametrize("page", [p for p in PAGES if p.stem != "index"], ids=lambda page: page.stem)
def test_every_algorithm_names_its_sources(page: Path) -> None:
    _, *sources = re.split(r"\*\*Sources\.\*\*|^## Sources$", page.read_text(), flags=re.MULTILINE)
    assert len(sources) == 1
    assert re.search(r"[A-Z][a-z]+.*\b(19|20)\d\d\b", sources[0].strip().split("\n\n")[0], re.DOTALL)
