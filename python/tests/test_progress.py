"""Progress: a bar on a terminal, lines elsewhere, nothing on request."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.cli import main
from ringmill.progress import share, steps


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


class _Full(io.StringIO):
    def write(self, _: str) -> int:
        raise OSError("No space left on device")


@pytest.mark.parametrize("show", ["auto", "bar", "lines"])
def test_work_goes_on_where_nothing_can_be_shown(show: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard error may be closed from the beginning, when Python has none, or later, or be full."""
    closed = io.StringIO()
    closed.close()
    for stream in [None, closed, *([_Full()] if show != "bar" else [])]:
        monkeypatch.setattr("sys.stderr", stream)
        with steps("work", 1, show) as step:
            step("one")
        with share("work", show) as reported:
            reported(1, 2)


def test_keys_are_made_without_a_standard_error(tmp_path: Path) -> None:
    params = rm.Params.from_bits(10, [40, 30], [40], 2, insecure=True)
    rm.kernel(lambda x: x + x).compile(rm.vector(4), params=params).save(tmp_path / "kernel")
    command = [
        sys.executable,
        "-m",
        "ringmill",
        "keygen",
        "--kernel",
        "kernel",
        "--out",
        "keys",
        "--insecure",
    ]
    done = subprocess.run(command, cwd=tmp_path, preexec_fn=lambda: os.close(2), check=False)
    assert done.returncode == 0
    assert (tmp_path / "keys" / "secret.key").exists()


def test_errors_pass_through_the_bar() -> None:
    stream = _Terminal()
    with pytest.raises(ZeroDivisionError), steps("work", 2, stream=stream):
        _ = 1 / 0


@pytest.mark.parametrize(
    ("show", "stream", "expected"),
    [
        ("auto", io.StringIO(), "work: 0%\nwork: 21%\nwork: 99%\nwork: done\n"),
        ("none", _Terminal(), ""),
        ("lines", _Terminal(), "work: 0%\nwork: 21%\nwork: 99%\nwork: done\n"),
    ],
)
def test_shares_are_reported_by_tenths(show: Any, stream: io.StringIO, expected: str) -> None:
    with share("work", show=show, stream=stream) as reported:
        for done in (0, 0, 0, 3, 70, 74, 330, 333):
            reported(done, 333)
    assert stream.getvalue() == expected


def test_a_share_on_a_terminal() -> None:
    stream = _Terminal()
    with share("work", stream=stream) as reported:
        reported(0, 0)
        reported(1, 4)
    assert "work" in stream.getvalue()
    assert "25%" in stream.getvalue()


@pytest.mark.parametrize("total", [0, 10])
def test_what_ends_at_once_or_does_not_report_shows_nothing(total: int) -> None:
    stream = io.StringIO()
    with share("work", show="lines", stream=stream) as reported:
        if not total:
            reported(0, 0)
    assert stream.getvalue() == ""


@rm.kernel
def _high(x: Any) -> Any:
    return x**8


def test_a_run_reports_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiled = _high.compile(rm.vector(4), precision=12)
    slow = {"machine": "reference", "progress": "lines"}
    shown = re.compile(r"(evaluate _high: \d+%\n)*evaluate _high: done\n")
    keys = compiled.keygen()
    compiled.run(keys, x=[0.5, 0.25, -0.5, 1.0], **slow)
    encrypted, evaluated = capsys.readouterr().err.split("\n", 1)
    assert encrypted == "encrypt: 1/1 x"
    assert shown.fullmatch(evaluated), evaluated
    percents = [int(percent) for percent in re.findall(r"(\d+)%", evaluated)]
    assert percents == sorted(set(percents))
    assert all(percent < 100 for percent in percents)

    arguments = compiled.encrypt(keys, x=[0.5, 0.25, -0.5, 1.0])
    compiled.evaluate(keys, arguments, machine="reference")
    assert capsys.readouterr().err == "", "nothing unless asked"

    # On the command line, unless it is to be quiet.
    keys.save(tmp_path)
    compiled.save(tmp_path / "kernel")
    arguments.save(tmp_path / "arguments")
    command = ["evaluate", "--machine", "reference"]
    for option, name in (
        ("kernel", "kernel"),
        ("keys", "evaluation.keys"),
        ("input", "arguments"),
        ("out", "r"),
    ):
        command += [f"--{option}", str(tmp_path / name)]
    assert main(command) == 0
    assert shown.fullmatch(capsys.readouterr().err)
    assert main([*command, "--quiet"]) == 0
    assert capsys.readouterr().err == ""

    # On a terminal, work without progress shows that it goes on: keys may take seconds to read.
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    assert main(command) == 0
    stages = re.findall(r"read keys|prepare _high|evaluate _high", terminal.getvalue())
    assert list(dict.fromkeys(stages)) == ["read keys", "prepare _high", "evaluate _high"]


