"""The figures that papers print: ``figures.toml`` in each paper's folder."""

from __future__ import annotations

import sys
from importlib import resources
from typing import Any

from ringmill.errors import CommandError, fail

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_figures(package: str) -> dict[str, Any]:
    """Return the figures of the paper whose folder is the package ``package``.

    Raises
    ------
        CommandError: the folder has no ``figures.toml``.
    """
    file = resources.files(package).joinpath("figures.toml")
    if not file.is_file():
        fail(
            CommandError,
            "NoFigures",
            f"The folder {package} has no figures.toml, so there is nothing to compare with. "
            "docs/how-to/add-a-paper.md says what it holds.",
            package=package,
        )
    return tomllib.loads(file.read_text(encoding="utf-8"))
