"""Step 16: a client that uses OpenFHE. The server computes on its ciphertexts, with its own evaluation keys.

The client runs in an interpreter that has OpenFHE; `scripts/peers.sh` installs one. It knows nothing of
Ringmill: it saves and loads OpenFHE's own files. The server takes context and key tag from the ciphertext.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N, SCALE_BITS = 8192, 40
SLOTS = N // 2


def client(role: str, folder: Path) -> None:
    """What the client does, in OpenFHE's words."""
    import openfhe as fhe

    if role == "encrypt":
        parameters = fhe.CCParamsCKKSRNS()
        parameters.SetRingDim(N)
        parameters.SetMultiplicativeDepth(1)
        parameters.SetFirstModSize(50)
        parameters.SetScalingModSize(SCALE_BITS)
        parameters.SetScalingTechnique(fhe.FIXEDMANUAL)
        parameters.SetNumLargeDigits(2)
        context = fhe.GenCryptoContext(parameters)
        for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE):
            context.Enable(feature)
        keys = context.KeyGen()
        context.EvalMultKeyGen(keys.secretKey)
        context.EvalRotateKeyGen(keys.secretKey, [1])
        x = context.Encrypt(
            keys.publicKey, context.MakeCKKSPackedPlaintext(list(np.load(folder / "values.npy")))
        )
        fhe.SerializeToFile(str(folder / "secret"), keys.secretKey, fhe.BINARY)
        fhe.SerializeToFile(str(folder / "x"), x, fhe.BINARY)
        context.SerializeEvalMultKey(str(folder / "mult"), fhe.BINARY, "")
        context.SerializeEvalAutomorphismKey(str(folder / "automorphism"), fhe.BINARY, "")
        # The same computation by OpenFHE itself, for its time.
        start = time.perf_counter()
        square = context.Rescale(context.EvalMult(x, x))
        context.EvalAdd(square, context.EvalRotate(square, 1))
        print(f"OpenFHE itself takes {1e3 * (time.perf_counter() - start):.1f} ms")
    else:
        secret, _ = fhe.DeserializePrivateKey(str(folder / "secret"), fhe.BINARY)
        result, _ = fhe.DeserializeCiphertext(str(folder / "result"), fhe.BINARY)
        plain = result.GetCryptoContext().Decrypt(result, secret)
        plain.SetLength(SLOTS)
        np.save(folder / "answer.npy", np.array(plain.GetRealPackedValue()))


def server(folder: Path) -> float:
    """What the server does: it has the client's evaluation keys and ciphertext, and no secret."""
    import ringmill as rm
    from ringmill.interop import arguments, openfhe

    context = openfhe.load_context(folder / "x")
    print(context)
    keys = openfhe.load_evaluation_keys(context, folder / "mult", folder / "automorphism")

    @rm.kernel
    def energy(x=rm.vector(SLOTS)):
        """Squares of neighbours, added."""
        return x * x + np.roll(x * x, -1)

    compiled = energy.compile(params=context.params)
    given = arguments(compiled, x=openfhe.load_ciphertext(context, folder / "x"))
    compiled.evaluate(keys, given)  # prepares the program
    start = time.perf_counter()
    results = compiled.evaluate(keys, given)
    print(f"Ringmill takes {1e3 * (time.perf_counter() - start):.1f} ms")
    openfhe.save_ciphertext(context, results.parts["out"], folder / "result")
    return results.error_log2


def main() -> None:
    """Both sides by turns; files are all that they exchange."""
    python = Path(__file__).parents[1] / "build" / "peers" / "openfhe" / "bin" / "python"
    if not python.exists():
        raise SystemExit("OpenFHE is not installed: scripts/peers.sh installs it")
    with tempfile.TemporaryDirectory() as wire:
        folder, values = Path(wire), np.random.default_rng(1).uniform(-1, 1, SLOTS)
        np.save(folder / "values.npy", values)
        subprocess.run([python, __file__, "encrypt", wire], check=True)
        predicted = server(folder)
        subprocess.run([python, __file__, "decrypt", wire], check=True)
        error = np.abs(np.load(folder / "answer.npy") - (values**2 + np.roll(values**2, -1))).max()
    print(f"OpenFHE decrypts the result: error 2^{np.log2(error):.1f}, stated 2^{predicted:.1f}")
    assert error < 2.0**predicted


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else client(sys.argv[1], Path(sys.argv[2]))
