"""Results of the right form for tests of the report: real programs, made-up measurements."""

from __future__ import annotations

from typing import Any

import numpy as np

import ringmill as rm
from ringmill.compare import casa
from ringmill.kernels import NINE, logistic_regression, sigmoid


def _program(traced: Any) -> dict[str, Any]:
    outline = "\n".join(line for line in traced.text.splitlines() if not line.startswith("data "))
    return {"name": traced.name, "text": traced.text, "outline": outline}


def _hardware() -> dict[str, Any]:
    spans = [
        {"unit": "arithmetic", "what": "copy", "start": 60, "end": 1084},
        {"unit": "transform 0", "what": "intt b0", "start": 1100, "end": 14412},
        {"unit": "transform 1", "what": "ntt b2", "start": 2100, "end": 15412},
        {"unit": "arithmetic", "what": "mac b4", "start": 14420, "end": 15444},
    ]
    rows = casa.rows(
        lambda point: casa.slot(point.n, point.nbf) * point.set.limbs,
        lambda n, nbf, device: {"lut": 1600, "ff": 800, "dsp": 10 * nbf, "bram": n // 1024},
        lambda point: {"us": 900.0, "what": "made up", "processor": "a processor"},
    )
    return {
        "core": {"n": 8192, "butterflies": 4, "set": [3, 1, 3]},
        "job": {"same_bits": True, "simulated": True, "seconds": 1.0, "ciphertexts": 1},
        "key_switch": {"cycles": 16_000, "slot": 13_312, "spans": spans},
        "casa": rows,
        "area_origin": "made up",
    }


def sample_results() -> dict[str, Any]:
    """A complete set of results; every key that the page reads."""
    rng = np.random.default_rng(5)
    activation = sigmoid(15, 12.0)
    traced = logistic_regression.trace(
        rm.matrix(171, 30, packing="columns"), rng.normal(size=30), 0.2, activation
    )
    clear = 1 / (1 + np.exp(-rng.normal(1, 4, 171)))
    kernels = [
        {
            "letter": row.letter,
            "label": f"{row.letter}  {row.title}",
            "title": row.title,
            "operands": row.operands,
            "size": row.size,
            "log_n": 13,
            "depth": 1,
            "key_switches": 11,
            "key_bytes": 5_000_000,
            "seconds": 0.001 * (1 + at),
            "predicted_log2": -22.0 - at / 4,
            "measured_log2": -22.3 - at / 5,
            "program": _program(row.trace()),
        }
        for at, row in enumerate(NINE)
    ]
    clinic = {
        "records": {"train": 398, "test": 171, "features": 30},
        "accuracy": {"encrypted": 0.982, "plain": 0.982},
        "agreement": {"same": 171},
        "sigmoid": {"degree": 15, "bound": 12.0, "error": activation.error},
        "probabilities": {
            "clear": clear.tolist(),
            "encrypted": (clear + rng.normal(0, 1e-3, 171)).tolist(),
            "labels": (clear > 0.5).astype(int).tolist(),
        },
        "error": {
            "predicted_log2": -21.0,
            "measured_log2": -21.6,
            "bits_below_polynomial": 12.0,
            "log2_each": rng.normal(-22, 1, 171).tolist(),
        },
        "params": {"security": 128, "log_n": 14},
        "rationale": "N = 2^14 because it fits & works",
        "stages": [
            {"name": "compile", "where": "once", "seconds": 0.4},
            {"name": "make keys", "where": "client", "seconds": 0.3},
            {"name": "encrypt", "where": "client", "seconds": 0.5},
            {"name": "evaluate", "where": "server", "seconds": 1.4},
            {"name": "decrypt", "where": "client", "seconds": 0.02},
        ],
        "evaluate_seconds": 1.4,
        "files": [
            {"name": "program", "bytes": 20_000, "direction": "up"},
            {"name": "evaluation keys", "bytes": 12_000_000, "direction": "up"},
            {"name": "encrypted records", "bytes": 20_000_000, "direction": "up"},
            {"name": "encrypted results", "bytes": 500_000, "direction": "down"},
        ],
        "program": _program(traced),
        "statistics": [["slots", "256"], ["depth", "5"]],
    }
    return {
        "version": "0.1.0",
        "machine": {"cpu": "a CPU", "threads": 2, "isa": "avx2"},
        "clinic": clinic,
        "kernels": kernels,
        "hardware": _hardware(),
    }
