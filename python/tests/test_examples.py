"""Every step of the course runs, and holds what it asserts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ringmill.studies import tables

COURSE = Path(__file__).resolve().parents[2] / "examples"
STEPS = sorted(COURSE.glob("[0-9][0-9]_*.py"))


def test_the_course_is_complete() -> None:
    assert [int(step.name[:2]) for step in STEPS] == list(range(1, len(STEPS) + 1))
    listed = (COURSE / "README.md").read_text(encoding="utf-8")
    assert all(step.name in listed for step in STEPS)


#: It builds simulated hardware of its own.
SLOW = ("20_encryption_engine", "24_board")


@pytest.mark.parametrize(
    "step",
    [pytest.param(step, marks=pytest.mark.long) if step.stem in SLOW else step for step in STEPS],
    ids=lambda step: step.stem,
)
def test_step(step: Path) -> None:
    if "studies.tables" in step.read_text(encoding="utf-8") and not list(tables.FOLDER.glob("islp-*.whl")):
        pytest.skip("no registry answered scripts/data.sh")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(step)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
