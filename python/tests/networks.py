"""Small networks for tests of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(7)


def made(
    nodes: Sequence[Any],
    constants: dict[str, Any],
    shape: Sequence[Any],
    outputs: Sequence[str],
    opset: int = 17,
) -> Any:
    """A model with one input ``x`` of single precision."""
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def single(*shape: int) -> Any:
    """Random numbers in single precision."""
    return RNG.normal(scale=0.5, size=shape).astype(np.float32)


def network(features: int = 2) -> onnx.ModelProto:
    """A perceptron with soft-max at its end."""
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["a"]),
        helper.make_node("Tanh", ["a"], ["t"]),
        helper.make_node("Gemm", ["t", "w2", "b2"], ["d"]),
        helper.make_node("Softmax", ["d"], ["y"], axis=1),
    ]
    constants = {"w1": single(features, 4), "b1": single(4), "w2": single(4, 3), "b2": single(3)}
    return made(nodes, constants, ["N", features], ["y"])


def convolutional() -> onnx.ModelProto:
    """Convolution, normalisation, ReLU, pooling, weights."""
    nodes = [
        helper.make_node("Conv", ["x", "k"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("AveragePool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "w"], ["y"]),
    ]
    one = np.ones(2, np.float32)
    constants = {
        "k": single(2, 1, 3, 3),
        "s": one,
        "b": single(2),
        "m": single(2),
        "v": one,
        "w": single(8, 3),
    }
    return made(nodes, constants, ["N", 1, 4, 4], ["y"])
