"""Encrypted vectors at the prompt: NumPy-like operators, one small program each.

For more than a few operations write a kernel (``ringmill.kernel``): it chooses parameters, shares work and
computes each part at the lowest level that it can.
"""

from ringmill.ciphertext.encryption import bootstrap_keys, decrypt, encrypt, measure_error
from ringmill.ciphertext.vector import Ciphertext

__all__ = ["Ciphertext", "bootstrap_keys", "decrypt", "encrypt", "measure_error"]
