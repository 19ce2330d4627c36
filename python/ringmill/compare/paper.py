"""The figures that papers print: a data file each, beside the module that compares."""

from __future__ import annotations

import sys
from importlib import resources
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def paper(name: str) -> dict[str, Any]:
    """Return the figures of ``NAME.toml``."""
    return tomllib.loads(resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
