"""The machines of the comparison, and what rows have of a simulation."""

from __future__ import annotations

from importlib import resources
from typing import Any

Row = dict[str, Any]


def place(machine: str) -> str:
    """Return the specification of a machine: of this folder, or one that comes with the simulator."""
    own = resources.files(__package__).joinpath(f"{machine}.toml")
    return f"file:{own}" if own.is_file() else f"file:{machine}"


def reported(facts: dict[str, Any]) -> Row:
    """Return the figures of a simulation that rows have."""
    count = facts["counters"]
    units = sorted(name.removesuffix("_used") for name in count if name.endswith("_used"))
    bytes_of = {
        name: count[f"bytes_{name}"] for name in ("key", "seeded_key", "plain", "data", "fill", "spill")
    }
    return {
        "ms": round(1e3 * facts["seconds"], 4),
        "cycles": facts["cycles"],
        "bytes_keys": bytes_of["key"] + bytes_of["seeded_key"],
        "bytes_spilled": bytes_of["spill"] + bytes_of["fill"],
        "bytes_off_chip": sum(bytes_of.values()) + count["bytes_result"],
        "energy_j": round(sum(joules for _, joules in facts["energy"]), 4) if facts["energy"] else None,
        "energy": {name: round(joules, 5) for name, joules in facts["energy"] or []},
        "occupied": {unit: round(facts["utilisation"][unit], 4) for unit in units},
        "used": {u: round(count[f"{u}_used"] / max(1, count[f"{u}_offered"]), 4) for u in units},
        "bounds": {name: count[f"bound_{name}"] for name in ("work", "off_chip", "critical_path")},
        "went": [[name, cycles] for name, cycles in facts["parts"][:6]],
    }
