"""Test vectors: keys, encryptions and results that follow from a seed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np

from ringmill._native import CoreImage
from ringmill.compiled import Compiled

#: Everybody knows it: what is encrypted with keys from it is not protected.
SEED = hashlib.sha256(b"ringmill build: test vectors, no secret").digest()


@dataclass(frozen=True, slots=True)
class Vectors:
    """What the self-test puts in and must get out."""

    inputs: bytes
    expected: bytes
    values: str


def make(compiled: Compiled, image: CoreImage) -> Vectors:
    """Encrypt random arguments under keys from the seed and run the reference machine."""
    rng = np.random.default_rng(int.from_bytes(SEED[:8], "little"))
    size = compiled.plan.magnitude
    signature = compiled.signature
    arguments = {name: rng.uniform(-size, size, spec.shape) for name, spec in signature.inputs.items()}
    inputs, expected, slots = image.vectors(signature.pack(arguments, size), SEED)
    results = signature.unpack(slots)
    named = results if isinstance(results, dict) else {"out": results}
    # Fourteen digits: what the last bits of a decoding are may differ between processors.
    reported = {
        "arguments": {name: array.tolist() for name, array in arguments.items()},
        "results": {name: _numbers(array) for name, array in named.items()},
        "predicted_error_log2": {name: round(e, 3) for name, e in compiled.predicted_error.items()},
    }
    return Vectors(inputs, expected, json.dumps(reported, indent=1) + "\n")


def _numbers(array: np.typing.NDArray[np.generic]) -> object:
    if np.iscomplexobj(array):
        return {"real": _numbers(array.real), "imaginary": _numbers(array.imag)}
    return np.vectorize(lambda x: float(f"{x:.10g}"), otypes=[float])(array).tolist()
