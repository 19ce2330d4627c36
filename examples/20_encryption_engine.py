"""Step 20: a client whose encryptions come from hardware.

The encryption engine (rtl/encryptor) is a pipeline of samplers and streaming transforms. Here a client uses
it, simulated by Verilator: it encrypts and decrypts, a server computes on the processor. With the same
randomness the engine gives the ciphertexts of software, bit for bit; here both draw their own.

The engine is built for the parameters once, which takes minutes, and kept in the user's cache.
"""

from typing import Any

import numpy as np

import ringmill as rm
from ringmill.encryptor import Encryptor


@rm.kernel
def balance(income: Any, spending: Any) -> Any:
    """What is left each month, and in the year."""
    left = income - spending
    return left, left.sum()


# One prime, since nothing is multiplied: the smallest engine. So small a ring is for tests alone.
params = rm.Params.from_bits(10, [50], [50], 1, scale_bits=30, insecure=True)
compiled = balance.compile(rm.vector(12), rm.vector(12), params=params, precision=10)
keys = compiled.keygen(insecure=True)

rng = np.random.default_rng(7)
income, spending = rng.uniform(0, 1, (2, 12))

engine = Encryptor()
arguments = compiled.encrypt(keys.public, income=income, spending=spending, machine=engine)
print(f"two encryptions under the public key: {engine.cycles} cycles, from power-on to the last word")

results = compiled.evaluate(keys.evaluation, arguments)  # the server, in software

left, total = compiled.decrypt(keys, results, machine=engine)
print(f"two decryptions: {engine.cycles[2:]} cycles")
assert np.abs(left - (income - spending)).max() < 2**-10
assert abs(total - (income - spending).sum()) < 2**-8

# Software reads what hardware wrote, and the other way round.
assert np.abs(compiled.decrypt(keys, results)[0] - left).max() < 2**-20
in_software = compiled.encrypt(keys.public, income=income, spending=spending)
again = compiled.decrypt(keys, compiled.evaluate(keys.evaluation, in_software), machine=engine)
assert np.abs(again[0] - left).max() < 2**-9
print("hardware and software read each other's ciphertexts")
