"""The figures that papers print: ``figures.toml`` in each paper's folder."""

from __future__ import annotations

import sys
from importlib import resources
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_figures(package: str) -> dict[str, Any]:
    """Return the figures of the paper whose folder is the package ``package``."""
    return tomllib.loads(resources.files(package).joinpath("figures.toml").read_text(encoding="utf-8"))
