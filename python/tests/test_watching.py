"""What applications see of long work: progress by a function, a handle that ends it, the log, notebooks."""

from __future__ import annotations

import logging
import re
import threading
import time
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import ringmill as rm


@pytest.fixture(scope="module")
def long() -> tuple[rm.Compiled, rm.Keys, Any]:
    """A kernel that runs for many times as long as a progress report takes, its keys and arguments."""
    weights = np.random.default_rng(1).uniform(-0.1, 0.1, (64, 64))

    def deep(x: Any) -> Any:
        for _ in range(4):
            x = weights @ x
        return x

    compiled = rm.kernel(deep).compile(rm.vector(64), precision=10, algebra=False)
    keys = compiled.keygen(seeded=True)
    return compiled, keys, compiled.encrypt(keys, x=np.ones(64))


def test_progress_is_told_to_a_function(long: tuple[rm.Compiled, rm.Keys, Any]) -> None:
    compiled, keys, arguments = long
    reported: list[tuple[int, int, str]] = []
    compiled.encrypt(keys, x=np.ones(64), progress=lambda *facts: reported.append(facts))
    assert reported == [(0, 1, "x"), (1, 1, "")]
    reported.clear()
    compiled.evaluate(keys, arguments, progress=lambda *facts: reported.append(facts))
    assert reported
    assert all(what == "evaluate deep" and 0 <= done <= total for done, total, what in reported)
    assert [done for done, *_ in reported] == sorted(done for done, *_ in reported)


def test_what_a_function_raises_ends_the_run(long: tuple[rm.Compiled, rm.Keys, Any]) -> None:
    compiled, keys, arguments = long

    def refuse(*_: object) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        compiled.evaluate(keys, arguments, progress=refuse)
    with pytest.raises(rm.ParameterError, match="or give a function of steps done"):
        compiled.keygen(progress="often")  # type: ignore[arg-type]


def test_a_handle_ends_runs_from_another_thread(long: tuple[rm.Compiled, rm.Keys, Any]) -> None:
    compiled, keys, arguments = long
    handle, began = rm.Stop(), threading.Event()
    thread = threading.Thread(target=lambda: (began.wait(), handle.now()))
    thread.start()
    with pytest.raises(rm.MachineError, match="Evaluating kernel 'deep' was ended by its handle") as caught:
        compiled.evaluate(keys, arguments, stop=handle, progress=lambda *_: began.set())
    thread.join()
    assert caught.value.code == "Cancelled"
    assert handle.stopped
    with pytest.raises(rm.MachineError):
        compiled.evaluate(keys, arguments, stop=handle)
    other = compiled.evaluate(keys, arguments, stop=rm.Stop())
    assert other.role == "results"


def test_a_deadline_ends_runs(long: tuple[rm.Compiled, rm.Keys, Any]) -> None:
    compiled, keys, arguments = long
    handle = rm.Stop(after=1e-3)
    assert "0.001 s" in repr(handle)
    with pytest.raises(rm.MachineError, match=r"was not done after 0\.001 seconds") as caught:
        compiled.evaluate(keys, arguments, stop=handle)
    assert caught.value.code == "Deadline"
    late = rm.Stop(after=0.02)
    time.sleep(0.03)
    assert late.stopped
    compiled.evaluate(keys, arguments, stop=rm.Stop(after=600))


@pytest.mark.parametrize("after", [0, -1.0, float("nan"), float("inf"), "soon", True])
def test_no_time_is_refused(after: Any) -> None:
    with pytest.raises(rm.ParameterError, match="is no time to stop after"):
        rm.Stop(after=after)


def test_the_log_says_what_was_done_and_no_values(caplog: pytest.LogCaptureFixture) -> None:
    secret = 0.123456789
    with caplog.at_level(logging.INFO, logger="ringmill"):
        compiled = rm.kernel(lambda x: x * secret).compile(rm.vector(2), precision=12)
        keys = compiled.keygen()
        results = compiled.evaluate(keys, compiled.encrypt(keys, x=[0.987654321, 0.5]))
        compiled.decrypt(keys, results)
        with pytest.raises(rm.EncodingError):
            compiled.encrypt(keys, x=[2.0, 0.0])
    lines = [record.getMessage() for record in caplog.records if record.name == "ringmill"]
    verbs = [line.split()[0] for line in lines]
    assert verbs == ["compile", "keygen", "encrypt", "evaluate", "decrypt"]
    assert all(re.match(r"\w+ \S+: \d+\.\d{3} s", line) for line in lines), lines
    assert not any("0.1234" in line or "0.9876" in line for line in lines)
    assert "machine cpu" in lines[3]
    assert logging.getLogger("ringmill").handlers, "silent unless asked"


class Cells(HTMLParser):
    """The texts of a page by their tags, which must be balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1], data))


def test_notebooks_show_tables_of_public_facts() -> None:
    compiled = rm.kernel(lambda x: x * 0.123456789).compile(rm.vector(4), precision=12)
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys, x=np.ones(4))
    vector = rm.encrypt([0.987654321], rm.keygen(compiled.params))
    shown = {
        "kernel": (compiled, {"parameters", "depth", "keys", "error"}),
        "client": (compiled.client(), {"parameters", "arguments", "results"}),
        "params": (compiled.params, {"ring degree", "security"}),
        "values": (arguments, {"x"}),
        "native": (arguments.parts["x"], {"level", "scale"}),
        "vector": (vector, {"slots", "predicted error"}),
    }
    for name, (value, wanted) in shown.items():
        text = value._repr_html_()
        cells = Cells(text)
        assert wanted <= {data for tag, data in cells.texts if tag == "th"}, name
        assert "0.1234" not in text
        assert "0.9876" not in text
    lines = str(compiled).splitlines()[1:]
    assert sum(tag == "td" for tag, _ in Cells(compiled._repr_html_()).texts) == len(lines)


def test_names_are_escaped() -> None:
    from ringmill.html import table

    cells = Cells(table("<script>", {"a & b": "<b>1</b>"}))
    assert ("td", "<b>1</b>") in cells.texts
    assert ("th", "a & b") in cells.texts
