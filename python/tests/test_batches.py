"""A kernel over one record runs over many: record by record against NumPy, encrypted, in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import interpret

import ringmill as rm
from ringmill.cli import main
from ringmill.client import Client
from ringmill.values import Values

WEIGHTS = np.array([0.5, -0.25, 0.125])
MATRIX = np.array([[0.5, 0.25, -0.5], [0.125, -0.75, 0.25]])


def product(x: Any = rm.vector(3), m: Any = MATRIX) -> Any:
    return m @ x


def reversed_sums(x: Any = rm.matrix(2, 3)) -> Any:
    return x[:, ::-1] - x.mean(axis=0), x.sum()


def scaled(x: Any = rm.vector(5), s: Any = rm.scalar()) -> Any:
    return {"out": x * s + 0.25, "norm": (x * x).sum()}


def by_columns(x: Any = rm.matrix(4, 3, packing="columns"), w: Any = WEIGHTS) -> Any:
    return (x @ w) ** 2


def by_scalars(x: Any = rm.vector(3, packing="scalars"), w: Any = WEIGHTS) -> Any:
    return x @ w + 0.5


def turned(z: Any = rm.vector(4, dtype=complex)) -> Any:
    return np.roll(z, 1) * z.conj()


KERNELS: list[Callable[..., Any]] = [product, reversed_sums, scaled, by_columns, by_scalars, turned]


def _records(traced: Any, count: int, rng: np.random.Generator) -> dict[str, Any]:
    made = {}
    for name, spec in traced.signature.inputs.items():
        made[name] = rng.uniform(-1, 1, (count, *spec.shape))
        if not spec.real:
            made[name] = made[name] + 1j * rng.uniform(-0.5, 0.5, (count, *spec.shape))
    return made


def _flat(result: Any) -> list[Any]:
    if isinstance(result, dict):
        return list(result.values())
    return list(result) if isinstance(result, (tuple, list)) else [result]


@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_every_lane_is_one_record(function: Callable[..., Any], rng: np.random.Generator) -> None:
    traced = rm.kernel(function).trace().in_lanes(4)
    data = _records(traced, 4, rng)
    assert traced.signature.slots == 4 * traced.graph.slots
    found = _flat(traced.signature.unpack(interpret(traced.text, traced.signature.pack(data))))
    for b in range(4):
        wanted = _flat(function(**{name: values[b] for name, values in data.items()}))
        for got, each in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got[b], each, atol=1e-12)


@pytest.fixture(scope="module")
def compiled() -> rm.Compiled:
    """Two lanes for the records of one test, to be split and filled."""
    params = rm.Params.from_bits(11, [45, 35, 35, 35], [45], 4, insecure=True)
    return rm.kernel(reversed_sums).compile(batch=True, params=params)


@pytest.fixture(scope="module")
def keys(compiled: rm.Compiled) -> rm.Keys:
    return compiled.keygen(insecure=True)


def test_records_fill_the_slots_and_are_split(
    compiled: rm.Compiled, keys: rm.Keys, rng: np.random.Generator, tmp_path: Path
) -> None:
    lanes = compiled.signature.lanes
    assert lanes * 8 == compiled.params.slots == 1024
    x = rng.uniform(-1, 1, (lanes + 3, 2, 3))
    arguments = compiled.encrypt(keys, x=x)
    assert (arguments.records, sorted(arguments.parts)) == (lanes + 3, ["0/x", "1/x"])
    # Both travel in one file.
    arguments.save(tmp_path / "arguments")
    compiled.save(client=tmp_path / "client.rm", server=tmp_path / "server.rm")
    server = rm.Compiled.load(tmp_path / "server.rm")
    read = Values.load(tmp_path / "arguments", "arguments", compiled.params)
    results = server.evaluate(keys.evaluation, read)
    client = Client.load(tmp_path / "client.rm")
    assert client.signature == compiled.signature
    found = client.decrypt(keys, results)
    assert isinstance(found, tuple)
    wanted = x[:, :, ::-1] - x.mean(axis=1, keepdims=True), x.sum(axis=(1, 2))
    for got, each in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, each, atol=1e-4)
    compared = compiled.measure_error(keys, results, wanted)
    assert sorted(compared) == ["0/out0", "0/out1", "1/out0", "1/out1"]
    assert all(one.holds for one in compared.values())


def test_data_with_an_axis_more_are_a_batch(rng: np.random.Generator) -> None:
    x, s = rng.uniform(-1, 1, (6, 5)), rng.uniform(-1, 1, 6)
    kernel = rm.kernel(scaled)
    found = kernel.run(x=x, s=s, precision=12)
    np.testing.assert_allclose(found["out"], x * s[:, None] + 0.25, atol=1e-3)
    np.testing.assert_allclose(found["norm"], (x * x).sum(axis=1), atol=1e-3)
    # One scalar for all records.
    shared = kernel.run(x=x, s=0.5, precision=12)
    np.testing.assert_allclose(shared["out"], x * 0.5 + 0.25, atol=1e-3)


def test_ranges_hold_in_lanes_that_no_record_fills(rng: np.random.Generator) -> None:
    @rm.kernel
    def inverse(x: Any = rm.vector(3, low=0.5, high=1.5)) -> Any:
        return 1 / x

    x = rng.uniform(0.5, 1.5, (5, 3))
    np.testing.assert_allclose(inverse.run(x=x, precision=10), 1 / x, atol=2e-3)


def test_private_weights_take_batches(rng: np.random.Generator) -> None:
    x = rng.uniform(-1, 1, (5, 3))
    compiled = rm.kernel(product).compile(m=rm.private(MATRIX, magnitude=1), batch=5, precision=12)
    np.testing.assert_allclose(compiled.run(x=x), x @ MATRIX.T, atol=1e-3)
    other = rm.kernel(product).compile(m=rm.private(MATRIX * 0, magnitude=1), batch=5, precision=12)
    assert other.client().to_bytes() == compiled.client().to_bytes()


def test_a_batch_that_does_not_match_is_refused_with_the_line(
    compiled: rm.Compiled, keys: rm.Keys, rng: np.random.Generator
) -> None:
    with pytest.raises(rm.KernelError, match=r"test_batches.py:\d+: .*x has 6, s has 4") as refused:
        rm.kernel(scaled).run(x=np.ones((6, 5)), s=np.ones(4))
    assert refused.value.code == "Batch"
    for shape in [(4, 2, 2), (0, 2, 3), (2, 2, 2, 3)]:
        with pytest.raises(rm.EncodingError, match="Pass one record of that shape, or many along"):
            compiled.encrypt(keys, x=np.ones(shape))
    for batch in (0, -1, 1.5, "all"):
        with pytest.raises(rm.ParameterError, match="batch, the number of records,"):
            rm.kernel(product).compile(batch=batch)
    one = rm.kernel(product).compile(precision=8)
    with pytest.raises(rm.EncodingError, match="Compile it with batch=4 to take as many records"):
        one.run(x=np.ones((4, 3)))


def test_published_batches_count_as_decryptions(
    compiled: rm.Compiled, keys: rm.Keys, rng: np.random.Generator
) -> None:
    x = rng.uniform(-1, 1, (compiled.signature.lanes + 1, 2, 3))
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=x))
    with pytest.raises(rm.ParameterError, match="These records take 2 ciphertexts of each result"):
        compiled.decrypt(keys, results, publish=1, statistical=10)


def test_files_of_other_numbers_of_records_are_refused(
    compiled: rm.Compiled, keys: rm.Keys, rng: np.random.Generator
) -> None:
    x = rng.uniform(-1, 1, (compiled.signature.lanes + 1, 2, 3))
    arguments = compiled.encrypt(keys, x=x)
    for records, code in ((None, "Batch"), (1, "Incomplete"), (10**9, "Incomplete")):
        arguments.records = records
        with pytest.raises(rm.MismatchError) as refused:
            compiled.evaluate(keys, arguments)
        assert refused.value.code == code


def test_a_long_vector_is_cut_over_ciphertexts(rng: np.random.Generator) -> None:
    """A kernel of one element runs on vectors longer than any ciphertext."""
    kernel = rm.kernel(lambda t: t * (t + 0.5))
    params = rm.Params.from_bits(11, [45, 35], [45], 2, insecure=True)
    compiled = kernel.compile(rm.scalar(), batch=True, params=params)
    signal = rng.uniform(-1, 1, 5 * params.slots + 7)
    keys = compiled.keygen(insecure=True)
    arguments = compiled.encrypt(keys, t=signal)
    assert len(arguments.parts) == 6
    found = compiled.decrypt(keys, compiled.evaluate(keys, arguments))
    np.testing.assert_allclose(found, signal * (signal + 0.5), atol=1e-4)


def test_the_command_line_compiles_for_batches(tmp_path: Path, rng: np.random.Generator) -> None:
    source = tmp_path / "price.py"
    source.write_text(
        "import ringmill as rm\n\n@rm.kernel\ndef price(x=rm.vector(3)):\n    return x.sum(), x[0]\n"
    )
    files = {
        name: str(tmp_path / name) for name in ("client.rm", "server.rm", "x.npz", "arguments", "results")
    }
    options = ["--precision", "12", "--batch", "100", "--out", str(tmp_path)]
    assert main(["compile", f"{source}:price", *options]) == 0
    x = rng.uniform(-1, 1, (100, 3))
    np.savez(files["x.npz"], x=x)
    keys = tmp_path / "keys"
    kernel = ["--kernel", files["client.rm"]]
    assert main(["keygen", *kernel, "--out", str(keys), "--quiet"]) == 0
    secret, evaluation = str(keys / "secret.key"), str(keys / "evaluation.keys")
    more = ["--input", files["x.npz"], "--out", files["arguments"], "--quiet"]
    assert main(["encrypt", *kernel, "--key", secret, *more]) == 0
    more = ["--input", files["arguments"], "--out", files["results"], "--quiet"]
    assert main(["evaluate", "--kernel", files["server.rm"], "--keys", evaluation, *more]) == 0
    more = ["--input", files["results"], "--out", str(tmp_path / "out.npz")]
    assert main(["decrypt", *kernel, "--key", secret, *more]) == 0
    found = np.load(tmp_path / "out.npz")
    np.testing.assert_allclose(found["out0"], x.sum(axis=1), atol=1e-3)
    np.testing.assert_allclose(found["out1"], x[:, 0], atol=1e-3)
