"""The page of a tenant in a real browser: what it shows, in light and dark, on a desk and on a phone."""

# A fixture of another file is imported, and is the name of arguments.
# ruff: noqa: F811

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from service import Service, halted, until
from test_page_in_browser import CHROMIUM, browser  # noqa: F401  a fixture
from test_service import World, done, idle_worker, world  # noqa: F401  a fixture

import ringmill as rm

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: `apt-get install chromium`")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, world: World) -> Iterator[Service]:
    """A service with a few runs, one cancelled, two programs, and keys as a file and as a set."""
    with Service(tmp_path_factory.mktemp("service") / "data") as service:
        with service.client() as client:
            hashes = world.push(client)
            client.push(world.files[1])  # as a set
            for _ in range(3):
                assert done(client, hashes)["state"] == "done"
            with halted(idle_worker(service, client, hashes)):
                client.cancel(client.submit(*hashes)["id"])
            client.pin(hashes[0])
            named = rm.kernel(lambda x: x * x).compile(rm.vector(16), params=world.kernel.params)
            client.push(named)
        yield service


class Visit:
    """A page opened once, with everything that it complained about or asked for."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on(
            "console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(url)

    def log_in(self, token: str) -> None:
        self.page.fill("#token", token)
        self.page.click("#login button")
        self.page.wait_for_selector("#all:not([hidden])")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_shows_what_the_tenant_has(
    scheme: str,
    width: int,
    browser: Any,
    service: Service,
    tmp_path: Path,
) -> None:
    visit = Visit(browser, service.url, color_scheme=scheme, viewport={"width": width, "height": 800})
    page = visit.page
    assert page.is_visible("#login")
    assert not page.is_visible("#all")
    visit.log_in(service.token)
    with service.client() as client:
        account, jobs, objects = client.account(), client.jobs(), client.objects()
    assert page.inner_text("#name") == account["name"]
    rows = page.locator("#runs tbody tr")
    assert rows.count() == len(jobs)
    assert [rows.nth(at).get_attribute("id") for at in range(len(jobs))] == [f"job-{j['id']}" for j in jobs]
    assert page.locator("#runs .state.done").count() == sum(job["state"] == "done" for job in jobs)
    assert "canaryscore" in rows.first.inner_text()
    programs = [found for found in objects if found["kind"] == "program"]
    shown = page.locator("#programs tbody tr")
    assert shown.count() == len(programs) == 2
    assert any("pinned" in text for text in shown.all_inner_texts())
    # Files that a set names are shown as the set.
    (keys,) = (found for found in objects if found["kind"] == "keyset")
    members = {file["hash"] for file in keys["facts"]["members"]}
    shown = page.locator("#keys tbody tr")
    assert shown.count() == 2
    texts = shown.all_inner_texts()
    assert not any(member[:12] in text for member in members for text in texts)
    (text,) = (text for text in texts if keys["hash"][:12] in text)
    assert {str(len(members)), str(len(keys["facts"]["galois"]))} <= set(text.split())
    assert "179 days more" in text
    held = sum(kind["bytes"] for kind in account["stored"].values())
    number, unit = page.inner_text("#held").split()
    assert float(number) * {"kB": 1e3, "MB": 1e6}[unit] == pytest.approx(held, rel=0.05)
    assert page.locator("#bar i").count() == 5
    # Nothing sticks out of the page sideways, and letters can be read.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    light = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    assert (page.evaluate(light) > 128) == (scheme == "light")
    picture = Path(os.environ.get("RINGMILL_PICTURES", tmp_path)) / f"service-{scheme}-{width}.png"
    page.screenshot(path=picture, full_page=True)
    assert picture.stat().st_size > 10_000
    assert visit.complaints == []
    assert all(url.startswith(f"{service.url}/") for url in visit.requests)
    # The token is not in an address, and it is gone with the tab.
    assert not any(service.token in url for url in visit.requests)
    page.click("#out")
    assert page.is_visible("#login")
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0
    visit.context.close()


def test_a_run_is_seen_to_begin_and_end_and_can_be_cancelled(
    browser: Any,
    service: Service,
    world: World,
) -> None:
    visit = Visit(browser, service.url)
    visit.log_in(service.token)
    page = visit.page
    with service.client() as client:
        hashes = world.push(client)
        worker = idle_worker(service, client, hashes)
        with halted(worker):
            job = client.submit(*hashes)["id"]
            page.wait_for_selector(f"#job-{job} .state.running", timeout=20_000)
            os.kill(worker, signal.SIGCONT)
            page.wait_for_selector(f"#job-{job} .state.done", timeout=20_000)
        with halted(worker):
            job = client.submit(*hashes)["id"]
            page.wait_for_selector(f"#job-{job} button", timeout=20_000)
            page.click(f"#job-{job} button")
            page.wait_for_selector(f"#job-{job} .state.cancelled", timeout=20_000)
            assert until(lambda: client.job(job)["state"]) == "cancelled"
    assert visit.complaints == []
    visit.context.close()


def test_names_are_text_and_refusals_are_said(browser: Any, service: Service) -> None:
    visit = Visit(browser, service.url)
    page = visit.page
    page.fill("#token", "rms_wrong")
    page.click("#login button")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "not valid" in page.inner_text("#trouble")
    assert page.is_visible("#login")
    # A name does not become markup.
    with service.tenant("<b id=evil>x</b>") as other:
        page.fill("#token", str(other._transport.address.token))
    page.click("#login button")
    page.wait_for_selector("#all:not([hidden])")
    assert page.inner_text("#name") == "<b id=evil>x</b>"
    assert page.locator("#evil").count() == 0
    assert "No runs yet." in page.inner_text("#runs")
    # No script but the page's own would run.
    blocked = page.evaluate(
        """() => { const s = document.createElement('script'); s.textContent = 'window.evil = 1';
                   document.head.append(s); return window.evil ?? 0 }"""
    )
    assert blocked == 0
    visit.context.close()


def test_a_token_without_read_sees_nothing(browser: Any, service: Service) -> None:
    with service.client() as client:
        made = client._transport.ask("POST", "/v1/tokens", b'{"scopes": ["upload"]}').json()
    visit = Visit(browser, service.url)
    visit.page.fill("#token", made["token"])
    visit.page.click("#login button")
    visit.page.wait_for_selector("#trouble:not([hidden])")
    assert "read" in visit.page.inner_text("#trouble")
    assert not visit.page.is_visible("#all")
    visit.context.close()
