"""Notebooks run from the first cell to the last."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells(path: Path, kind: str) -> list[str]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    return ["".join(cell["source"]) for cell in found["cells"] if cell["cell_type"] == kind]


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(cells(path, "code"), 1):
        # As the file of a module, so that kernels find their lines.
        file = tmp_path / f"cell_{number}.py"
        file.write_text(source, encoding="utf-8")
        exec(compile(ast.parse(source), str(file), "exec"), session)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_results_and_its_links_lead_somewhere(path: Path) -> None:
    found = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in found["cells"]}) == len(found["cells"])
    for text in cells(path, "markdown"):
        for link in re.findall(r"\]\(([^)#]+)", text):
            assert (path.parent / link).exists(), link
