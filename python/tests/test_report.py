"""The report is a pure function of saved results, whole in itself, and drawn from the real program."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sample_results import sample_results

from ringmill.report.drawing import fold, program_svg, read
from ringmill.studies.demo.report import render, write

PLOTS = (
    "plot-probabilities",
    "plot-histogram",
    "plot-stages",
    "plot-wire",
    "plot-comparison",
    "plot-kernels",
    "plot-levels",
    "plot-spent",
    "program",
    "front",
    "chosen-core",
    "plot-chosen-occupancy",
    "plot-validated",
)


class _Page(HTMLParser):
    """Collects ids, fetched addresses, and the plots that hold an SVG."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.fetched: list[str] = []
        self.figures: dict[str, int] = {}
        self._figure = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "figure":
            self._figure = found.get("id") or ""
        if tag in ("path", "rect", "use") and self._figure:
            self.figures[self._figure] = self.figures.get(self._figure, 0) + 1
        for name in ("src", "href", "xlink:href"):
            target = found.get(name)
            if target and not target.startswith(("#", "data:")):
                self.fetched.append(target)

    def handle_endtag(self, tag: str) -> None:
        if tag == "figure":
            self._figure = ""


@pytest.fixture(scope="module")
def page() -> str:
    return render(sample_results())


def test_page_is_self_contained(page: str) -> None:
    parsed = _Page(page)
    assert parsed.fetched == []
    assert "@import" not in page
    assert "url(" not in re.sub(r"url\(#[\w.-]+\)", "", page)
    assert len(page) < 1_500_000


def test_large_workloads_are_there_with_what_predicts_them(page: str) -> None:
    for reported in ("bootstrapping", "ResNet-20, an image: 39 programs", "2,570", "88.9 s (shipped costs)"):
        assert f">{reported}</td>" in page, reported
    assert ">4.77 s</td>" in page


def test_every_plot_is_drawn(page: str) -> None:
    figures = _Page(page).figures
    for plot in PLOTS:
        assert figures.get(plot, 0) > 3, plot


def test_ids_are_unique(page: str) -> None:
    ids = _Page(page).ids
    assert len(ids) == len(set(ids))


def test_colours_follow_the_page(page: str) -> None:
    assert "#0102" not in page
    assert page.count("var(--teal)") > 10


def test_same_results_give_the_same_page(page: str) -> None:
    again = render(json.loads(json.dumps(sample_results())))
    assert again == page


def test_the_page_says_how_much_of_the_front_it_shows_and_by_which_plan() -> None:
    results = sample_results()
    text = render(results)
    assert "4 of 1,630 designs of the front, evenly chosen." in text
    assert "2 ms are those of a longer search, where the quick plan takes 2.25 ms." in text
    assert "latency (quick plan), ms" in text
    # Results of before say neither, and a whole front of one kind of plan needs no note.
    del results["exploration"]["front_total"], results["exploration"]["quick_ms"]
    text = render(results)
    assert 'id="front-notes"' not in text
    assert "quick plan" not in text
    assert "latency, ms" in text


def test_text_of_results_is_escaped() -> None:
    results = sample_results()
    results["machine"]["cpu"] = "<script>alert(1)</script>"
    assert "<script>alert" not in render(results)


def test_written_files(tmp_path: Path) -> None:
    path = write(sample_results(), tmp_path / "report")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads((tmp_path / "report" / "results.json").read_text()) == sample_results()
    assert sorted(p.name for p in path.parent.iterdir()) == ["index.html", "results.json"]


def test_drawing_folds_repeated_work() -> None:
    text = sample_results()["clinic"]["program"]["text"]
    values, boxes = read(text), fold(read(text))
    assert sum(value.op == "input" for value in values.values()) == 30
    inputs = [box for box in boxes if box.op == "input"]
    products = [box for box in boxes if box.op == "mul" and box.plain and box.count == 30]
    sums = [box for box in boxes if box.op == "add" and box.count == 29]
    assert [box.count for box in inputs] == [30]
    assert len(products) == len(sums) == 1
    assert sum(box.count for box in boxes) == len(values)
    svg = program_svg(text, "t")
    assert "× 30" in svg
    assert "30 terms" in svg
