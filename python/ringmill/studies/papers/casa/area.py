"""What whole cores take, from stored synthesis results."""

from __future__ import annotations

from typing import Any

from ringmill.studies.papers.casa.rows import Area
from ringmill.studies.stored import read_stored

Row = dict[str, Any]

#: The synthesis family of each device: yosys knows families, not parts.
FAMILY = {"zcu102": "xcup", "xc7a200t": "xc7"}


def stored() -> Row:
    """Return ``{"origin": …, "cores": [{"n", "nbf", "family", "tiling", "lut", "ff", "dsp", "bram", …}]}``.

    Written by ``python -m rtl.tools area`` from the syntheses in ``rtl/synth/data``.
    """
    return read_stored(__package__, "area.json")


def lookup(areas: Row, word_bits: int = 54) -> Area:
    """Return the function from a core and a tiling to its counts; ``None`` where there is no synthesis."""

    def area(n: int, nbf: int, device: str, tiling: str) -> Row | None:
        for core in areas["cores"]:
            here = (core["n"], core["nbf"], core["family"], core["tiling"], core["params"]["W"])
            if here == (n, nbf, FAMILY[device], tiling, word_bits):
                return {name: core[name] for name in ("lut", "ff", "dsp", "bram")}
        return None

    return area
