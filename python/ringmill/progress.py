"""Progress of long work: a bar on a terminal, plain lines otherwise, nothing on request.

The work says how many steps it has and names each as it begins; how that is shown is decided here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import IO, Literal, Protocol

from ringmill.errors import ParameterError, fail

#: A word, or a function of (steps done, all steps, what is done); of 0 steps where their number is not known.
Show = Literal["auto", "bar", "lines", "none"] | Callable[[int, int, str], object]


class Step(Protocol):
    """Called with the name of the step that begins now."""

    def __call__(self, name: str) -> None: ...  # noqa: D102


def chosen(show: Show, stream: IO[str] | None) -> Show:
    """How work is shown on a stream: "auto" is a bar on a terminal, lines elsewhere.

    Nothing is shown where there is no stream: Python has none for a standard error that is closed.
    """
    if callable(show) and not isinstance(show, type):
        return show
    if show not in ("auto", "bar", "lines", "none"):
        fail(
            ParameterError,
            "Progress",
            f"Progress is not shown as {show!r}; choose 'auto', 'bar', 'lines' or 'none', or give "
            "a function of steps done, all steps and what is done.",
            value=show,
        )
    if stream is None or stream.closed:
        return "none"
    if show != "auto":
        return show
    return "bar" if stream.isatty() else "lines"


@contextmanager
def steps(title: str, total: int, show: Show = "auto", stream: IO[str] | None = None) -> Iterator[Step]:
    """Show ``total`` steps of one piece of work on ``stream`` (standard error by default).

    >>> with steps("baking", 2, show="lines", stream=sys.stdout) as step:
    ...     step("dough")
    ...     step("oven")
    baking: 1/2 dough
    baking: 2/2 oven
    """
    stream = stream or sys.stderr
    how = chosen(show, stream)
    if callable(how):
        yield from _told(how, total)
    elif how == "none":
        yield lambda name: None
    elif how == "lines":
        yield _Lines(title, total, stream)
    else:
        with _bar(title, total, stream) as step:
            yield step


def _told(tell: Callable[[int, int, str], object], total: int) -> Iterator[Step]:
    begun = 0

    def step(name: str) -> None:
        nonlocal begun
        tell(begun, total, name)
        begun += 1

    yield step
    tell(total, total, "")


class Share(Protocol):
    """Called now and then with how much is done, and of how much; of 0 where that is not known."""

    def __call__(self, done: int, total: int) -> None: ...  # noqa: D102


_AT_PROMPT: ContextVar[Show] = ContextVar("how work at the prompt is shown", default="none")


@contextmanager
def showing(show: Show = "auto") -> Iterator[None]:
    """Show how far kernels and bootstrappings at the prompt are, while a ``with`` statement lasts.

    Args:
        show: "auto" (a bar on a terminal, lines elsewhere), "bar", "lines" or "none".

    Raises
    ------
        ParameterError: another word.

    >>> with showing("lines"):
    ...     pass  # y = score(x), of an encrypted x
    """
    chosen(show, sys.stderr)
    before = _AT_PROMPT.set(show)
    try:
        yield
    finally:
        _AT_PROMPT.reset(before)


def shown() -> Show:
    """How work at the prompt is shown here."""
    return _AT_PROMPT.get()


@contextmanager
def share(title: str, show: Show = "auto", stream: IO[str] | None = None) -> Iterator[Share]:
    """Show the progress of one long piece of work; without reports, a moving bar on a terminal only.

    >>> with share("baking", show="lines", stream=sys.stdout) as report:
    ...     report(12, 100)
    ...     report(13, 100)
    ...     report(99, 100)
    baking: 12%
    baking: 99%
    baking: done
    """
    stream = stream or sys.stderr
    how = chosen(show, stream)
    if callable(how):

        def telling(done: int, total: int) -> None:
            how(done, total, title)

        yield telling
    elif how == "none":
        yield lambda done, total: None
    elif how == "lines":
        lines = _Tenths(title, stream)
        yield lines
        lines.end()
    else:
        with _growing(title, stream) as reported:
            yield reported


def write(words: str, stream: IO[str], end: str = "\n") -> None:
    """Print words; work goes on where nobody reads it, or nothing more fits on the disk."""
    with suppress(OSError):
        print(words, end=end, file=stream, flush=True)


class _Tenths:
    """A line when another tenth is done, and one at the end."""

    def __init__(self, title: str, stream: IO[str]) -> None:
        self.title, self.stream = title, stream
        self.tenth = -1

    def __call__(self, done: int, total: int) -> None:
        tenth = min(10 * done // total, 9) if total else -1
        if tenth > self.tenth:
            self.tenth = tenth
            if done < total:
                write(f"{self.title}: {100 * done // total}%", self.stream)

    def end(self) -> None:
        """The work is done."""
        if self.tenth >= 0:
            write(f"{self.title}: done", self.stream)


class _Lines:
    """One line a step; of many quick steps only those that begin a second or a tenth of the work."""

    def __init__(self, title: str, total: int, stream: IO[str]) -> None:
        self.title, self.total, self.stream = title, total, stream
        self.done = 0
        self.last = 0.0

    def __call__(self, name: str) -> None:
        self.done += 1
        now = time.monotonic()
        seldom = self.total <= 10 or self.done in (1, self.total) or self.done % (self.total // 10) == 0
        if seldom or now - self.last > 1:
            self.last = now
            write(f"{self.title}: {self.done}/{self.total} {name}", self.stream)


@contextmanager
def _bar(title: str, total: int, stream: IO[str]) -> Iterator[Step]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[name]}"),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as progress:
        task = progress.add_task(title, total=total, name="")
        begun = 0

        def step(name: str) -> None:
            nonlocal begun
            # A step is done when the next one begins; the last one when the bar is closed.
            progress.update(task, completed=begun, name=name)
            begun += 1

        yield step
        progress.update(task, completed=total, name="")


@contextmanager
def _growing(title: str, stream: IO[str]) -> Iterator[Share]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as progress:
        task = progress.add_task(title, total=None)

        def reported(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total or None)

        yield reported
