"""`make bench`: every row of :mod:`benches.rows`, ours and the peer in turns on one core.

Prints the table and writes ``build/bench.json``, a list of ``{"work", "ours_us": {"min", "median"}, "peer",
"peer_us": {"min", "median"}, "ratio", "isa", "cpu", "bound", "parameters"}`` with ratio = peer / ours at
the median. ``bound`` has ``multiplier_us`` and ``memory_us``: what our work multiplies and moves, by the
ceilings of this core; it is absent where a work runs no limb program. ``parameters`` has those of both
sides, as far as they are known.

Arguments, if any, select rows whose work begins with one of them; the file keeps its other rows then. Without
any, or with ``limits``, the figures of :mod:`benches.limits` go to ``build/bench-limits.json``. With
``RINGMILL_ISA`` set, ratios go to ``build/bench-<isa>.json`` and there are no limits.

Heavy rows, those of bootstrapping, run when named. They add ``"levels_left"``, our ``"usable_bits"`` of
modulus in them, ``"bits"`` of the worst slot and peak memory ``"mb"`` of both sides, from which limits
follow.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benches.limits import LIGHT, SECOND_THREAD_WORK, Limit, limits, second_thread_bootstrapping
from benches.peers.sets import SETS, parameters
from benches.process import ROOT, NotOfferedError, Process
from benches.results import merged, merged_limits, read
from benches.rows import Row, selected
from ringmill import Params
from ringmill.atomic import write_text
from ringmill.studies.stored import text_of

_BINARY = "benches/target/release/ringmill-bench"
_COMMANDS = {
    "ours": [_BINARY, "ours"],
    "fixed": [_BINARY, "fixed"],
    "nine": [_BINARY, "nine"],
    "single": [_BINARY, "single"],
    "tfhe-ntt": [_BINARY, "tfhe-ntt"],
    **{
        name: [f"build/peers/{name}/bin/python", "-m", f"benches.peers.{name}_driver"]
        for name in ("seal", "tenseal", "openfhe", "lattigo", "desilo")
    },
    **{
        "-".join(["openfhe", budget, budget, *order]): [
            "build/peers/openfhe/bin/python",
            "-m",
            "benches.peers.openfhe_boot_driver",
            budget,
            *order,
        ]
        for budget in ("3", "4")
        for order in ((), ("first",))
    },
}

# A row takes about ROUNDS · 2 · SLICE_US, unless one run alone is longer than a slice.
_ROUNDS = 10
_SLICE_US = 100_000.0
_HEAVY_ROUNDS = 2


def cpu_name() -> str:
    """Return what the machine calls its processor, with family and model where it reports them."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    known = {key.strip(): value.strip() for key, value in fields.items()}
    return f"{known.get('model name')}, family {known.get('cpu family')} model {known.get('model')}"


def measure(ours: Process, peer: Process, work: str, *, heavy: bool) -> tuple[list[float], list[float]]:
    """Return the times of both sides, taken in turns so that a slow moment of the machine meets both."""
    sides = (ours, peer)
    if heavy:  # runs once as it is prepared
        rounds = [[side.times(work, 1)[0] for side in sides] for _ in range(_HEAVY_ROUNDS)]
        return [own for own, _ in rounds], [other for _, other in rounds]
    counts = []
    for side in sides:
        side.times(work, 1)  # prepares, and fills the caches
        counts.append(max(1, min(2000, round(_SLICE_US / max(side.times(work, 1)[0], 1.0)))))
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(_ROUNDS):
        for side, count, times in zip(sides, counts, found, strict=True):
            times += side.times(work, count)
    return found


