"""Single nodes evaluated in the clear, by the reference implementation of the package onnx."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.errors import ModelError, fail

Array = NDArray[Any]

#: Of the domain of trained models: the last one of which all operators have attributes of their own.
ML_OPSET = 3


def decoded(proto: Any) -> dict[str, Any]:
    """Attributes of a node by name, texts as such; those "as tensor" as the lists that they stand for."""
    import onnx

    found = {}
    for attribute in proto.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, onnx.TensorProto):
            value = onnx.numpy_helper.to_array(value)
        elif isinstance(value, bytes):
            value = value.decode()
        elif isinstance(value, list) and value and isinstance(value[0], bytes):
            value = [each.decode() for each in value]
        found[attribute.name.removesuffix("_as_tensor")] = value
    return found


class Node:
    """A node of a graph, ready to be evaluated.

    Attributes
    ----------
        op: the operator.
        name: what messages call it.
        inputs, outputs: names of its operands and results; an operand that is left out is "".
        attributes: by name.
    """

    def __init__(self, proto: Any, opset: int) -> None:
        import onnx

        self._proto, self._opset = proto, opset
        self.op = str(proto.op_type)
        self.name = proto.name or f"{self.op} of {proto.output[0]}"
        self.inputs, self.outputs = list(proto.input), list(proto.output)
        self.attributes = {a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute}

    @functools.cached_property
    def decoded(self) -> dict[str, Any]:
        """Attributes as `decoded` gives them."""
        return decoded(self._proto)

    @functools.cached_property
    def _evaluator(self) -> Any:
        import onnx
        from onnx.reference import ReferenceEvaluator

        def value(name: str) -> Any:
            return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.UNDEFINED, None)

        given = [value(name) for name in dict.fromkeys(self.inputs) if name]
        graph = onnx.helper.make_graph([self._proto], "node", given, [value(n) for n in self.outputs if n])
        versions = {"": self._opset, "ai.onnx.ml": ML_OPSET}
        opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in versions.items()]
        return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=opsets))

    @functools.cached_property
    def sum(self) -> Node:
        """The sum over the same axes, of a node that reduces by another operation."""
        import onnx

        proto = onnx.NodeProto()
        proto.CopyFrom(self._proto)
        proto.op_type = "ReduceSum"
        return Node(proto, self._opset)

    @functools.cached_property
    def without_addend(self) -> Node:
        """A Gemm without its third operand."""
        import onnx

        proto = onnx.NodeProto()
        proto.CopyFrom(self._proto)
        del proto.input[2:]
        return Node(proto, self._opset)

    def __call__(self, operands: Sequence[Array | None]) -> list[Array]:
        """Results of the node for arrays."""
        given = {n: v for n, v in zip(self.inputs, operands, strict=True) if n and v is not None}
        try:
            return [np.asarray(found) for found in self._evaluator.run(None, given)]
        except Exception as refused:
            said = str(refused).split("\n")[0].rstrip(".")
            fail(
                ModelError,
                "Node",
                f"Node {self.name!r} ({self.op}) cannot be evaluated in double precision: {said}.",
                node=self.name,
            )
