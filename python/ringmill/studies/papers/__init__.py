"""Published designs beside ours: a folder a paper.

A folder's module has the value ``PAPER`` (`paper.Paper`). By that it appears in ``ringmill compare``, in
``--json``, in the report of the main job and in the table of ``docs/papers/index.md``; no list names it.
"""

from __future__ import annotations

import importlib
import pkgutil

from ringmill.errors import CommandError, fail
from ringmill.studies.papers.paper import Paper


def papers() -> dict[str, Paper]:
    """Return every paper by the name that ``ringmill compare`` takes, in alphabetical order."""
    folders = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    found = (importlib.import_module(f"{__name__}.{folder}").PAPER for folder in folders)
    return {paper.name: paper for paper in found}


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


def page() -> str:
    """Return the table of ``docs/papers/index.md``."""
    lines = ["| command | paper | subject |", "|---|---|---|"]
    for known in papers().values():
        lines.append(
            f"| [`ringmill compare {known.name}`]({known.page}) | {known.reference} | {known.subject} |"
        )
    return "\n".join(lines) + "\n"
