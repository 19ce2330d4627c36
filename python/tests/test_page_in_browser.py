"""The report in a headless browser: no console errors, the plots are there, light, dark, and on a phone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from sample_results import sample_exploration, sample_results
from test_report import PLOTS

from ringmill.report import render_exploration, render_simulation
from ringmill.studies.demo.report import write

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: `apt-get install chromium` (set-up does it when it may)"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Containers often run as root, where Chromium's own sandbox does not start.
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(sample_results(), tmp_path_factory.mktemp("report")).as_uri()


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of one exploration; nobody has run a job on its core."""
    found = {name: reported for name, reported in sample_exploration().items() if name != "job"}
    page = tmp_path_factory.mktemp("explored") / "page.html"
    page.write_text(render_exploration(found, "1.0"), encoding="utf-8")
    return page.as_uri()


class _Visit:
    """A page opened once, with everything that it complained about or asked for."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.page = browser.new_page(**options)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on(
            "console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_page(scheme: str, width: int, browser: Any, address: str) -> None:
    visit = _Visit(browser, address, color_scheme=scheme, viewport={"width": width, "height": 800})
    page = visit.page
    for plot in PLOTS:
        box = page.locator(f"#{plot} svg").first.bounding_box()
        assert box is not None, plot
        assert box["width"] > 200, plot
        assert box["height"] > 100, plot
        assert page.locator(f"#{plot} svg path, #{plot} svg rect").count() > 5, plot
    # Nothing sticks out of the page sideways.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.complaints == []
    assert visit.requests == [address] or all(r.startswith(("file:", "data:")) for r in visit.requests)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_page_of_an_exploration(scheme: str, width: int, browser: Any, explored: str) -> None:
    visit = _Visit(browser, explored, color_scheme=scheme, viewport={"width": width, "height": 800})
    page = visit.page
    for plot in ("front", "chosen-core", "plot-chosen-occupancy", "plot-validated"):
        box = page.locator(f"#{plot} svg").first.bounding_box()
        assert box is not None, plot
        assert box["width"] > 200, plot
    assert page.inner_text("h1") == "A core for sum"
    assert page.locator("#designs tbody tr").count() == 4
    page.locator("#design-latency-error-0").dispatch_event("pointerenter")
    assert "Design 1: 1 ms" in page.inner_text("#design-tip")
    page.fill("#filters [name=error]", "1e-4")
    assert page.inner_text("#designs-left") == "3 of 4"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.complaints == []
    assert all(r.startswith(("file:", "data:")) for r in visit.requests)
    page.close()


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a simulation of 3,000 cycles on two units."""
    spans = [("ntt", f"ntt, step {at}", 100 * at, 100 * at + 64) for at in range(30)]
    spans += [("hbm", "key, </script>", 50 * at, 50 * at + 40) for at in range(60)]
    facts = {
        "program": "product",
        "machine": "file:path=small.toml",
        "cycles": 3000,
        "seconds": 3e-6,
        "by": "a static schedule",
        "parts": [("ntt at work", 1920), ("off chip: key", 1080)],
        "utilisation": {"ntt": 0.64, "hbm": 0.8},
        "energy": [("ntt", 2e-6)],
        "counters": {"bound_work": 1920, "instructions": 30},
    }
    page = tmp_path_factory.mktemp("simulated") / "page.html"
    page.write_text(render_simulation(facts, spans, "1.0"), encoding="utf-8")
    return page.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_page_of_a_simulation(scheme: str, width: int, browser: Any, simulated: str) -> None:
    visit = _Visit(browser, simulated, color_scheme=scheme, viewport={"width": width, "height": 800})
    page = visit.page
    shown, canvas = page.locator("#timeline-shown"), page.locator("#timeline canvas")
    assert shown.inner_text() == "cycles 0 to 3,000 of 3,000"
    assert "1,920" in page.inner_text("table >> nth=0")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    # Labels take 110 pixels, the axis 22, a row 30; rows stand in the order of names.
    x, y = box["x"] + 110 + (box["width"] - 110) * 1020 / 3000, box["y"] + 22 + 45
    page.mouse.move(x, y)
    assert page.inner_text("#timeline-tip") == "ntt: ntt, step 10, cycles 1,000 to 1,064 (64)"
    page.mouse.wheel(0, -300)
    from playwright.sync_api import expect

    everything = "cycles 0 to 3,000 of 3,000"
    expect(shown).not_to_have_text(everything)
    first, last = (int(word.replace(",", "")) for word in shown.inner_text().split()[1:4:2])
    assert 0 < first < 1020 < last < 3000
    canvas.focus()
    page.keyboard.press("0")
    expect(shown).to_have_text(everything)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.complaints == []
    assert all(r.startswith(("file:", "data:")) for r in visit.requests)
    page.close()


