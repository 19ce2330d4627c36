"""The frame of papers: one folder brings a paper to the command, to JSON, to the report and to the docs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_results import sample_results

from ringmill import cli
from ringmill.studies import papers as frame
from ringmill.studies.demo import report
from ringmill.studies.papers.figures import read_figures

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
    assert "there are abacus, casa, coxhe, taiyi-parameters" in capsys.readouterr().err
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


def test_the_library_does_not_import_its_evidence() -> None:
    package = ROOT / "python" / "ringmill"
    for path in package.rglob("*.py"):
        inside = path.relative_to(package).parts[0]
        if inside not in ("studies", "cli"):
            assert "ringmill.studies" not in path.read_text(encoding="utf-8"), path
