"""Files of SEAL, beside its own wheels: each reads what the other writes."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from peer_libraries import run_peer

import ringmill as rm
from ringmill import _native
from ringmill.cli import main
from ringmill.interop import arguments, seal

N, BITS, SCALE_BITS, STEPS = 8192, [50, 40, 40, 50], 40, [1, -2]
SLOTS = N // 2


@rm.kernel
def turned_product(x=rm.vector(SLOTS), y=rm.vector(SLOTS)):
    """Two products, two rotations, a relinearisation and two rescales."""
    return np.roll(x * y, -1) * 0.5 + np.roll(x, 2)


def expected(x, y):
    """The same with NumPy."""
    return np.roll(x * y, -1) * 0.5 + np.roll(x, 2)


@pytest.fixture(scope="module")
def client(tmp_path_factory) -> Path:
    """The files of a client on TenSEAL: zstd, some with seeds."""
    folder = tmp_path_factory.mktemp("tenseal")
    run_peer("tenseal", "tenseal_peer", "client", folder, N, BITS, SCALE_BITS, STEPS)
    return folder


@pytest.fixture(scope="module")
def params(client) -> rm.Params:
    return seal.load_parameters(client / "parms", scale_bits=SCALE_BITS)


def test_a_client_gets_its_result(client, params):
    keys = seal.load_evaluation_keys(params, client / "relin.keys", client / "galois.keys")
    assert keys.rotations == [1, SLOTS - 2]
    assert keys.has_conjugation
    x, y = (seal.load_ciphertext(params, client / f"{name}.ct") for name in "xy")
    compiled = turned_product.compile(params=params)
    results = compiled.evaluate(keys, arguments(compiled, x=x, y=y))
    seal.save_ciphertext(results.parts["out"], client / "result.ct", compression="zstd")
    run_peer("tenseal", "tenseal_peer", "read", client)
    values = [np.load(client / f"{name}.npy") for name in "xy"]
    error = np.abs(np.load(client / "result.npy") - expected(*values)).max()
    assert error < 2.0**results.error_log2


def test_the_newest_wheel_gets_its_result(tmp_path):
    run_peer("seal", "seal_peer", "client", tmp_path, N, BITS, SCALE_BITS, STEPS)
    params = seal.load_parameters(tmp_path / "parms", scale_bits=SCALE_BITS)
    keys = seal.load_evaluation_keys(params, tmp_path / "relin.keys", tmp_path / "galois.keys")
    x, y = (seal.load_ciphertext(params, tmp_path / f"{name}.ct") for name in "xy")
    compiled = turned_product.compile(params=params)
    results = compiled.evaluate(keys, arguments(compiled, x=x, y=y))
    seal.save_ciphertext(results.parts["out"], tmp_path / "result.ct", version="4.4")
    run_peer("seal", "seal_peer", "read", tmp_path)
    values = [np.load(tmp_path / f"{name}.npy") for name in "xy"]
    error = np.abs(np.load(tmp_path / "result.npy") - expected(*values)).max()
    assert error < 2.0**results.error_log2


def test_every_object_of_a_client_is_read(client, params):
    assert (params.q[0].bit_length(), len(params.q), len(params.p), params.rotations) == (50, 3, 1, 3)
    secret = seal.load_secret_key(params, client / "secret.key")
    x, y = (np.load(client / f"{name}.npy") for name in "xy")
    # A public key of SEAL encrypts here, and a secret key of SEAL decrypts here.
    public = seal.load_public_key(params, client / "public.key")
    assert secret.made(public)
    assert public.divides
    assert np.abs(secret.decrypt(public.encrypt(x)) - x).max() < 1e-6
    for name in ("x.ct", "x.seeded", "x.full"):
        cipher = seal.load_ciphertext(params, client / name)
        assert (cipher.level, cipher.slots, cipher.scale) == (2, SLOTS, "2^40")
        assert np.abs(secret.decrypt(cipher) - x).max() < 2.0**cipher.error_log2
    assert np.abs(seal.load_plaintext(params, client / "x.pt") - x).max() < 1e-9
    # The scale of a product that SEAL rescaled, exactly.
    product = seal.load_ciphertext(params, client / "xy.ct", error_log2=-20)
    assert (product.level, product.scale) == (1, f"2^80*{params.q[2]}^-1")
    assert np.abs(secret.decrypt(product) - x * y).max() < 2.0**product.error_log2


def test_seeds_expand_as_in_seal(client, params):
    """SEAL has read its seeded files and written them anew, expanded."""
    for name in "xy":
        seeded, full = (
            seal.load_ciphertext(params, client / f"{name}.{kind}") for kind in ("seeded", "full")
        )
        assert seal.dump_ciphertext(seeded) == seal.dump_ciphertext(full)
    seeded, full = (seal.load_evaluation_keys(params, client / f"relin.{kind}") for kind in ("keys", "full"))
    seal.save_relin_keys(seeded, client / "seeded.again")
    seal.save_relin_keys(full, client / "full.again")
    assert (client / "seeded.again").read_bytes() == (client / "full.again").read_bytes()


@pytest.mark.parametrize(
    ("n", "bits"),
    [
        (4096, [36, 36, 37]),
        (8192, [60, 40, 40, 60]),
        (16384, [60, 48, 48, 48, 60]),
        (32768, [60, 48, 48, 48, 60]),
    ],
)
def test_an_encryption_has_seals_bits(tmp_path, n, bits):
    """SEAL encrypts from a fixed seed, at every level."""
    words = [1, 2, 3, 4, 5, 6, 7, 2**64 - n]
    run_peer("tenseal", "tenseal_peer", "fixed", tmp_path, n, bits, 20, words)
    params = seal.load_parameters(tmp_path / "parms", scale_bits=20)
    public = seal.load_public_key(params, tmp_path / "public.key")
    secret = seal.load_secret_key(params, tmp_path / "secret.key")
    values = np.load(tmp_path / "values.npy")
    seed = b"".join(word.to_bytes(8, "little") for word in words)
    for level in range(len(bits) - 1):
        made = seal.encrypt_plaintext(public, tmp_path / f"{level}.pt", seed=seed)
        theirs = seal.load_ciphertext(params, tmp_path / f"{level}.ct")
        assert seal.dump_ciphertext(made) == seal.dump_ciphertext(theirs)
        assert made.level == level
        assert np.abs(secret.decrypt(made) - values).max() < 2.0**made.error_log2
    # Without a seed each encryption has its own.
    one, other = (seal.encrypt_plaintext(public, tmp_path / "0.pt") for _ in range(2))
    assert seal.dump_ciphertext(one) != seal.dump_ciphertext(other)
    shake = seal.encrypt_plaintext(public, tmp_path / "0.pt", seed=seed, generator="shake256")
    assert np.abs(secret.decrypt(shake) - values).max() < 2.0**shake.error_log2


def test_a_seed_of_another_size_is_refused(client, params):
    public = seal.load_public_key(params, client / "public.key")
    with pytest.raises(rm.ParameterError, match="64") as error:
        seal.encrypt_plaintext(public, client / "x.pt", seed=bytes(32))
    assert error.value.code == "Seed"
    with pytest.raises(rm.ParameterError, match="shake256"):
        seal.encrypt_plaintext(public, client / "x.pt", generator="aes")


@pytest.mark.parametrize("compression", ["none", "zlib", "zstd"])
def test_what_is_made_here_serves_seal(tmp_path, compression):
    """All objects made here; SEAL encrypts, computes and decrypts with them."""
    style = {"compression": compression}
    chain = rm.Params.from_bits(13, [50, 40, 40], [50], 3, scale_bits=40)
    params = rm.Params.from_primes(13, chain.q, chain.p, 3, scale_bits=40, rotations=3)
    keys = rm.keygen(params, rotations=[3], conjugation=True)
    seal.save_parameters(params, tmp_path / "parms", **style)
    seal.save_secret_key(keys.secret, tmp_path / "secret.key", **style)
    seal.save_public_key(keys.secret, tmp_path / "public.key", **style)
    seal.save_relin_keys(keys.evaluation, tmp_path / "relin.keys", **style)
    seal.save_galois_keys(keys.evaluation, tmp_path / "galois.keys", **style)
    rng = np.random.default_rng(9)
    a, b = rng.uniform(-1, 1, SLOTS) + 1j * rng.uniform(-1, 1, SLOTS), rng.uniform(-1, 1, SLOTS)
    seal.save_ciphertext(keys.public.encrypt(a, magnitude=2), tmp_path / "a.ct", **style)
    seal.save_plaintext(params, b, tmp_path / "b.pt", **style)
    run_peer("tenseal", "tenseal_peer", "made", tmp_path, 3)
    wanted = np.roll(a * b, -3)
    assert np.abs(np.load(tmp_path / "result.npy") - wanted).max() < 1e-5
    # And what SEAL computed comes back, with the scale of its quotient made exact.
    result = seal.load_ciphertext(params, tmp_path / "result.ct", magnitude=2)
    assert result.scale == f"2^80*{params.q[2]}^-1"
    assert np.abs(keys.secret.decrypt(result) - wanted).max() < 1e-5


@pytest.mark.parametrize("version", ["4.0", "4.1", "4.2", "4.3", "4.4"])
@pytest.mark.parametrize("compression", ["none", "zlib", "zstd"])
def test_every_style_comes_back(client, params, version, compression):
    cipher = seal.load_ciphertext(params, client / "x.ct")
    data = seal.dump_ciphertext(cipher, version=version, compression=compression)
    assert data[3:6] == bytes([4, int(version[2]), ["none", "zlib", "zstd"].index(compression)])
    assert seal.dump_ciphertext(seal.load_ciphertext(params, data)) == seal.dump_ciphertext(cipher)


def test_keys_of_one_generator_do_not_meet_those_of_the_other(client, params):
    five = rm.Params.from_primes(13, params.q, params.p, 3, scale_bits=40)
    assert five != params
    assert five.fingerprint != params.fingerprint
    keys = rm.keygen(five, rotations=[1])
    x = seal.load_ciphertext(params, client / "x.ct")
    compiled = turned_product.compile(params=params)
    with pytest.raises(rm.MismatchError) as refused:
        compiled.evaluate(keys.evaluation, arguments(compiled, x=x, y=x))
    assert refused.value.code == "ParamsMismatch"
    with pytest.raises(rm.MismatchError) as refused:
        keys.secret.decrypt(x)
    assert refused.value.code == "ParamsMismatch"
    with pytest.raises(rm.MismatchError, match="order of powers of 3") as refused:
        seal.dump_ciphertext(keys.public.encrypt([1.0]))
    assert refused.value.code == "NotInSeal"


def test_a_generator_is_kept_in_files(params):
    assert rm.Params.from_bytes(params.to_bytes()) == params
    assert rm.Params.from_bytes(params.to_bytes()).rotations == 3
    keys = rm.keygen(params, rotations=[5])
    again = rm.EvaluationKeys.from_bytes(params, keys.evaluation.to_bytes())
    assert again.rotations == [5]
    assert again.galois_elements == [pow(3, 5, 2 * N)]
    compiled = turned_product.compile(params=params)
    assert rm.Compiled.from_bytes(compiled.to_bytes()).params == params


def test_rotations_and_conjugation_at_the_prompt(params):
    """Slots of both kinds, packed fully and sparsely, turn alike."""
    keys = rm.keygen(params, rotations=[1, 5], conjugation=True)
    rng = np.random.default_rng(3)
    for slots in (16, SLOTS):
        values = rng.uniform(-1, 1, slots) + 1j * rng.uniform(-1, 1, slots)
        x = rm.encrypt(values, keys, magnitude=2)
        for result, wanted in (
            (x.rotate(1), np.roll(values, -1)),
            (x.rotate(5), np.roll(values, -5)),
            (x.conj(), values.conj()),
            (x * x, values * values),
        ):
            assert np.abs(rm.decrypt(result, keys) - wanted).max() < 1e-5


def test_a_missing_key_is_named_by_its_power(client, params):
    keys = seal.load_evaluation_keys(params, client / "relin.keys")
    x = seal.load_ciphertext(params, client / "x.ct")
    turned = rm.Ciphertext(x, rm.Evaluator(keys, "cpu"), SLOTS, real=True)
    with pytest.raises(rm.KeyMissingError, match=r"= 3\^7 mod 16384"):
        turned.rotate(7)


def test_imported_keys_have_files_with_both_halves(tmp_path, client, params):
    keys = seal.load_evaluation_keys(params, client / "relin.keys", client / "galois.keys")
    data = keys.to_bytes()
    made = rm.keygen(params, rotations=STEPS, conjugation=True).evaluation.to_bytes()
    assert 1.98 < len(data) / len(made) < 2
    again = rm.EvaluationKeys.from_bytes(params, data)
    assert again.to_bytes() == data
    assert again.rotations == keys.rotations
    public = seal.load_public_key(params, client / "public.key")
    assert rm.PublicKey.from_bytes(params, public.to_bytes()).to_bytes() == public.to_bytes()
    # There is no half to leave out of memory; results are the same.
    (tmp_path / "evaluation.keys").write_bytes(data)
    compiled = turned_product.compile(params=params)
    x, y = (seal.load_ciphertext(params, client / f"{name}.ct") for name in "xy")
    results = [
        compiled.evaluate(kept, arguments(compiled, x=x, y=y)).parts["out"].to_bytes()
        for kept in (
            keys,
            keys.seeded(),
            *(
                rm.load_evaluation_keys(params, tmp_path / "evaluation.keys", memory=m)
                for m in ("seeded", "mapped")
            ),
        )
    ]
    assert len(set(results)) == 1
    with pytest.raises(rm.FileFormatError):
        rm.EvaluationKeys.from_bytes(params, data[:8] + b"\x04" + data[9:])


@pytest.mark.parametrize(("slots", "real"), [(64, True), (64, False), (4, False)])
def test_slots_in_the_order_of_seal_are_bootstrapped(slots, real):
    chain = rm.Params.bootstrapping(2, log_n=10, slots=slots, insecure=True)
    facts = {"scale_bits": 40, "secret": chain.secret, "insecure": True, "rotations": 3}
    three = rm.Params.from_primes(10, chain.q, chain.p, chain.dnum, **facts)
    assert three.bootstraps == chain.bootstraps
    rng, errors = np.random.default_rng(4), []
    for parameters in (chain, three):
        keys = rm.keygen(parameters, **rm.bootstrap_keys(parameters, slots, real=real))
        values = rng.uniform(-0.7, 0.7, slots) + (0 if real else 1j * rng.uniform(-0.7, 0.7, slots))
        low = rm.encrypt(values, keys, key=keys.public, level=chain.bootstraps["start"], magnitude=1)
        high = low.bootstrap()
        assert high.level == chain.bootstraps["start"] + 2
        errors.append(np.abs(rm.decrypt(high, keys) - values).max())
    assert errors[1] < min(4 * errors[0], 2.0**-14)
    # What is of one order does not meet what is of the other.
    with pytest.raises(rm.RingmillError):
        low + rm.encrypt(values, rm.keygen(chain, insecure=True), magnitude=1)


@pytest.mark.parametrize("rotations", [5, 3])
def test_a_number_with_an_imaginary_part_multiplies_in_both_orders(rotations):
    chain = rm.Params.from_bits(10, [50, 40, 40], [50], 3, scale_bits=40, insecure=True)
    params = rm.Params.from_primes(10, chain.q, chain.p, 3, scale_bits=40, rotations=rotations, insecure=True)

    @rm.kernel
    def turned(x=rm.vector(512)):
        return x * 1j

    compiled = turned.compile(params=params)
    x = np.random.default_rng(2).uniform(-1, 1, 512)
    found = compiled.run(compiled.keygen(insecure=True), x=x)
    np.testing.assert_allclose(found, 1j * x, atol=1e-6)


def test_what_is_wrong_is_said(tmp_path, client, params):
    data = (client / "x.ct").read_bytes()

    def refused(error, read, *given, **named):
        with pytest.raises(error) as raised:
            read(*given, **named)
        return raised.value

    other = rm.Params.from_primes(13, params.q[:2], params.p, 2, scale_bits=40, rotations=3)
    assert refused(rm.MismatchError, seal.load_ciphertext, other, data).code == "OtherParameters"
    assert refused(rm.FileFormatError, seal.load_ciphertext, params, data[:-1]).code in (
        "Decompress",
        "Truncated",
    )
    assert refused(rm.FileFormatError, seal.load_ciphertext, params, b"RINGMILL" * 9).code == "Magic"
    assert refused(rm.FileFormatError, seal.load_ciphertext, params, data + b"x").code == "Trailing"
    assert refused(rm.FileFormatError, seal.load_ciphertext, params, client / "none").code == "Io"
    assert refused(rm.FileFormatError, seal.load_ciphertext, params, client / "public.key").code == "Level"
    for kind in ("secret.key", "relin.keys", "parms"):
        refused((rm.FileFormatError, rm.MismatchError), seal.load_ciphertext, params, client / kind)
    newer = data[:4] + b"\x05" + data[5:]
    assert "4.0 to 4.4 are read" in str(refused(rm.FileFormatError, seal.load_ciphertext, params, newer))
    assert refused(rm.ParameterError, seal.dump_parameters, params, version="3.7").code == "UnknownChoice"
    assert (
        refused(rm.ParameterError, seal.dump_parameters, params, compression="gzip").code == "UnknownChoice"
    )
    assert refused(rm.EncodingError, seal.load_ciphertext, params, data, magnitude=-1.0).code == "BadBound"
    insecure = refused(rm.ParameterError, seal.load_parameters, _toy())
    assert insecure.code == "BelowSecurity"
    assert seal.load_parameters(_toy(), insecure=True).max_level == 2
    several = rm.Params.from_bits(13, [40, 40], [45, 45], 1, scale_bits=40)
    assert refused(rm.MismatchError, seal.dump_parameters, several).code == "NotInSeal"
    shutil.copy(client / "secret.key", tmp_path / "secret.key")
    secret = seal.load_secret_key(params, tmp_path / "secret.key")
    refused(rm.CommandError, seal.save_secret_key, secret, tmp_path / "secret.key")
    seal.save_secret_key(secret, tmp_path / "secret.key", overwrite=True)
    assert (tmp_path / "secret.key").stat().st_mode & 0o077 == 0


def _toy() -> bytes:
    """Parameters of SEAL that are far from secure."""
    chain = rm.Params.from_bits(10, [50, 40, 40], [50], 3, scale_bits=40, insecure=True)
    primes = rm.Params.from_primes(10, chain.q, chain.p, 3, scale_bits=40, rotations=3, insecure=True)
    return seal.dump_parameters(primes)


def test_arguments_are_checked(client, params):
    compiled = turned_product.compile(params=params)
    x = seal.load_ciphertext(params, client / "x.ct")
    with pytest.raises(rm.MismatchError, match="takes the encrypted arguments x, y"):
        arguments(compiled, x=x)
    with pytest.raises(rm.MismatchError, match="8 slots"):
        arguments(compiled, x=x, y=seal.load_ciphertext(params, client / "y.ct", slots=8))
    assert isinstance(x, _native.Ciphertext)


def test_the_command_line_serves_a_client(tmp_path, client, params, capsys):
    """From the client's files to its result, and keys made here as SEAL's."""
    compiled = turned_product.compile(params=params)
    compiled.save(tmp_path / "kernel")
    context = ["--context", str(client / "parms"), "--scale-bits", str(SCALE_BITS)]
    kernel = ["--kernel", str(tmp_path / "kernel")]

    def done(*words):
        assert main([*map(str, words), "--quiet"]) == 0, capsys.readouterr().err

    out = {
        name: str(tmp_path / name) for name in ("params", "keys", "arguments", "results", "secret", "public")
    }
    done("import", "seal", "parameters", client / "parms", "--scale-bits", SCALE_BITS, "--out", out["params"])
    assert rm.Params.from_bytes((tmp_path / "params").read_bytes()) == params
    galois = ["--galois", client / "galois.keys"]
    done("import", "seal", "keys", client / "relin.keys", *galois, *context, "--out", out["keys"])
    done("import", "seal", "public", client / "public.key", *context, "--out", out["public"])
    done("import", "seal", "secret", client / "secret.key", *context, "--out", out["secret"])
    given = [f"{name}={client / f'{name}.ct'}" for name in "xy"]
    done("import", "seal", "arguments", *given, *context, *kernel, "--out", out["arguments"])
    done("evaluate", *kernel, "--keys", out["keys"], "--input", out["arguments"], "--out", out["results"])
    done("export", "seal", "results", out["results"], *context, *kernel, "--out", client / "result.ct")
    run_peer("tenseal", "tenseal_peer", "read", client)
    values = [np.load(client / f"{name}.npy") for name in "xy"]
    assert np.abs(np.load(client / "result.npy") - expected(*values)).max() < 2.0**-20
    # The keys go back as they came.
    for what, file in (("relin", out["keys"]), ("secret", out["secret"])):
        again = tmp_path / f"{what}.again"
        done("export", "seal", what, file, *context, "--out", again, "--compression", "zlib")
        assert again.read_bytes()[5] == 1
    again = seal.load_evaluation_keys(params, tmp_path / "relin.again")
    assert seal.load_secret_key(params, tmp_path / "secret.again").made(again)
    done("export", "seal", "galois", out["keys"], *context, "--out", tmp_path / "galois.again")
    done("export", "seal", "public", out["secret"], *context, "--out", tmp_path / "public.again")
    done("export", "seal", "parameters", out["params"], "--out", tmp_path / "parms.again")
    assert (tmp_path / "parms.again").read_bytes() == seal.dump_parameters(params)
    capsys.readouterr()
    for words, why in (
        (["import", "helib", "keys", "x", "--out", "y"], "There is no library 'helib'"),
        (["export", "seal", "arguments", "x", "--out", "y"], "'arguments' is not exported"),
        (["import", "seal", "secret", str(client / "secret.key"), "--out", str(tmp_path / "s")], "--context"),
        (["import", "seal", "arguments", "x.ct", "--out", str(tmp_path / "s")], "NAME=FILE"),
    ):
        assert main(words) == 1
        assert why in capsys.readouterr().err
