"""Options of the facade together: every two values meet in a kernel that is encrypted, run and decrypted.

Results are held to NumPy within the predicted error, and to the bits of the reference machine.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from allpairspy import AllPairs

import ringmill as rm
from ringmill._native import core_sizes

RNG = np.random.default_rng(11)
MATRIX, WEIGHTS = RNG.uniform(-1, 1, (6, 4)), np.array([0.5, -0.25, 0.0, 1.0])

#: Secrets, and the weight of those that have one.
SECRETS = {"ternary": None, "gaussian": None, "weight": 600}

#: Machines with what only they have: threads the CPU, butterflies the core.
MACHINES = [
    "reference",
    "cpu",
    *(f"cpu:threads={threads}" for threads in (1, 2, 5)),
    "compact",
    *(f"compact:butterflies={count}" for count in core_sizes()["butterflies"]),
]

AXES: dict[str, list[Any]] = {
    "machine": MACHINES,
    "switching": ["hybrid", "klss", "auto", "auto 3+2/2 @2=3+2/2", "seal", "openfhe"],
    "bits": [36, 45, 54, 60],
    "secret": list(SECRETS),
    "memory": ["expanded", "seeded", "mapped"],
    "packing": ["slots", "columns"],
    "key": ["public", "secret"],
    "rotation_keys": [None, 1],
    "files": [False, True],
    "rotations": [5, 3],
}

ROWS = [dict(zip(AXES, row, strict=True)) for row in AllPairs(list(AXES.values()))]


def _name(row: dict[str, Any]) -> str:
    return "-".join(str(word).replace(" ", "_") for word in row.values())


@rm.kernel
def score(x: Any, w: Any = WEIGHTS) -> Any:
    """Rotations by some distances, or sums of columns; a product of ciphertexts; a constant."""
    return (x @ w) ** 2 + 0.25


def test_every_two_values_meet() -> None:
    for one, other in itertools.combinations(AXES, 2):
        met = {(str(row[one]), str(row[other])) for row in ROWS}
        wanted = itertools.product(map(str, AXES[one]), map(str, AXES[other]))
        assert met == set(wanted), (one, other)


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_options_work_together(row: dict[str, Any], tmp_path: Path) -> None:
    bits = row["bits"]
    weight = SECRETS[row["secret"]]
    secret = "ternary" if weight else row["secret"]
    chain = [bits, *[min(bits, 50) - 4] * 2]
    # Keys of SEAL have one special prime.
    wide = [bits] * (1 if row["switching"] == "seal" else 2)
    drawn = {"secret": secret, "weight": weight, "insecure": True}
    chosen = rm.Params.from_bits(10, chain, wide, 3, **drawn)
    more = {"scale_bits": chain[-1], "rotations": row["rotations"], **drawn}
    params = rm.Params.from_primes(10, chosen.q, chosen.p, 3, **more)
    compiled = score.compile(
        rm.matrix(*MATRIX.shape, packing=row["packing"]),
        params=params,
        switching=row["switching"],
        rotation_keys=row["rotation_keys"],
    )
    keys = compiled.keygen(seeded=row["memory"] == "seeded")
    server = keys.evaluation
    if row["files"] or row["memory"] == "mapped":
        keys.save(tmp_path)
        server = rm.load_evaluation_keys(params, tmp_path / "evaluation.keys", memory=row["memory"])
    client = keys.public if row["key"] == "public" else keys.secret
    arguments = compiled.encrypt(client, x=MATRIX)
    if row["files"]:
        compiled.save(tmp_path / "kernel")
        compiled = rm.Compiled.load(tmp_path / "kernel")
        arguments = rm.Values.from_bytes(arguments.to_bytes(), "arguments", params)
    results = compiled.evaluate(server, arguments, machine=row["machine"])
    expected = (MATRIX @ WEIGHTS) ** 2 + 0.25
    found = compiled.decrypt(keys, results)
    # Results state powers of 2^4; uncentred digits of other libraries err most.
    assert np.max(np.abs(found - expected)) <= 2.0**results.error_log2 <= 2.0**-8
    # The same keys as they were made, on the machine that is written for clarity.
    reference = compiled.evaluate(keys, arguments, machine="reference")
    if row["switching"] in ("hybrid", "seal", "openfhe") or not row["machine"].startswith("compact"):
        assert results.to_bytes() == reference.to_bytes()
    else:
        # A core has costs of its own, by which sums of KLSS key switches are divided elsewhere.
        found = compiled.decrypt(keys, reference)
        assert np.max(np.abs(found - expected)) <= 2.0**reference.error_log2
