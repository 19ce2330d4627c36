"""What leaves the process follows from public facts and fresh randomness.

Two runs that differ in secret data alone give files whose headers, lengths and printed metadata are equal but
for fresh names.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.cli import main

TABLE = (Path(__file__).parents[2] / "docs/reference/fields.md").read_text()
N = 8
PARAMS = rm.Params.from_bits(11, [50, 40, 40, 40, 40, 40], [50], 6, scale_bits=40, insecure=True)


@pytest.fixture(scope="module")
def keys() -> rm.Keys:
    return rm.keygen(PARAMS, rotations=[1, 2, 4, 3, 5, 6, 7], conjugation=True)


class Header:
    """The header of a ciphertext, by the table of the format: postcard, so integers as varints."""

    def __init__(self, data: bytes) -> None:
        self.front, self.kind = data[:44], int.from_bytes(data[10:12], "little")
        length = int.from_bytes(data[52:56], "little")
        self.payload, self.size = int.from_bytes(data[56:64], "little"), len(data)
        self.bytes, self.at = data[64 : 64 + length], 0
        self.polys = self._byte() if self.kind == 7 else len(self._take(32))
        self.level = self._int()
        self.scale = [(self._int(), self._int()) for _ in range(self._int())]
        self.slots = self._int()
        self.magnitude, self.std, self.bias = (self._float() for _ in range(3))
        self.fresh = int.from_bytes(self._take(8), "little") if self._byte() else None
        assert self.at == length

    def _byte(self) -> int:
        self.at += 1
        return self.bytes[self.at - 1]

    def _take(self, count: int) -> bytes:
        self.at += count
        return self.bytes[self.at - count : self.at]

    def _int(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def _float(self) -> float:
        (value,) = struct.unpack_from("<d", self.bytes, self.at)
        self.at += 8
        return value

    @property
    def shown(self) -> tuple[Any, ...]:
        """All but the fresh name."""
        sums = (self.magnitude, self.std, self.bias)
        place = (self.front, self.kind, self.payload, self.polys)
        return (*place, self.level, self.scale, self.slots, *sums, self.fresh is None)


def secrets(seed: int) -> dict[str, Any]:
    """Secret data of one client and one server: structured and random, all within the default bound."""
    rng = np.random.default_rng(seed)
    one_hot = np.eye(N)[rng.integers(N)]
    kinds = [rng.uniform(-1, 1, N), one_hot, np.zeros(N), np.ones(N), 1e-6 * rng.normal(size=N)]
    # Diagonals of zeros make another program, and a program is public.
    matrices = [
        rng.uniform(-1, 1, (N, N)),
        np.ones((N, N)),
        1e-6 * rng.normal(size=(N, N)),
        circulant(rng.uniform(-1, 1, N)),
    ]
    return {
        "x": kinds[rng.integers(5)],
        "y": kinds[rng.integers(5)],
        "c": float(rng.choice([0.0, 1.0, -0.5, 0.123456789, -3.75e-3])),
        "W": matrices[rng.integers(4)],
    }


Eager = Callable[[rm.Ciphertext, dict[str, Any]], rm.Ciphertext]

OPERATIONS: dict[str, Eager] = {
    "as it is": lambda x, s: x,
    "plus a vector": lambda x, s: x + s["y"],
    "minus a vector": lambda x, s: x - s["y"],
    "a vector minus it": lambda x, s: s["y"] - x,
    "times a vector": lambda x, s: x * s["y"],
    "plus a number": lambda x, s: x + s["c"],
    "times a number": lambda x, s: x * s["c"],
    "with a declared bound": lambda x, s: x * rm.plain(3 * s["y"], magnitude=3) + rm.plain(s["c"], 2),
    "whole numbers": lambda x, s: 3 * x - 2,
    "divided": lambda x, s: x / 5,
    "mean": lambda x, s: (x * s["y"]).mean(),
    "inner product": lambda x, s: x @ s["y"],
    "matrix": lambda x, s: s["W"] @ x,
    "matrix from the right": lambda x, s: x @ s["W"],
    "matrix with a declared bound": lambda x, s: rm.plain(2 * s["W"], magnitude=2) @ x,
    "twice a vector": lambda x, s: x * s["y"] + x * s["y"],
    "two vectors": lambda x, s: x * s["y"] + x * s["x"],
    "rotated": lambda x, s: (x * s["y"]).rotate(1) + x.rotate(2),
    "power": lambda x, s: (x + s["c"]) ** 3,
    "conjugate": lambda x, s: (x + 1j * s["y"]).conj(),
    "polynomial": lambda x, s: rm.polynomial((x * s["y"]).within(1), [0.5, -0.25, 1.0]),
    "difference": lambda x, s: (x - x.rotate(1)) * s["y"],
    "plus a complex number": lambda x, s: x + complex(s["c"] / 2, s["y"][0] / 2),
    "times a complex vector": lambda x, s: x * (s["y"] + 0j),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_shows_nothing_of_its_operands(name: str, keys: rm.Keys) -> None:
    shown, printed, fresh = set(), set(), set()
    for seed in range(8):
        data = secrets(100 * seed)
        for key in (keys.public, keys.secret):
            x = rm.encrypt(data["x"], keys, key=key)
            result = OPERATIONS[name](x, data)
            header = Header(result.to_bytes())
            shown.add((key is keys.secret, repr(header.shown)))
            # Sums by random names differ in the last digits of binary64.
            reported = (repr(result), round(result.error_log2, 6), result.native.magnitude)
            printed.add((key is keys.secret, reported))
            fresh.add(header.fresh)
    assert len(shown) == 2, "one header for each kind of key"
    assert len(printed) == 2
    assert len(fresh) == (16 if name == "as it is" else 1), (
        "names of encryptions are fresh, results have none"
    )


def circulant(first: np.ndarray) -> np.ndarray:
    return np.array([np.roll(first, row) for row in range(len(first))])


#: Declared numbers within 4: of every structure that takes fewer operations, or has another size.
NUMBERS = [0.3, 0.0, 1.0, -1.0, 2.0, 4.0, 1e-15]
VECTORS = [np.full(N, 0.3), np.zeros(N), np.ones(N), np.eye(N)[2], np.linspace(-4, 4, N), np.full(N, 4.0)]
MATRICES = [
    0.3 * np.eye(N),
    np.zeros((N, N)),
    np.eye(N),
    np.ones((N, N)),
    circulant(np.linspace(-0.3, 0.4, N)),
    np.random.default_rng(5).uniform(-4, 4, (N, N)),
    np.roll(np.eye(N), 3, axis=1),
]

#: Kernels at the prompt on numbers in the clear, and what these are.
DECLARED: dict[str, tuple[Callable[[Any, Any], Any], list[Any]]] = {
    "times a number": (lambda x, w: x * w, NUMBERS),
    "plus a number": (lambda x, w: x + w, NUMBERS),
    "times and plus a number": (lambda x, w: (x * w + w) * x, NUMBERS),
    "times a square": (lambda x, w: x * (w * w), NUMBERS),
    "times a vector": (lambda x, w: x * w, VECTORS),
    "plus a vector": (lambda x, w: x - w, VECTORS),
    "sum": (lambda x, w: (x * w).sum(), VECTORS),
    "elements": (lambda x, w: x * w[0] + x * w[1], VECTORS),
    "in a kernel": (lambda x, w: w @ x, MATRICES),
    "in a kernel, from the right": (lambda x, w: x @ w, MATRICES),
}


@pytest.mark.parametrize("name", DECLARED)
def test_declared_arguments_of_a_kernel_show_their_bound_alone(name: str, keys: rm.Keys) -> None:
    function, values = DECLARED[name]
    kernel, shown = rm.kernel(function), set()
    clear = np.linspace(-1, 1, N)
    for value in values:
        result = kernel(rm.encrypt(clear, keys), rm.plain(value, 4))
        shown.add(repr(Header(result.to_bytes()).shown))
        wanted = np.broadcast_to(function(clear, value), (N,))
        assert rm.measure_error(result, keys, wanted).holds
    assert len(shown) == 1, shown


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_declared_matrix_shows_its_bound_alone(side: str, keys: rm.Keys) -> None:
    shown, clear = set(), np.linspace(-1, 1, N)
    for value in MATRICES:
        x, w = rm.encrypt(clear, keys), rm.plain(value, 4)
        result = w @ x if side == "left" else x @ w
        header = Header(result.to_bytes())
        assert header.magnitude == 4 * N
        shown.add(repr(header.shown))
        wanted = value @ clear if side == "left" else clear @ value
        assert rm.measure_error(result, keys, wanted).holds
    assert len(shown) == 1, shown


def test_the_bound_is_what_is_declared(keys: rm.Keys) -> None:
    """Up to a part in a hundred, to which bounds that a kernel works out are rounded."""
    x = rm.encrypt(np.full(N, 0.1), keys)
    times = rm.kernel(lambda x, w: x * w)
    for given in (0.3, np.full(N, 0.3), 0.0, np.linspace(0, 1, N)):
        for bound in (1, 4, 4.5, 100):
            assert bound <= times(x, rm.plain(given, bound)).native.magnitude <= 1.01 * bound
            assert (x * rm.plain(given, bound)).native.magnitude == bound
    squares = rm.kernel(lambda x, w: x * w * w)(x, rm.plain(0.3, 4))
    assert 16 <= squares.native.magnitude <= 16 * 1.01**2


def test_a_matrix_without_a_bound_shows_which_diagonals_are_zero_and_no_more(keys: rm.Keys) -> None:
    few = rm.keygen(PARAMS, rotations=[1])
    x = rm.encrypt(np.linspace(-1, 1, N), few)
    shown = set()
    for scale in (0.3, 1.0, -1.0, 0.5):
        band = scale * (np.eye(N) + np.roll(np.eye(N), 1, axis=1))
        shown.add(repr(Header((band @ x).to_bytes()).shown))
        assert rm.measure_error(band @ x, few, band @ np.linspace(-1, 1, N)).holds
    assert len(shown) == 1, shown


def test_a_program_that_follows_from_declared_numbers_is_refused(keys: rm.Keys) -> None:
    x = rm.encrypt(np.full(N, 0.1), keys)
    with pytest.raises(rm.KernelError, match="the program follows from numbers") as refused:
        rm.kernel(lambda x, w: x + 1 if w > 0 else x * x)(x, rm.plain(0.3, 4))
    assert refused.value.code == "DependsOnDeclared"


def kernels(weights: np.ndarray, positive: float) -> dict[str, rm.Compiled]:
    """Kernels that hold private numbers in every way: vectors, columns, matrices, numbers."""
    square = np.outer(weights, weights)[:4, :4]
    options: dict[str, Any] = {"params": PARAMS, "precision": 8}
    columns = rm.matrix(N, 4, packing="columns")
    return {
        "vector": rm.kernel(lambda x: (x * weights).sum()).compile(rm.vector(N), **options),
        "columns": rm.kernel(lambda x: (x @ weights[:4]) ** 2).compile(columns, **options),
        "matrix": rm.kernel(lambda x: square @ x).compile(rm.vector(4), **options),
        "number": rm.kernel(lambda x: x * positive + 0.5).compile(rm.vector(N), **options),
    }


@pytest.mark.parametrize("name", ["vector", "columns", "matrix", "number"])
def test_a_result_shows_nothing_of_the_numbers_of_a_kernel(name: str) -> None:
    """Weights of one class of bounds: the value that a result may have lies within 2^8 for all."""
    shown, facts, sizes = set(), set(), set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        weights = [
            rng.uniform(-1, 1, N),
            np.eye(N)[3],
            rng.uniform(0.1, 0.3, N),
            rng.integers(-1, 2, N) * 0.9,
        ][seed]
        compiled = kernels(weights + 0.01, float(rng.uniform(0.1, 0.9)))[name]
        keys = compiled.keygen()
        shape = (N, 4) if name == "columns" else (4,) if name == "matrix" else (N,)
        values = rng.uniform(-1, 1, shape)
        arguments = compiled.encrypt(keys, x=values)
        results = compiled.evaluate(keys, arguments)
        for role, sent in (("arguments", arguments), ("results", results)):
            data = sent.to_bytes()
            sizes.add((role, len(data)))
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                header = json.loads(archive.read("header.json"))
                names = sorted(header.pop("parts"))
                facts.add((role, repr(header), repr(sent), tuple(names)))
                for part in names:
                    shown.add((role, part, repr(Header(archive.read(part)).shown[1:])))
    roles = {role for role, *_ in facts}
    assert roles == {"arguments", "results"}
    assert len(facts) == 2, facts
    assert len(sizes) == 2
    assert len(shown) == len({(role, part) for role, part, _ in shown}), shown


def test_two_runs_on_the_same_arguments_write_the_same_bytes() -> None:
    compiled = rm.kernel(lambda x: (x * 0.5 + 0.25) * x).compile(rm.vector(N), precision=10)
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys, x=np.linspace(-1, 1, N))
    first, second = (compiled.evaluate(keys, arguments).to_bytes() for _ in range(2))
    assert first == second


def test_names_of_encryptions_are_uniform(keys: rm.Keys) -> None:
    """Of the names of many encryptions of one vector each bit is set in half, up to six deviations."""
    count = 400
    names = [Header(rm.encrypt(np.ones(N), keys).to_bytes()).fresh for _ in range(count)]
    assert len(set(names)) == count
    for bit in range(64):
        ones = sum(name >> bit & 1 for name in names if name is not None)
        assert abs(ones - count / 2) < 6 * np.sqrt(count) / 2, bit


def rows(section: str) -> set[tuple[str, str]]:
    """(kind, field) of a table of the page."""
    text = TABLE.split(f"## {section}")[1].split("\n## ")[0]
    cells = [
        [c.strip(" `") for c in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")
    ]
    each = [(kind, field) for row in cells[2:] for kind in row[0].split(", ") for field in row[1].split(", ")]
    return {(kind, field.strip("`")) for kind, field in each}


def test_every_field_of_a_bundle_has_a_source() -> None:
    # A batch has every field.
    compiled = rm.kernel(lambda x: x * x).compile(rm.vector(4), precision=10, batch=2)
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys, x=np.ones((2, 4)))
    known = rows("Bundles")
    sides = {
        "arguments": arguments,
        "results": compiled.evaluate(keys, arguments),
        "client": compiled.client(),
    }
    for role, sent in sides.items():
        with zipfile.ZipFile(io.BytesIO(sent.to_bytes())) as archive:
            header = json.loads(archive.read("header.json"))
            assert {(role, field) for field in header} == {row for row in known if row[0] == role}
            for entry in archive.infolist():
                assert (entry.date_time, entry.extra, entry.comment) == ((1980, 1, 1, 0, 0, 0), b"", b"")
    assert re.search(r"version of the format", TABLE)


def test_files_of_before_are_rewritten_clean(tmp_path: Path) -> None:
    """What an older version stated finer is raised to what is stated today; the numbers are the same."""
    compiled = rm.kernel(lambda x: x * x * 0.3).compile(rm.vector(4), precision=10)
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys, x=np.full(4, 0.5))
    results = compiled.evaluate(keys, arguments)
    old = rm.Values("results", results.parts, compiled.name, compiled._of_program(compiled.text))
    clean = compiled.rewritten(old)
    assert clean.program == compiled.digest
    for name, cipher in clean.parts.items():
        header = Header(cipher.to_bytes())
        assert (header.magnitude, header.std, header.fresh) == (256.0, 0.0, None)
        assert header.bias == 2.0**-10
        assert cipher.error_log2 >= results.parts[name].error_log2 - 1e-9
    np.testing.assert_array_equal(compiled.decrypt(keys, clean), compiled.decrypt(keys, results))
    again = compiled.evaluate(keys, compiled.rewritten(arguments))
    np.testing.assert_allclose(compiled.decrypt(keys, again), np.full(4, 0.075), atol=2**-9)
    with pytest.raises(rm.EncodingError, match="do not hold"):
        rm.encrypt([1.0], rm.keygen(PARAMS)).restated(0.5, -10)

    kernel, source, target = (tmp_path / name for name in ("kernel", "old", "new"))
    compiled.save(kernel)
    old.save(source)
    assert main(["rewrite", "--kernel", str(kernel), "--input", str(source), "--out", str(target)]) == 0
    assert rm.Values.load(target, "results", compiled.params).to_bytes() == clean.to_bytes()
    assert main(["rewrite", "--kernel", str(kernel), "--input", str(kernel), "--out", str(target)]) == 1


def test_a_promise_is_stated_whatever_the_names_of_encryptions_are() -> None:
    """Of more contributions than are kept apart those that lose their names do not depend on random ones."""
    weights = np.random.default_rng(3).uniform(0.5, 1, 1024)
    compiled = rm.kernel(lambda x: (weights * x.sum()).sum()).compile(rm.vector(1024), precision=12)
    keys = compiled.keygen(seeded=True)
    for key in (keys.public, keys.public, keys.secret):
        results = compiled.evaluate(keys, compiled.encrypt(key, x=np.ones(1024) / 1024))
        assert results.error_log2 == pytest.approx(-12, abs=1e-3)
