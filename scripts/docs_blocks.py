"""MkDocs hook: pages from elsewhere in the repository, and sources that pages link to, join the guide.

A text beside its subject is shown, not copied: the READMEs of the hardware blocks and of the crates, the
course, CONTRIBUTING, SECURITY and CHANGELOG. In the guide every file keeps its place, except that the folder
``docs`` is the root. A link to a source file leads to a page ``source/PATH`` that shows the file.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
#: Pages outside docs/.
OUTSIDE = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/README.md", "rtl/README.md")
#: More of them, which no menu lists: a page links there.
GLOBS = ("rtl/*/README.md", "crates/*/README.md")
_LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]+)(#[^)\s]*)?(\))")


def outside() -> list[str]:
    """Return the pages outside docs/, by their paths in the repository."""
    return [
        *OUTSIDE,
        *(path.relative_to(ROOT).as_posix() for glob in GLOBS for path in sorted(ROOT.glob(glob))),
    ]


def place(path: str) -> str:
    """Return where a file of the repository stands in the guide."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path if path in _PAGES else f"source/{path}.md"


def target(page: str, link: str) -> str | None:
    """Return the path in the repository that a link of a page leads to; none for an address elsewhere."""
    if re.match(r"[a-z]+:", link):
        return None
    return os.path.normpath(PurePosixPath(page).parent / link)


def rewritten(page: str, markdown: str) -> str:
    """Return a page of the repository with its links made those of the guide."""

    def link(match: re.Match[str]) -> str:
        head, address, anchor, tail = match.groups()
        path = target(page, address)
        if path is None or not (ROOT / path).is_file():
            return match[0]
        return f"{head}{os.path.relpath(place(path), PurePosixPath(place(page)).parent)}{anchor or ''}{tail}"

    return _LINK.sub(link, markdown)


def sources() -> set[str]:
    """Return the files outside docs/ that pages link to and that are no pages themselves."""
    found = set()
    for page in [*(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")), *_PAGES]:
        for match in _LINK.finditer((ROOT / page).read_text(encoding="utf-8")):
            path = target(page, match[2])
            if path and (ROOT / path).is_file() and place(path).startswith("source/"):
                found.add(path)
    return found


_PAGES = outside()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/, the course, and the sources that are linked to."""
    for path in _PAGES:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    for path in sorted(sources()):
        text = (ROOT / path).read_text(encoding="utf-8")
        body = "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())
        files.append(File.generated(config, place(path), content=f"# {path}\n\n{body}"))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links of the repository those of the guide."""
    inside = page.file.src_uri
    if inside.startswith("source/"):
        return markdown
    return rewritten(inside if inside in _PAGES else f"docs/{inside}", markdown)
