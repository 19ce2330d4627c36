"""Operations as Orion's layers ask for them, and networks of Orion, give what NumPy and PyTorch give."""

from __future__ import annotations

import importlib.util
import os
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.interop import orion

SLOTS = 64
TORCH = all(importlib.util.find_spec(name) for name in ("torch", "orion", "h5py", "torchvision"))
networks = pytest.mark.skipif(
    not TORCH, reason="orion-fhe and torch are not installed: pip install 'ringmill[orion]'"
)


def parameters(**more: Any) -> Any:
    """What a backend asks Orion's parameters for."""
    facts = {
        "ringtype": "standard",
        "io_mode": "none",
        "slots": SLOTS,
        "default_scale": 1 << 30,
        "logq": [45, 30, 30],
        **more,
    }
    return SimpleNamespace(**{f"get_{name}": lambda value=value: value for name, value in facts.items()})


@pytest.fixture
def backend() -> orion.Backend:
    return orion.Backend(parameters(), precision=16)


def test_recorded_operations_give_what_numpy_gives(backend: orion.Backend, rng: np.random.Generator) -> None:
    b, (x, y, w) = backend, rng.uniform(-1, 1, (3, SLOTS))
    cx, cy = (b.Encrypt(b.Encode(v.tolist(), 2, 1 << 30)) for v in (x, y))
    assert b.GetCiphertextLevel(cx) == 2
    p = b.Encode(w.tolist(), 2, 1 << 30)
    diagonals = {0: w, 3: -y, 63: x * w}
    t = b.GenerateLinearTransform(
        list(diagonals), np.concatenate(list(diagonals.values())).tolist(), 2, 2.0, "none"
    )
    mapped = b.RescaleNew(b.EvaluateLinearTransform(t, cx))
    assert b.GetCiphertextLevel(mapped) == 1
    expected = sum(d * np.roll(x, -k) for k, d in diagonals.items())
    # In place: the number stands for the result from here on.
    assert b.AddPlaintext(mapped, p) == mapped
    b.Rotate(mapped, 5)
    b.MulScalarInt(mapped, 3)
    expected = 3 * np.roll(expected + w, -5)
    product = b.Rescale(b.MulRelinCiphertextNew(mapped, cy))
    series = b.EvaluatePolynomial(cx, b.GenerateChebyshev([0.25, 0.0, -0.5, 0.125]), 1 << 30)
    powers = b.EvaluatePolynomial(cy, b.GenerateMonomial([1.0, 0.5, 0.25]), 1 << 30)
    result = b.SubCiphertextNew(b.AddCiphertextNew(product, series), b.Negate(b.RotateNew(powers, -2)))
    b.SubScalar(result, 0.5)
    polynomial = np.polynomial.Chebyshev([0.25, 0, -0.5, 0.125])(x)
    expected = expected * y + polynomial + np.roll(1 + y / 2 + y * y / 4, 2) - 0.5
    np.testing.assert_allclose(b.clear(result), expected, atol=1e-12)
    found = b.Decode(b.Decrypt(result))
    np.testing.assert_allclose(found, expected, atol=2.0**-14)
    # The inputs are as they were.
    np.testing.assert_array_equal(b.Decode(b.Decrypt(cx)), x)
    assert len(b.compiled) == 1


def test_the_same_operations_on_other_data_take_the_same_kernel(backend: orion.Backend) -> None:
    for values, weight in (([0.5] * SLOTS, 0.75), ([-0.75] * SLOTS, 0.75), ([0.5] * SLOTS, 0.25)):
        plain = backend.Encode([weight] * SLOTS, 2, 1 << 30)
        cipher = backend.MulPlaintextNew(backend.Encrypt(backend.Encode(values, 2, 1 << 30)), plain)
        found = backend.Decode(backend.Decrypt(cipher))
        np.testing.assert_allclose(found, np.array(values) * weight, atol=2.0**-14)
    # Another constant is another kernel.
    assert len(backend.compiled) == 2


def test_bounds_that_layers_promise_reach_the_kernel(backend: orion.Backend) -> None:
    def predicted(bound: float | None) -> float:
        cipher = backend.Encrypt(backend.Encode([0.5] * SLOTS, 2, 1 << 30))
        cipher = backend.MulScalarFloatNew(backend.MulRelinCiphertextNew(cipher, cipher), 3200.0)
        cipher = backend.SubScalarNew(cipher, 800.0)
        if bound is not None:
            backend.within([cipher], bound)
        backend.Decrypt(backend.MulRelinCiphertextNew(cipher, cipher))
        return float(backend.compiled[-1].params.log_q)

    # What stays small needs a shorter chain.
    assert predicted(1.0) < predicted(None)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"ringtype": "conjugateinvariant"}, "write ringtype: Standard"),
        ({"io_mode": "save"}, "Set io_mode: none"),
    ],
)
def test_configurations_that_cannot_be_recorded_are_refused(more: dict[str, str], message: str) -> None:
    with pytest.raises(rm.errors.ProgramError, match=message):
        orion.Backend(parameters(**more))


