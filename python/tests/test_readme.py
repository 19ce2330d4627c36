"""The README's Python runs as it stands, and its figures are the measured ones."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)


@pytest.mark.parametrize("block", BLOCKS)
def test_readme_block_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {"__name__": "__main__"})


def test_readme_shows_what_was_measured() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "readme.py"), "--check"]
    assert subprocess.run(check, check=False).returncode == 0
