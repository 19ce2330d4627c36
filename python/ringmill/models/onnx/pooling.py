"""The windows of a pooling, by ONNX's rules for pads, strides, dilations and sizes that do not divide.

Source: the operators AveragePool, MaxPool, GlobalAveragePool and GlobalMaxPool of ONNX, opset 22.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

Shape = tuple[int, ...]
Whole = NDArray[np.int64]


class Pooling(Protocol):
    """A node that pools: a `Node`, or the like."""

    op: str
    attributes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Windows:
    """What a pooling looks at.

    Attributes
    ----------
        elements: of each result, the elements of its operand, in C order.
        sizes: what the sum over each window is divided by for its mean.
        shape: of the results.
    """

    elements: list[Whole]
    sizes: NDArray[np.float64]
    shape: Shape


def windows(node: Pooling, shape: Shape, leading: int) -> Windows:
    """The windows of a pooling of a tensor whose first axes, ``leading`` of them, are not pooled."""
    spatial, channels = shape[leading:], int(np.prod(shape[:leading], dtype=int))
    axes = [_along(node, axis, size, len(spatial)) for axis, size in enumerate(spatial)]
    places, inside, sizes = np.zeros((1, 1), int), np.ones((1, 1), bool), np.ones(1)
    for size, (positions, padded) in zip(spatial, axes, strict=True):
        known = (positions >= 0) & (positions < size)
        count = len(places) * len(positions)
        places = (places[:, None, :, None] * size + positions[None, :, None, :]).reshape(count, -1)
        inside = (inside[:, None, :, None] & known[None, :, None, :]).reshape(count, -1)
        sizes = np.multiply.outer(sizes, padded).ravel()
    whole = bool(node.attributes.get("count_include_pad", 0))
    divisors = np.tile(sizes if whole else inside.sum(axis=1), channels)
    area = int(np.prod(spatial, dtype=int))
    one = [row[keep] for row, keep in zip(places, inside, strict=True)]
    every = [window + channel * area for channel in range(channels) for window in one]
    return Windows(every, divisors.astype(float), (*shape[:leading], *(len(p) for p, _ in axes)))


def _along(node: Pooling, axis: int, size: int, rank: int) -> tuple[Whole, Whole]:
    """Positions (windows, kernel) along an axis, and how many of each window are in the padded axis."""
    if node.op.startswith("Global"):
        return np.arange(size)[None], np.array([size])

    def given(name: str) -> int:
        return int(node.attributes.get(name, [1] * rank)[axis])

    kernel, stride, dilation = given("kernel_shape"), given("strides"), given("dilations")
    extent = dilation * (kernel - 1) + 1
    auto = node.attributes.get("auto_pad", b"NOTSET")
    auto = auto.decode() if isinstance(auto, bytes) else str(auto)
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        count = -(-size // stride)
        whole = max((count - 1) * stride + extent - size, 0)
        before = whole // 2 if auto == "SAME_UPPER" else whole - whole // 2
        after = whole - before
    else:
        pads = node.attributes.get("pads", [0] * 2 * rank) if auto == "NOTSET" else [0] * 2 * rank
        before, after = int(pads[axis]), int(pads[axis + rank])
        free, ceil = size + before + after - extent, bool(node.attributes.get("ceil_mode", 0))
        count = (-(-free // stride) if ceil else free // stride) + 1
        # No window begins behind the axis.
        count -= ceil and (count - 1) * stride >= size + before
    positions = (np.arange(count) * stride - before)[:, None] + dilation * np.arange(kernel)
    return positions, np.sum(positions < size + after, axis=1)


def averages(found: Windows, count: int) -> csc_array:
    """The means over windows of ``count`` elements as a matrix, (count, windows)."""
    lengths = [len(window) for window in found.elements]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    weights = np.repeat(1 / found.sizes, lengths)
    return csc_array((weights, np.concatenate(found.elements), ends), shape=(count, len(lengths)))


def evaluated_maxima() -> Any:
    """MaxPool for onnx's reference implementation: its own is wrong with SAME_LOWER and unequal pads."""
    from onnx.reference.op_run import OpRun

    class MaxPool(OpRun):
        """The largest element of every window."""

        op_domain = ""

        def _run(self, x: Any, **given: Any) -> tuple[Any]:
            attributes = {name: value for name, value in given.items() if value is not None}
            node: Any = SimpleNamespace(op="MaxPool", attributes=attributes)
            found = windows(node, x.shape[1:], 1)
            rows = x.reshape(len(x), -1)
            largest = [rows[:, elements].max(axis=1) for elements in found.elements]
            return (np.stack(largest, axis=1).reshape(len(x), *found.shape).astype(x.dtype),)

    return MaxPool
