"""Logistic regression on encrypted rows by Concrete ML, on TFHE: one row at a time, of 8 bits.

    python concrete_logistic.py < request.json

The request has training rows and labels, and rows. The answer, one JSON object, has the seconds of the
processor for each step of all rows, and the labels. Keys and compilation are not in them.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import time
from typing import Any

import numpy as np
from concrete.ml.sklearn import LogisticRegression

#: Bits of weights and features.
BITS = 8


def main() -> None:
    """Answer one request."""
    asked = json.load(sys.stdin)
    train, labels, rows = (np.array(asked[name]) for name in ("train", "labels", "rows"))
    model = LogisticRegression(n_bits=BITS)
    model.fit(train, labels)
    circuit = model.compile(train)
    circuit.keygen()
    runs = [_once(model, circuit, rows) for _ in range(asked["repeats"])]
    least = {step: min(run[step] for run in runs) for step in ("encrypt", "evaluate", "decrypt")}
    print(
        json.dumps(
            {
                "name": f"Concrete ML {importlib.metadata.version('concrete-ml')}",
                **least,
                "bytes_up": runs[0]["bytes_up"],
                "labels": runs[0]["labels"],
            }
        )
    )


def _once(model: Any, circuit: Any, rows: Any) -> dict[str, Any]:
    start = time.process_time()
    encrypted = [circuit.encrypt(row) for row in model.quantize_input(rows)[:, None]]
    sent = time.process_time()
    found = [circuit.run(one) for one in encrypted]
    evaluated = time.process_time()
    scores = np.concatenate([model.dequantize_output(circuit.decrypt(one)) for one in found])
    labels = model.classes_[(model.post_processing(scores)).argmax(axis=1)]
    decrypted = time.process_time()
    return {
        "encrypt": sent - start,
        "evaluate": evaluated - sent,
        "decrypt": decrypted - evaluated,
        "bytes_up": sum(len(one.serialize()) for one in encrypted) / len(rows),
        "labels": labels.tolist(),
    }


if __name__ == "__main__":
    main()
