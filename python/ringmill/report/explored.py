"""An exploration in the report: the front thinned out, the chosen core over a run, measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ringmill.project import design as designs
from ringmill.targets import columns, of_design
from ringmill.validate import design as held
from ringmill.validate.stored import spread

if TYPE_CHECKING:
    from ringmill.explorer.result import Design, Exploration

Row = dict[str, Any]

#: Designs of the front that the report shows.
SHOWN = 60


def thin(front: list[Design], most: int = SHOWN) -> list[Design]:
    """Designs of a long front, evenly chosen, its ends included."""
    if len(front) <= most:
        return list(front)
    return [front[round(at * (len(front) - 1) / (most - 1))] for at in range(most)]


def _core(design: Design) -> tuple[Any, ...]:
    return tuple(columns(design).values())


def _identity(design: Design) -> tuple[Any, ...]:
    return design["kernel"]["variant"], design["parameters"], _core(design)


def quick_ms(found: Exploration) -> float | None:
    """Milliseconds of the chosen design by the quick plan, where a longer search found a better one."""
    mine = _identity(found.best)
    latency = float(found.best["predicted"]["latency_ms"]["value"])
    rows = (design for design in found.front if _identity(design) == mine)
    quick = next((float(design["predicted"]["latency_ms"]["value"]) for design in rows), latency)
    return quick if quick > latency else None


def _merits(design: Design) -> tuple[float, ...]:
    """What a front is over, each the better the less."""
    known = design["predicted"]
    latency, area, error = (float(known[name]["value"]) for name in ("latency_ms", "area", "error"))
    return latency, area, error, -float(known["security_bits"]["value"])


def front_with(found: Exploration) -> tuple[list[Design], int, bool]:
    """The front for a reader with the chosen design in its place, where that is, and whether it was thinned.

    The chosen design has the plan of a longer search, so it may beat some that the front holds.
    """
    best = found.best
    mine = _identity(best)

    def stays(design: Design) -> bool:
        beaten = all(b <= d for b, d in zip(_merits(best), _merits(design), strict=True))
        return _identity(design) != mine and not beaten

    others = [design for design in found.front if stays(design)]
    few = thin(others)
    shown = [*few, best]
    shown.sort(key=lambda d: float(d["predicted"]["latency_ms"]["value"]))
    return shown, shown.index(best), len(few) < len(others)


def merged(spans: list[tuple[str, str, int, int]], gap: int) -> list[list[Any]]:
    """Spans of a unit with the same operation, less than `gap` cycles apart, as one."""
    out: list[list[Any]] = []
    last: dict[str, list[Any]] = {}
    for unit, what, start, end in spans:
        before = last.get(unit)
        if before is not None and before[1].split()[0] == what.split()[0] and start - before[3] < gap:
            before[3] = max(before[3], end)
            continue
        last[unit] = [unit, what, start, end]
        out.append(last[unit])
    return out


def reported(found: Exploration, points: int = 0) -> dict[str, Any]:
    """What the report shows of an exploration; `points` designs of its front are measured as well."""
    front, chosen, thinned = front_with(found)
    return {
        "kernel": found.best["kernel"]["name"],
        "device": found.device,
        "wishes": found.constraints,
        "explored": found.statistics["points"],
        "complete": found.front_proven,
        "completeness": found.completeness(),
        "counted": found.counted(),
        "seconds": found.statistics["seconds"],
        "front": [{**d, "kernel": {**d["kernel"], "program": ""}} for d in front],
        "front_total": len(found.front),
        "front_thinned": thinned,
        "chosen": chosen,
        "quick_ms": quick_ms(found),
        **_over_a_run(found.best),
        "validated": _validated(front, chosen, points) if points else [],
    }


def _over_a_run(chosen: Design) -> dict[str, Any]:
    """What the units of the chosen core do over one run; nothing of another machine."""
    if of_design(chosen)["name"] != designs.CORE:
        return {}
    design = designs.of(chosen)
    image = design.core.image(design.compiled.plan)
    return {
        "core": {
            "n": 1 << image.log_n,
            "butterflies": design.core.butterflies,
            "cycles": image.cycles,
            "slot": image.slot,
            "spans": merged(image.spans, image.cycles // 2000),
        }
    }


def _validated(front: list[Design], chosen: int, points: int) -> list[Row]:
    """Decrypted errors and stored syntheses beside predictions: the chosen design, `points` of the front."""
    rows: list[Row] = []
    for at in sorted({chosen, *spread(len(front), points)}):
        design = designs.of(front[at])
        rows.append({"design": at, **held.error(design, runs=1)})
        blocks = held.resources(design, held.of_core(design, held.stored_syntheses()))
        rows += [{"design": at, **row} for row in blocks if row["measured"] is not None]
    return rows
