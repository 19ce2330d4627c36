"""Long runs, program by program: what is between two programs is saved, so that a killed run goes on.

The folder of a run holds the client's keys and one file of state. The file is written beside the old one,
flushed and moved over it, so that at every moment one of them is whole.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ringmill import bundle, machines, memory
from ringmill._native import Ciphertext, Params
from ringmill.atomic import alone, make_folder, write_text
from ringmill.compiled import Compiled
from ringmill.errors import CommandError, fail
from ringmill.keys import Keys, keygen
from ringmill.progress import Show, steps
from ringmill.values import Values

#: Other ways to run something and what works out their bytes, as `memory.check` takes them.
Ways = dict[str, Callable[[], float]]

STATE = "state"
#: Name of the file that says whose run a folder holds.
RUN = "run.txt"


class Program(Protocol):
    """One program of a run: see `resnet.Step`. Shared ones are equal to all others of their sort."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def slots(self) -> int: ...  # noqa: D102
    @property
    def reads(self) -> dict[str, str]: ...  # noqa: D102
    @property
    def writes(self) -> str: ...  # noqa: D102
    @property
    def sort(self) -> str: ...  # noqa: D102
    @property
    def shared(self) -> bool: ...  # noqa: D102
    @property
    def level(self) -> int | None: ...  # noqa: D102
    def compile(self, params: Params) -> Compiled: ...  # noqa: D102


@dataclass
class Needs:
    """What all programs of a run need of keys."""

    relin: bool = False
    conjugation: bool = False
    encapsulation: bool = False
    rotations: set[int] = field(default_factory=set)

    def add(self, compiled: Compiled) -> None:
        """And those of one more program; distances count in the slots of the program."""
        plan = compiled.plan
        self.relin |= plan.needs_relin
        self.conjugation |= plan.needs_conjugation
        self.encapsulation |= plan.needs_encapsulation
        # A rotation of repeated slots is the same rotation of all of them.
        self.rotations |= set(plan.rotations)

    @property
    def count(self) -> int:
        """Keys."""
        return self.relin + self.conjugation + len(self.rotations)

    def bytes(self, params: Params, *, seeded: bool = False) -> float:
        """Bytes of the keys in memory."""
        return memory.of_keys(params, self.count, seeded=seeded)

    def survey(
        self, params: Params, programs: Iterable[Compiled], *, seeded: bool = False
    ) -> dict[str, float]:
        """Those of all these programs, one at a time; gives the bytes of a run by what they are for."""
        largest, tables = 0, 0
        for compiled in programs:
            self.add(compiled)
            work = compiled.work()
            largest = max(largest, work["data_bytes"] + work["peak_bytes"])
            tables = max(tables, compiled.cost.get("mul_plain", 0))
        return {
            "keys": self.bytes(params, seeded=seeded),
            "the largest program": float(largest),
            # Masks as numbers, here and in the program that runs.
            "its masks": 2.0 * tables * params.slots * 8,
            "what compiling left": memory.held(),
        }

    def fits(self, params: Params, parts: dict[str, float], *, seeded: bool) -> Ways:
        """The same run with keys that take less memory, for a refusal."""
        less = sum(parts.values()) - parts["keys"] + self.bytes(params, seeded=True)
        return {} if seeded else {"--key-memory seeded": lambda: less}

    def make(self, params: Params, show: Show, *, seeded: bool) -> Keys:
        """Make them."""
        return keygen(
            params,
            relin=self.relin,
            rotations=self.rotations,
            conjugation=self.conjugation,
            encapsulation=self.encapsulation,
            seeded=seeded,
            progress=show,
        )


