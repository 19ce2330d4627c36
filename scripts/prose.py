#!/usr/bin/env python3
"""Lints the prose of the repository: words that stay out, and sentences that are too long.

The words are in ``scripts/prose.toml``. Its ``[[scope]]`` tables say which files are read, and which part of
them: ``markdown`` (text without code), ``comments`` (of Rust, C++, SystemVerilog, Python and TOML) or
``strings``. The engine and some checks of its own come from proselint.

    prose.py            every scope
    prose.py FILE…      these files, each with the first scope that has it
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from proselint import checks as own_checks
from proselint.registry.checks import Check, Padding, types
from proselint.registry.checks.engine import Fast, RegexOptions

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "scripts" / "prose.toml"

_MARKDOWN = MarkdownIt("commonmark").enable("table")
#: Ends of sentences, but not those of common abbreviations.
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bal)(?<!\bvs)(?<!\bFig)(?<!\bEq)(?<!\bNo)[.!?][)\"']*\s+(?=\S)"
)
_COMMENT = {
    **dict.fromkeys((".rs", ".sv", ".svh", ".h", ".cpp", ".c"), re.compile(r"//[/!]?\s?(.*)")),
    **dict.fromkeys((".py", ".toml", ".sh"), re.compile(r"(?:^|\s)#\s?(.*)")),
}
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


class Piece(NamedTuple):
    """A paragraph, a heading, a cell, a comment or a string, with the line of each of its characters."""

    text: str
    line: int
    #: Sentences of tables and strings may be long.
    sentences: bool

    def line_of(self, offset: int) -> int:
        """Return the line of a place in the text."""
        return self.line + self.text.count("\n", 0, offset)


class Fault(NamedTuple):
    """What is wrong in a file, and where."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def _flat(token: Token) -> str:
    """The text of an inline token: code as one word, line breaks kept."""
    out = []
    for child in token.children or ():
        if child.type in ("text", "text_special"):
            out.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            out.append("\n")
        elif child.type == "code_inline":
            out.append("¤")
        elif child.type == "image":
            out.append(child.content)
    return "".join(out)


def _markdown(text: str) -> Iterator[Piece]:
    line, table = 0, False
    for token in _MARKDOWN.parse(text):
        if token.map:
            line = token.map[0] + 1
        if token.type in ("table_open", "table_close"):
            table = token.type == "table_open"
        elif token.type == "inline":
            yield Piece(_flat(token), line, not table)


def _comments(text: str, suffix: str) -> Iterator[Piece]:
    """Neighbouring comment lines as one piece; an empty one, or an item of a list, begins another."""
    pattern = _COMMENT[suffix]
    lines: list[str] = []
    first = 0
    for number, raw in enumerate([*text.splitlines(), ""], 1):
        found = pattern.search(raw)
        body = found[1].strip() if found else ""
        if lines and (not body or body.startswith(("- ", "* ", "|", "#"))):
            yield Piece("\n".join(lines), first, not lines[0].startswith("|"))
            lines = []
        if body:
            first = first if lines else number
            lines.append(re.sub(r"`[^`]*`", "¤", body))


def _strings(text: str) -> Iterator[Piece]:
    for number, raw in enumerate(text.splitlines(), 1):
        for found in _STRING.finditer(raw):
            yield Piece(found[1], number, sentences=False)


def pieces(kind: str, text: str, suffix: str) -> Iterator[Piece]:
    """Return the parts of a file that are prose."""
    if kind == "markdown":
        return _markdown(text)
    if kind == "comments":
        return _comments(text, suffix)
    if kind == "strings":
        return _strings(text)
    raise ValueError(f"scripts/prose.toml: kind {kind!r}; one of markdown, comments, strings")


class Linter:
    """The checks of ``scripts/prose.toml``."""

    def __init__(self, rules: dict[str, Any]) -> None:
        self.scopes: list[dict[str, Any]] = rules["scope"]
        self.longest: int = rules["sentence"]["longest"]
        own = tuple(rules["proselint"]["checks"])
        engine = Fast(opts=RegexOptions(case_insensitive=True))
        self.checks = [
            Check(
                check_type=types.Existence(items=tuple(entry["words"]), padding=Padding.WORDS_IN_TEXT),
                engine=engine,
                path="ringmill.words",
                message=f"'{{}}': {entry['advice']}",
            )
            for entry in rules["word"]
        ] + [check for check in own_checks.__register__ if any(check.matches_partial(path) for path in own)]

    def scope_of(self, path: PurePath) -> dict[str, Any] | None:
        """Return the first scope that a file belongs to."""
        for scope in self.scopes:
            if any(path.match(glob) for glob in scope["files"]) and not any(
                path.match(glob) for glob in scope.get("except", ())
            ):
                return scope
        return None

    def faults(self, path: str, text: str, kind: str) -> Iterator[Fault]:
        """Return the faults of one file."""
        for piece in pieces(kind, text, PurePath(path).suffix):
            padded = f" {piece.text} ".replace("\n", " ")
            for check in self.checks:
                for result in check.check_with_flags(padded):
                    yield Fault(path, piece.line_of(result.span[0]), result.message)
            if piece.sentences:
                yield from self._long(path, piece)

    def _long(self, path: str, piece: Piece) -> Iterator[Fault]:
        start = 0
        for end in [*(found.end() for found in _END.finditer(piece.text)), len(piece.text)]:
            sentence = piece.text[start:end].split()
            if len(sentence) > self.longest:
                yield Fault(
                    path,
                    piece.line_of(start),
                    f"{len(sentence)} words in one sentence, at most {self.longest}: "
                    f"{' '.join(sentence[:8])} …",
                )
            start = end


def tracked() -> list[PurePath]:
    """Return the files that git tracks."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout
    return [PurePath(name) for name in names.split("\0") if name and (ROOT / name).is_file()]


def main(arguments: list[str]) -> int:
    """Print every fault; the number of them decides the exit status."""
    linter = Linter(tomllib.loads(RULES.read_text(encoding="utf-8")))
    paths = [PurePath(Path(name).resolve().relative_to(ROOT)) for name in arguments] or tracked()
    found, read = [], 0
    for path in paths:
        if scope := linter.scope_of(path):
            read += 1
            text = (ROOT / path).read_text(encoding="utf-8")
            found.extend(sorted(linter.faults(path.as_posix(), text, scope["kind"]), key=lambda f: f.line))
    print("\n".join(map(str, found)) if found else f"{read} files: plain words, no sentence too long")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
