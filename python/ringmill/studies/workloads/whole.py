"""ResNet on one encrypted image from end to end: keys, layer after layer, scores beside the clear ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ringmill import __version__, memory
from ringmill._native import Ciphertext, Params
from ringmill.compiled import Compiled
from ringmill.errors import CommandError
from ringmill.keys import Keys
from ringmill.progress import Show, steps
from ringmill.studies.workloads import resnet, stepwise
from ringmill.studies.workloads.multiplexed import Array, Grid

Facts = dict[str, Any]

#: By name: what `ringmill workload NAME --run FOLDER` runs.
SHAPES = {
    "resnet-20": resnet.Shape(),
    "resnet-8": resnet.Shape(side=16, channels=(4, 8, 16), blocks=1),
}
SEED = 1


class Job:
    """A network, its image and its parameters.

    Attributes
    ----------
        shape, network, image: what is computed.
        params: of all its programs.
        needs: the keys of all its programs.
    """

    def __init__(self, shape: resnet.Shape, params: Params | None = None, seed: int = SEED) -> None:
        self.shape, self.params = shape, params or resnet.parameters(shape)
        self.network = resnet.Network.drawn(shape, seed)
        random = np.random.default_rng([seed, 1])
        self.image: Array = random.uniform(-1, 1, (3, shape.side, shape.side))
        self.identity = stepwise.identity(__version__, shape, seed, self.params.fingerprint)
        self.needs = stepwise.Needs()

    def survey(self, show: Show = "none", *, seeded: bool = False) -> dict[str, float]:
        """Compile every program once, to learn which keys the run needs; gives bytes by what they are for."""
        return self.needs.survey(self.params, self._compiled(show), seeded=seeded)

    def _compiled(self, show: Show) -> Iterator[Compiled]:
        names = [step.name for step in resnet.steps(self.network)]
        shared = False
        with steps("survey", len(names), show) as tell:
            for step in resnet.steps(self.network):
                tell(step.name)
                if step.shared and shared:
                    continue
                shared |= step.shared
                yield step.compile(self.params)

    def run(
        self,
        folder: Path,
        show: Show = "none",
        *,
        threads: int | None = None,
        memory_limit: float | None = None,
        seeded: bool = False,
        stop_after: int | None = None,
    ) -> Facts:
        """Run, or go on with a run that was killed; ``stop_after`` limits the number of programs.

        ``seeded`` keeps half of each key in memory, which takes longer and gives the same.
        """
        title = f"resnet-{self.shape.layers}"
        run = stepwise.Run(
            folder,
            self.params,
            lambda: resnet.steps(self.network),
            title,
            self.identity,
            needs=self.needs,
            seeded=seeded,
        )
        run.open()
        begin = time.perf_counter()
        parts = self.survey(show, seeded=seeded)
        fits = self.needs.fits(self.params, parts, seeded=seeded)
        memory.check(run.title, parts, memory_limit, {**fits, **_fits(self.shape)}, CommandError)
        run.begin()
        resumed = run.saved()[0]
        keys = run.keys(show)
        start = {} if resumed else {"x": self._encrypted(keys)}
        state, seconds = run.go(keys, start, show, threads=threads, stop_after=stop_after)
        done = len(seconds)
        programs = sum(1 for _ in resnet.steps(self.network))
        facts: Facts = {
            "network": f"{run.title}, {self.shape.side} x {self.shape.side} x 3, seeded weights",
            "parameters": repr(self.params),
            "programs done": f"{done} of {programs}" + (f", {resumed} of them before" if resumed else ""),
            "seconds of programs": round(sum(seconds.values()), 1),
            "seconds of this call": round(time.perf_counter() - begin, 1),
        }
        return facts if done < programs else {**facts, **self._judged(keys, state), "each": seconds}

    def _encrypted(self, keys: Keys) -> Ciphertext:
        grid = Grid(self.shape.side, 1, self.shape.channels[0])
        return keys.secret.encrypt(grid.pack(self.image).astype(np.complex128))

    def _judged(self, keys: Keys, state: dict[str, Ciphertext]) -> Facts:
        """Scores beside those of the clear network, with the polynomial and with the ramp."""
        grid = list(resnet.steps(self.network))[-1].grid
        parts = [c for name, c in sorted(state.items()) if name.split(".")[0] == "scores"]
        slots = [keys.secret.decrypt(cipher).real for cipher in parts]
        places = resnet.score_slots(grid, self.shape.classes)
        found = np.array([slots[part][slot] for part, slot in places])
        clear = self.network.scores(self.image)
        exact = self.network.scores(self.image, lambda t: np.maximum(t, 0.0))
        return {
            "class, encrypted": int(found.argmax()),
            "class, in the clear": int(clear.argmax()),
            "class, exact ramp": int(exact.argmax()),
            "error": float(np.abs(found - clear).max()),
            "error of the polynomials": float(np.abs(clear - exact).max()),
            "scores": [round(float(score), 6) for score in found],
        }


def _fits(shape: resnet.Shape) -> stepwise.Ways:
    """Smaller networks, and what they take at least."""

    def size(other: resnet.Shape) -> Callable[[], float]:
        return lambda: sum(Job(other).survey(seeded=True).values())

    return {
        f"{name} --key-memory seeded": size(other)
        for name, other in SHAPES.items()
        if other.slots < shape.slots
    }