@dataclass
class Run:
    """A run in a folder.

    Attributes
    ----------
        folder: where keys and state are.
        params: of all programs.
        programs: in order; asked for twice, first to learn which keys are needed.
        title: shown with the progress.
        seeded: whether half of each key is kept in memory.
    """

    folder: Path
    params: Params
    programs: Callable[[], Iterator[Any]]
    title: str
    identity: str
    needs: Needs = field(default_factory=Needs)
    seeded: bool = False

    def keys(self, show: Show = "none") -> Keys:
        """Return the keys of the folder. Make them if the folder has none; another run waits meanwhile."""
        with alone(self.folder):
            return self._keys(show)

    def _keys(self, show: Show) -> Keys:
        folder = self.folder / "keys"
        done = folder / RUN
        if done.exists():
            return Keys.load(self.params, folder, memory="seeded" if self.seeded else "expanded")
        if (self.folder / STATE).exists():
            fail(
                CommandError,
                "KeysGone",
                f"{self.folder} holds a run of {self.title} whose keys are gone: what it has computed cannot "
                "be decrypted. Bring the keys back, or delete the folder to begin again.",
                folder=str(self.folder),
            )
        keys = self.needs.make(self.params, show, seeded=self.seeded)
        keys.save(folder, overwrite=True)
        # Written last: keys that were being written when the run was killed are made anew.
        write_text(done, self.identity + "\n")
        return keys

    def begin(self) -> None:
        """Mark the folder as this run's."""
        mark = self.folder / RUN
        if not mark.exists():
            write_text(mark, self.identity + "\n")

    def open(self) -> None:
        """Make the folder, or refuse one that holds another run."""
        make_folder(self.folder)
        mark = self.folder / RUN
        if mark.exists() and mark.read_text().strip() != self.identity:
            fail(
                CommandError,
                "OtherRun",
                f"{self.folder} holds another run than {self.title}: other weights, parameters or version. "
                "Choose another folder, or delete it.",
                folder=str(self.folder),
            )

    def saved(self) -> tuple[int, dict[str, Ciphertext], dict[str, float]]:
        """Programs done, what they left, and the seconds that each took."""
        path = self.folder / STATE
        if not path.exists():
            return 0, {}, {}
        read = bundle.load(path, STATE)
        parts = {name: Ciphertext.from_bytes(self.params, data) for name, data in read.parts.items()}
        return int(read.facts["done"]), parts, dict(read.facts["seconds"])

    def save(self, done: int, state: dict[str, Ciphertext], seconds: dict[str, float]) -> None:
        """Replace the state."""
        parts = {name: cipher.to_bytes() for name, cipher in state.items()}
        bundle.Bundle(STATE, {"done": done, "seconds": seconds}, parts).save(self.folder / STATE)

    def go(
        self,
        keys: Keys,
        state: dict[str, Ciphertext],
        show: Show = "none",
        *,
        threads: int | None = None,
        stop_after: int | None = None,
    ) -> tuple[dict[str, Ciphertext], dict[str, float]]:
        """Run what is left; gives the last state and the seconds of every program.

        ``state`` is what a run begins with; ``stop_after`` limits the number of
        programs of this call.
        """
        done, saved, seconds = self.saved()
        state = saved or state
        sorts = [(program.name, program.sort) for program in self.programs()]
        kept: dict[str, Compiled] = {}
        with steps(self.title, len(sorts) - done, show) as step:
            for number, program in enumerate(self.programs()):
                if number < done:
                    continue
                if stop_after is not None and number - done >= stop_after:
                    break
                step(f"{program.name}{_left(seconds, sorts, number)}")
                begin = time.perf_counter()
                state |= _one(program, self.params, keys, state, kept, threads)
                seconds[program.name] = round(time.perf_counter() - begin, 3)
                self.save(number + 1, state, seconds)
        return state, seconds


def _one(
    program: Program,
    params: Params,
    keys: Keys,
    state: dict[str, Ciphertext],
    kept: dict[str, Compiled],
    threads: int | None,
) -> dict[str, Ciphertext]:
    """The results of one program by their names in the state; programs that are shared are compiled once."""
    compiled = kept.get(program.sort) or program.compile(params)
    # The weights are those that everybody may look up, and errors of many programs add up.
    compiled.public = True
    if program.shared:
        kept[program.sort] = compiled
    inputs = {name: state[source].with_slots(program.slots) for name, source in program.reads.items()}
    sent = Values("arguments", inputs, compiled.name, compiled.digest)
    back = list(compiled.evaluate(keys, sent, machine=machines.cpu(threads=threads)).parts.values())
    if program.level is not None:
        # A ciphertext of zeros shows level and scale of what the next program reads.
        zeros = np.zeros(1, dtype=np.complex128)
        shown = keys.public.encrypt(zeros, slots=program.slots, level=program.level)
        back = [keys.evaluator().aligned(cipher, shown, shown.level) for cipher in back]
    if len(back) == 1:
        return {program.writes: back[0]}
    return {f"{program.writes}.{number}": cipher for number, cipher in enumerate(back)}


def _left(seconds: dict[str, float], sorts: Sequence[tuple[str, str]], done: int) -> str:
    """How long the rest takes, by programs of the same sort; nothing before each sort has been seen."""
    took: dict[str, list[float]] = {}
    for name, sort in sorts[:done]:
        took.setdefault(sort, []).append(seconds[name])
    if len(took) < 2:
        return ""
    means = {sort: sum(times) / len(times) for sort, times in took.items()}
    longest = max(means.values())
    left = sum(means.get(sort, longest) for _, sort in sorts[done:])
    end = time.strftime("%H:%M", time.localtime(time.time() + left))
    return f", about {_duration(left)} left, until {end}"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"


def identity(*parts: object) -> str:
    """A short name for what a run is made of."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()