def test_what_progress_raises_ends_a_run() -> None:
    compiled = _high.compile(rm.vector(4), precision=12)
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys, x=[0.5, 0.25, -0.5, 1.0])
    reported = []

    def enough(done: int, total: int) -> None:
        reported.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compiled.executable("reference").run(arguments.parts, keys.evaluation, enough)
    ((done, total),) = reported
    assert 0 <= done <= total
    assert total > 0
    results = compiled.evaluate(keys, arguments, machine="reference")
    assert compiled.decrypt(keys, results) == pytest.approx([0.5**8, 0.25**8, 0.5**8, 1.0], abs=2**-12)


def test_a_run_that_ends_at_once_reports_that_it_is_done() -> None:
    """However quick: who shows a share elsewhere sees it end."""
    reported = []

    @rm.kernel
    def double(x: Any) -> Any:
        return x + x

    compiled = double.compile(rm.vector(4), precision=12)
    keys = compiled.keygen()
    compiled.run(keys, x=[1.0] * 4, machine="cpu", progress=lambda *said: reported.append(said))
    done, total, what = reported[-1]
    assert (done, what) == (total, "evaluate double")
    assert total > 0


def test_a_kernel_at_the_prompt_reports_how_far_it_is_where_that_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It reports a few times a second, and when it is done: the number of lines depends on the processor."""
    params = rm.Params.from_bits(13, [50, *[40] * 7], [50], 8, insecure=True)
    keys = rm.keygen(params, relin=True, rotations=[1])
    powers = rm.kernel(_powers)
    x = rm.encrypt([0.5, 0.25, 0.5, 1.0], keys, magnitude=1)
    with rm.showing("lines"), rm.showing("none"):
        within = powers(x)
    quiet = powers(x)
    assert capsys.readouterr().err == ""
    with rm.showing("lines"):
        seen = powers(x)
    assert re.fullmatch(r"(evaluate _powers: \d+%\n)*evaluate _powers: done\n", capsys.readouterr().err)
    assert seen.to_bytes() == quiet.to_bytes() == within.to_bytes()
    with pytest.raises(rm.ParameterError, match="'loud'"), rm.showing("loud"):  # type: ignore[arg-type]
        pass


def _powers(x: rm.Ciphertext) -> rm.Ciphertext:
    for _ in range(7):
        x = np.roll(x, -1) * x  # no algebra makes these fewer
    return x


def test_a_bootstrapping_at_the_prompt_reports_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    params = rm.Params.bootstrapping(1, log_n=13, slots=64, insecure=True)
    keys = rm.keygen(params, **rm.bootstrap_keys(params, 64))
    low = rm.encrypt([0.5] * 64, keys, level=params.bootstraps["start"], magnitude=1)
    quiet, shown = low.bootstrap(), low.bootstrap(progress="lines")
    assert re.fullmatch(r"(bootstrap: \d+%\n)*bootstrap: done\n", capsys.readouterr().err)
    assert shown.to_bytes() == quiet.to_bytes()
    with rm.showing("lines"):
        low.bootstrap()
        low.bootstrap(progress="none")
    assert capsys.readouterr().err.count("bootstrap: done") == 1
    with pytest.raises(rm.ParameterError, match="'loud'"):
        low.bootstrap(progress="loud")  # type: ignore[arg-type]
