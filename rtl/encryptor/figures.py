"""What `ringmill compare nguyen` shows of ours, and what the explorer knows of engines: cycles and area.

    python -m rtl.encryptor.figures     writes both: into the paper's folder, and into the explorer's data

A test compares the stored figures with what the model gives, and with the rows of `rtl/synth/data`.
"""

from __future__ import annotations

import json
from typing import Any

from ringmill.encryptor_schedule import (
    BY_EXTRA,
    DECRYPT,
    DIVIDED,
    PUBLIC,
    PUBLIC_KEY,
    SEAL,
    SYMMETRIC,
    Engine,
)
from ringmill.studies.stored import text_of
from rtl.encryptor.schedule import DSP_BLOCKS, NTT_15
from rtl.tools import synth
from rtl.tools.block import RTL

PLACE = RTL.parent / "python" / "ringmill" / "studies" / "papers" / "nguyen" / "ours.json"
EXPLORED = RTL.parent / "crates" / "explore" / "data" / "encryptor.json"
DATA = RTL / "synth" / "data"

#: Bits of the primes of the paper's ciphertexts.
WIDTHS = (60, 48, 48, 48)
#: The degrees and the words a cycle that are counted.
SIZES = [(log_n, log_p) for log_p in (1, 2, 3) for log_n in (13, 14, 15)]
#: The size of the paper's engine.
PAPER_SIZE = (14, 1)
MODES = {
    "engine": PUBLIC,
    "engine+special": DIVIDED,
    "seal": SEAL,
    "symmetric": SYMMETRIC,
    "keygen": PUBLIC_KEY,
    "decrypt": DECRYPT,
}
#: Modes that expand a public seed, which is built with two words a cycle alone; DSP blocks of it a limb.
SEEDED, EXPANSION_DSP = ("symmetric", "keygen"), 4 * 6
#: `rm_modmul` by the name of its kind, and its DSP blocks at 60 bits.
KINDS = {"Barrett": 4, "Montgomery": 3, "word Montgomery by 15 bits": 245}
#: Word Montgomery of 15 bits; the builds that were synthesised, by the mode that they are for.
NTT_15_KIND = 245
BUILDS = {
    "engine": {"Extra": 0, "Seeded": 0, "Seal": 0},
    "engine+special": {"Extra": 1, "Seeded": 0, "Seal": 0},
    "seal": {"Extra": 1, "Seeded": 0, "Seal": 1},
    "symmetric": {"Extra": 0, "Seeded": 1, "Seal": 0},
    "keygen": {"Extra": 0, "Seeded": 1, "Seal": 0},
    "decrypt": {"Extra": 0, "Seeded": 0, "Seal": 0},
}
#: Those whose area is shown by parts: the paper's mode; every mode but SEAL's; SEAL's.
AREAS = {
    "engine+special": BUILDS["engine+special"],
    "all but seal": {"Extra": 1, "Seeded": 1, "Seal": 0},
    "seal": BUILDS["seal"],
}
#: What a reader calls the modules of an engine.
PARTS = {
    "rm_encryptor": "jobs, starts, rows and status",
    "rm_enc_extra": "lane of the extra prime",
    "rm_enc_round": "rounding modulo the extra prime",
    "rm_enc_uniform": "expansions of seeds",
    "rm_enc_trits": "memories of samples and of the key",
    "rm_enc_gaussian": "memories of samples and of the key",
    "rm_enc_secret": "memories of samples and of the key",
    "rm_secret_sampler": "sampler, with ChaCha20",
    "rm_seal_sampler": "SEAL's sampler, with BLAKE2Xb",
}
#: Builds that the explorer knows, by the mode in which their clients encrypt.
EXPLORED_BUILDS = {
    "undivided": (PUBLIC, {"Extra": 0, "Seeded": 0, "Seal": 0}),
    "divided": (DIVIDED, {"Extra": 1, "Seeded": 0, "Seal": 0}),
    "symmetric": (SYMMETRIC, {"Extra": 0, "Seeded": 1, "Seal": 0}),
}
#: log2 of the least and the greatest degree of a synthesised build.
LOG_N = (10, 14)
NO_MESSAGE = ("keygen", "decrypt")
FEED_FORWARD, FEEDBACK = 0, 1

