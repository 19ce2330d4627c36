"""Python in the README and in Getting started runs as it stands; figures are the measured ones."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ringmill as rm
from ringmill.cli.explore import target

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(page: str) -> list[str]:
    """The Python of a page."""
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.S | re.M)


BLOCKS = blocks("README.md")


@pytest.mark.parametrize("block", BLOCKS)
def test_readme_block_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {"__name__": "__main__"})


def test_getting_started_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of Getting started are one session, and end with the variance that NumPy finds."""
    monkeypatch.chdir(tmp_path)
    session: dict[str, Any] = {"__name__": "__main__"}
    parts = blocks("docs/start.md")
    assert len(parts) >= 3
    for part in parts:
        exec(compile(part, "docs/start.md", "exec"), session)
    data = session["data"]
    assert session["compiled"].run(x=data) == pytest.approx(data.var(), abs=2**-20)


def test_the_kernel_of_the_readme_is_explored_as_it_says(tmp_path: Path) -> None:
    """The device of the how-to page holds a core for the kernel of the README, within its constraint."""
    page = (ROOT / "docs" / "how-to" / "choose-a-core.md").read_text(encoding="utf-8")
    said = re.search(r"ringmill explore kernel.py:score --device (\S+) --max-error (\S+)", page)
    assert said
    kernel = blocks("docs/how-to/choose-a-core.md")[0]
    assert kernel[kernel.index("@rm.kernel") :] in BLOCKS[0].replace(
        "    # plain Python over encrypted records", ""
    )
    (tmp_path / "kernel.py").write_text(kernel, encoding="utf-8")
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


def test_the_readme_has_one_small_table_of_speeds() -> None:
    speeds = README.split("<!-- speeds -->")[1].split("<!-- /speeds -->")[0]
    assert len(re.findall(r"^\|(?!-)", speeds, re.M)) - 1 <= 8
    # The other table leads to pages and has no figures.
    rest = "".join(README.split(speeds))
    rows = re.findall(r"^\|(?!-)(.*)\|$", rest, re.M)
    assert len(rows) <= 8
    assert all("](" in row or row.startswith(" to ") for row in rows)


def test_readme_shows_what_was_measured() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "readme.py"), "--check"]
    assert subprocess.run(check, check=False).returncode == 0
