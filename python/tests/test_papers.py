"""The frame of papers: one folder brings a paper to the command, to JSON, to the report and to the docs."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_results import sample_results

from ringmill import cli
from ringmill.errors import CommandError
from ringmill.studies import papers as frame
from ringmill.studies.demo import report
from ringmill.studies.papers import traceability
from ringmill.studies.papers.casa import rows as casa
from ringmill.studies.papers.figures import read_figures
from ringmill.studies.papers.paper import Settings
from ringmill.studies.papers.traceability import Item

ROOT = Path(__file__).resolve().parents[2]

MODULE = """
from ringmill.studies.papers.figures import read_figures
from ringmill.studies.papers.paper import Paper
from ringmill.studies.papers.sheets import listed


def _facts(settings):
    printed = read_figures(__package__)["cycles"]
    row = {"table": 1, "paper": printed, "ours": 3 * settings.word_bits, "remarks": ["nobody built it"]}
    return {"rows": [row]}


PAPER = Paper(
    name="abacus",
    subject="beads on wires",
    reference="Anon: “Abacus”",
    page="abacus.md",
    heading="Beside the abacus",
    facts=_facts,
    sheets=lambda rows: [
        listed("Table 1: beads", rows, 1, {name: lambda r, n=name: str(r[n]) for name in ("paper", "ours")})
    ],
    introduction=lambda facts: f"{len(facts['rows'])} row of beads.",
    notes=lambda facts: ["Counted by hand."],
)
"""


@pytest.fixture
def _abacus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A paper more: a folder, and nothing else."""
    folder = tmp_path / "abacus"
    folder.mkdir()
    (folder / "__init__.py").write_text(MODULE, encoding="utf-8")
    (folder / "figures.toml").write_text("cycles = 41\n", encoding="utf-8")
    monkeypatch.setattr(frame, "__path__", [*frame.__path__, str(tmp_path)])
    # Another test's folder of this name.
    monkeypatch.delitem(sys.modules, f"{frame.__name__}.abacus", raising=False)


