"""Published designs beside ours: a folder a paper.

A folder's module has the value ``PAPER`` (`paper.Paper`). By that it appears in ``ringmill compare``, in
``--json``, in the report of the main job and in the table of ``docs/papers/index.md``; no list names it.
"""

from __future__ import annotations

import importlib
import pkgutil

from ringmill.errors import CommandError, fail
from ringmill.studies.papers import traceability
from ringmill.studies.papers.paper import Paper


def folders() -> dict[str, str]:
    """Return the package of every paper by the name that ``ringmill compare`` takes, in order."""
    found = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    packages = [f"{__name__}.{folder}" for folder in found]
    return {importlib.import_module(package).PAPER.name: package for package in packages}


def papers() -> dict[str, Paper]:
    """Return every paper by its name, in the same order."""
    return {name: importlib.import_module(package).PAPER for name, package in folders().items()}


def paper(name: str) -> Paper:
    """Return one paper.

    Raises
    ------
        CommandError: no paper has this name; the message lists those that exist.
    """
    known = papers()
    if name not in known:
        fail(
            CommandError,
            "NoPaper",
            f"There is no comparison with {name!r}; there are {', '.join(known)}.",
            paper=name,
        )
    return known[name]


def items(name: str) -> list[traceability.Item]:
    """Return what became of each item of a paper.

    Raises
    ------
        CommandError: no paper has this name, or its folder does not say.
    """
    return traceability.read_items(folders()[paper(name).name])


def page() -> str:
    """Return the table of ``docs/papers/index.md``."""
    lines = ["| command | paper | subject |", "|---|---|---|"]
    for known in papers().values():
        lines.append(
            f"| [`ringmill compare {known.name}`]({known.page}) | {known.reference} | {known.subject} |"
        )
    return "\n".join(lines) + "\n"
