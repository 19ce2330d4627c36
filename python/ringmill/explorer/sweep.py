"""Explorations larger than one machine: the space in pieces, on a Ray cluster if there is one.

A piece is one degree and one value of the axis that the target is cut along, explored on its own. Pieces know
nothing of each other, so a worker that dies costs its piece, which is explored again; what it had simulated
is in its results file, if a folder is given that all workers see. The outcome is that of one exploration of
the whole space, front for front, wherever both are proven.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringmill import _native
from ringmill.errors import CommandError, ExploreError, fail
from ringmill.explorer.constraints import Constraints
from ringmill.explorer.result import Exploration
from ringmill.explorer.run import Explorable, exploration_of, request
from ringmill.explorer.space import narrowed
from ringmill.targets import DEFAULT, target_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Outcome = dict[str, Any]
Runner = Callable[[list[str]], Iterable[Outcome | None]]


def pieces(space: dict[str, Any] | None = None, target: str = DEFAULT) -> list[dict[str, Any]]:
    """The space, cut along the degree and an axis of the target: of compact cores the butterflies."""
    row = target_of(target)
    whole = {} if space is None else narrowed(space, target=target)
    cut = {axis["name"]: axis["values"] for axis in row["axes"] if axis["cut"]}
    cut = {"log_n": range(row["log_n_searched"], row["log_n"][1] + 1), **cut}
    values = [whole.get(axis, all_values) for axis, all_values in cut.items()]
    return [
        {**whole, **{axis: [value] for axis, value in zip(cut, one, strict=True)}}
        for one in itertools.product(*values)
    ]


def piece(text: str) -> Outcome | None:
    """Explore one piece; ``None`` if nothing in it meets the constraints."""
    try:
        return dict(json.loads(_native.explore_designs(text)))
    except ExploreError as error:
        if error.code == "Infeasible":
            return None
        raise


def here(texts: list[str]) -> Iterable[Outcome | None]:
    """One piece after the other, in this process."""
    return map(piece, texts)


def on_ray(
    texts: list[str],
    *,
    address: str | None = None,
    retries: int = 3,
    task_of: Callable[[str], Outcome | None] = piece,
) -> list[Outcome | None]:
    """Every piece as a task of a Ray cluster: of the one at ``address``, or of a local one.

    A piece whose worker dies is given to another, up to ``retries`` times. ``task_of`` explores a piece.
    """
    try:
        import ray
    except ImportError:
        fail(CommandError, "NoRay", "A sweep on a cluster needs Ray: pip install 'ringmill[ray]'.")
    if not ray.is_initialized():
        ray.init(address=address, include_dashboard=False, log_to_driver=False)
    task = ray.remote(max_retries=retries)(task_of)
    return list(ray.get([task.remote(text) for text in texts]))


def sweep(
    kernel: Explorable,
    /,
    device: str,
    *arguments: Any,
    target: str = DEFAULT,
    space: dict[str, Any] | None = None,
    results: str | Path | None = None,
    run: Runner = here,
    **constraints: Unpack[Constraints],
) -> Exploration:
    """Explore the space in pieces; ``constraints`` and the others are those of ``ringmill.explore``.

    Args:
        kernel: as of ``ringmill.explore``.
        device: as of ``ringmill.explore``.
        arguments: as of ``ringmill.explore``.
        target: as of ``ringmill.explore``.
        space: axes to narrow.
        results: a folder; each piece keeps its own results file there and goes on from it.
        run: ``here`` or ``on_ray``: takes requests, gives outcomes in the same order.
        constraints: as of ``ringmill.explore``; ``seconds`` are those of each piece.
    """
    asked = []
    for number, part in enumerate(pieces(space, target)):
        file = None if results is None else Path(results) / f"piece-{number}.sqlite"
        asked.append(
            request(kernel, device, *arguments, target=target, space=part, results=file, **constraints)
        )
    found = [outcome for outcome in run([json.dumps(one) for one in asked]) if outcome is not None]
    if not found:
        # The whole space determines which constraint binds.
        whole = request(kernel, device, *arguments, target=target, space=space, results=None, **constraints)
        return exploration_of(json.loads(_native.explore_designs(json.dumps(whole))), whole)
    return exploration_of(_merged(found, asked[0]["wishes"]["minimise"]), asked[0])


def _costs(design: dict[str, Any]) -> tuple[float, float, float, float]:
    known = design["predicted"]
    values = [known[name]["value"] for name in ("latency_ms", "area", "error", "security_bits")]
    return values[0], values[1], values[2], -values[3]


def _widest(gaps: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What may be missing from the front of all, which covers the front of each piece."""
    if not gaps:
        return None
    counts = {name: sum(gap[name] for gap in gaps) for name in ("open", "uncovered")}
    return {"faster": max(gap["faster"] for gap in gaps), **counts}


def _merged(outcomes: list[Outcome], objective: str) -> Outcome:
    """One outcome of many: the front of all fronts, the best of all bests."""
    order = {"latency": 0, "energy": 0, "area": 1, "error": 2, "security": 3}
    first = order[objective]

    def by_objective(design: dict[str, Any]) -> tuple[float, ...]:
        costs = _costs(design)
        # Counted energies do not go with time.
        energy = design["predicted"]["energy_mj"] if objective == "energy" else None
        return (energy["value"] if energy else costs[first], *costs)

    together = sorted((design for outcome in outcomes for design in outcome["front"]), key=_costs)
    front: list[dict[str, Any]] = []
    for design in together:
        costs = _costs(design)
        if not any(all(x <= y for x, y in zip(_costs(kept), costs, strict=True)) for kept in front):
            front.append(design)
    statistics = {
        name: sum(outcome["statistics"][name] for outcome in outcomes)
        for name, value in outcomes[0]["statistics"].items()
        if isinstance(value, (int, float))
    }
    over = [
        outcome["statistics"]["over_bound"] for outcome in outcomes if outcome["statistics"]["over_bound"]
    ]
    # Least, median, greatest: the median of all does not follow from those of the pieces.
    statistics["over_bound"] = [min(o[0] for o in over), None, max(o[2] for o in over)] if over else None
    return {
        "device": outcomes[0]["device"],
        "best": min((outcome["best"] for outcome in outcomes), key=by_objective),
        "front": front,
        "best_proven": all(outcome["best_proven"] for outcome in outcomes),
        "front_proven": all(outcome["front_proven"] for outcome in outcomes),
        "front_gap": _widest([outcome["front_gap"] for outcome in outcomes if outcome["front_gap"]]),
        "stopped": any(outcome["stopped"] for outcome in outcomes),
        "statistics": statistics,
    }