@pytest.mark.usefixtures("_abacus")
def test_a_folder_is_all_that_a_paper_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert "abacus" in frame.papers()
    assert cli.main(["compare", "abacus", "--json", "--word-bits", "36"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["paper"] == "abacus"
    assert facts["rows"] == [{"table": 1, "paper": 41, "ours": 108, "remarks": ["nobody built it"]}]
    assert cli.main(["compare", "abacus"]) == 0
    printed = capsys.readouterr().out
    for text in ("Table 1: beads", "41", "162", "nobody built it", "Counted by hand."):
        assert text in printed
    assert cli.main(["compare", "no-such-paper"]) == 1
    error = capsys.readouterr().err
    assert "there are abacus, casa, coxhe, duong-lee, nguyen, taiyi, taiyi-parameters" in error
    results = sample_results()
    results["papers"] = {"abacus": facts}
    page = report.render(results)
    for text in ("Beside the abacus", "1 row of beads.", "nobody built it", "Counted by hand."):
        assert text in page
    assert "| [`ringmill compare abacus`](abacus.md) | Anon: “Abacus” | beads on wires |" in frame.page()


def test_the_page_of_papers_has_the_table_that_is_printed() -> None:
    text = (ROOT / "docs" / "papers" / "index.md").read_text(encoding="utf-8")
    assert frame.page() in text, "run python scripts/reference.py"


@pytest.mark.parametrize("paper", frame.papers().values(), ids=lambda paper: paper.name)
def test_every_paper_has_its_page_and_its_figures(paper: frame.Paper) -> None:
    assert (ROOT / "docs" / "papers" / paper.page).is_file()
    assert read_figures(paper.facts.__module__.removesuffix(".measure"))
    assert paper.reference.count("“") == 1


#: Rows of each paper. What CASA's count takes a minute and says nothing of what the paper prints.
ROWS: dict[str, Callable[[], list[Any]]] = {
    "casa": lambda: casa.rows(lambda _: 1000, lambda *_: {"lut": 1, "ff": 1, "dsp": 1, "bram": 1}),
}


@pytest.mark.parametrize("name", frame.folders())
def test_every_printed_figure_has_a_row_or_a_reason(name: str) -> None:
    paper, package = frame.paper(name), frame.folders()[name]
    made = ROWS.get(name, lambda: paper.facts(Settings())["rows"])
    assert traceability.unanswered(frame.items(name), read_figures(package), made()) == []
    for item in frame.items(name):
        for path in item.figures:
            known = [at for at, _ in traceability.numbers(read_figures(package))]
            assert any(at == path or at.startswith(f"{path}.") for at in known), f"{path} is not printed"


def _exists(place: str) -> bool:
    """Whether a place of an item is there: a command, a target of make, a file, a name in a file."""
    if place.startswith("ringmill "):
        verb, *words = shlex.split(place)[1:]
        asked = cli._parser().parse_args([verb, *words])
        return verb != "compare" or asked.paper in frame.papers()
    if place.startswith("make "):
        return re.search(rf"^{place.split()[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE) is not None
    path, _, name = place.partition("::")
    path, _, anchor = path.partition("#")
    if not (ROOT / path).exists():
        return False
    if anchor:
        titles = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
        slugs = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles)
        return anchor in {re.sub(r"[\s-]+", "-", slug) for slug in slugs}
    return not name or re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8")) is not None


@pytest.mark.parametrize("name", frame.folders())
def test_every_place_that_an_item_names_is_there(name: str) -> None:
    items = frame.items(name)
    assert len({item.item for item in items}) == len(items) > 25
    for item in items:
        for place in item.see:
            assert _exists(place), f"{item.item}: {place}"
    page = (ROOT / "docs" / "papers" / frame.paper(name).page).read_text(encoding="utf-8")
    assert traceability.page(items) in page, "run python scripts/reference.py"


def test_a_place_that_is_not_there_is_found() -> None:
    for place in ("make nothing", "docs/none.md", "docs/area.md#no-heading", "Makefile::no_such_name"):
        assert not _exists(place)
    with pytest.raises(SystemExit):
        _exists("ringmill compare casa --no-such-option")


def test_a_figure_without_row_or_reason_is_reported() -> None:
    figures = {"a": {"b": [1, 2]}, "c": 3, "name": "x"}
    rows = [{"table": 1, "paper": {"deep": [{"b": 1}]}}, {"table": 2, "paper": {"b": 2}}]
    works = Item("Table 1", "works", see=("Makefile",), figures=("a",), table=(1,))
    assert traceability.unanswered([works], figures, rows) == [
        "a.b = 2: no row of [1] has it (Table 1).",
        "c = 3 is printed, and no item of traceability.toml has it.",
    ]
    reason = Item("Eq. 1", "not reproducible", "nothing is said", figures=("c",))
    both = Item("Table 1", "works", see=("Makefile",), figures=("a",), table=(1, 2))
    assert traceability.unanswered([both, reason], figures, rows) == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"status": "partly"}, "has the status 'partly'; there are works, differs, not reproducible"),
        ({"status": "works"}, "works, so `see` must say where"),
        ({"status": "differs", "see": ("x",)}, "is said to be 'differs', so `because` must say why"),
    ],
)
def test_an_item_without_place_or_reason_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(CommandError, match=re.escape(f"The item 'Table 9' of traceability.toml {said}.")):
        Item("Table 9", **fields)


def test_an_item_is_found_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "taiyi-parameters", "--item", "figure 15"]) == 0
    assert "not reproducible, because it counts what Eq. 9 saves" in capsys.readouterr().out
    assert cli.main(["compare", "casa", "--item", "Table 6", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["items"]
    assert [row["status"] for row in found] == ["works", "differs"]
    assert cli.main(["compare", "casa", "--item", "Table 77"]) == 1
    assert "No item of this paper has 'Table 77' in its name" in capsys.readouterr().err
    assert cli.main(["compare", "casa", "--item", "", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["items"]) == len(frame.items("casa"))


@pytest.mark.usefixtures("_abacus")
def test_a_paper_without_data_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compare", "abacus", "--item", "beads"]) == 1
    assert "abacus has no traceability.toml" in capsys.readouterr().err
    (tmp_path / "abacus" / "figures.toml").unlink()
    assert cli.main(["compare", "abacus"]) == 1
    error = capsys.readouterr().err
    assert "abacus has no figures.toml, so there is nothing to compare with" in error
    assert "docs/how-to/add-a-paper.md" in error


def test_the_library_does_not_import_its_evidence() -> None:
    package = ROOT / "python" / "ringmill"
    for path in package.rglob("*.py"):
        inside = path.relative_to(package).parts[0]
        if inside not in ("studies", "cli"):
            assert "ringmill.studies" not in path.read_text(encoding="utf-8"), path