Facts = dict[str, Any]


def engine(log_n: int, log_p: int, name: str) -> Facts:
    """One mode of a build of the engine."""
    mode = MODES[name]
    of = Engine(len(WIDTHS), log_n, NTT_15, log_p, extra=mode in BY_EXTRA)
    used = sum(of.multipliers.values())
    return {
        "n": 1 << log_n,
        "p": 1 << log_p,
        "mode": name,
        # Two lanes hand out neighbours; more lanes hand out pairs of rows that are 2 N / P apart.
        "order": "eval" if log_p == 1 else "pipeline",
        "interval": of.interval(mode),
        # To the last word: from the message's first row; from a start, samples drawn ahead; from the job.
        **({"latency_message": of.last_row - of.message_row} if name not in NO_MESSAGE else {}),
        "latency_ready": of.ready(mode),
        "latency_cold": of.cold(mode),
        "multipliers": used,
        "dsp": DSP_BLOCKS * used + (EXPANSION_DSP * len(WIDTHS) if name in SEEDED else 0),
        "ram_bytes": round(of.memory_bits(WIDTHS) / 8),
        **({"composed": composed(name)} if (log_n, log_p) == PAPER_SIZE and name in BUILDS else {}),
    }


def _of_build(build: dict[str, int]) -> tuple[str, Facts]:
    """The top of the paper's set and its parameters."""
    log_n, log_p = PAPER_SIZE
    widths = {"W": WIDTHS[0], "WRest": WIDTHS[1], "Kind": NTT_15_KIND, "KindRest": NTT_15_KIND, "Tile": 3}
    sizes = {"LogP": log_p, "LogNMax": log_n, "LogNMin": 10, "Doubles": 10}
    return "rm_encryptor", {**widths, **sizes, **build}


def composed(name: str) -> Facts:
    """Counts of the whole engine: its synthesised modules, each as often as it is there; nothing is left out.

    Empty where one was not synthesised.
    """
    try:
        total = synth.added(*_of_build(BUILDS[name]))
    except LookupError:
        return {}
    return _counts(total)


def _counts(of: Facts) -> Facts:
    """LUTs of every use, flip-flops, DSP blocks, block memories."""
    return {
        "lut": of["lut"] + of["srl"] + of["lutram"],
        "ff": of["ff"],
        "dsp": of["dsp"],
        "bram36": of["bram36"],
    }


def area(name: str) -> list[Facts]:
    """Where the area of an engine goes: limbs, lane, samplers and the rest, in the order of LUTs."""
    try:
        found = synth.shares(*_of_build(AREAS[name]))
    except LookupError:
        return []
    parts: dict[str, Facts] = {}
    for of in found:
        part = PARTS.get(of["top"]) or f"limbs of {of['params']['W']} bits"
        here = parts.setdefault(
            part, {"build": name, "part": part, "count": 0, "lut": 0, "ff": 0, "dsp": 0, "bram36": 0.0}
        )
        here["count"] += of["count"]
        for field, value in _counts(of).items():
            here[field] += value
    return sorted(parts.values(), key=lambda part: -part["lut"])


def transform(log_n: int, log_p: int, style: int) -> Facts:
    """A transform of 60 bits alone, with the multiplier for the primes that SEAL chooses."""
    lanes = 1 << log_p
    if style == FEED_FORWARD:
        used, delay = lanes // 2 * log_n, log_n * (NTT_15 + 4)
    else:
        used = lanes * (log_n - log_p) + lanes // 2 * log_p
        delay = (log_n - log_p) * (NTT_15 + 2) + log_p * (NTT_15 + 4)
    used += lanes + 1  # twiddle factors, and one that makes what they start from
    rows = 1 << (log_n - log_p)
    return {
        "n": 1 << log_n,
        "p": lanes,
        "order": "pipeline" if style == FEED_FORWARD else "eval",
        "interval": rows,
        "latency_ready": 2 * rows - 2 + delay,
        "multipliers": used,
        "dsp": DSP_BLOCKS * used,
        "dsp_barrett": synthesised("modmul", "rm_modmul", Kind=KINDS["Barrett"], W=60, Tile=3)["dsp"] * used,
        "ram_bytes": ((1 << log_n) - lanes) * 60 // 8,
    }


