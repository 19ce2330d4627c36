"""MkDocs hook: the README of every block of the compact core becomes a page of the guide.

The contract of a block stands beside its sources, in ``rtl/BLOCK/README.md``; the guide shows that text, not
a copy. Pages keep their places relative to each other; only links between ``rtl`` and ``docs`` lose the
folder ``docs``, which is the root of the guide.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add ``rtl/README.md`` and one page a block."""
    for source in [ROOT / "rtl" / "README.md", *sorted(ROOT.glob("rtl/*/README.md"))]:
        place = source.relative_to(ROOT).as_posix()
        files.append(File.generated(config, place, abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links across the border between ``rtl`` and ``docs`` those of the guide."""
    inside = page.file.src_uri
    if inside.startswith("rtl/"):
        up = "../" * inside.count("/")
        return markdown.replace(f"]({up}docs/", f"]({up}")
    return markdown.replace("](../rtl/", "](rtl/")
