"""Step 15: a client that uses SEAL. The server computes on its ciphertexts, with its own evaluation keys.

The client runs in an interpreter that has TenSEAL's `sealapi` (SEAL 4.3); `scripts/peers.sh` installs one.
It knows nothing of Ringmill: it saves and loads SEAL's own files.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N, BITS, SCALE_BITS = 8192, [50, 40, 40, 50], 40
SLOTS = N // 2


def client(role: str, folder: Path) -> None:
    """What the client does, in SEAL's words."""
    import tenseal.sealapi as seal

    parms = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
    parms.set_poly_modulus_degree(N)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(N, BITS))
    context = seal.SEALContext(parms, True, seal.SEC_LEVEL_TYPE.TC128)
    encoder, evaluator = seal.CKKSEncoder(context), seal.Evaluator(context)
    plain, x = seal.Plaintext(), seal.Ciphertext()
    if role == "encrypt":
        keygen, public = seal.KeyGenerator(context), seal.PublicKey()
        keygen.create_public_key(public)
        parms.save(str(folder / "parms"))
        keygen.secret_key().save(str(folder / "secret"))
        keygen.create_relin_keys().save(str(folder / "relin"))
        keygen.create_galois_keys([3]).save(str(folder / "galois"))  # a rotation by one slot is X → X^3
        encoder.encode([complex(v) for v in np.load(folder / "values.npy")], 2.0**SCALE_BITS, plain)
        seal.Encryptor(context, public).encrypt(plain, x)
        x.save(str(folder / "x"))
        # The same computation by SEAL itself, for its time: at the level that one product needs.
        evaluator.mod_switch_to_next_inplace(x)
        relin, galois, turned = seal.RelinKeys(), seal.GaloisKeys(), seal.Ciphertext()
        relin.load(context, str(folder / "relin"))
        galois.load(context, str(folder / "galois"))
        start = time.perf_counter()
        evaluator.square_inplace(x)
        evaluator.relinearize_inplace(x, relin)
        evaluator.rescale_to_next_inplace(x)
        evaluator.rotate_vector(x, 1, galois, turned)
        evaluator.add_inplace(x, turned)
        print(f"SEAL itself takes {1e3 * (time.perf_counter() - start):.1f} ms")
        x.save(str(folder / "own"))
    else:
        secret = seal.SecretKey()
        secret.load(context, str(folder / "secret"))
        x.load(context, str(folder / "result"))
        seal.Decryptor(context, secret).decrypt(x, plain)
        np.save(folder / "answer.npy", np.array(encoder.decode_double(plain)))


def server(folder: Path) -> float:
    """What the server does: it has the client's parameters, evaluation keys and ciphertext, and no secret."""
    import ringmill as rm
    from ringmill.interop import arguments, seal

    params = seal.load_parameters(folder / "parms", scale_bits=SCALE_BITS)
    print(params)
    keys = seal.load_evaluation_keys(params, folder / "relin", folder / "galois")

    @rm.kernel
    def energy(x=rm.vector(SLOTS)):
        """Squares of neighbours, added."""
        return x * x + np.roll(x * x, -1)

    compiled = energy.compile(params=params)
    given = arguments(compiled, x=seal.load_ciphertext(params, folder / "x"))
    compiled.evaluate(keys, given)  # prepares the program
    start = time.perf_counter()
    results = compiled.evaluate(keys, given)
    print(f"Ringmill takes {1e3 * (time.perf_counter() - start):.1f} ms")
    seal.save_ciphertext(results.parts["out"], folder / "result")
    return results.error_log2


def main() -> None:
    """Both sides by turns; files are all that they exchange."""
    python = Path(__file__).parents[1] / "build" / "peers" / "tenseal" / "bin" / "python"
    if not python.exists():
        raise SystemExit("TenSEAL is not installed: scripts/peers.sh installs it")
    with tempfile.TemporaryDirectory() as wire:
        folder, values = Path(wire), np.random.default_rng(1).uniform(-1, 1, SLOTS)
        np.save(folder / "values.npy", values)
        subprocess.run([python, __file__, "encrypt", wire], check=True)
        predicted = server(folder)
        subprocess.run([python, __file__, "decrypt", wire], check=True)
        error = np.abs(np.load(folder / "answer.npy") - (values**2 + np.roll(values**2, -1))).max()
    print(f"SEAL decrypts the result: error 2^{np.log2(error):.1f}, stated 2^{predicted:.1f}")
    assert error < 2.0**predicted


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else client(sys.argv[1], Path(sys.argv[2]))
