"""Results of the right form for tests of the report: real programs, made-up measurements."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import ringmill as rm
from ringmill.kernels import NINE, logistic_regression, sigmoid
from ringmill.profile import facts
from ringmill.studies.demo.effort import RESNET
from ringmill.studies.papers import papers
from ringmill.studies.papers.casa import rows as casa


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
    return {
        "core": {"n": 8192, "butterflies": 4, "set": [3, 1, 3]},
        "key_switch": {"cycles": 16_000, "slot": 13_312, "spans": spans},
    }


def _papers() -> dict[str, Any]:
    rows = casa.rows(
        lambda point: casa.slot(point.n, point.nbf) * point.set.limbs,
        lambda n, nbf, device, tiling: {"lut": 1600, "ff": 800, "dsp": 10 * nbf, "bram": n // 1024},
        lambda point: {"us": 900.0, "what": "made up", "processor": "a processor"},
    )
    known = papers()
    counted = {name: known[name].facts(known[name].brief) for name in ("coxhe", "taiyi-parameters")}
    return {"casa": {"rows": rows, "area_origin": "made up"}, **counted}


def _effort() -> dict[str, Any]:
    ceilings = (27e9, 12e9)
    spent = [
        ("transform", 400, 0.010, 40_000_000, 160_000_000),
        ("inner product", 90, 0.002, 20_000_000, 9_000_000),
        ("copy", 3, 0.0001, 9_000, 0),
    ]
    return {
        "levels": [
            {"level": 4, "region": "weighted sum", "operations": 60},
            {"level": 3, "region": "<sigmoid>", "operations": 12},
            {"level": 2, "region": "", "operations": 5},
        ],
        "profile": facts("clinic", spent, ceilings, 0.014),
        "switches": [[2, "hybrid, digits of 2, 2 special primes", 3], [3, "KLSS <made up>", 1]],
        "costs": "made up",
        "predicted_seconds": 0.011,
        "workloads": [
            {
                "workload": "bootstrap",
                "program": "bootstrapping",
                "log_n": 16,
                "levels": 14,
                "bootstraps": 1,
                "rotations": 86,
                "products": 12,
                "constant_products": 316,
                "keys": 39,
                "key_bytes": 4_000_000_000,
                "transforms": 12_986,
                "seconds": 4.77,
            },
            *json.loads(RESNET.read_text(encoding="utf-8")),
        ],
    }


def sample_design(latency: float, error: float, butterflies: int, variant: str = "") -> dict[str, Any]:
    """A design as `design.json` has it, made up but for its form."""

    def figure(value: float, kind: str = "model") -> dict[str, Any]:
        return {"value": value, "origin": {"kind": kind, "source": "made up & <checked>"}}

    return {
        "schema": 3,
        "ringmill": "0.1.0",
        "kernel": {"name": "sum", "variant": variant, "program": "", "signature": {}, "magnitude": 1.0},
        "device": "ecp5-85",
        "parameters": {
            "log_n": 12,
            "q": [(1 << 35) + 1, (1 << 34) + 1],
            "p": [(1 << 35) + 3],
            "class": "any",
            "dnum": 2,
            "secret": "ternary",
            "scale_bits": 34,
        },
        "machine": f"compact:word=36,butterflies={butterflies},multiplier=montgomery,bus={64 * butterflies}",
        "hardware": {"banks": "block", "family": "ecp5", "tile": "lut"},
        "predicted": {
            "cycles": figure(latency * 1e5),
            "frequency_mhz": figure(100.0, "assumed"),
            "latency_ms": figure(latency),
            "resources": {"lut": figure(9000.0 * butterflies), "dsp": figure(20.0 * butterflies)},
            "area": figure(0.02 * butterflies),
            "error": figure(error),
            "security_bits": figure(128.0 + butterflies),
        },
    }


def sample_exploration() -> dict[str, Any]:
    """An exploration with four designs, the second chosen."""
    spans = [
        ["arithmetic", "copy", 0, 900],
        ["transform 0", "intt b0", 900, 9000],
        ["transform 1", "ntt b2", 950, 9050],
        ["control", "end", 9050, 9051],
    ]
    return {
        "kernel": "sum",
        "device": "ecp5-85",
        "wishes": {"max_error": 1e-4, "security": 128, "minimise": "latency", "max_latency_ms": None},
        "explored": 123_456,
        "complete": True,
        "seconds": 1.25,
        "front": [
            sample_design(1.0, 1e-3, 8),
            sample_design(2.0, 5e-5, 4),
            sample_design(4.1, 5e-5, 2, variant="by rows"),
            sample_design(5.0, 1e-7, 4),
        ],
        "front_total": 1630,
        "front_thinned": True,
        "chosen": 1,
        "quick_ms": 2.25,
        "core": {"n": 4096, "butterflies": 4, "set": [2, 1, 2], "cycles": 9051, "slot": 6144, "spans": spans},
        "counted": "Of 123,456 points 120,000 do not fit the device, 3,456 were simulated.",
        "completeness": "The front is proven: nothing of the space is missing from it.",
        "job": {
            "same_bits": True,
            "simulated": True,
            "seconds": 0.5,
            "cycles": 9051,
            "records": 171,
            "agreement": 170,
            "accuracy": 0.97,
            "measured_log2": -15.0,
        },
        "validated": [
            {
                "design": 1,
                "what": "cycles",
                "unit": "cycles",
                "predicted": 9051,
                "measured": 9051,
                "by": "RTL",
            },
            {
                "design": 1,
                "what": "error",
                "unit": "log2",
                "predicted": -14.3,
                "measured": -14.9,
                "by": "engine",
            },
            {"design": 1, "what": "dsp", "unit": "", "predicted": 80, "measured": None, "by": "no synthesis"},
        ],
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
        "effort": _effort(),
    }
    return {
        "version": "0.1.0",
        "machine": {"cpu": "a CPU", "threads": 2, "isa": "avx2"},
        "clinic": clinic,
        "kernels": kernels,
        "hardware": _hardware(),
        "papers": _papers(),
        "exploration": sample_exploration(),
    }
