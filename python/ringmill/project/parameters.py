"""The parameters of a compact core, its memory and its plans.

Made from
crates/machine/src/compact/parameters.rs by
`RINGMILL_BLESS=1 cargo test -p ringmill-machine parameters`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameters:
    """Every parameter with its default.

    Attributes
    ----------
        word_bits: bits of a word on chip: primes are below 2^word.
        butterflies: butterflies of a lane: time halves, multipliers double.
        log_n_max: the greatest degree N: six banks of N words.
        moduli: entries of the modulus table.
        multiplier: the modular multiplier, which says what primes there may be.
        ones: of prf-fiko, q = 2^(word-1) + f: where f may have ones, as the bits of a number; 0 for any f.
        tile: how a product is cut for the device's DSP blocks.
        lut_unit: the unit whose products are made of LUTs where those of the other have DSP blocks.
        bus_bits: bits of a beat of the memory bus.
        read_rows: rows of 2·butterflies words that are read ahead: more for memories of long latency.
        memory_bytes: memory beside the core.
        memory_latency: from a read request to its first beat, and from the last beat written to its response.
        beat_cycles: cycles from one beat to the next in each direction.
        policy: what plans are made for: few cycles in all, or early results.
        effort: passes scheduled in search of a plan, all attempts together.
    """

    word_bits: int = 54
    butterflies: int = 4
    log_n_max: int = 13
    moduli: int = 16
    multiplier: str = "montgomery"
    ones: int = 0
    tile: str = "dsp48e2"
    lut_unit: str = "none"
    bus_bits: int = 512
    read_rows: int = 64
    memory_bytes: int = 4294967296
    memory_latency: int = 40
    beat_cycles: int = 1
    policy: str = "throughput"
    effort: int = 8000


#: What the top module calls them, in its order.
RTL = {
    "word_bits": "W",
    "butterflies": "NBF",
    "log_n_max": "LOGN_MAX",
    "moduli": "MODS",
    "multiplier": "KIND",
    "ones": "ONES",
    "tile": "TILE",
    "lut_unit": "LUT_UNIT",
    "bus_bits": "D",
    "read_rows": "RD_ROWS",
}
#: Names, each at the number that stands for it in the hardware.
NAMES = {
    "multiplier": (
        "word-montgomery",
        "sparse-word-montgomery",
        "prf-fiko",
        "montgomery",
        "barrett",
        "ntt",
    ),
    "tile": (
        "lut",
        "ecp5",
        "dsp48e1",
        "dsp48e2",
    ),
    "lut_unit": (
        "none",
        "transforms",
        "arithmetic",
    ),
}
