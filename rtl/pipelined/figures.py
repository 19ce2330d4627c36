"""What `ringmill compare duong-lee` shows of ours: cycles, multipliers, memory and synthesised blocks.

    python -m rtl.pipelined.figures     writes them into the paper's folder

A test compares the stored figures with what the models give, and with the rows of `rtl/synth/data`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ringmill as rm
from ringmill.studies.stored import text_of
from rtl.pipelined.pool import LANES, SETS, TEN, Sort, best
from rtl.pipelined.schedule import DSP_BLOCKS, NTT_60, Engine, key_words
from rtl.tools.block import RTL

PLACE = RTL.parent / "python" / "ringmill" / "studies" / "papers" / "duong_lee" / "ours.json"
WORD_BITS = 60
LOG_N, LOG_P, LIMBS = 16, 3, 4

Facts = dict[str, Any]


def _bytes(words: int) -> int:
    return words * WORD_BITS // 8


def _off_chip(limbs: int, special: int, digits: int, reads: int = 1) -> int:
    """Keys, operand, addends and results as words of 64 bits."""
    return 8 * (2 * digits * (limbs + special) + (4 + reads) * limbs) << LOG_N


def streams() -> Facts:
    """The chain of streaming transforms."""
    engine = Engine(LIMBS, LOG_P, LOG_N, NTT_60)
    used = engine.multipliers
    tables = (LIMBS + 1 + 2 * LIMBS) << LOG_N  # the inverse serves all moduli, each forward transform two
    memory = sum(engine.memory_words.values())
    assert key_words(LIMBS, LOG_N) == 2 * LIMBS * (LIMBS + 1) << LOG_N
    return {
        "butterflies": engine.butterflies,
        "bound": engine.bound(LIMBS),
        "interval": engine.interval(LIMBS),
        "latency": engine.latency(LIMBS, alone=False),
        "latency_alone": engine.latency(LIMBS, alone=True),
        "multipliers": used,
        "dsp": DSP_BLOCKS * sum(used.values()),
        "ram_bytes": _bytes(memory),
        "bytes_off_chip": _off_chip(LIMBS, 1, LIMBS),
        "with_tables": {
            "dsp": DSP_BLOCKS * (sum(used.values()) - used["twiddle factors"]),
            "ram_bytes": _bytes(memory + tables),
        },
    }


def _pool(sort: Sort) -> Facts:
    """A build for one set, by the cycles of `rm_pool_key_switch`; its operand is read twice."""
    found, columns = best(sort), max(sort.alpha, sort.special)
    # Quotients of several limbs: a product of 14 and 15 bits a feed, column and lane, in one DSP block.
    quotients = LANES * TEN.feeds * columns if columns > 1 else 0
    return {
        "set": list(sort),
        "bound": round(found.bound),
        "interval": round(found.interval),
        "latency": round(found.latency),
        "latency_alone": found.alone,
        "dsp": DSP_BLOCKS * sum(TEN.multipliers(sort).values()) + quotients,
        "ram_bytes": _bytes(sum(TEN.memory_words(sort).values())),
        "bytes_off_chip": _off_chip(*sort, reads=2),
    }


#: Memories off chip, in MB a second, peak: AMD's data sheets of the U250 and of the U280.
MEMORIES = {
    "U250, one channel of DDR4": 19_200,
    "U250, four channels": 76_800,
    "U280, HBM2": 460_000,
}
#: The paper's clock in MHz, and 200 ns to the first bytes in its cycles.
CLOCK, WAIT = 236, 47


@rm.kernel
def _turned(x: Any) -> Any:
    """A rotation of as many limbs as there are, since three products follow."""
    turned = x.rotate(1)
    for _ in range(LIMBS - 1):
        turned = turned * turned
    return turned


def memories() -> list[Facts]:
    """Intervals of Duong and Lee's set behind memories, by machine `pipelined`.

    Its products of 52 bits take the twelve cycles of those of 60 bits in steps of 17. Bytes are those of
    words of 64 bits.
    """
    params = rm.Params.from_bits(LOG_N, [51, 45, 45, 45], [51], LIMBS)
    program = _turned.compile(rm.vector(64), params=params)
    found = []
    for build in ("streams", "pool"):
        for memory, rate in MEMORIES.items():
            for keys in ("whole", "seeded"):
                options = {
                    "word": 52,
                    "multiplier": "ntt",
                    "clock": CLOCK,
                    "bandwidth": rate,
                    "latency": WAIT,
                }
                machine = rm.machines.pipelined(build=build, keys=keys, **options)
                counters = program.estimate(machine)["counters"]
                moved = counters["key_bytes"] + counters["ciphertext_bytes"]
                assert counters["key_switches"] == 1
                found.append(
                    {
                        "build": build,
                        "memory": memory,
                        "keys": keys,
                        "mb_a_second": rate,
                        "interval": counters["interval_with_memory"],
                        "bytes_off_chip": moved,
                        "clock_mhz": CLOCK,
                    }
                )
    return found


def blocks(place: Path = RTL / "synth" / "data" / "pipelined.json") -> Facts:
    """Synthesised blocks of the chain, by top and, of a bank, whether it is the special one."""
    found = {}
    for row in json.loads(place.read_text("utf-8")):
        name = "special bank" if row["params"].get("Special") else row["top"]
        found[name] = {key: row[key] for key in ("lut", "srl", "lutram", "ff", "dsp", "bram36")}
    return found


def figures() -> Facts:
    """All of it."""
    return {
        "streams": streams(),
        "pool": {
            "butterflies": 32 * TEN.units,
            "multipliers": TEN.multipliers(SETS[0]),
            "sets": [_pool(sort) for sort in SETS],
        },
        "memories": memories(),
        "blocks": blocks(),
    }


if __name__ == "__main__":
    PLACE.write_text(text_of(figures()), "utf-8")
