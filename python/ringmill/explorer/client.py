"""What a design costs its client, measured where this runs."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.progress import Show

Design = dict[str, Any]

#: The first run touches memory for the first time; the least of all is reported.
REPEATS = 3


def timed(design: Design, progress: Show = "none") -> Design:
    """The design with the client's times for encrypting all arguments and decrypting all results.

    The program is run once on the CPU machine between the two.
    """
    from ringmill.project.design import compiled_of

    compiled = compiled_of(design)
    keys = compiled.keygen(progress=progress)
    zeros = {name: np.zeros(spec.shape) for name, spec in compiled.signature.inputs.items()}
    encrypt, arguments = _least(lambda: compiled.encrypt(keys, zeros, progress=progress))
    results = compiled.evaluate(keys, arguments)
    decrypt, _ = _least(lambda: compiled.decrypt(keys, results))
    reported = copy.deepcopy(design)
    client = reported["predicted"]["client"]
    source = f"measured where the exploration ran, least of {REPEATS}"
    for name, seconds in (("encrypt_ms", encrypt), ("decrypt_ms", decrypt)):
        client[name] = {"value": 1e3 * seconds, "origin": {"kind": "measured", "source": source}}
    return reported


def _least(call: Callable[[], Any]) -> tuple[float, Any]:
    seconds, result = [], None
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result
