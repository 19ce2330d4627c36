"""What a program moves over the edge of a chip, as lines."""

from __future__ import annotations

from typing import Any

Facts = dict[str, Any]

#: The regions that are shown: those that move most.
_REGIONS = 12


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"


def facts(moved: Facts) -> Facts:
    """The same as facts that are printed, a line each."""
    classes = [
        f"{name}: {_megabytes(count)}, {_megabytes(moved['distinct'][name])} if each limb moved once"
        for name, count in moved["bytes"].items()
        if count
    ]
    most = sorted(moved["regions"], key=lambda region: region["off_chip"], reverse=True)
    return {
        "capacity": f"{moved['limbs']:,} limbs of {moved['word_bits']} bits a word; "
        f"{moved['least_limbs']} at least",
        "live limbs": f"{moved['peak_limbs']:,} at most, {moved['mean_limbs']:,.1f} in the mean",
        "spills": f"{moved['spills']:,} limbs, refills {moved['refills']:,}",
        "off chip": _megabytes(moved["off_chip"])
        + (f", {_megabytes(moved['off_chip_as_written'])} as written" if "orders" in moved else ""),
        "by class": classes,
        "regions": [
            f"{region['region'] or 'no region'}: {_megabytes(region['off_chip'])}, of these spilled "
            f"{_megabytes(region['spill'])} and refilled {_megabytes(region['fill'])}; "
            f"{region['peak_limbs']:,} live limbs at most"
            for region in most[:_REGIONS]
            if region["off_chip"]
        ],
    }
