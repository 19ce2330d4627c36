"""Key switches as SEAL and OpenFHE do them: every residue is the one that the library computes.

The libraries compute on their own files at test time; nothing of theirs is stored.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peer_libraries import run_peer

import ringmill as rm
from ringmill._native import run_program
from ringmill.cli import main
from ringmill.interop import arguments, openfhe, seal

STEPS = [1, -3]


def residues(cipher: Any) -> bytes:
    """The residues of a ciphertext: the payload of its file, behind 64 bytes and a header."""
    data = cipher.to_bytes()
    header, payload = (int.from_bytes(data[a:b], "little") for a, b in ((52, 56), (56, 64)))
    return data[64 + header : 64 + header + payload]


class Seal:
    """A client of SEAL, and what SEAL computes on its ciphertexts."""

    word = "seal"

    def __init__(self, folder: Path, n: int, bits: list[int], scale_bits: int | None = None) -> None:
        self.folder, self.scale_bits = folder, scale_bits or bits[1]
        # SEAL makes the key of conjugation for a rotation by 0.
        run_peer("seal", "seal_peer", "client", folder, n, bits, self.scale_bits, [*STEPS, 0])
        run_peer("seal", "seal_peer", "operations", folder, STEPS)
        self.params = seal.load_parameters(folder / "parms", scale_bits=self.scale_bits, insecure=True)
        self.keys = seal.load_evaluation_keys(self.params, folder / "relin.keys", folder / "galois.keys")

    def load(self, name: str, error_log2: float | None = None) -> Any:
        return seal.load_ciphertext(self.params, self.folder / f"{name}.ct", error_log2=error_log2)

    def secret(self) -> Any:
        return seal.load_secret_key(self.params, self.folder / "secret.key")


class OpenFhe:
    """The same of OpenFHE, key switching HYBRID, FIXEDMANUAL."""

    word = "openfhe"

    def __init__(self, folder: Path, n: int, depth: int, digits: int) -> None:
        self.folder, self.scale_bits = folder, 40
        spec = {
            "n": n,
            "depth": depth,
            "scale_bits": 40,
            "first_bits": 50,
            "scaling": "FIXEDMANUAL",
            "digits": digits,
            "slots": n // 2,
        }
        run_peer("openfhe", "openfhe_peer", "operations", folder, spec, STEPS)
        self.context = openfhe.load_context(folder / "x.binary", insecure=True)
        self.params = self.context.params
        self.keys = openfhe.load_evaluation_keys(
            self.context, folder / "mult.binary", folder / "automorphism.binary"
        )

    def load(self, name: str, error_log2: float | None = None) -> Any:
        path = self.folder / (f"{name}.binary" if name in "xy" else f"{name}.ct")
        return openfhe.load_ciphertext(self.context, path, error_log2=error_log2)

    def secret(self) -> Any:
        return openfhe.load_secret_key(self.context, self.folder / "secret.binary")


def computed(client: Seal | OpenFhe, machine: str, switching: str) -> dict[str, Any]:
    """The operations of the library, done here, by the names of its files."""
    e = rm.Evaluator(client.keys, machine, switching=switching)
    x, y = client.load("x"), client.load("y")
    product = e.multiply(x, y)
    results = {"product": product, "square": e.multiply(product, product), "conjugate": e.conjugate(x)}
    turned = e.rotate_hoisted(x, STEPS)
    for step, together in zip(STEPS, turned, strict=True):
        alone = e.rotate(x, step)
        assert residues(alone) == residues(together)
        results |= {f"rotated {step}": alone, f"rotated {step} below": e.rotate(product, step)}
    return results


def compare(client: Seal | OpenFhe, machine: str = "cpu") -> None:
    """Hold every result against the library's."""
    for name, result in computed(client, machine, client.word).items():
        wanted = client.load(name, -20)
        assert result.level == wanted.level
        assert residues(result) == residues(wanted), name


@pytest.fixture(scope="module")
def small_seal(tmp_path_factory) -> Seal:
    return Seal(tmp_path_factory.mktemp("seal"), 4096, [50, 40, 40, 50])


@pytest.fixture(scope="module", params=[4, 2], ids=["one prime a digit", "two primes a digit"])
def small_openfhe(tmp_path_factory, request) -> OpenFhe:
    return OpenFhe(tmp_path_factory.mktemp("openfhe"), 4096, 3, request.param)