def _luminance(colour: str) -> float:
    red, green, blue = (int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_dark_page_is_dark_and_the_button_turns_it(browser: Any, address: str) -> None:
    visit = _Visit(browser, address, color_scheme="dark")

    def background() -> float:
        return _luminance(visit.page.evaluate("getComputedStyle(document.body).backgroundColor"))

    def letters() -> float:
        return _luminance(
            visit.page.evaluate("getComputedStyle(document.querySelector('#plot-stages svg text')).fill")
        )

    assert background() < 60 < letters()
    visit.page.click("#theme")
    assert background() > 200
    assert letters() < 150
    assert visit.complaints == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_front_reports_a_design_that_is_pointed_at(width: int, browser: Any, address: str) -> None:
    visit = _Visit(browser, address, viewport={"width": width, "height": 800})
    page = visit.page
    tip, point = page.locator("#design-tip"), page.locator("#design-latency-error-2")
    assert not tip.is_visible()
    point.scroll_into_view_if_needed()
    point.dispatch_event("pointerenter")
    assert tip.is_visible()
    reported = tip.inner_text()
    assert "Design 3: 4.1 ms" in reported
    assert "slower" in reported
    box = tip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.locator("#designs tr.hot").get_attribute("data-design") == "2"
    point.dispatch_event("pointerleave")
    assert not tip.is_visible()
    page.select_option("#front-axes", "area-error")
    assert page.locator("#design-area-error-0").is_visible()
    assert not page.locator("#design-latency-error-0").is_visible()
    assert visit.complaints == []


def test_filters_and_sorting(browser: Any, address: str) -> None:
    visit = _Visit(browser, address)
    page = visit.page
    shown = page.locator("#designs tbody tr:visible")
    assert shown.count() == 4
    page.fill("#filters [name=error]", "1e-4")
    assert shown.count() == 3
    assert page.inner_text("#designs-left") == "3 of 4"
    assert "out" in page.locator("#design-latency-error-0").get_attribute("class")
    page.fill("#filters [name=words]", "ROWS")
    assert shown.count() == 1
    page.fill("#filters [name=error]", "")
    page.fill("#filters [name=words]", "")
    page.click("#designs th button[data-key=area]")
    order = [row.get_attribute("data-design") for row in shown.all()]
    assert order[0] == "2"
    page.click("#designs th button[data-key=area]")
    assert shown.first.get_attribute("data-design") == "0"
    assert visit.complaints == []


@pytest.mark.parametrize(
    ("button", "name", "begins"), [("svg", "designs.svg", b"<svg"), ("png", "designs.png", b"\x89PNG")]
)
def test_the_picture_can_be_saved(button: str, name: str, begins: bytes, browser: Any, address: str) -> None:
    visit = _Visit(browser, address)
    with visit.page.expect_download() as waiting:
        visit.page.click(f"#save-{button}")
    saved = Path(waiting.value.path()).read_bytes()
    assert waiting.value.suggested_filename == name
    assert saved.startswith(begins)
    if button == "svg":
        ElementTree.fromstring(saved)
        assert b"var(" not in saved
    else:
        assert len(saved) > 5000
    assert visit.complaints == []


def test_programs_open_on_request(browser: Any, address: str) -> None:
    visit = _Visit(browser, address)
    details = visit.page.locator("details", has_text="Average_pool").first
    assert not details.locator("svg").is_visible()
    details.locator("summary").click()
    box = details.locator("svg").bounding_box()
    assert box is not None
    assert box["height"] > 100
    assert visit.complaints == []