def synthesised(block: str, top: str, **params: int) -> Facts:
    """The UltraScale+ row of a block whose parameters have these values; empty if it was not made."""
    file = DATA / f"{block}.json"
    for row in json.loads(file.read_text("utf-8")) if file.is_file() else []:
        same = all(row["params"].get(name) == value for name, value in params.items())
        if same and row["top"] == top and row["flow"] == "xcup":
            return {name: row[name] for name in ("lut", "srl", "lutram", "ff", "dsp", "bram36")}
    return {}


def explored_build(mode: str) -> Facts | None:
    """A build of two words a cycle as the explorer composes it for any limbs: what is there once, and a limb.

    Nothing where a module of it was not synthesised.
    """
    number, build = EXPLORED_BUILDS[mode]
    top, params = _of_build(build)
    try:
        found = synth.shares(top, params)
    except LookupError:
        return None
    # The top itself has wires and registers of every limb.
    rows, once = (dict.fromkeys(("lut", "ff", "dsp", "bram36"), 0.0) for _ in range(2))
    limbs: dict[int, dict[str, float]] = {}
    for of in found:
        width = of["params"]["W"] if of["top"] in ("rm_enc_limb", "rm_enc_uniform") else None
        beside = rows if of["top"] == top else once
        into = beside if width is None else limbs.setdefault(width, dict.fromkeys(once, 0.0))
        for name, value in _counts(of).items():
            into[name] += value / (1 if width is None else WIDTHS.count(width))
    least, most = LOG_N

    def cycles(log_n: int) -> Facts:
        of = Engine(
            len(WIDTHS), log_n, NTT_15, 1, log_n_max=most, log_n_min=least, extra=bool(build["Extra"])
        )
        return {"log_n": log_n, "interval": of.interval(number), "cold": of.cold(number)}

    return {
        "mode": mode,
        "order": "eval",
        "lanes": 2,
        "log_n_max": most,
        "limbs": len(WIDTHS),
        "once": once,
        "rows": rows,
        "limb": [{"bits": bits, **counts} for bits, counts in sorted(limbs.items())],
        "cycles": [cycles(log_n) for log_n in range(least, most + 1)],
    }


def explored() -> Facts:
    """The data of the explorer's target: every build whose modules were all synthesised."""
    builds = [explored_build(mode) for mode in EXPLORED_BUILDS]
    return {"schema": 1, "builds": [build for build in builds if build is not None]}


def figures() -> Facts:
    """All of it."""
    return {
        "engines": [
            engine(log_n, log_p, name)
            for name in MODES
            for log_n, log_p in SIZES
            if log_p == 1 or name not in SEEDED
        ],
        "area": [part for name in AREAS for part in area(name)],
        "transforms": [
            {
                **transform(*PAPER_SIZE, style),
                "synthesised": synthesised("streaming_ntt", "rm_streaming_ntt", W=60, LogP=1, Style=style),
            }
            for style in (FEED_FORWARD, FEEDBACK)
        ],
        "multipliers": [
            {"kind": name, **synthesised("modmul", "rm_modmul", Kind=kind, W=60, Tile=3)}
            for name, kind in KINDS.items()
            if synthesised("modmul", "rm_modmul", Kind=kind, W=60, Tile=3)
        ],
    }


if __name__ == "__main__":
    PLACE.write_text(text_of(figures()), "utf-8")
    EXPLORED.write_text(text_of(explored()), "utf-8")
