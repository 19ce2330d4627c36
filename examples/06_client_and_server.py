"""Step 6: who holds what. The client keeps the secret key; the server computes without it."""

import tempfile
from pathlib import Path

import numpy as np

import ringmill as rm


@rm.kernel
def price(x, w):
    """A quotation from encrypted features."""
    return (x @ w) * (x @ w) + 1.0


weights = np.array([0.5, 0.25, -0.125])
features = np.array([0.9, -0.3, 0.4])

with tempfile.TemporaryDirectory() as folder:
    wire = Path(folder)

    # Both sides know the kernel: its program is public.
    price.compile(rm.vector(3), weights, precision=16).save(wire / "kernel")

    # The client makes keys and encrypts. With the secret key fresh ciphertexts take half the bytes.
    client = rm.Compiled.load(wire / "kernel")
    keys = client.keygen()
    keys.evaluation.save(wire / "evaluation.keys")
    size = client.encrypt(keys.secret, x=features).save(wire / "arguments")
    print("sent:", size, "bytes of arguments,", (wire / "evaluation.keys").stat().st_size, "bytes of keys")

    # The server has the kernel, evaluation keys and ciphertexts.
    server = rm.Compiled.load(wire / "kernel")
    evaluation = rm.EvaluationKeys.load(server.params, wire / "evaluation.keys")
    arguments = rm.Values.load(wire / "arguments", "arguments", server.params)
    server.evaluate(evaluation, arguments).save(wire / "results")

    # Back at the client.
    results = rm.Values.load(wire / "results", "results", client.params)
    print(results)
    answer = client.decrypt(keys.secret, results)

print("price:", answer, "instead of", (features @ weights) ** 2 + 1)
assert abs(answer - ((features @ weights) ** 2 + 1)) < 2**-16
# The same from a shell: ringmill keygen | encrypt | evaluate | decrypt (see `ringmill --help`).
