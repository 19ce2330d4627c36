"""Progress: a bar on a terminal, lines elsewhere, nothing on request."""

from __future__ import annotations

import io

import pytest

from ringmill.progress import steps


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("show", "stream", "expected"),
    [
        ("auto", io.StringIO(), "work: 1/3 one\nwork: 2/3 two\nwork: 3/3 three\n"),
        ("none", _Terminal(), ""),
        ("lines", _Terminal(), "work: 1/3 one\nwork: 2/3 two\nwork: 3/3 three\n"),
    ],
)
def test_lines_and_silence(show: str, stream: io.StringIO, expected: str) -> None:
    with steps("work", 3, show=show, stream=stream) as step:
        for name in ("one", "two", "three"):
            step(name)
    assert stream.getvalue() == expected


def test_bar_on_a_terminal() -> None:
    stream = _Terminal()
    with steps("work", 2, stream=stream) as step:
        step("one")
        step("two")
    assert "work" in stream.getvalue()
    assert "2/2" in stream.getvalue()


def test_many_steps_give_few_lines() -> None:
    stream = io.StringIO()
    with steps("work", 1000, show="lines", stream=stream) as step:
        for number in range(1000):
            step(str(number))
    assert 10 <= len(stream.getvalue().splitlines()) <= 13


def test_errors_pass_through_the_bar() -> None:
    stream = _Terminal()
    with pytest.raises(ZeroDivisionError), steps("work", 2, stream=stream):
        _ = 1 / 0
