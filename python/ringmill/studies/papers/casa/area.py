"""What whole cores take, from stored synthesis results."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from ringmill.studies.papers.casa.rows import Area

Row = dict[str, Any]

#: The synthesis family of each device: yosys knows families, not parts.
FAMILY = {"zcu102": "xcup", "xc7a200t": "xc7"}


def stored() -> Row:
    """Return ``{"origin": …, "cores": [{"n", "nbf", "family", "lut", "ff", "dsp", "bram", …}]}``.

    Written by ``python -m rtl.tools area`` from the syntheses in ``rtl/synth/data``.
    """
    file = resources.files(__package__).joinpath("area.json")
    return dict(json.loads(file.read_text(encoding="utf-8")))


def lookup(areas: Row, word_bits: int = 54) -> Area:
    """Return the function from a core to its counts; ``None`` for a core that nobody synthesised."""

    def area(n: int, nbf: int, device: str) -> Row | None:
        for core in areas["cores"]:
            here = (core["n"], core["nbf"], core["family"], core["params"]["W"])
            if here == (n, nbf, FAMILY[device], word_bits):
                return {name: core[name] for name in ("lut", "ff", "dsp", "bram")}
        return None

    return area
