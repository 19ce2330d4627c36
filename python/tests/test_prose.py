"""The prose linter finds words and long sentences in prose, and in prose alone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path, PurePath

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import prose  # noqa: E402

RULES = prose.tomllib.loads(prose.RULES.read_text(encoding="utf-8"))
LINTER = prose.Linter(RULES)


def faults(text: str, kind: str = "markdown", path: str = "page.md") -> list[tuple[int, str]]:
    """Line and message of each fault of a text."""
    return [(fault.line, fault.message) for fault in LINTER.faults(path, text, kind)]


@pytest.mark.parametrize(
    "word",
    ["whoever", "so many", "for ever", "that is none", "who lives", "the Rust face", "wishes", "the house"],
)
def test_words_are_found_where_they_stand(word: str) -> None:
    text = f"# Title\n\nOne line.\nThen {word} stands here.\n"
    assert [line for line, _ in faults(text)] == [4]
    assert faults(f"# Title\n\n- an item\n\n| a | b |\n|---|---|\n| c | {word} |\n")[0][0] == 7
    assert not faults(f"# Title\n\n    {word}\n\n```\n{word}\n```\n\nThe name `{word}` is code.\n")


def test_every_entry_of_the_list_has_words_and_advice() -> None:
    for entry in RULES["word"]:
        assert entry["advice"]
        assert all(re.compile(word) for word in entry["words"])


@pytest.mark.parametrize("count", [LINTER.longest, LINTER.longest + 1])
def test_a_sentence_has_a_greatest_number_of_words(count: int) -> None:
    sentence = " ".join(["word"] * (count - 1)) + " end."
    text = f"A short one. {sentence}\nAnother one, e.g. this.\n"
    assert len(faults(text)) == (count > LINTER.longest)
    assert not faults(f"| a |\n|---|\n| {sentence} |\n")


def test_a_sentence_over_several_lines_is_one_and_abbreviations_do_not_end_it() -> None:
    half = " ".join(["word"] * 18)
    ((line, message),) = faults(f"First.\n\n{half}, by X et al. and\n{half}.\n")
    assert line == 3
    assert message.startswith("40 words")


def test_comments_and_strings_are_read_when_a_scope_says_so() -> None:
    code = '// Whoever reads this.\nlet whoever = "whoever calls";\n\n/// fine\nfn f() {}\n'
    assert [line for line, _ in faults(code, "comments", "a.rs")] == [1]
    assert [line for line, _ in faults(code, "strings", "a.rs")] == [2]
    assert [line for line, _ in faults('x = 1  # whoever\ny = "#"\n', "comments", "a.py")] == [1]
    with pytest.raises(ValueError, match="one of markdown, markup, comments, docstrings, strings"):
        faults(code, "sources", "a.rs")


def test_docstrings_are_read_without_their_code() -> None:
    code = (
        'def f(x):\n    """Return x.\n\n    >>> told(x)\n\n        told = x\n\n    It tells all.\n    """\n'
    )
    assert [line for line, _ in faults(code, "docstrings", "a.py")] == [8]
    assert not faults(code, "comments", "a.py")
    assert not faults(code, "strings", "a.py")
    # A name that is a string is no prose; a message is.
    assert not faults('KEY = "wishes"\n', "strings", "a.py")
    assert faults('fail("no wishes left")\n', "strings", "a.py")
    assert faults('"it has no room" if x else ""\n', "strings", "a.py")


def test_entries_of_sections_are_read() -> None:
    code = (
        'def f(x, y):\n    """Return x.\n\n    Args:\n        x: told.\n        y: one\n            wish.\n\n'
        '    Raises\n    ------\n        Error: no room.\n\n    It ends:\n\n        told = x\n    """\n'
    )
    assert [line for line, _ in faults(code, "docstrings", "a.py")] == [5, 7, 11]


def test_code_in_comments_of_rust_is_not_read() -> None:
    fenced = "/// Adds.\n///\n/// ```\n/// let room = 1;\n/// ```\n/// No room.\nfn f() {}\n"
    assert [line for line, _ in faults(fenced, "comments", "a.rs")] == [6]
    # A comment is not a string, nor a string a comment; a comment behind code stands alone.
    lines = 'let a = "http://so many";\nlet b = 1; // told\n// a "room" here\nlet c = r#"so "many" told"#;\n'
    assert [line for line, _ in faults(lines, "comments", "a.rs")] == [2, 3]
    assert [line for line, _ in faults(lines, "strings", "a.rs")] == [1, 4]


def test_fields_of_format_strings_are_code() -> None:
    assert not faults('let a = "{room} of {room:?} bits";\n', "strings", "a.rs")
    assert faults('let a = "{least} bits of room";\n', "strings", "a.rs")


def test_text_of_templates_is_read_without_tags_and_fields() -> None:
    page = (
        '<style>.room { }</style>\n<p class="room">{{ told }} rows\n{% if wish %}<b>told</b>\n'
        "<script>\nlet room = 1\n</script>\n<!-- room --><i>whoever</i></p>\n"
    )
    assert [line for line, _ in faults(page, "markup", "a.html")] == [3, 7]


def test_columns_of_headers_and_symbols_are_no_sentence() -> None:
    words = " ".join(["word"] * 25)
    assert not faults(f"// Equation     {words}\n// Timing       {words}\n", "comments", "a.sv")
    assert faults(f"// Equation     {words}\n//              {words}\n", "comments", "a.sv")
    symbols = " ".join(["q_0"] * 50)
    assert not faults(f"// {symbols} is small.\n", "comments", "a.sv")


def test_a_scope_takes_its_files_but_not_its_exceptions() -> None:
    assert LINTER.scope_of(PurePath("docs/algorithms/ntt.md"))
    assert LINTER.scope_of(PurePath("docs/limb-program.md")) is None
    for source in (
        "crates/ring/src/lib.rs",
        "benches/run.py",
        "examples/01_hello.py",
        "python/ringmill/keys.py",
        "rtl/core/test/core.cpp",
    ):
        scope = LINTER.scope_of(PurePath(source))
        assert scope
        assert scope["kinds"] == ["comments", "docstrings", "strings"]
    # Strings of tests are data.
    tests = LINTER.scope_of(PurePath("python/tests/test_prose.py"))
    assert tests
    assert tests["kinds"] == ["comments", "docstrings"]
    assert LINTER.scope_of(PurePath("rtl/core/src/rm_core_engine.sv")) is None


def test_the_command_names_file_and_line(tmp_path: Path) -> None:
    def run(*files: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "scripts" / "prose.py"), *files]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)

    assert run("README.md").returncode == 0
    page = ROOT / "build" / "prose-test.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text("Whoever reads.\n", encoding="utf-8")
    try:
        refused = run(str(page))
    finally:
        page.unlink()
    assert refused.returncode == 1
    assert refused.stdout == "build/prose-test.md:1: 'Whoever': name the reader or caller\n"
