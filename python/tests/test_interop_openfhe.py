"""Files of OpenFHE, beside its own wheel: each reads what the other writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from peer_libraries import run_peer

import ringmill as rm
from ringmill.cli import main
from ringmill.interop import arguments, openfhe

N, STEPS = 8192, [1, -2]
SLOTS = N // 2
SPEC = {
    "n": N,
    "depth": 2,
    "scale_bits": 40,
    "first_bits": 50,
    "scaling": "FIXEDMANUAL",
    "digits": 3,
    "slots": SLOTS,
}


@rm.kernel
def turned_product(x=rm.vector(SLOTS), y=rm.vector(SLOTS)):
    """Two products, two rotations, a relinearisation and two rescales."""
    return np.roll(x * y, -1) * 0.5 + np.roll(x, 2)


def expected(x, y):
    """The same with NumPy."""
    return np.roll(x * y, -1) * 0.5 + np.roll(x, 2)


@pytest.fixture(scope="module")
def client(tmp_path_factory) -> Path:
    """The files of a client in both forms."""
    folder = tmp_path_factory.mktemp("openfhe")
    run_peer("openfhe", "openfhe_peer", "client", folder, SPEC, STEPS)
    return folder


@pytest.fixture(scope="module")
def context(client) -> openfhe.Context:
    return openfhe.load_context(client / "public.binary")


def answer(folder: Path, results: rm.Values) -> float:
    """The error of a result as the client decrypts it."""
    run_peer("openfhe", "openfhe_peer", "read", folder, SLOTS)
    x, y = (np.load(folder / f"{name}.npy") for name in "xy")
    error = np.abs(np.load(folder / "result.npy") - expected(x, y)).max()
    assert error < 2.0**results.error_log2, np.log2(error)
    return error


def evaluated(folder: Path, context: openfhe.Context, form: str) -> rm.Values:
    """The kernel on the client's ciphertexts, with its keys."""
    keys = openfhe.load_evaluation_keys(context, folder / f"mult.{form}", folder / f"automorphism.{form}")
    assert keys.rotations == [1, SLOTS - 2]
    x, y = (openfhe.load_ciphertext(context, folder / f"{name}.{form}") for name in "xy")
    compiled = turned_product.compile(params=context.params)
    return compiled.evaluate(keys, arguments(compiled, x=x, y=y))


@pytest.mark.parametrize("form", ["json", "binary"])
def test_a_client_gets_its_result(client, context, form):
    results = evaluated(client, context, form)
    openfhe.save_ciphertext(context, results.parts["out"], client / "result.ct", form=form)
    (client / "secret.key").write_bytes((client / f"secret.{form}").read_bytes())
    answer(client, results)


@pytest.mark.parametrize("scaling", ["FLEXIBLEAUTO", "FLEXIBLEAUTOEXT"])
def test_other_scaling_techniques_decrypt_right(tmp_path, scaling):
    """Scales that are primes of the chain, stated by results; digits of two towers."""
    spec = {**SPEC, "scaling": scaling, "digits": 2}
    run_peer("openfhe", "openfhe_peer", "client", tmp_path, spec, STEPS)
    context = openfhe.load_context(tmp_path / "x.binary", insecure=True)
    assert context.params.dnum == 2
    keys = openfhe.load_evaluation_keys(context, tmp_path / "mult.binary", tmp_path / "automorphism.binary")
    x, y = (openfhe.load_ciphertext(context, tmp_path / f"{name}.binary") for name in "xy")
    evaluator = rm.Evaluator(keys, "cpu")
    a, b = (rm.Ciphertext(c, evaluator, SLOTS, real=True) for c in (x, y))
    product = (a * b).rotate(1)
    openfhe.save_ciphertext(context, product.native, tmp_path / "result.ct")
    (tmp_path / "secret.key").write_bytes((tmp_path / "secret.binary").read_bytes())
    run_peer("openfhe", "openfhe_peer", "read", tmp_path, SLOTS)
    wanted = np.roll(np.load(tmp_path / "x.npy") * np.load(tmp_path / "y.npy"), -1)
    assert np.abs(np.load(tmp_path / "result.npy") - wanted).max() < 1e-5


