"""Files of other CKKS libraries (`seal`, `openfhe`), programs of `heir`, `orion`, `pisa` and `fhetch`.

A client of another library keeps its parameters, its keys and its code; a server here computes kernels on its
ciphertexts with its evaluation keys, and the client decrypts the results. Residues are neither permuted nor
transformed on the way.
"""

from ringmill.interop import fhetch, heir, openfhe, orion, pisa, seal
from ringmill.interop.arguments import arguments

__all__ = ["arguments", "fhetch", "heir", "openfhe", "orion", "pisa", "seal"]
