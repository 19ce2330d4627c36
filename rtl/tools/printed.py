"""Files of the repository that are made from others: each word writes some, and lint compares them."""

from __future__ import annotations

from rtl.tools import area, isa, package, page
from rtl.tools.block import ROOT

#: What each word makes: files and what they hold.
WORDS = {"package": package.files, "area": area.files, "page": page.files, "isa": isa.files}


def write(word: str) -> int:
    """Write the files of a word; return 0."""
    for path, text in WORDS[word]().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
    return 0


def stale() -> list[str]:
    """Return a finding for each tracked file that is not what its word would write."""
    return [
        f"{path.relative_to(ROOT)} is stale: run `python -m rtl.tools {word}`"
        for word, files in WORDS.items()
        for path, text in files().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
