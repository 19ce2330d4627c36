"""Which core: the parameters of the hardware, and what only its synthesis needs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ringmill._native import CoreImage, Costs, Plan
from ringmill.errors import CommandError, fail
from ringmill.project.parameters import NAMES, RTL, Parameters

#: Families of devices, as device files name them, with what multiplies in them; `asic45` has no synthesis in
#: a built folder.
FAMILIES = {
    "xc7": ("lut", "dsp48e1"),
    "xcup": ("lut", "dsp48e2"),
    "ecp5": ("lut", "ecp5"),
    "asic45": ("lut",),
}
#: What holds the banks: block memory, or the UltraRAM of UltraScale+.
BANKS = ("block", "ultra")


@dataclass(frozen=True, slots=True)
class Core(Parameters):
    """A compact core to be built: its parameters, and what only its synthesis needs; `docs/hardware.md`."""

    family: str = "xcup"
    banks: str = "block"
    clock_mhz: float = 100.0

    def __post_init__(self) -> None:
        """Check what the native module does not."""
        if self.tile not in NAMES["tile"]:
            fail(
                CommandError,
                "UnknownTile",
                f"No DSP block is called {self.tile!r}; there are {', '.join(NAMES['tile'])}.",
                tile=self.tile,
            )
        if self.family not in FAMILIES:
            fail(
                CommandError,
                "UnknownFamily",
                f"No family of devices is called {self.family!r}; there are {', '.join(FAMILIES)}.",
                family=self.family,
            )
        if self.banks not in BANKS or (self.banks == "ultra" and self.family != "xcup"):
            fail(
                CommandError,
                "UnknownBanks",
                f"Banks cannot stand in {self.banks!r} memory on {self.family}: block memory serves every "
                "family, ultra only xcup.",
                banks=self.banks,
                family=self.family,
            )
        if self.tile not in FAMILIES[self.family]:
            fail(
                CommandError,
                "TileOfFamily",
                f"{self.family} has no DSP block {self.tile}; its products are made of "
                f"{' or '.join(FAMILIES[self.family])}.",
                tile=self.tile,
                family=self.family,
            )
        if self.lut_unit not in NAMES["lut_unit"] or (self.lut_unit != "none" and self.tile == "lut"):
            fail(
                CommandError,
                "UnknownUnit",
                f"No core has lut_unit={self.lut_unit!r} with tile={self.tile!r}; with DSP blocks there are "
                f"{', '.join(NAMES['lut_unit'])}, without only none.",
                lut_unit=self.lut_unit,
                tile=self.tile,
            )
        if not 0 < self.clock_mhz < 10_000:
            fail(
                CommandError,
                "Clock",
                f"A clock of {self.clock_mhz!r} MHz cannot be asked for; give a number above 0.",
                clock_mhz=self.clock_mhz,
            )

    def image(self, plan: Plan) -> CoreImage:
        """The program of a plan for this core."""
        return CoreImage(plan, self, policy=self.policy, effort=self.effort)

    def costs(self) -> Costs:
        """What it takes for each kind of work at its clock, by its cycle model."""
        return Costs.of_core(self, self.clock_mhz)

    def parameters(self) -> dict[str, int]:
        """The parameters of the top module."""
        values = {name: getattr(self, name) for name in RTL}
        numbers = {name: NAMES[name].index(value) for name, value in values.items() if name in NAMES}
        return {RTL[name]: numbers.get(name, value) for name, value in values.items()}

    def to_json(self) -> dict[str, Any]:
        """As stored in a design."""
        return asdict(self)
