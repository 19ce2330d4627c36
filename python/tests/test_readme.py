"""The README's Python runs as it stands, and its figures are the measured ones."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ringmill as rm
from ringmill.cli.explore import target

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.S | re.M)


@pytest.mark.parametrize("block", BLOCKS)
def test_readme_block_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {"__name__": "__main__"})


def test_the_kernel_of_the_readme_is_explored_as_it_says(tmp_path: Path) -> None:
    """The device that the README names holds a core for the kernel that it shows, within its wish."""
    said = re.search(r"ringmill explore kernel.py:score --device (\S+) --max-error (\S+)", README)
    assert said
    (tmp_path / "kernel.py").write_text(BLOCKS[0].split("compiled =")[0], encoding="utf-8")
    device, error = said.groups()
    found = rm.explore(
        target(f"{tmp_path / 'kernel.py'}:score"),
        device,
        max_error=float(error),
        seconds=0.1,
        progress="none",
    )
    assert found.best_proven
    assert found.best["predicted"]["error"]["value"] <= float(error)


def test_readme_shows_what_was_measured() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "readme.py"), "--check"]
    assert subprocess.run(check, check=False).returncode == 0
