"""Two builds of the bench are measured in turns."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from benches import against
from benches.process import NotOfferedError


class Recorded:
    """A side that takes a given time for each work, and refuses what it does not know."""

    def __init__(self, us: dict[str, float]) -> None:
        self.us = us
        self.dropped: list[str] = []

    def times(self, work: str, count: int) -> list[float]:
        if work not in self.us:
            raise NotOfferedError(f"no work {work}")
        return [self.us[work]] * count

    def drop(self, parameter_set: str) -> None:
        self.dropped.append(parameter_set)


def compared(ours: Any, ref: Any) -> list[dict[str, Any]]:
    return list(against.compare(["ntt/a", "relin/b", "rotate/b"], ours, ref))


def test_a_ratio_above_one_means_that_the_present_sources_are_faster() -> None:
    rows = compared(
        Recorded({"ntt/a": 10.0, "relin/b": 40.0, "rotate/b": 5.0}),
        Recorded({"ntt/a": 20.0, "relin/b": 20.0, "rotate/b": 5.0}),
    )
    assert [row["ratio"] for row in rows] == [2.0, 0.5, 1.0]


def test_a_work_that_the_older_side_does_not_know_is_named_and_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ref = Recorded({"ntt/a": 20.0, "rotate/b": 5.0})
    rows = compared(Recorded({"ntt/a": 10.0, "relin/b": 40.0, "rotate/b": 5.0}), ref)
    assert [row["work"] for row in rows] == ["ntt/a", "rotate/b"]
    assert "no work relin/b" in capsys.readouterr().out
    assert ref.dropped == ["a"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "benches").mkdir()
    (tmp_path / "README").write_text("first")

    def git(*words: str) -> None:
        name = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *name, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    git("add", "README")
    git("commit", "-qm", "without a bench")
    (tmp_path / "benches/Cargo.toml").write_text("no manifest")
    git("add", "benches")
    git("commit", "-qm", "with a bench that does not build")
    return tmp_path


def test_a_name_that_is_no_commit_is_refused(repository: Path) -> None:
    with pytest.raises(against.AgainstError, match="nowhere is no commit of this repository"):
        against.commit_of("nowhere", repository)


@pytest.mark.parametrize(("ref", "reason"), [("HEAD^", "has no bench"), ("HEAD", "does not build")])
def test_a_commit_that_cannot_be_built_is_refused_and_leaves_no_work_tree(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, ref: str, reason: str
) -> None:
    where = tmp_path_factory.mktemp("against")
    with pytest.raises(against.AgainstError, match=reason):
        against.build(against.commit_of(ref, repository), repository, where)
    assert not (where / "tree").exists()
    trees = subprocess.run(["git", "worktree", "list"], cwd=repository, text=True, capture_output=True)
    assert len(trees.stdout.splitlines()) == 1
