"""The cycles of the paper's encryption engine and of its neighbours, by the model that the RTL is held to.

    python -m rtl.encryptor.schedule        the table of Nguyen, Kim and Lee's set

The model is `python/ringmill/encryptor_schedule.py`: reports draw engines by it.
"""

from __future__ import annotations

from ringmill.encryptor_schedule import DIVIDED, PUBLIC, Engine

#: Nguyen, Kim and Lee, Table II: microseconds at MHz, which are these cycles; DSP blocks, LUTs.
PAPER = {"us": 102.1, "mhz": 250, "cycles": 25_525, "dsp": 6042, "lut": 883_000}
#: The multiplier for NTT primes of 60 or 48 bits by words of 15: latency (`rm_modmul_pkg`), DSP blocks.
NTT_15 = 12
DSP_BLOCKS = 6


def table() -> list[str]:
    """Lines of the comparison: N = 2^14 with two words a cycle, and its neighbours."""
    names = ("interval", "message", "ready", "cold", "products", "DSP")
    lines = [" ".join([f"{'N':>5} {'P':>2} {'divided':>8}", *(f"{name:>8}" for name in names)])]
    for extra in (False, True):
        mode = DIVIDED if extra else PUBLIC
        for log_n, log_p in ((13, 1), (14, 1), (15, 1), (14, 2), (14, 3)):
            engine = Engine(4, log_n, NTT_15, log_p, extra=extra)
            used = sum(engine.multipliers.values())
            message = engine.last_row - engine.message_row
            cycles = (engine.interval(mode), message, engine.ready(mode), engine.cold(mode))
            words = [f"{figure:>8}" for figure in (*cycles, used, DSP_BLOCKS * used)]
            lines.append(" ".join([f" 2^{log_n} {1 << log_p:>2} {'yes' if extra else 'no':>8}", *words]))
    lines.append(f"Nguyen, Kim and Lee, N = 2^14, P = 2: {PAPER['cycles']} cycles, {PAPER['dsp']} DSP")
    return lines


if __name__ == "__main__":
    print(*table(), sep="\n")