#: A pool for both keys of OpenFHE here, and for those of SEAL.
POOL = "pipelined:build=pool,special=2,alpha=2"


@pytest.mark.parametrize("machine", ["cpu", "reference", "compact", "pipelined", POOL])
def test_the_residues_are_those_of_seal(small_seal, machine):
    compare(small_seal, machine)


@pytest.mark.parametrize("machine", ["cpu", "reference", "compact", "pipelined", POOL])
def test_the_residues_are_those_of_openfhe(small_openfhe, machine):
    compare(small_openfhe, machine)


def test_the_engine_has_other_residues(small_seal):
    """The comparison sees a difference: no key switch of the engine gives the bits of SEAL."""
    for name, result in computed(small_seal, "cpu", "hybrid").items():
        ours, theirs = residues(result), residues(small_seal.load(name, -20))
        assert len(ours) == len(theirs)
        assert ours != theirs, name


def errors(client: Seal | OpenFhe, switching: str) -> list[tuple[float, float]]:
    """log2 of measured and predicted errors of one key switch each."""
    values, secret = np.load(client.folder / "x.npy"), client.secret()
    wanted = {f"rotated {step}": np.roll(values, -step) for step in STEPS}
    found = computed(client, "cpu", switching)
    wanted |= {"conjugate": values} if "conjugate" in found else {}
    pairs = []
    for name, values in wanted.items():
        worst = np.abs(secret.decrypt(found[name]) - values).max()
        pairs.append((float(np.log2(worst)), found[name].error_log2))
    return pairs


def test_predictions_hold_where_digits_are_as_long_as_the_special_prime(tmp_path):
    """Digits of SEAL err most in the first slots, beyond what is predicted of digits that are centred."""
    client = Seal(tmp_path, 4096, [50, 50, 50, 50], scale_bits=40)
    theirs, own = errors(client, "seal"), errors(client, "hybrid")
    assert all(worst < predicted < worst + 12 for worst, predicted in theirs + own)
    assert max(worst for worst, _ in theirs) > max(predicted for _, predicted in own) + 1


def test_predictions_hold_for_openfhe(small_openfhe):
    """Its divisions by P round down, by up to K, which the first slots show."""
    assert all(worst < predicted < worst + 10 for worst, predicted in errors(small_openfhe, "openfhe"))


def test_a_kernel_has_the_residues_of_its_operations(small_seal):
    """The operations of a managed program, done by SEAL one after the other."""
    slots = small_seal.params.slots

    @rm.kernel
    def turned(x=rm.vector(slots), y=rm.vector(slots)):
        return np.roll(x * y, -1)

    compiled = turned.compile(params=small_seal.params, switching="seal")
    x, y = (small_seal.load(name) for name in "xy")
    results = compiled.evaluate(small_seal.keys, arguments(compiled, x=x, y=y))
    (out,) = results.parts.values()
    # SEAL's product is at level 1, rescaled before it is rotated; the kernel's operations are the same.
    assert compiled.plan.input_level == 1
    assert [word for _, word, _ in compiled.plan.levels() if word in ("rescale", "rotate")] == [
        "rescale",
        "rotate",
    ]
    assert residues(out) == residues(small_seal.load("kernel", -20))
    # The kernel file keeps it.
    path = small_seal.folder / "turned.kernel"
    compiled.save(path)
    again = rm.Compiled.load(path)
    assert again.switching == "seal"
    assert "seal, digits of 1, 1 special primes" in {name for _, name, _ in again.work()["switches"]}


KERNEL = """
import numpy as np
import ringmill as rm

@rm.kernel
def turned(x=rm.vector(2048), y=rm.vector(2048)):
    return np.roll(x * y, -1)
"""