def test_calls_that_cannot_be_recorded_are_refused(backend: orion.Backend) -> None:
    plain = backend.Encode([1.0] * SLOTS, 2, 1 << 30)
    cipher = backend.Encrypt(plain)
    backend.SetCiphertextScale(cipher, (1 << 30) + 12345)
    for call, message in [
        (lambda: backend.SetCiphertextScale(cipher, 1 << 31), "Multiply by the number instead"),
        (lambda: backend.SerializeSecretKey(), "Set io_mode: none"),
        (lambda: backend.Encode([1.0], 2, 1 << 30), "A plaintext has 64 values"),
        (lambda: backend.Encode([np.nan] * SLOTS, 2, 1 << 30), "finite numbers"),
        (lambda: backend.AddCiphertextNew(cipher, 99), "no ciphertext 99"),
        (lambda: backend.GenerateLinearTransform([0, 1], [1.0] * SLOTS, 2, 2.0, "none"), "128 numbers"),
    ]:
        with pytest.raises(rm.RingmillError, match=message):
            call()
    with pytest.raises(AttributeError, match="no call Levitate"):
        backend.Levitate()
    backend.DeleteCiphertext(cipher)
    with pytest.raises(rm.errors.MismatchError, match="it was deleted"):
        backend.Decrypt(cipher)
    assert (backend.GetLiveCiphertexts(), backend.GetLivePlaintexts()) == ([], [plain])


def test_orion_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "orion", None)
    monkeypatch.setitem(__import__("sys").modules, "orion.core.orion", None)
    with pytest.raises(rm.errors.CommandError, match=r"pip install 'ringmill\[orion\]'"):
        orion.scheme()


def test_the_page_has_the_table_of_calls() -> None:
    page = Path(__file__).parents[2] / "docs" / "interop.md"
    text = page.read_text()
    begin, end = "<!-- orion -->\n", "<!-- /orion -->"
    before, rest = text.split(begin)
    wanted = before + begin + orion.page() + end + rest.split(end)[1]
    if os.environ.get("RINGMILL_BLESS"):
        page.write_text(wanted)
    assert text == wanted, "RINGMILL_BLESS=1 rewrites it"


# --- networks -----------------------------------------------------------------------------------------------

CONFIG = {
    "ckks_params": {"LogN": 9, "LogQ": [45] + [30] * 7, "LogP": [45], "LogScale": 30, "H": 64},
    "orion": {"margin": 2, "embedding_method": "hybrid", "fuse_modules": True, "debug": False},
}


@pytest.fixture(scope="module")
def on() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import orion.core.orion
        import orion.nn
    return orion.nn


def inferred(net: Any, shape: tuple[int, ...], **options: Any) -> tuple[Any, Any, Any]:
    """What a network gives in the clear and encrypted, on an input of its data."""
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    scheme = orion.scheme(precision=16, **options)
    scheme.init_scheme(CONFIG)
    data = torch.rand(32, *shape, generator=torch.Generator().manual_seed(3)) * 2 - 1
    net.eval()
    scheme.fit(net, DataLoader(TensorDataset(data, data), batch_size=1))
    level = scheme.compile(net)
    x = data[:1]
    clear = net(x).detach().numpy()
    net.he()
    found = net(scheme.encrypt(scheme.encode(x, level))).decrypt().decode().numpy()
    net.eval()
    return clear, found.reshape(clear.shape), scheme


@networks
@pytest.mark.filterwarnings("ignore")
def test_a_perceptron_gives_what_pytorch_gives(on: Any) -> None:
    import torch

    torch.manual_seed(1)

    class Net(on.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc1, self.act, self.fc2 = on.Linear(16, 8), on.Quad(), on.Linear(8, 4)

        def forward(self, x: Any) -> Any:
            return self.fc2(self.act(self.fc1(x)))

    clear, found, scheme = inferred(Net(), (16,))
    np.testing.assert_allclose(found, clear, atol=2.0**-12)
    assert len(scheme.backend.compiled) == 1


@networks
@pytest.mark.filterwarnings("ignore")
def test_a_convolution_with_batch_norm_and_an_activation_gives_what_pytorch_gives(on: Any) -> None:
    import torch

    torch.manual_seed(2)

    class Net(on.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.bn = on.Conv2d(1, 2, kernel_size=2, stride=2), on.BatchNorm2d(2)
            self.act, self.flatten, self.fc = on.SiLU(degree=7), on.Flatten(), on.Linear(8, 3)

        def forward(self, x: Any) -> Any:
            return self.fc(self.flatten(self.act(self.bn(self.conv(x)))))

    clear, found, _ = inferred(Net(), (1, 4, 4))
    # Within what a polynomial of degree 7 leaves of the activation on Orion's interval.
    np.testing.assert_allclose(found, clear, atol=2e-3)
