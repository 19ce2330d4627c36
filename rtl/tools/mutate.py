"""Seeded bugs: each must make the named test, or proof, fail.

`rtl/BLOCK/test/mutations.json` is a list of

    {"id": "borrow-lost", "file": "src/x.sv", "from": "old text", "to": "new text", "test": "p2", "why": "…"}

`from` stands exactly once in the file. The tree is copied, the text replaced, the test built and run in the
copy; a bug that the test does not see is a hole in the suite. That the test passes without it, `test` shows.
A test `formal/bank:nbf2` is the task `nbf2` of the proof `formal/bank.sby`, and `formal` shows that it holds.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rtl.tools.block import RTL, Block, BlockError, load, names
from rtl.tools.check import proof, tasks
from rtl.tools.simulate import BUILD, Outcome
from rtl.tools.simulate import run as run_test

# Seconds after which a simulation with a bug in it counts as hung, which its test must notice by itself.
_LIMIT_S = 300
# What sby answers when a proof ran and does not hold: a counterexample, or an induction without an end. An
# error in the proof itself is another status.
_REFUTED = (2, 4)


@dataclass(frozen=True)
class Mutation:
    """One seeded bug and the test that must see it."""

    block: str
    id: str
    file: str
    old: str
    new: str
    test: str
    why: str

    @property
    def proof(self) -> bool:
        """Whether a proof, not a simulation, must see it."""
        return self.test.startswith("formal/")

    def apply(self, root: Path) -> None:
        """Put the bug into the copy of the tree at `root`."""
        path = root / self.block / self.file
        text = path.read_text()
        if text.count(self.old) != 1:
            raise BlockError(
                f"{self.block}: mutation {self.id}: {self.old!r} stands {text.count(self.old)} times"
            )
        path.write_text(text.replace(self.old, self.new))


def read(block: str, root: Path = RTL) -> list[Mutation]:
    """The mutations of a block, none where it has no list."""
    file = root / block / "test" / "mutations.json"
    if not file.is_file():
        return []
    found = [
        Mutation(block, m["id"], m["file"], m["from"], m["to"], m["test"], m["why"])
        for m in json.loads(file.read_text())
    ]
    if len({m.id for m in found}) != len(found):
        raise BlockError(f"{file}: two mutations of one id")
    return found


def try_one(mutation: Mutation) -> Outcome:
    """Return an outcome that is ok when the bug was caught by a failing run (not by a failing build)."""
    place = BUILD / "mutants" / mutation.block / mutation.id
    shutil.rmtree(place, ignore_errors=True)
    root = place / "rtl"
    shutil.copytree(RTL, root, ignore=shutil.ignore_patterns("__pycache__", "data"))
    mutation.apply(root)
    start = time.monotonic()
    caught, said = _by_proof(mutation, root, place) if mutation.proof else _by_test(mutation, root, place)
    text = f"caught by {mutation.test}" if caught else f"NOT CAUGHT by {mutation.test}: {said}"
    shutil.rmtree(place, ignore_errors=True)
    return Outcome(f"{mutation.block}:{mutation.id}", caught, time.monotonic() - start, text)


def _by_test(mutation: Mutation, root: Path, place: Path) -> tuple[bool, str]:
    tests = {test.name: test for test in load(mutation.block, root).tests}
    if mutation.test not in tests:
        raise BlockError(f"{mutation.block}: mutation {mutation.id}: no test {mutation.test}")
    test = tests[mutation.test]
    # A test that has no runs but those of test-full sees the bug in these.
    outcome = run_test(test, not test.run, root, place / "build", _LIMIT_S)
    built = not outcome.text.startswith("does not build")
    return not outcome.ok and built and "no end after" not in outcome.text, outcome.text


def _by_proof(mutation: Mutation, root: Path, place: Path) -> tuple[bool, str]:
    if mutation.test not in proofs(load(mutation.block, root)):
        raise BlockError(f"{mutation.block}: mutation {mutation.id}: no proof {mutation.test}")
    stem, task = mutation.test.split(":")
    status, text = proof(root / mutation.block / f"{stem}.sby", task, place / "proof")
    return status in _REFUTED, text


def proofs(block: Block) -> set[str]:
    """The proofs of a block as a mutation names them."""
    return {f"formal/{file.stem}:{task}" for file in block.formal for task in tasks(file)}


def run(chosen: list[str], jobs: int | None = None) -> int:
    """Try the mutations of the chosen blocks (or `block:id`); return how many were not caught."""
    work = []
    for word in chosen or names():
        block, _, wanted = word.partition(":")
        work += [m for m in read(block) if not wanted or m.id == wanted]
    print(f"== {len(work)} seeded bugs")
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        missed = 0
        for outcome in pool.map(try_one, work):
            missed += not outcome.ok
            mark = "ok  " if outcome.ok else "FAIL"
            print(f"{mark} {outcome.label:<34} {outcome.seconds:6.1f} s  {outcome.text}", flush=True)
    print(f"{len(work) - missed} of {len(work)} caught")
    return missed
