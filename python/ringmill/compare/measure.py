"""Everything that is put beside a paper, counted and measured here."""

from __future__ import annotations

from functools import partial
from typing import Any

from ringmill.compare import area, casa, cpu, cycles
from ringmill.compare.paper import paper


def beside_casa(
    *, word_bits: int, bus_bits: int | None = None, latency: int = 40, effort: int | None = None
) -> dict[str, Any]:
    """Return ``{"rows": …, "area_origin": …}``: all tables, on a memory as wide as the paper's by default.

    ``effort`` is how many passes the search for each plan schedules; by default as many as its figure is
    worth, a minute in all.
    """
    bits = bus_bits or paper("casa")["memory"]["bits_per_cycle"]
    counter = partial(cycles.counter, word_bits=word_bits, effort=effort)
    areas = area.stored()
    rows = casa.rows(
        counter(bus_bits=bits, latency=latency), area.lookup(areas, word_bits), cpu.timer(word_bits=word_bits)
    )
    rows += casa.narrow(lambda width, delay: counter(bus_bits=width, latency=delay))
    rows += casa.policies(cycles.outputs(word_bits=word_bits, bus_bits=bits, latency=latency, effort=effort))
    return {"rows": rows, "area_origin": areas["origin"]}
