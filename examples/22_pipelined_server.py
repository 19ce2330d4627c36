"""Step 22: a server that switches keys on the pipelined engine, and a client whose SEAL reads the ciphertext.

The client is that of step 15. Products and rotations are mostly key switches, and an engine of fixed function
can take them: the pipelined key switch (rtl/pipelined). Here its bits are computed by the processor, and its
cycles by the rules that are held to the RTL. With SEAL's integers the result is SEAL's own, word for word.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

import ringmill as rm
from ringmill.interop import arguments, seal

CLIENT = Path(__file__).with_name("15_seal_client.py")
SCALE_BITS, SLOTS = 40, 4096


@rm.kernel
def energy(x=rm.vector(SLOTS)):
    """Squares of neighbours, added."""
    return x * x + np.roll(x * x, -1)


def serve(folder: Path) -> float:
    """Evaluate on the engine; returns log2 of the stated error."""
    params = seal.load_parameters(folder / "parms", scale_bits=SCALE_BITS)
    keys = seal.load_evaluation_keys(params, folder / "relin", folder / "galois")
    compiled = energy.compile(params=params, switching="seal")

    # A chain of one inverse and three forward transforms, eight words a cycle, beside one channel of DDR4.
    machine = rm.machines.pipelined(limbs=3, clock=236, bandwidth=19200, latency=47)
    facts = compiled.estimate(machine)
    count = facts["counters"]
    assert (count["key_switches"], count["key_switches_of_host"]) == (2, 0)
    moved = (count["key_bytes"] + count["ciphertext_bytes"]) / 1e6
    print(
        f"two key switches, one after the other: {facts['cycles']:,} cycles, {1e6 * facts['seconds']:.0f} µs"
    )
    print(f"{moved:.1f} MB off chip, which alone take {count['bound_off_chip']:,} cycles")
    alone, fed = count["interval"], count["interval_with_memory"]
    print(f"in a row: one every {alone:,} cycles, with this memory {fed:,}")

    given = arguments(compiled, x=seal.load_ciphertext(params, folder / "x"))
    results = compiled.evaluate(keys, given, machine=machine)
    seal.save_ciphertext(results.parts["out"], folder / "result")
    own = seal.load_ciphertext(params, folder / "own", error_log2=results.error_log2)
    seal.save_ciphertext(own, folder / "own")
    assert (folder / "result").read_bytes() == (folder / "own").read_bytes()
    print("the ciphertext is the one that SEAL computes, word for word")
    return results.error_log2


def main() -> None:
    """Both sides by turns; files are all that they exchange."""
    python = Path(__file__).parents[1] / "build" / "peers" / "tenseal" / "bin" / "python"
    if not python.exists():
        raise SystemExit("TenSEAL is not installed: scripts/peers.sh installs it")
    with tempfile.TemporaryDirectory() as wire:
        folder, values = Path(wire), np.random.default_rng(1).uniform(-1, 1, SLOTS)
        np.save(folder / "values.npy", values)
        subprocess.run([python, CLIENT, "encrypt", wire], check=True, stdout=subprocess.DEVNULL)
        predicted = serve(folder)
        subprocess.run([python, CLIENT, "decrypt", wire], check=True)
        error = np.abs(np.load(folder / "answer.npy") - (values**2 + np.roll(values**2, -1))).max()
    print(f"SEAL decrypts the result: error 2^{np.log2(error):.1f}, stated 2^{predicted:.1f}")
    assert error < 2.0**predicted


if __name__ == "__main__":
    main()
