"""Networks of PyTorch through ``torch.onnx``, both exporters, against PyTorch itself, where it is there."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'ringmill[torch]'")
pytest.importorskip("onnxscript", reason="onnxscript is not installed: pip install 'ringmill[torch]'")
nn = torch.nn


def perceptron() -> Any:
    return nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3), nn.Softmax(dim=1))


def gated() -> Any:
    return nn.Sequential(nn.Linear(5, 6), nn.GELU(), nn.Linear(6, 6), nn.SiLU(), nn.Linear(6, 2))


def normalised() -> Any:
    return nn.Sequential(nn.Linear(5, 16), nn.LayerNorm(16), nn.Sigmoid(), nn.Linear(16, 1))


def convolutional() -> Any:
    return nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1),
        nn.BatchNorm2d(2),
        nn.SiLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(8, 3),
    )


NETWORKS: dict[Callable[[], Any], tuple[int, ...]] = {
    perceptron: (5,),
    gated: (5,),
    normalised: (5,),
    convolutional: (1, 4, 4),
}


def _exported(network: Any, x: Any, path: Path, *, dynamo: bool) -> None:
    batch: dict[str, Any] = {"dynamic_axes": {"x": {0: "batch"}, "y": {0: "batch"}}}
    if dynamo:
        batch = {"dynamic_shapes": ({0: torch.export.Dim("batch")},)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, (x,), path, input_names=["x"], output_names=["y"], dynamo=dynamo, **batch)


@pytest.mark.parametrize("dynamo", [True, False], ids=["dynamo", "tracing"])
@pytest.mark.parametrize("make", NETWORKS, ids=lambda make: make.__name__)
def test_exported_networks_give_what_torch_gives(
    make: Callable[[], Any], dynamo: bool, tmp_path: Path
) -> None:
    torch.manual_seed(5)
    network, shape = make().eval(), NETWORKS[make]
    x = torch.rand(40, *shape) * 2 - 1
    _exported(network, x[:4], tmp_path / "network.onnx", dynamo=dynamo)
    model = rm.from_onnx(tmp_path / "network.onnx", x.numpy())
    with torch.no_grad():
        wanted = network(x).numpy()
    np.testing.assert_allclose(model.approximated(x.numpy()), wanted, atol=1e-2)
    np.testing.assert_allclose(model.predict(x.numpy()[:3]), wanted[:3], atol=1e-2)
