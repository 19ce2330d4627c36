"""Documents: examples run, links lead somewhere, pages name their sources and say what they are for."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ringmill

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    m.name for m in pkgutil.walk_packages(ringmill.__path__, "ringmill.") if "__main__" not in m.name
)

PAGES = sorted(ROOT.glob("docs/algorithms/*.md"))
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "rtl/**/*.md", "crates/*/README.md", "examples/*.md")
    for path in ROOT.glob(pattern)
)

_LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")


def links(page: Path) -> list[tuple[Path, str]]:
    """The files, with their anchors, that a page links to by relative addresses."""
    # Code is no link, but it may be the text of one.
    text = _CODE.sub("code", _BLOCK.sub("", page.read_text(encoding="utf-8")))
    found = []
    for address in _LINK.findall(text):
        if not re.match(r"[a-z]+:", address):
            path, _, anchor = address.partition("#")
            found.append(((page.parent / path).resolve() if path else page, anchor))
    return found


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


@pytest.mark.parametrize("name", ["ringmill", *MODULES])
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.parametrize("page", [p for p in PAGES if p.stem != "index"], ids=lambda page: page.stem)
def test_every_algorithm_names_its_sources(page: Path) -> None:
    _, *sources = re.split(r"\*\*Sources\.\*\*|^## Sources$", page.read_text(), flags=re.MULTILINE)
    assert len(sources) == 1
    assert re.search(r"[A-Z][a-z]+.*\b(19|20)\d\d\b", sources[0].strip().split("\n\n")[0], re.DOTALL)


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for path, anchor in links(page):
        assert path.exists(), f"{page}: {path}"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{page}: {path}#{anchor}"


def distance(start: Path, end: Path) -> int:
    """How many links lead from one file to another."""
    reached, steps = {start.resolve()}, 0
    while end.resolve() not in reached:
        new = {path for page in reached if page.suffix == ".md" for path, _ in links(page)} - reached
        if not new:
            pytest.fail(f"no links lead from {start} to {end}")
        reached, steps = reached | new, steps + 1
    return steps


@pytest.mark.parametrize(
    ("path", "holds"),
    [
        ("crates/program/src/lower/residues.rs", "pub fn divide"),  # ModDown
        ("rtl/ntt/src/rm_ntt_unit.sv", "module rm_ntt_unit"),  # the transform of the compact core
        ("docs/how-to/add-a-paper.md", "# Add a paper"),
    ],
)
def test_three_links_from_the_readme(path: str, holds: str) -> None:
    assert holds in (ROOT / path).read_text(encoding="utf-8")
    assert distance(ROOT / "README.md", ROOT / path) <= 3


def test_a_page_opens_with_what_its_reader_can_do_after_it() -> None:
    printed = {"limb-program.md", "registers.md", "area.md"}
    pages = [
        path
        for path in ROOT.glob("docs/**/*.md")
        if path.parent.name not in ("decisions", "notes") and path.name not in printed | {"index.md"}
    ]
    assert len(pages) > 40
    for page in pages:
        opening = page.read_text(encoding="utf-8").split("\n\n")[1:3]
        assert any(part.startswith("After this page ") for part in opening), page


#: A path of the repository as code, perhaps with a test or function in it.
NAMED = re.compile(r"`((?:benches|crates|docs|examples|python|requirements|rtl|scripts)/[\w./-]+)(?:::\w+)?`")


def test_files_that_pages_name_are_there() -> None:
    found = 0
    for page in DOCUMENTS:
        # Changelog and notes name files of their time; a how-to names files that its reader makes.
        if page.name != "CHANGELOG.md" and "notes" not in page.parts:
            for name in NAMED.findall(page.read_text(encoding="utf-8")):
                found += 1
                assert (ROOT / name).exists() or "NAME" in name, (page, name)
    assert found > 200


def test_what_was_tried_is_in_the_notes() -> None:
    """A page says how something works; a note, with its date, says what was tried."""
    for page in ROOT.glob("docs/**/*.md"):
        if "notes" not in page.parts:
            assert not re.search(r"\*(?:Not )?[Tt]ried", page.read_text(encoding="utf-8")), page


def test_pages_and_notes_link_to_each_other() -> None:
    for note in ROOT.glob("docs/notes/*.md"):
        if note.name != "index.md":
            there = [path for path, _ in links(note) if path.suffix == ".md" and "notes" not in path.parts]
            assert any(note.resolve() in {back for back, _ in links(page)} for page in there), note


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:")[1]
    for page in ROOT.glob("docs/**/*.md"):
        assert re.search(rf"\s{re.escape(page.relative_to(ROOT / 'docs').as_posix())}\n", menu), page


def test_pages_printed_from_the_package_are_what_it_gives() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "reference.py")]
    if "RINGMILL_BLESS" not in os.environ:
        command.append("--check")
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
