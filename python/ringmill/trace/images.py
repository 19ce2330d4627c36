"""Convolution and pooling of encrypted images; `crates/circuits` writes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ringmill._checks.integers import shown
from ringmill._native import Circuit
from ringmill.trace.base import Tensor, clear_array, constant_array
from ringmill.trace.circuit import splice
from ringmill.trace.layout import Layout
from ringmill.trace.linear import moved
from ringmill.trace.symbol import Symbol
from ringmill.trace.where import MoreSlotsError, refuse

# Slots of the largest ring: no image has longer sides.
MOST_SIDE = 1 << 16


def _whole(name: str, value: object, least: int) -> int:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not least <= value <= MOST_SIDE:  # type: ignore[operator]
        refuse(
            "BadShape", f"the {name} is {shown(value)}", f"Give a whole number from {least} to {MOST_SIDE}"
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def _image(x: object) -> Any:
    """An encrypted image, or a clear one as an array."""
    image: Any = x if isinstance(x, Tensor) else clear_array(x)
    if image.ndim not in (2, 3) or (isinstance(x, Tensor) and not isinstance(x, Symbol)):
        refuse(
            "ShapeMismatch",
            f"{_described(image)} is no image",
            "Give a matrix (rows, columns) packed in slots, or reshape to (channels, rows, columns)",
        )
    return image


def _described(image: Any) -> str:
    return f"an encrypted {image.kind}" if isinstance(image, Tensor) else f"an array of shape {image.shape}"


def convolve(x: Any, kernel: Any, *, stride: int = 1, padding: int = 0) -> Any:
    """Slide plaintext weights over an encrypted image, as in a convolutional layer (no flip); one level.

    Args:
        x: image (rows, columns), or (channels, rows, columns).
        kernel: weights (rows, columns), or (outputs, channels, rows, columns).
        stride: elements from one place of the kernel to the next. The result keeps its elements so far
            apart, and further layers read them there.
        padding: rows and columns of zeros around the image.

    An image whose rows interleave, as those of a transpose, or stand too close for a result that is larger
    than the image, is packed anew first, for another level. A NumPy array is convolved by NumPy, so that a
    kernel can be called on clear data too.

    Raises
    ------
        KernelError: an image or a kernel of other dimensions, channels that differ, or a stride or padding
            that is no whole number.
    """
    stride, padding = _whole("stride", stride, 1), _whole("padding", padding, 0)
    weights = constant_array(kernel)
    image = _image(x)
    if weights.ndim != 2 * image.ndim - 2 or np.any(weights.imag != 0) or not weights.size:
        refuse(
            "ShapeMismatch",
            f"{_described(image)} and a kernel of shape {weights.shape} do not go together",
            "The kernel is real: (rows, columns), or (outputs, channels, rows, columns) for channels",
        )
    if image.ndim == 2:
        weights = weights[None, None]
    reach = _reach((1, *image.shape)[-3:], weights.shape, stride, padding)
    if not isinstance(image, Symbol):
        return _clear(image, weights.real, stride, padding)
    if not np.any(weights):
        refuse("ZeroOperand", "a convolution with zeros is zero", "Leave it out")
    image = _on_a_grid(image, weights.shape[0], reach)
    shape, strides = image.shape, image.layout.strides
    if image.ndim == 2:
        shape, strides = (1, *shape), (shape[0] * strides[0], *strides)
    circuit = Circuit.convolution(
        image.slots,
        (list(shape), list(strides)),
        np.ascontiguousarray(weights.real).reshape(-1).tolist(),
        list(weights.shape),
        stride,
        padding,
    )
    assert circuit.layout is not None  # a convolution decides where its result sits
    out_shape, out_strides = (tuple(axis) for axis in circuit.layout)
    if image.ndim == 2:
        out_shape, out_strides = out_shape[1:], out_strides[1:]
    node = splice(image.graph, circuit, image.node)
    return Symbol(image.graph, node, Layout(out_shape, out_strides, image.slots), clean=True)


def _on_a_grid(image: Symbol, outputs: int, reach: tuple[int, int]) -> Symbol:
    """Return the image with consecutive rows and channels, and space for results of this extent."""
    layout = image.layout
    rows, columns = (max(pair) for pair in zip(image.shape[-2:], reach, strict=True))
    channels, (down, along) = max(outputs, *image.shape[:-2], 1), layout.strides[-2:]
    channel = layout.strides[0] if image.ndim == 3 else rows * down
    fits = (rows == 1 or down >= columns * along) and (channels == 1 or channel >= rows * down)
    if not fits:
        channel, down, along = rows * columns, columns, 1
    needed = (channels - 1) * channel + (rows - 1) * down + (columns - 1) * along + 1
    if needed > image.slots:
        raise MoreSlotsError(needed)
    if fits:
        return image
    wider = Layout(image.shape, (channel, down, along)[-image.ndim :], layout.slots)
    # Axes of one element may have another stride, which the circuit reads.
    if layout.alike(wider):
        return Symbol(image.graph, image.node, wider, clean=image.clean)
    return moved(image, wider)


def _reach(shape: tuple[int, ...], kernel: tuple[int, ...], stride: int, padding: int) -> tuple[int, int]:
    """Rows and columns of the image's grid up to the last element of the result."""
    if kernel[1] != shape[0]:
        refuse(
            "ShapeMismatch",
            f"a kernel for {kernel[1]} channels on an image of {shape[0]}",
            "Axis 1 of the kernel are the channels of the image",
        )
    if kernel[2] > shape[1] + 2 * padding or kernel[3] > shape[2] + 2 * padding:
        refuse(
            "ShapeMismatch",
            f"a kernel of {kernel[2]}×{kernel[3]} on an image of {shape[1]}×{shape[2]} "
            f"with padding {padding}",
            "The kernel must fit into the padded image",
        )
    rows, columns = ((shape[axis] + 2 * padding - kernel[axis + 1]) // stride * stride + 1 for axis in (1, 2))
    return rows, columns


def _clear(x: Any, weights: Any, stride: int, padding: int) -> Any:
    flat = x.ndim == 2
    padded = np.pad(x[None] if flat else x, ((0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, weights.shape[2:], axis=(1, 2))
    out = np.einsum("cijuv,ocuv->oij", windows[:, ::stride, ::stride], weights)
    return out[0] if flat else out


def average_pool(x: Any, size: int) -> Any:
    """Mean over windows of ``size`` × ``size`` that tile an encrypted image; one level, log2 rotations.

    Raises
    ------
        KernelError: no image, or one that the windows do not tile.
    """
    size = _whole("size", size, 1)
    image = _image(x)
    if not isinstance(image, Symbol):
        rows, columns = (side // size for side in image.shape[-2:])
        if image.shape[-2:] != (rows * size, columns * size):
            refuse(
                "ShapeMismatch",
                f"windows of {size}×{size} do not tile {_described(image)}",
                "Both sides of the matrix must be whole multiples of the window",
            )
        return np.reshape(image, (*image.shape[:-2], rows, size, columns, size)).mean(axis=(-3, -1))
    with image.graph.part(f"average pooling, {size}×{size}"):
        return image.window_sum(size, size) * (1.0 / size**2)