def test_the_command_line_writes_the_words_of_seal(small_seal, tmp_path):
    def ringmill(*words: Any) -> None:
        assert main([*map(str, words), "--quiet"]) == 0

    (tmp_path / "kernel.py").write_text(KERNEL)
    context = ("--context", small_seal.folder / "parms", "--scale-bits", 40, "--insecure")
    ringmill("import", "seal", "parameters", *context[1:], "--out", tmp_path / "params")
    compiled = ("--params", tmp_path / "params", "--switching", "seal", "--out", tmp_path)
    ringmill("compile", f"{tmp_path / 'kernel.py'}:turned", *compiled)
    keys = (small_seal.folder / "relin.keys", "--galois", small_seal.folder / "galois.keys")
    ringmill("import", "seal", "keys", *keys, *context, "--out", tmp_path / "keys")
    kernel = ("--kernel", tmp_path / "server.rm")
    files = (f"{name}={small_seal.folder / name}.ct" for name in "xy")
    ringmill("import", "seal", "arguments", *files, *kernel, *context, "--out", tmp_path / "arguments")
    given = ("--keys", tmp_path / "keys", "--input", tmp_path / "arguments", "--out", tmp_path / "results")
    ringmill("evaluate", *kernel, *given)
    ringmill("export", "seal", "results", tmp_path / "results", *kernel, *context, "--out", tmp_path / "y.ct")
    # Behind 113 bytes of facts, the file of SEAL without compression has its words alone.
    wanted = (small_seal.folder / "kernel.ct").read_bytes()
    assert (tmp_path / "y.ct").read_bytes()[113:] == wanted[113:]


def test_what_a_library_does_not_do_is_refused(small_seal):
    params = rm.Params.from_bits(12, [40, 30], [40, 40], 1, scale_bits=30, insecure=True)
    with pytest.raises(
        rm.errors.ParameterError, match="SEAL has keys of one special prime and digits of one prime"
    ):
        rm.Evaluator(rm.keygen(params, insecure=True).evaluation, switching="seal")
    with pytest.raises(rm.errors.ParameterError, match="Seal switches keys one way"):
        rm.Evaluator(small_seal.keys, switching="seal 2+1/1")
    with pytest.raises(rm.errors.ParameterError, match=r"[Tt]here is no key switching"):
        rm.Evaluator(small_seal.keys, switching="sael")


PROGRAM = """limb one : 2^10 {{
  modulus a = {0}
  modulus b = {1}
  input data x : coeff a b
  output y : coeff b a
  %0 = convert_fast [x.0] : b coeff
  %1 = convert_fast [x.1] : a coeff
  store %0 -> y.0
  store %1 -> y.1
}}
"""


@pytest.mark.parametrize("machine", ["reference", "cpu", "compact"])
@pytest.mark.parametrize(
    "primes", [(1152921504606830593, 1073707009), (1099511592961, 1099511590913), (1073707009, 1073698817)]
)
def test_a_fast_conversion_of_one_limb_is_its_residue(machine, primes):
    """By Python's integers: r[k] = x[k] mod q, x[k] in [0, s)."""
    draw = np.random.default_rng(3)
    limbs = [[0, 1, q // 2, q // 2 + 1, q - 1, *map(int, draw.integers(0, q, 1019))] for q in primes]
    raw = [np.array(limb, "<u8").tobytes() for limb in limbs]
    found = run_program(PROGRAM.format(*primes), machine, raw)
    for words, limb, q in zip(found, limbs, primes[::-1], strict=True):
        assert np.frombuffer(words, "<u8").tolist() == [x % q for x in limb]


def test_a_pool_takes_the_key_switches_of_openfhe_without_an_automorphism_inside(small_openfhe):
    slots = small_openfhe.params.slots

    @rm.kernel
    def turned(x=rm.vector(slots), y=rm.vector(slots)):
        return np.roll(x * y, -1)

    compiled = turned.compile(params=small_openfhe.params, switching="openfhe")
    counters = compiled.estimate(machine=POOL)["counters"]
    assert (counters["key_switches"], counters["key_switches_of_host"]) == (1, 1)
    # The input has one level more than the product: three limbs, then two.
    assert counters["transforms"] > 0
    assert counters["key_bytes"] > 0


@pytest.mark.long
@pytest.mark.parametrize("log_n", [13, 14, 15])
def test_the_residues_are_those_of_seal_at_larger_degrees(tmp_path, log_n):
    client = Seal(tmp_path, 1 << log_n, [60, *[40] * (log_n - 11), 60])
    for machine in ["cpu", "compact"] if log_n == 13 else ["cpu"]:
        compare(client, machine)


@pytest.mark.long
def test_the_residues_are_those_of_seal_for_the_set_of_duong_and_lee(tmp_path):
    compare(Seal(tmp_path, 1 << 16, [60, 51, 51, 51, 60]))


@pytest.mark.long
@pytest.mark.parametrize(("log_n", "depth", "digits"), [(13, 4, 3), (14, 5, 2), (15, 7, 4)])
def test_the_residues_are_those_of_openfhe_at_larger_degrees(tmp_path, log_n, depth, digits):
    compare(OpenFhe(tmp_path, 1 << log_n, depth, digits))
