"""Logistic regression on encrypted rows by TenSEAL: a ciphertext a feature, rows along the slots.

    python tenseal_logistic.py < request.json

The request has rows (rows, features) between −1 and 1, weights and an offset. The answer, one JSON object,
has the seconds of the processor for each step, and the largest distance from the same in the clear.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import time
from typing import Any

import numpy as np
import tenseal


def main() -> None:
    """Answer one request."""
    asked = json.load(sys.stdin)
    rows, weights = np.array(asked["rows"]), np.array(asked["weights"])
    context = tenseal.context(
        tenseal.SCHEME_TYPE.CKKS,
        poly_modulus_degree=2 * len(rows),
        coeff_mod_bit_sizes=[asked["first"], asked["scale"], asked["first"]],
        n_threads=1,
    )
    context.global_scale = 2.0 ** asked["scale"]
    # A rescaling of each product would take most of the time. The offset is added after decryption.
    context.auto_rescale = False
    found = [_once(context, rows, weights, asked["offset"]) for _ in range(asked["repeats"])]
    least = {step: min(each[step] for each in found) for step in found[0]}
    print(json.dumps({"name": f"TenSEAL {importlib.metadata.version('tenseal')}", **least}))


def _once(context: Any, rows: Any, weights: Any, offset: float) -> dict[str, float]:
    start = time.process_time()
    columns = [tenseal.ckks_vector(context, column) for column in rows.T]
    encrypted = time.process_time()
    total = columns[0] * float(weights[0])
    for column, weight in zip(columns[1:], weights[1:], strict=True):
        total += column * float(weight)
    evaluated = time.process_time()
    got = np.array(total.decrypt()) + offset
    decrypted = time.process_time()
    return {
        "encrypt": encrypted - start,
        "evaluate": evaluated - encrypted,
        "decrypt": decrypted - evaluated,
        "bytes_up": sum(len(column.serialize()) for column in columns) / len(rows),
        "error": float(np.max(np.abs(got - rows @ weights - offset))),
    }


if __name__ == "__main__":
    main()
