"""Machines of several kinds for one kernel on one device: what each reaches, and which is best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ringmill.errors import ExploreError, RingmillError, fail
from ringmill.explorer.constraints import Constraints, checked
from ringmill.explorer.result import Exploration, row
from ringmill.explorer.run import Explorable, explore
from ringmill.progress import Show

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Kinds of machines that compute a program, each with the axes that are narrowed to what can be built: of the
#: engine, keys that are expanded on chip are counted only.
KINDS: dict[str, dict[str, Any] | None] = {"compact": None, "pipelined": {"keys": ["whole"]}}

#: What the latency of a kind counts.
COUNTED = {
    "compact": "begins and ends with data in the memory beside the core",
    "pipelined": "has the processor's part, and the link over which operands and results come and go",
}
#: By which figure a row is judged, and whether the greatest is best.
_JUDGED = {
    "latency": ("latency_ms", False),
    "area": ("area", False),
    "error": ("error", False),
    "security": ("security_bits", True),
    "energy": ("energy_mj", False),
}


@dataclass(frozen=True)
class Compared:
    """What every kind reaches.

    Attributes
    ----------
        found: the exploration of each kind that has a design.
        refused: why the others have none.
        minimise: the objective.
        device: the device as it was asked for.
    """

    found: dict[str, Exploration]
    refused: dict[str, RingmillError]
    minimise: str
    device: str

    def ranked(self) -> list[str]:
        """The kinds with a design, the best first; one without a figure for the objective comes last."""
        name, most = _JUDGED[self.minimise]

        def place(kind: str) -> tuple[bool, float]:
            value = row(self.found[kind].best)[name]
            return value is None, 0.0 if value is None else -value if most else value

        return sorted(self.found, key=place)

    @property
    def best(self) -> Exploration:
        """The exploration of the best kind."""
        return self.found[self.ranked()[0]]

    def rows(self) -> list[dict[str, Any]]:
        """The best design of each kind as flat rows, the best first, with what its latency counts."""

        def of(kind: str) -> dict[str, Any]:
            best = self.found[kind].best
            clock = best["predicted"]["frequency_mhz"]["origin"]["kind"]
            return {"target": kind, **row(best), "clock_kind": clock, "counted": COUNTED[kind]}

        return list(map(of, self.ranked()))

    def reason(self) -> str:
        """Which kind is best, by what, and why others have no design, as sentences."""
        first, *others = self.ranked()
        name, most = _JUDGED[self.minimise]
        own = row(self.found[first].best)[name]
        said = [f"By {self.minimise} {first} is best on {self.device}."]
        for kind in others:
            value = row(self.found[kind].best)[name]
            if value is None or own is None:
                said.append(f"Nothing is known of the {self.minimise} of {kind}, so it comes last.")
            elif min(own, value) > 0:
                times = own / value if most else value / own
                word = "the same" if times == 1 else f"{times:.3g} times {'less' if most else 'that'}"
                said.append(f"{kind} has {word}, {value:.4g} and {own:.4g}.")
        said += [f"{kind} has no design. {error.message}" for kind, error in self.refused.items()]
        counted = "; ".join(f"that of {kind} {COUNTED[kind]}" for kind in self.ranked())
        said.append(f"A latency counts the whole program: {counted}.")
        return " ".join(said)


def compare(
    kernel: Explorable,
    /,
    device: str,
    *arguments: Any,
    progress: Show = "auto",
    **constraints: Unpack[Constraints],
) -> Compared:
    """Explore every kind of machine that computes the kernel, and say which is best on the device.

    Args:
        kernel: as in ``explore``.
        device: as in ``explore``.
        arguments: as in ``explore``.
        progress: as in ``explore``.
        constraints: those of ``explore``.

    Raises
    ------
        ExploreError: what no kind has a design for; with one of the kinds, its own error.
    """
    minimise = checked(constraints)["minimise"]
    found: dict[str, Exploration] = {}
    refused: dict[str, RingmillError] = {}
    for kind, space in KINDS.items():
        try:
            found[kind] = explore(
                kernel, device, *arguments, target=kind, space=space, progress=progress, **constraints
            )
        except ExploreError as error:
            # A device that none of a kind stands on is a constraint too.
            if error.code != "Infeasible" and error.fields.get("constraint") != "device":
                raise
            refused[kind] = error
    if not found:
        reasons = " ".join(f"{kind}: {error.message}" for kind, error in refused.items())
        fail(ExploreError, "Infeasible", f"No kind of machine has a design. {reasons}", binding="all")
    return Compared(found, refused, minimise, device)
