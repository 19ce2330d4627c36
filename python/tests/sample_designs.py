"""A small kernel on the smallest core, and its design file as an exploration writes one."""

from __future__ import annotations

from functools import cache
from typing import Any

import ringmill as rm
from ringmill.compiled import Compiled
from ringmill.project import Core

# The smallest core: its simulator is built in the test.
SMALL = Core(butterflies=1, log_n_max=10, moduli=4, bus_bits=64)


@rm.kernel
def cubic(x: Any, y: Any) -> Any:
    return (x * y + 0.25) * x


@cache
def small_kernel() -> Compiled:
    """The kernel at toy parameters."""
    params = rm.Params.from_bits(10, [50, 40, 40], [50], 3, insecure=True)
    return cubic.compile(rm.vector(8), rm.vector(8), params=params)


# The same as the text of a machine.
MACHINE = (
    "compact:word=54,butterflies=1,log_n=10,moduli=4,multiplier=montgomery,bus=64,memory=1073741824,latency=40,"
    f"beat=1,policy=throughput,effort={SMALL.effort}"
)


def version_2(design: dict[str, Any]) -> dict[str, Any]:
    """The design as version 2 wrote it."""
    hardware = {
        "family": "ecp5",
        "word_bits": 54,
        "butterflies": 1,
        "lanes": 2,
        "multiplier": "montgomery",
        "tile": "ecp5",
        "banks": "block",
        "log_n_max": 10,
        "moduli": 4,
        "bus_bits": 64,
        "memory_bytes": 1 << 30,
        "memory_latency": 40,
        "beat_cycles": 1,
        "policy": "throughput",
        "effort": SMALL.effort,
    }
    rest = {name: value for name, value in design.items() if name != "machine"}
    return {**rest, "schema": 2, "hardware": hardware}


def _figure(value: float) -> dict[str, Any]:
    return {"value": value, "origin": {"kind": "model", "source": "test"}}


def design_of(compiled: Any) -> dict[str, Any]:
    """A design file's content, as an exploration would write it, of a compiled kernel on the small core."""
    params = compiled.params
    return {
        "schema": 3,
        "ringmill": rm.__version__,
        "kernel": {
            "name": compiled.name,
            "variant": "",
            "program": compiled.text,
            "signature": compiled.signature.to_json(),
            "magnitude": 1.0,
            "bound": compiled.plan.bound,
            "real": True,
        },
        "device": "ecp5-85",
        "parameters": {
            "log_n": params.log_n,
            "q": params.q,
            "p": params.p,
            "class": "any",
            "dnum": params.dnum,
            "secret": "ternary",
            "scale_bits": params.scale_bits,
        },
        "machine": MACHINE,
        "hardware": {"banks": "block", "family": "ecp5", "lut_unit": "none", "tile": "ecp5"},
        "predicted": {
            "cycles": _figure(SMALL.image(compiled.plan).first_cycles),
            "cycles_bound": _figure(1000.0),
            "frequency_mhz": _figure(80.0),
            "latency_ms": _figure(1.0),
            "error": _figure(2.0 ** compiled.predicted_error["out"]),
            "resources": {"lut": _figure(9000.0), "dsp": _figure(40.0)},
            "area": _figure(4658.5),
            "security_bits": _figure(20.0),
            "security_level": None,
            "power_w": None,
            "energy_mj": None,
            "client": {
                "evaluation_key_bytes": _figure(1e5),
                "input_bytes": _figure(1e5),
                "output_bytes": _figure(1e4),
                "encrypt_ms": None,
                "decrypt_ms": None,
            },
        },
    }
