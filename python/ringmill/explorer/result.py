"""What an exploration found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringmill import atomic
from ringmill.errors import CommandError, ExploreError, fail
from ringmill.targets import DEFAULT, columns, of_design

if TYPE_CHECKING:
    import pandas

Design = dict[str, Any]

#: What becomes of a point, by the name of its count: one of these.
_FATES = {
    "too_large": "do not fit the device",
    "inaccurate": "exceed the bound on the error",
    "dominated": "lose to another of like cycles",
    "too_slow": "exceed the bound on the latency",
    "cannot_run": "find no plan on their core",
    "bounded": "lose even at their bound",
    "exact": "were simulated",
    "open": "are open",
}


@dataclass(frozen=True)
class Exploration:
    """Designs that no other beats, and the best of them by the objective.

    Attributes
    ----------
        best: the design chosen, as ``save`` writes it; its plan comes from a longer search than the front's.
        front: the Pareto front over latency, area, error and security, the fastest first; cycles of every
            row are the cycle model's.
        best_proven: nothing of the space beats ``best``, at the schedules that the search made.
        front_proven: nothing of the space is missing from the front.
        front_gap: what may be missing otherwise. ``faster``: how many times as fast, at most, it is as a
            design of the front that is nowhere else worse. ``open``: the candidates left. ``uncovered``:
            those that no design of the front equals in area, error and security together.
        stopped: the search was interrupted; ``best`` is the best so far.
        statistics: how many points there were and what became of them.
        constraints: the constraints and the objective.
        device: the device as explored.
    """

    best: Design
    front: list[Design]
    best_proven: bool
    front_proven: bool
    front_gap: dict[str, Any] | None
    stopped: bool
    statistics: dict[str, Any]
    constraints: dict[str, Any]
    device: str

    def completeness(self) -> str:
        """Return what is proven of the front, as a sentence."""
        gap = self.front_gap
        if gap is None:
            return "The front is proven: nothing of the space is missing from it."
        new = f", {gap['uncovered']:,} of them where the front has nothing yet" if gap["uncovered"] else ""
        total = self.statistics["candidates"]
        return (
            f"The front is not proven: of {total:,} candidates {gap['open']:,} are open{new}; elsewhere none"
            f" is more than {gap['faster']:.2f} times as fast as one of the front that is no worse otherwise."
        )

    def funnel(self) -> list[tuple[int, str]]:
        """Return the fate of the points of the space: counts that add up to all, each with its text."""
        return [(self.statistics[name], words) for name, words in _FATES.items()]

    def counted(self) -> str:
        """The same as a sentence, without what is none."""
        reported = ", ".join(f"{count:,} {words}" for count, words in self.funnel() if count)
        return f"Of {self.statistics['points']:,} points {reported}."

    def rows(self) -> list[dict[str, Any]]:
        """The front as flat rows, for a table of any kind."""
        return [row(design) for design in self.front]

    def table(self) -> pandas.DataFrame:
        """The front as a pandas table; pandas is not among what Ringmill needs."""
        try:
            import pandas
        except ImportError:
            fail(
                CommandError,
                "NoPandas",
                "A table needs pandas: pip install pandas. rows() gives the same as a list of dicts.",
            )
        return pandas.DataFrame(self.rows())

    def report(self, path: str | Path, points: int = 0) -> int:
        """Write a page to look around in: the front, the chosen core, where every number comes from.

        One HTML file without links to anything else, for screens of any size. ``points`` designs of the front
        are decrypted and held to stored syntheses, the chosen one among them, and stand there as well; 0 for
        none. Needs Matplotlib and Jinja2, which are the extra ``report``. Returns its bytes.
        """
        if points < 0:
            fail(
                ExploreError, "Points", f"{points} designs cannot be compared; give 0 or more.", points=points
            )
        can_report()
        if points:
            comparable(of_design(self.best)["name"])
        from ringmill import __version__
        from ringmill.report import explored, render_exploration

        text = render_exploration(explored.reported(self, points), __version__)
        atomic.write_text(Path(path), text)
        return len(text.encode())

    def save(self, path: str | Path, design: Design | None = None) -> int:
        """Write a design (the best by default) for ``ringmill build``; returns its bytes."""
        from ringmill._native import check_design

        text = check_design(json.dumps(self.best if design is None else design))
        atomic.write_text(Path(path), text)
        return len(text.encode())


def comparable(target: str) -> None:
    """Refuse to compare designs of machines that no syntheses are stored of design by design."""
    if target != DEFAULT:
        fail(
            ExploreError,
            "Points",
            f"Designs of {DEFAULT} machines are compared with decryptions and syntheses, and those of "
            f"{target} are not. Leave points out.",
            target=target,
        )


def can_report() -> None:
    """Refuse where what a report is made with is not installed."""
    for name in ("matplotlib", "jinja2"):
        if find_spec(name) is None:
            fail(CommandError, "NoReport", f"A report needs {name}: pip install 'ringmill[report]'.")


def row(design: Design) -> dict[str, Any]:
    """A design as one flat row."""
    p, known = design["parameters"], design["predicted"]
    value = {name: figure["value"] for name, figure in known["resources"].items()}
    sizes = [q.bit_length() for q in p["q"]], [q.bit_length() for q in p["p"]]
    return {
        "latency_ms": known["latency_ms"]["value"],
        "area": known["area"]["value"],
        "error": known["error"]["value"],
        "security_bits": known["security_bits"]["value"],
        "security_level": known["security_level"],
        "cycles": int(known["cycles"]["value"]),
        "mhz": known["frequency_mhz"]["value"],
        "energy_mj": (known["energy_mj"] or {}).get("value"),
        "log_n": p["log_n"],
        "q_bits": "+".join(map(str, sizes[0])),
        "p_bits": "+".join(map(str, sizes[1])),
        "dnum": p["dnum"],
        "secret": p["secret"],
        "scale_bits": p["scale_bits"],
        "class": p["class"],
        **columns(design),
        **value,
        "key_bytes": int(known["client"]["evaluation_key_bytes"]["value"]),
        "input_bytes": int(known["client"]["input_bytes"]["value"]),
        "variant": design["kernel"]["variant"],
        "machine": design["machine"],
    }
