"""Files of other CKKS libraries (`seal` 4.0 to 4.4, `openfhe` 1.6), and programs of `heir` and `pisa`.

A client of another library keeps its parameters, its keys and its code; a server here computes kernels on its
ciphertexts with its evaluation keys, and the client decrypts the results. Residues are neither permuted nor
transformed on the way.
"""

from ringmill.interop import heir, openfhe, pisa, seal
from ringmill.interop.arguments import arguments

__all__ = ["arguments", "heir", "openfhe", "pisa", "seal"]