def test_every_object_of_a_client_is_read_alike_in_both_forms(client, context):
    params = context.params
    assert (len(params.q), len(params.p), params.dnum, params.rotations) == (3, 1, 3, 5)
    x, y = (np.load(client / f"{name}.npy") for name in "xy")
    written = []
    for form in ("json", "binary"):
        own = openfhe.load_context(client / f"context.{form}")
        assert own.params == params
        assert own.tag == ""
        assert openfhe.load_context(client / f"mult.{form}").tag == context.tag != ""
        secret = openfhe.load_secret_key(own, client / f"secret.{form}")
        public = openfhe.load_public_key(own, client / f"public.{form}")
        keys = openfhe.load_evaluation_keys(own, client / f"mult.{form}", client / f"automorphism.{form}")
        assert secret.made(public)
        assert secret.made(keys)
        assert np.abs(secret.decrypt(public.encrypt(x)) - x).max() < 1e-6
        cipher = openfhe.load_ciphertext(own, client / f"x.{form}")
        assert (cipher.level, cipher.slots, cipher.scale) == (2, SLOTS, "2^40")
        assert np.abs(secret.decrypt(cipher) - x).max() < 2.0**cipher.error_log2
        product = openfhe.load_ciphertext(own, client / f"xy.{form}", error_log2=-18)
        assert product.level == 1
        assert np.abs(secret.decrypt(product) - x * y).max() < 1e-4
        written.append((cipher.to_bytes(), keys.to_bytes(), public.to_bytes()))
    assert written[0] == written[1]


def test_a_public_key_of_openfhe_takes_a_kernel_that_is_compiled_for_it(client, context):
    """Its encryptions are not divided by one prime more: they err more than those of keys made here."""
    secret = openfhe.load_secret_key(context, client / "secret.json")
    public, x = openfhe.load_public_key(context, client / "public.json"), np.load(client / "x.npy")
    assert not public.divides
    kernel = rm.kernel(lambda x: x + 0.5)
    with pytest.raises(rm.MismatchError, match="are not, and have more error") as refused:
        kernel.compile(rm.vector(SLOTS), params=context.params).encrypt(public, x=x)
    assert refused.value.code == "UndividedEncryption"
    compiled = kernel.compile(rm.vector(SLOTS), params=context.params, encryption="undivided")
    again = rm.Compiled.from_bytes(compiled.to_bytes())
    assert (again.encryption, again.predicted_error) == ("undivided", compiled.predicted_error)
    keys = openfhe.load_evaluation_keys(context, client / "mult.json", client / "automorphism.json")
    results = compiled.evaluate(keys, compiled.encrypt(public, x=x))
    error = np.abs(compiled.decrypt(secret, results) - x - 0.5).max()
    assert 2.0 ** (compiled.predicted_error["out"] - 4) < error < 2.0 ** compiled.predicted_error["out"]


def test_files_are_written_as_openfhe_writes_them(client, context):
    """Byte for byte in the binary form."""
    cipher = openfhe.load_ciphertext(context, client / "x.binary")
    assert openfhe.dump_ciphertext(context, cipher) == (client / "x.binary").read_bytes()
    again = openfhe.load_context(openfhe.dump_ciphertext(context, cipher, form="json"))
    assert (again.params, again.tag) == (context.params, context.tag)
    own = openfhe.load_context(client / "context.json")
    assert openfhe.dump_context(own) == (client / "context.binary").read_bytes()
    keys = openfhe.load_evaluation_keys(context, client / "mult.json", client / "automorphism.json")
    for save, name in ((openfhe.save_mult_key, "mult"), (openfhe.save_automorphism_keys, "automorphism")):
        save(context, keys, client / "again")
        assert (client / "again").read_bytes() == (client / f"{name}.binary").read_bytes()
    public = openfhe.load_public_key(context, client / "public.json")
    openfhe.save_public_key(context, public, client / "again")
    assert (client / "again").read_bytes() == (client / "public.binary").read_bytes()
    secret = openfhe.load_secret_key(context, client / "secret.json")
    openfhe.save_secret_key(context, secret, client / "secret.again")
    assert (client / "secret.again").read_bytes() == (client / "secret.binary").read_bytes()


@pytest.mark.parametrize("form", ["json", "binary"])
def test_what_is_made_here_serves_openfhe(tmp_path, context, form):
    """Keys and a ciphertext made here; OpenFHE encrypts, computes and decrypts with them."""
    params = context.params
    made = openfhe.context_of(params, "00112233445566778899aabbccddeeff")
    assert made.params == params
    keys = rm.keygen(params, rotations=[3])
    openfhe.save_context(made, tmp_path / "context", form=form)
    openfhe.save_secret_key(made, keys.secret, tmp_path / "secret.key", form=form)
    openfhe.save_public_key(made, keys.public, tmp_path / "public.key", form=form)
    openfhe.save_mult_key(made, keys.evaluation, tmp_path / "mult.keys", form=form)
    openfhe.save_automorphism_keys(made, keys.evaluation, tmp_path / "automorphism.keys", form=form)
    rng = np.random.default_rng(9)
    a, b = rng.uniform(-1, 1, (2, SLOTS))
    np.save(tmp_path / "b.npy", b)
    openfhe.save_ciphertext(made, keys.public.encrypt(a), tmp_path / "a.ct", form=form)
    run_peer("openfhe", "openfhe_peer", "made", tmp_path, 3, SLOTS)
    wanted = np.roll(a * b, -3)
    assert np.abs(np.load(tmp_path / "result.npy") - wanted).max() < 1e-4
    result = openfhe.load_ciphertext(made, tmp_path / "result.ct", error_log2=-15)
    assert np.abs(keys.secret.decrypt(result) - wanted).max() < 1e-4