def rows(chosen: list[Row], core: int) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Measure row after row; a row that cannot be measured is named and left out."""
    processes: dict[str, Process] = {}
    bounds: dict[str, dict[str, float]] = {}

    def process(side: str) -> Process:
        if side not in processes:
            command = _COMMANDS[side]
            if not (ROOT / command[0]).exists():
                raise NotOfferedError(f"{side} is not installed")
            processes[side] = Process(command, {core}, peer=command[0] != _COMMANDS["ours"][0])
        return processes[side]

    def close(*sides: str) -> None:
        for side in sides:
            if side in processes:
                processes.pop(side).close()

    previous: Row | None = None
    for number, row in enumerate(chosen):
        try:
            if row.heavy and (previous is None or row.work != previous.work):
                close("ours")  # so that its peak memory is that of one work
            elif previous and (row.set, row.peer) != (previous.set, previous.peer):
                # Keys of two peers at the largest sets do not fit side by side.
                for running in processes.values():
                    running.drop(previous.set)
            previous = row
            if row.work not in bounds:  # before the others: a bootstrapping's does not fit beside them
                bounds[row.work] = bound(row.work, core)
            ours, peer = process("ours"), process(row.peer)
            own, other = measure(ours, peer, row.work, heavy=row.heavy)
        except NotOfferedError as reason:
            print(f"{row.work:16} {row.peer}: {reason}", flush=True)
            sides = {"ours", row.peer} & processes.keys()
            close(*(side for side in sides if row.heavy or processes[side].ended))
            continue
        yield (
            row,
            {
                "work": row.work,
                "ours_us": {"min": min(own), "median": statistics.median(own)},
                "peer": peer.name,
                "peer_us": {"min": min(other), "median": statistics.median(other)},
                "ratio": statistics.median(other) / statistics.median(own),
                "isa": ours.header["isa"],
                "cpu": cpu_name(),
                **({"bound": bounds[row.work]} if bounds[row.work] else {}),
                **of_both(row),
                **(both(ours, peer, row.work) if row.heavy else {}),
            },
        )
        # Peers keep what they free, and do not all fit side by side; two of a heavy row's size do not either.
        if row.heavy or row.peer not in {other.peer for other in chosen[number + 1 :]}:
            close(row.peer)
    close(*processes)


def bound(work: str, core: int) -> dict[str, float]:
    """Return what a work of ours takes at the ceilings of this core; nothing where no limb program is run."""
    process = Process([_BINARY, "bound"], {core})
    try:
        process.times(work, 1)
        return process.facts(work)
    except NotOfferedError:
        return {}
    finally:
        if not process.ended:
            process.close()


def of_both(row: Row) -> dict[str, Any]:
    """Return the parameters of both sides of a row; nothing where a work is of no named set."""
    theirs = parameters(row.set, row.peer)
    if row.set not in SETS:
        return {}
    named = Params.named(row.set)
    ours = {
        "log_n": named.log_n,
        "limbs": len(named.q),
        "special": len(named.p),
        "dnum": named.dnum,
        "log_pq": round(named.log_q + named.log_p, 1),
        "beyond_128": named.security < 128,
    }
    return {"parameters": {"ours": ours, "peer": theirs}}


def both(ours: Process, peer: Process, work: str) -> dict[str, Any]:
    """Return what a heavy row says beside times."""
    own, other = ours.facts(work), peer.facts(work)
    return {
        "levels_left": own["levels_left"],
        "peer_levels_left": other["levels_left"],
        "usable_bits": own["usable_bits"],
        "bits": {"ours": own["bits"], "peer": other["bits"]},
        "mb": {"ours": ours.peak_bytes() / 1e6, "peer": peer.peak_bytes() / 1e6},
    }


def line(row: Row, result: dict[str, Any]) -> str:
    """Return one line of the table."""
    bar = row.bar(result["isa"])
    verdict = "" if bar is None else f"{'reached' if result['ratio'] >= bar else 'MISSED'} {bar:g}"
    own, other = result["ours_us"], result["peer_us"]
    if row.heavy:
        bits, mb = result["bits"], result["mb"]
        verdict += (
            f"; {bits['ours']:.1f} against {bits['peer']:.1f} bits, "
            f"{mb['ours']:.0f} against {mb['peer']:.0f} MB, "
            f"{result['levels_left']} and {result['peer_levels_left']} levels left, "
            f"{own['median'] / 1e3 / result['usable_bits']:.2f} ms a usable bit"
        )
    if "bound" in result:
        reached = {name: result["bound"][f"{name}_us"] / own["median"] for name in ("multiplier", "memory")}
        verdict += f"  multiplier {reached['multiplier']:.0%}, memory {reached['memory']:.0%}"
    if ((result.get("parameters") or {}).get("peer") or {}).get("beyond_128"):
        verdict += "  (the peer is beyond 128 bits)"
    return (
        f"{row.work:16} {own['median']:11.1f} {own['min']:11.1f}   {result['peer']:28} "
        f"{other['median']:11.1f} {other['min']:11.1f}   {result['ratio']:6.2f}  {verdict}"
    )


def main() -> int:
    """Measure, print, write."""
    wanted = tuple(sys.argv[1:])
    chosen = selected(wanted)
    core = max(os.sched_getaffinity(0))
    print(f"{cpu_name()}; core {core}, {_ROUNDS} rounds in turns; microseconds of processor time")
    print(
        f"{'work':16} {'ours':>11} {'min':>11}   {'peer':28} {'median':>11} {'min':>11}   {'ratio':>6}  bar",
        flush=True,
    )
    isa = os.environ.get("RINGMILL_ISA")
    target = ROOT / "build" / (f"bench-{isa}.json" if isa else "bench.json")
    target.parent.mkdir(exist_ok=True)
    results = read(target) if wanted else []
    for row, result in rows(chosen, core):
        print(line(row, result), flush=True)
        results = merged(results, [result])
        # Row by row: what was measured stays, whatever becomes of the next row.
        write_text(target, text_of(results))
    print(f"{target.relative_to(ROOT)}: {len(results)} rows")
    if isa:
        return 0
    cores = os.sched_getaffinity(0)
    measures = LIGHT if not wanted or "limits" in wanted else []
    if any(row.work == SECOND_THREAD_WORK for row in chosen):
        measures = [*measures, second_thread_bootstrapping]
    write_limits(limits(measures, _COMMANDS["ours"], cores), results)
    return 0


def write_limits(found: Iterator[Limit], results: list[dict[str, Any]]) -> None:
    """Print limits and put them into the file, in place of those of the same name."""
    target = ROOT / "build" / "bench-limits.json"
    kept = read(target)
    for limit in found:
        print(limit.line(), flush=True)
        kept = merged_limits(kept, [limit.row()], results)
    kept = merged_limits(kept, [], results)
    write_text(target, text_of(kept))


if __name__ == "__main__":
    sys.exit(main())
