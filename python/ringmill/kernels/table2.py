"""The nine kernels of coxHE's Table II (docs/papers; sizes as printed there).

Packing is a choice the table leaves open. Here:

- *BatchAxis* kernels (a, b) hold one feature a ciphertext with the batch of 100 along the slots: sums of
  products of whole ciphertexts, no rotations. In b the ten encrypted weights are ten ciphertexts with the
  weight in every slot.
- *MatMultVal* (c–h) flattens the left matrix row by row into one ciphertext; rows are summed by rotations,
  and in the ciphertext–ciphertext forms the encrypted vector is first copied along the rows by rotations.
- *Average pooling* (i) flattens the image; the encrypted window holds its weights (1/16 each for the plain
  average) and is copied over the image by the client when it encrypts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.trace import Kernel, Spec, Traced, kernel, matrix, region, vector
from ringmill.trace.base import Tensor

Array = NDArray[np.float64]


@kernel
def dot_plain_batch_axis(x: Any, w: Any) -> Any:
    """Encrypted records by columns times plaintext weights: one dot product a record."""
    with region("weighted sum of features"):
        return x @ w


@kernel
def dot_cipher_batch_axis(x: Any, w: Any) -> Any:
    """Encrypted records by columns times encrypted weights: one dot product a record."""
    with region("weighted sum of features"):
        return x @ w


@kernel
def mat_mult_val(a: Any, b: Any) -> Any:
    """An encrypted matrix in one ciphertext times a plaintext or encrypted column."""
    with region("product and row sums"):
        return a @ b


@kernel
def average_pool(image: Any, window: Any) -> Any:
    """Weighted sums over 4×4 windows that tile the image; ``window`` has the image's shape, tiled."""
    with region("weights"):
        weighted = image * window
    with region("window sums"):
        if isinstance(weighted, Tensor):
            return weighted.window_sum(4, 4)  # type: ignore[attr-defined]
        rows, columns = weighted.shape
        return weighted.reshape(rows // 4, 4, columns // 4, 4).sum(axis=(1, 3))


@dataclass(frozen=True, slots=True)
class PaperKernel:
    """One row of the table: how to trace it, data to run it on, and what NumPy makes of them."""

    letter: str
    title: str
    operands: str
    size: str
    function: Kernel
    specs: tuple[Spec | None, ...]
    make: Callable[[np.random.Generator], tuple[Array, ...]]
    reference: Callable[..., Array]

    def data(self, seed: int = 2022) -> tuple[Array, ...]:
        """Arguments with entries in [−1, 1], the same for the same seed."""
        return self.make(np.random.default_rng(seed))

    def trace(self, seed: int = 2022) -> Traced:
        """The HE program; plaintext operands come from ``data(seed)``."""
        return self.function.trace(*self.arguments(seed))

    def arguments(self, seed: int = 2022) -> list[Any]:
        """Arguments for ``trace`` and ``compile``: descriptions of encrypted ones, values of plain ones."""
        return [
            value if spec is None else spec for spec, value in zip(self.specs, self.data(seed), strict=True)
        ]

    def encrypted(self, seed: int = 2022) -> dict[str, Array]:
        """Values of the encrypted arguments by name."""
        names = list(self.function.parameters.parameters)
        rows = zip(names, self.specs, self.data(seed), strict=True)
        return {name: value for name, spec, value in rows if spec is not None}


def _uniform(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], tuple[Array, ...]]:
    return lambda rng: tuple(rng.uniform(-1.0, 1.0, shape) for shape in shapes)


def _pool_data(rng: np.random.Generator) -> tuple[Array, ...]:
    return rng.uniform(-1.0, 1.0, (20, 20)), np.tile(np.full((4, 4), 1 / 16), (5, 5))


def _pool_reference(image: Array, _: Array) -> Array:
    return np.asarray(image.reshape(5, 4, 5, 4).mean(axis=(1, 3)))


def _product(a: Array, b: Array) -> Array:
    return np.asarray(a @ b)


def _mat_mult(letter: str, rows: int, inner: int, *, encrypted: bool) -> PaperKernel:
    return PaperKernel(
        letter,
        "MatMultVal",
        "cipher–cipher" if encrypted else "plain–cipher",
        f"({rows}×{inner})×({inner}×1)",
        mat_mult_val,
        (matrix(rows, inner), matrix(inner, 1) if encrypted else None),
        _uniform((rows, inner), (inner, 1)),
        _product,
    )


NINE: tuple[PaperKernel, ...] = (
    PaperKernel(
        "a",
        "DotPlainBatchAxis",
        "plain–cipher",
        "(100×10)×(10×1)",
        dot_plain_batch_axis,
        (matrix(100, 10, packing="columns"), None),
        _uniform((100, 10), (10,)),
        _product,
    ),
    PaperKernel(
        "b",
        "DotCipherBatchAxis",
        "cipher–cipher",
        "(100×10)×(10×1)",
        dot_cipher_batch_axis,
        (matrix(100, 10, packing="columns"), vector(10, packing="scalars")),
        _uniform((100, 10), (10,)),
        _product,
    ),
    _mat_mult("c", 1, 2048, encrypted=False),
    _mat_mult("d", 1, 10, encrypted=False),
    _mat_mult("e", 1, 2048, encrypted=True),
    _mat_mult("f", 1, 10, encrypted=True),
    _mat_mult("g", 100, 10, encrypted=False),
    _mat_mult("h", 100, 10, encrypted=True),
    PaperKernel(
        "i",
        "Average_pool",
        "cipher–cipher",
        "(20×20)×(4×4)",
        average_pool,
        (matrix(20, 20), matrix(20, 20)),
        _pool_data,
        _pool_reference,
    ),
)
