"""`make bench AGAINST=REF`: the present sources against those of a commit, in turns on one core.

Builds the bench of the commit in a work tree below ``build/against``. Prints the ratio of each work, REF over
the present one at the median, and their geometric mean. Writes ``build/bench-against.json``:
``{"ref", "commit", "isa", "cpu", "geometric_mean", "rows": [{"work", "ours_us", "ref_us", "ratio"}]}``. Works
that one side does not know are named and left out.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benches.process import ROOT, NotOfferedError, Process
from benches.rows import selected
from benches.run import cpu_name, measure
from ringmill.atomic import write_text
from ringmill.studies.stored import text_of

BINARY = "benches/target/release/ringmill-bench"
WHERE = ROOT / "build" / "against"


class AgainstError(Exception):
    """The commit cannot be measured; the message says why and what would be right."""


def _command(words: Sequence[str], cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(words, cwd=cwd, env=env, text=True, capture_output=True, check=False)
    if done.returncode:
        raise AgainstError(done.stderr.strip().rpartition("\n")[2] or f"{words[0]} failed")
    return done.stdout.strip()


def commit_of(ref: str, root: Path = ROOT) -> str:
    """Return the commit that a branch, tag or hash names.

    Raises
    ------
    AgainstError
        The repository has no such commit.
    """
    try:
        return _command(["git", "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"], root)
    except AgainstError:
        raise AgainstError(f"{ref} is no commit of this repository: give a branch, a tag or a hash") from None


def build(commit: str, root: Path = ROOT, where: Path = WHERE) -> Path:
    """Build the bench of a commit, once; return the program.

    Raises
    ------
    AgainstError
        The commit has no bench, or does not build.
    """
    kept = where / commit[:12]
    if kept.is_file():
        return kept
    tree = where / "tree"
    where.mkdir(parents=True, exist_ok=True)
    if tree.exists():
        _command(["git", "worktree", "remove", "--force", str(tree)], root)
    _command(["git", "worktree", "prune"], root)
    _command(["git", "worktree", "add", "--quiet", "--detach", str(tree), commit], root)
    try:
        if not (tree / "benches/Cargo.toml").is_file():
            raise AgainstError(f"{commit[:12]} has no bench: give a commit that has benches/Cargo.toml")
        build_there = ["cargo", "build", "--quiet", "--release", "--manifest-path", "benches/Cargo.toml"]
        environment = os.environ | {"CARGO_TARGET_DIR": str(where / "target")}
        try:
            _command(build_there, tree, environment)
        except AgainstError as error:
            raise AgainstError(f"the bench of {commit[:12]} does not build: {error}") from None
        (where / "target/release/ringmill-bench").replace(kept)
    finally:
        _command(["git", "worktree", "remove", "--force", str(tree)], root)
    return kept


def works(wanted: tuple[str, ...]) -> list[str]:
    """Return the works of the selected rows, each once."""
    return list(dict.fromkeys(row.work for row in selected(wanted)))


def compare(chosen: list[str], ours: Process, ref: Process) -> Iterator[dict[str, Any]]:
    """Measure work after work; one that a side does not offer is named and left out."""
    previous = ""
    for work in chosen:
        parameters = work.partition("/")[2]
        if previous not in ("", parameters):
            for side in (ours, ref):
                side.drop(previous)
        previous = parameters
        try:
            own, other = measure(ours, ref, work, heavy=work.startswith("boot/"))
        except NotOfferedError as reason:
            print(f"{work:18} {reason}", flush=True)
            continue
        yield {
            "work": work,
            "ours_us": {"min": min(own), "median": statistics.median(own)},
            "ref_us": {"min": min(other), "median": statistics.median(other)},
            "ratio": statistics.median(other) / statistics.median(own),
        }


def main() -> int:
    """Build, measure, print, write."""
    if len(sys.argv) < 2:
        print("give a commit: python -m benches.against REF [WORK ...]", file=sys.stderr)
        return 2
    ref, wanted = sys.argv[1], tuple(sys.argv[2:])
    try:
        commit = commit_of(ref)
        program = build(commit)
    except AgainstError as error:
        print(error, file=sys.stderr)
        return 2
    core = max(os.sched_getaffinity(0))
    sides = [Process([command, "ours"], {core}) for command in (BINARY, str(program))]
    print(
        f"{cpu_name()}; core {core}; microseconds of processor time; ratio above 1: faster than {commit[:12]}"
    )
    print(f"{'work':18} {'ours':>11} {'min':>11}   {'then':>11} {'min':>11}   {'ratio':>6}", flush=True)
    rows = []
    for row in compare(works(wanted), *sides):
        own, other = row["ours_us"], row["ref_us"]
        print(
            f"{row['work']:18} {own['median']:11.1f} {own['min']:11.1f}   "
            f"{other['median']:11.1f} {other['min']:11.1f}   {row['ratio']:6.3f}",
            flush=True,
        )
        rows.append(row)
    for side in sides:
        side.close()
    if not rows:
        print(f"no work of {', '.join(wanted) or 'the bench'} could be measured", file=sys.stderr)
        return 1
    mean = statistics.geometric_mean(row["ratio"] for row in rows)
    print(f"geometric mean of {len(rows)} works: {mean:.3f}")
    result = {
        "ref": ref,
        "commit": commit,
        "isa": sides[0].header["isa"],
        "cpu": cpu_name(),
        "geometric_mean": mean,
        "rows": rows,
    }
    write_text(ROOT / "build" / "bench-against.json", text_of(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
