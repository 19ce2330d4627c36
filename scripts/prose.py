#!/usr/bin/env python3
"""Lints the prose of the repository: words that stay out, and sentences that are too long.

The words are in ``scripts/prose.toml``. Its ``[[scope]]`` tables say which files are read, and which parts:

- ``markdown``: text without code.
- ``markup``: text of HTML templates.
- ``comments``: of Rust, C++, SystemVerilog, JavaScript, Python, TOML, YAML and shell.
- ``docstrings``: of Python.
- ``strings``: those with a space in them.

The engine and some checks of its own come from proselint.

    prose.py            every scope
    prose.py FILE…      these files, each with the first scope that has it
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatch
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

KINDS = ("markdown", "markup", "comments", "docstrings", "strings")

_MARKDOWN = MarkdownIt("commonmark").enable("table")
#: Ends of sentences, but not those of common abbreviations.
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bal)(?<!\bvs)(?<!\bFig)(?<!\bEq)(?<!\bNo)[.!?][)\"']*\s+(?=\S)"
)
#: A comment or a string of Rust, C++ or SystemVerilog: whichever begins first.
_C_TOKEN = re.compile(
    r"""//[/!]?(?P<comment>[^\n]*)
      | \bb?r(?P<hashes>\#+)"(?P<raw>.*?)"(?P=hashes)
      | "(?P<string>(?:[^"\\]|\\.)*)"
      | '(?:[^'\\\n]|\\[^\n]{1,10}?)'
    """,
    re.DOTALL | re.VERBOSE,
)
_HASH_TOKEN = re.compile(
    r"""(?:^|\s)\#(?P<comment>[^\n]*)|"(?P<string>(?:[^"\\\n]|\\.)*)\"""", re.MULTILINE | re.VERBOSE
)
_CODE = re.compile(r"``[^`]+``|`[^`]*`")
#: A named field of a format string.
_FIELD = re.compile(r"\{\w*(?::[^{}\s]*)?\}")
#: What begins a paragraph: an item of a list, a row, a heading, the head of a column in an RTL header.
_ITEM = re.compile(r"[-*|#]|\d+\. |[A-Z\w][\w ]*?(?:  |\t)")
#: Parts of a template that nobody reads.
_HIDDEN = re.compile(r"<(style|script)\b.*?</\1>|<!--.*?-->|\{#.*?#\}", re.DOTALL)
#: The head of a section of a docstring.
_SECTION = re.compile(r"(?:Args|Attributes|Raises|Returns|Yields):?")
#: Symbols, numbers and names of one letter are no words.
_WORD = re.compile(r"[^\W\d_]{2,}|¤")


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


def _markup(text: str) -> Iterator[Piece]:
    """The text between the tags of a template, with fields as one word."""
    plain = _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    plain = re.sub(r"\{\{.*?\}\}", "¤", plain)
    for number, raw in enumerate(re.sub(r"\{%.*?%\}|<[^<>\n]*>", "\r", plain).split("\n"), 1):
        for part in raw.split("\r"):
            if part.strip():
                yield Piece(part.strip(), number, sentences=False)


def _paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[Piece]:
    """Neighbouring lines as one piece. An empty line, a gap, an item of a list or a fence begins another."""
    held: list[str] = []
    first, fenced = 0, False
    for number, raw in [*lines, (0, "")]:
        body = raw.strip()
        fence = body.startswith("```")
        ends = not body or fence or fenced or _ITEM.match(body) or number != first + len(held)
        if held and ends:
            yield Piece(_CODE.sub("¤", "\n".join(held)), first, not held[0].startswith("|"))
            held = []
        fenced ^= fence
        if body and not fence and not fenced:
            first = first if held else number
            held.append(body)


def _tokens(text: str, suffix: str) -> Iterator[tuple[str, int, bool, str]]:
    """Kind, line, whether code stands before it on the line, and the text of each comment and string."""
    if suffix == ".py":
        yield from _python_tokens(text)
        return
    pattern = _HASH_TOKEN if suffix in (".toml", ".sh", ".yml") else _C_TOKEN
    line, at = 1, 0
    for found in pattern.finditer(text):
        line, at = line + text.count("\n", at, found.start()), found.start()
        before = text[text.rfind("\n", 0, at) + 1 : at]
        for kind, group in (("comments", "comment"), ("strings", "string"), ("strings", "raw")):
            if group in pattern.groupindex and found[group] is not None:
                skipped = found[0][:1] == "\n"
                yield kind, line + skipped, bool(before.strip()) and not skipped, found[group]


def _python_tokens(text: str) -> Iterator[tuple[str, int, bool, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            before = token.line[: token.start[1]]
            yield "comments", token.start[0], bool(before.strip()), token.string.lstrip("#:!")
    tree = ast.parse(text)
    docstrings = {id(node): node for node in _docstrings(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            kind = "docstrings" if id(node) in docstrings else "strings"
            yield kind, node.lineno, False, node.value


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The string that opens a module, class or function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def _docstring(line: int, text: str) -> Iterator[Piece]:
    """The paragraphs of a docstring, and the entries of sections such as ``Args:``; no indented code."""
    kept: list[tuple[int, str]] = []
    section = False
    for index, raw in enumerate(inspect.cleandoc(text).splitlines(), line):
        if raw and not raw.startswith(" "):
            section = bool(_SECTION.fullmatch(raw)) or (section and raw.startswith("---"))
        indented = raw.startswith("    ")
        if section and indented and not raw.startswith("     "):
            kept.append((index, ""))
        is_code = (indented and not section) or raw.lstrip().startswith(">>>")
        kept.append((index, "" if is_code else raw))
    yield from _paragraphs(kept)


def _source(kinds: Collection[str], text: str, suffix: str) -> Iterator[Piece]:
    comments: list[tuple[int, str]] = []
    for kind, line, trails, body in _tokens(text, suffix):
        if kind not in kinds:
            continue
        if kind == "comments":
            # A comment behind code stands alone.
            comments.extend([(line, body)] if not trails else [(line, ""), (line, body), (line, "")])
        elif kind == "docstrings":
            yield from _docstring(line, body)
        elif " " in body.strip():
            yield Piece(_FIELD.sub("¤", _CODE.sub("¤", body)), line, sentences=False)
    yield from _paragraphs(comments)


def pieces(kinds: Collection[str], text: str, suffix: str) -> Iterator[Piece]:
    """Return the parts of a file that are prose."""
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"scripts/prose.toml: kind {kind!r}; one of {', '.join(KINDS)}")
    if "markdown" in kinds:
        return _markdown(text)
    return _markup(text) if "markup" in kinds else _source(kinds, text, suffix)


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
            if any(fnmatch(path.as_posix(), glob) for glob in scope["files"]) and not any(
                fnmatch(path.as_posix(), glob) for glob in scope.get("except", ())
            ):
                return scope
        return None

    def faults(self, path: str, text: str, *kinds: str) -> Iterator[Fault]:
        """Return the faults of one file."""
        for piece in pieces(kinds, text, PurePath(path).suffix):
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
            count = sum(bool(_WORD.search(token)) for token in sentence)
            if count > self.longest:
                yield Fault(
                    path,
                    piece.line_of(start),
                    f"{count} words in one sentence, at most {self.longest}: {' '.join(sentence[:8])} …",
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
            found.extend(sorted(linter.faults(path.as_posix(), text, *scope["kinds"]), key=lambda f: f.line))
    print("\n".join(map(str, found)) if found else f"{read} files: plain words, no sentence too long")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
