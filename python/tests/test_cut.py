"""Arguments that no ciphertext holds are cut over several: encrypted, in files, in batches, against NumPy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.client import Client
from ringmill.trace.signature import Signature
from ringmill.trace.spec import Spec, cut
from ringmill.values import Values

# 512 slots.
SMALL = rm.Params.from_bits(10, [45, 35, 35, 35, 35], [45], 5, insecure=True)
N = 1300


def moments(x: Any = rm.vector(N)) -> Any:
    return {"mean": x.mean(), "spread": np.var(x), "centred": x - x.mean()}


def agreement(x: Any = rm.vector(N), y: Any = rm.vector(N)) -> Any:
    return x @ y * (1 / N), np.sum(x * y[::-1]) * (1 / N)


def regression(a: Any = rm.matrix(400, 3), y: Any = rm.vector(400)) -> Any:
    return a.T @ y * (1 / 400), (a * a).sum(axis=0) * (1 / 400), a @ np.array([0.5, -0.25, 0.125])


def smoothed(x: Any = rm.vector(N)) -> Any:
    return np.convolve(x, [0.25, 0.5, 0.25], "valid"), np.diff(x)


KERNELS: list[Callable[..., Any]] = [moments, agreement, regression, smoothed]


def _values(result: Any) -> list[Any]:
    return list(result.values()) if isinstance(result, dict) else list(result)


def _data(kernel: rm.Compiled, rng: np.random.Generator) -> dict[str, Any]:
    return {name: rng.uniform(-1, 1, spec.shape) for name, spec in kernel.signature.inputs.items()}


@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_kernels_over_long_arrays_agree_with_numpy(
    function: Callable[..., Any], rng: np.random.Generator, tmp_path: Path
) -> None:
    compiled = rm.kernel(function).compile(params=SMALL, precision=10)
    assert compiled.signature.is_cut
    assert compiled.signature.slots == SMALL.slots
    data = _data(compiled, rng)
    keys = compiled.keygen(insecure=True)
    # Client and server have a file each; the server's has no data of the client's.
    compiled.save(client=tmp_path / "client.rm", server=tmp_path / "server.rm")
    client, server = Client.load(tmp_path / "client.rm"), rm.Compiled.load(tmp_path / "server.rm")
    assert client.signature == server.signature == compiled.signature
    client.encrypt(keys, data).save(tmp_path / "arguments")
    read = Values.load(tmp_path / "arguments", "arguments", SMALL)
    results = server.evaluate(keys.evaluation, read)
    found, wanted = client.decrypt(keys, results), function(**data)
    for got, want in zip(_values(found), _values(wanted), strict=True):
        np.testing.assert_allclose(got, want, atol=2.0**-10)
    assert all(one.holds for one in compiled.measure_error(keys, results, wanted).values())


def test_parameters_are_chosen_and_their_ciphertexts_filled(rng: np.random.Generator) -> None:
    n = 70_000
    x = rng.uniform(-1, 1, n)
    compiled = rm.kernel(lambda x: (x * x).mean()).compile(rm.vector(n))
    signature = compiled.signature
    assert signature.slots == compiled.params.slots
    assert len(signature.input_parts) == -(-n // signature.slots)
    assert abs(float(compiled.run(x=x)) - np.mean(x * x)) < 2.0**-20
    # Key switches are those of one ciphertext: parts are added first.
    assert compiled.cost["key_switches"] <= 2 * 17


def test_functions_know_the_bounds_of_every_part(rng: np.random.Generator) -> None:
    x = rng.uniform(0.5, 2.0, N)
    kernel = rm.kernel(lambda x: np.log(x).mean())
    compiled = kernel.compile(rm.vector(N, low=0.5, high=2.0), params=_deep(), precision=10)
    assert compiled.signature.is_cut
    assert abs(float(compiled.run(x=x)) - np.log(x).mean()) < 2.0**-10


def _deep() -> rm.Params:
    return rm.Params.from_bits(10, [50] + [40] * 6, [50], 7, insecure=True)


def test_a_batch_of_long_records(rng: np.random.Generator) -> None:
    x = rng.uniform(-1, 1, (3, 600))
    compiled = rm.kernel(lambda x: (x.sum() * (1 / 600), x * 0.5)).compile(
        rm.vector(600), params=SMALL, batch=3, precision=10
    )
    sums, halves = compiled.run(x=x)
    np.testing.assert_allclose(sums, x.mean(axis=1), atol=2.0**-10)
    np.testing.assert_allclose(halves, x / 2, atol=2.0**-10)


def test_private_weights_of_long_vectors(rng: np.random.Generator) -> None:
    w, other = rng.uniform(-1, 1, (2, N))
    kernel = rm.kernel(lambda x, w: x @ w * (1 / N))
    one, two = (
        kernel.compile(rm.vector(N), rm.private(each, magnitude=1), params=SMALL, precision=8)
        for each in (w, other)
    )
    assert one.client().to_bytes() == two.client().to_bytes()
    x = rng.uniform(-1, 1, N)
    assert abs(float(one.run(x=x)) - x @ w / N) < 2.0**-8


@pytest.mark.parametrize("seed", range(40))
def test_every_argument_is_cut_so_that_parts_go_together(seed: int) -> None:
    draw = np.random.default_rng(seed)
    slots = 1 << int(draw.integers(4, 9))
    length = int(draw.integers(2, 3000))
    width = int(draw.integers(1, 9))
    specs = {
        "a": Spec((length, width)),
        "y": Spec((length,)),
        "z": Spec((int(draw.integers(1, slots)),)),
        "s": Spec(()),
    }
    found = cut(specs, slots)
    assert found["s"] == specs["s"]
    if length * width > slots and width <= slots:
        assert 2 * width > found["a"].pitch >= width
        assert found["a"].rows * found["a"].pitch == slots
        if found["y"].rows:
            assert (found["y"].rows, found["y"].pitch) == (found["a"].rows, found["a"].pitch)
    values = {name: draw.uniform(-1, 1, spec.shape) for name, spec in specs.items()}
    for name, spec in found.items():
        assert spec.slots_needed <= slots
        packed = spec.pack(name, values[name], slots)
        assert list(packed) == spec.parts(name)
        if spec.rows:
            by_row = np.concatenate([vector.reshape(-1, spec.pitch) for vector in packed.values()])
            row = values[name].reshape(spec.shape[0], -1)
            np.testing.assert_array_equal(by_row[: len(row), : row.shape[1]].real, row)
            by_row[: len(row), : row.shape[1]] = 0
            assert not np.any(by_row)


def test_pieces_leave_room_for_what_a_kernel_makes_of_them(rng: np.random.Generator) -> None:
    # Differences are brought together anew, and then take two slots an element.
    x = rng.uniform(-1, 1, 600)
    compiled = rm.kernel(lambda x: np.diff(x)[:, None] * np.array([1.0, 2.0])).compile(
        rm.vector(600), params=SMALL, precision=8
    )
    np.testing.assert_allclose(compiled.run(x=x), np.diff(x)[:, None] * np.array([1.0, 2.0]), atol=2.0**-8)


def test_rows_that_no_ciphertext_holds_are_refused() -> None:
    with pytest.raises(rm.errors.KernelError) as refused:
        rm.kernel(lambda a: a * 2).compile(rm.matrix(3, 600), params=SMALL, precision=8)
    assert refused.value.code == "TooManySlots"


def test_what_a_file_says_of_parts_is_checked() -> None:
    written = rm.kernel(moments).compile(params=SMALL, precision=10).signature.to_json()
    assert Signature.from_json(json.loads(json.dumps(written))).to_json() == written
    for where, name, wrong in [
        ("inputs", "rows", 0),
        ("inputs", "rows", N),
        ("inputs", "rows", "512"),
        ("inputs", "rows", 1024),
        ("inputs", "pitch", 0),
        ("inputs", "pitch", 2),
        ("inputs", "pitch", True),
        ("outputs", "cut", 1),
        ("outputs", "cut", None),
        ("outputs", "each", [[[512], [1]]]),
        ("outputs", "each", []),
        ("outputs", "each", {}),
        ("outputs", "each", [[[512, 2], [1, 1]], [[512], [1]], [[276], [1]]]),
        ("outputs", "each", [[[1024], [1]], [[512], [1]], [[276], [1]]]),
    ]:
        damaged = json.loads(json.dumps(written))
        damaged[where]["x" if where == "inputs" else "centred"][name] = wrong
        with pytest.raises(rm.errors.FileFormatError, match="damaged"):
            Signature.from_json(damaged)