def test_what_is_wrong_is_said(client, context, tmp_path):
    def refused(error, read, *given, **named):
        with pytest.raises(error) as raised:
            read(*given, **named)
        return raised.value

    data = (client / "x.binary").read_bytes()
    assert refused(rm.FileFormatError, openfhe.load_ciphertext, context, data[:-1]).code == "Truncated"
    assert refused(rm.FileFormatError, openfhe.load_ciphertext, context, data + b"x").code == "Trailing"
    assert refused(rm.FileFormatError, openfhe.load_ciphertext, context, b"\x5e\xa1").code == "Form"
    assert refused(rm.FileFormatError, openfhe.load_ciphertext, context, b'{"value0": [').code == "Syntax"
    for kind in ("public", "secret", "mult", "context"):
        refused(rm.FileFormatError, openfhe.load_ciphertext, context, client / f"{kind}.binary")
        refused(rm.FileFormatError, openfhe.load_ciphertext, context, client / f"{kind}.json")
    other = openfhe.context_of(
        rm.Params.from_primes(13, context.params.q[:2], [_special(), _next()], 1, scale_bits=40)
    )
    assert refused(rm.MismatchError, openfhe.load_ciphertext, other, data).code == "OtherContext"
    three = rm.Params.from_primes(13, context.params.q, context.params.p, 3, scale_bits=40, rotations=3)
    assert "powers of 5" in str(refused(rm.MismatchError, openfhe.context_of, three))
    ours = rm.Params.from_bits(13, [50, 40, 40], [50], 3, scale_bits=40)
    assert "special primes" in str(refused(rm.MismatchError, openfhe.context_of, ours))
    run_peer(
        "openfhe",
        "openfhe_peer",
        "client",
        tmp_path,
        {**SPEC, "n": 1024, "slots": 512, "switching": "BV"},
        [1],
    )
    assert "HYBRID" in str(refused(rm.MismatchError, openfhe.load_context, tmp_path / "context.json"))
    with pytest.raises(rm.MismatchError):
        openfhe.dump_ciphertext(context, data)


def _special() -> int:
    """The greatest prime below 2^60 that is 1 modulo 2^14."""
    return next(q for q in range(2**60 + 1 - 2 * N, 0, -2 * N) if _is_prime(q))


def _next() -> int:
    return next(q for q in range(_special() - 2 * N, 0, -2 * N) if _is_prime(q))


def _is_prime(q: int) -> bool:
    return all(pow(a, q - 1, q) == 1 for a in (2, 3, 5, 7, 11))


def test_the_command_line_serves_a_client(tmp_path, client, context, capsys):
    """From the client's files to its result."""
    compiled = turned_product.compile(params=context.params)
    compiled.save(tmp_path / "kernel")
    kernel = ["--kernel", str(tmp_path / "kernel")]

    def done(*words):
        assert main([*map(str, words), "--quiet"]) == 0, capsys.readouterr().err

    keys, results = tmp_path / "keys", tmp_path / "results"
    galois = ["--galois", client / "automorphism.binary"]
    done("import", "openfhe", "keys", client / "mult.binary", *galois, "--out", keys)
    given = [f"{name}={client / f'{name}.json'}" for name in "xy"]
    done("import", "openfhe", "arguments", *given, *kernel, "--out", tmp_path / "arguments")
    done("evaluate", *kernel, "--keys", keys, "--input", tmp_path / "arguments", "--out", results)
    like = ["--context", client / "x.binary"]
    done("export", "openfhe", "results", results, *like, *kernel, "--out", client / "result.ct")
    (client / "secret.key").write_bytes((client / "secret.json").read_bytes())
    answer(client, rm.Values.load(results, "results", context.params))
    done("export", "openfhe", "relin", keys, *like, "--out", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (client / "mult.binary").read_bytes()
    done("import", "openfhe", "parameters", client / "context.json", "--out", tmp_path / "params")
    done("export", "openfhe", "parameters", tmp_path / "params", "--form", "json", "--out", tmp_path / "cc")
    assert openfhe.load_context(tmp_path / "cc").params == context.params
