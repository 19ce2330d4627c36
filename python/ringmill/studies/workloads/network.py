"""A convolutional network on encrypted images, after CryptoNets (Gilad-Bachrach et al., ICML 2016).

Each pixel is one ciphertext that holds it for every image of a batch. So convolutions and dense layers are
sums of whole ciphertexts: no rotation, no rotation key, and thousands of images cost the same as one.

| layer | values | levels |
|---|---|---|
| image | 8 × 8 | |
| convolution 3 × 3, four channels | 6 × 6 × 4 | 1 |
| square | 6 × 6 × 4 | 1 |
| average pooling 2 × 2 | 3 × 3 × 4 | 0 |
| dense | 32 | 1 |
| square | 32 | 1 |
| dense | 10 | 1 |
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.trace import kernel, region

Array = NDArray[np.float64]

SIDE = 8
WINDOW = 3
POOL = 2
PLACES = SIDE - WINDOW + 1
POOLED = PLACES // POOL
CLASSES = 10
WEIGHTS = Path(__file__).with_name("network.json")


def windows(images: Array) -> Array:
    """What the convolution sees of images (images, SIDE²): (images, PLACES, PLACES, WINDOW²)."""
    grid = images.reshape(-1, SIDE, SIDE)
    found = np.lib.stride_tricks.sliding_window_view(grid, (WINDOW, WINDOW), axis=(1, 2))
    return found.reshape(-1, PLACES, PLACES, WINDOW**2)


@dataclass(frozen=True, slots=True)
class Network:
    """Weights. Its scores are those of a digit, the largest wins.

    Attributes
    ----------
        kernels: (WINDOW², channels), rows of a window one after the other.
        kernel_bias: (channels,).
        hidden: (POOLED²·channels, units); rows by place, then channel.
        hidden_bias: (units,).
        output: (units, CLASSES).
        output_bias: (CLASSES,).
    """

    kernels: Array
    kernel_bias: Array
    hidden: Array
    hidden_bias: Array
    output: Array
    output_bias: Array

    @classmethod
    def load(cls, path: Path = WEIGHTS) -> Network:
        """The network that ships with the package; ``ringmill.studies.workloads.fit_network`` trained it."""
        stored = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{field.name: np.asarray(stored[field.name]) for field in fields(cls)})

    @property
    def channels(self) -> int:
        """Channels of the convolution."""
        return int(self.kernels.shape[1])

    def convolution(self) -> Array:
        """The convolution as a matrix (pixels, PLACES²·channels)."""
        matrix = np.zeros((SIDE, SIDE, PLACES, PLACES, self.channels))
        for i, j in np.ndindex(PLACES, PLACES):
            matrix[i : i + WINDOW, j : j + WINDOW, i, j] = self.kernels.reshape(WINDOW, WINDOW, -1)
        return matrix.reshape(SIDE * SIDE, -1)

    def pooling(self) -> Array:
        """Sums over windows as a matrix (PLACES²·channels, POOLED²·channels) of zeros and ones."""
        places = np.kron(np.eye(POOLED), np.ones((POOL, 1)))
        return np.asarray(np.kron(np.kron(places, places), np.eye(self.channels)))

    def scores(self, images: Array) -> Array:
        """Scores (images, CLASSES) of images (images, SIDE²) in the clear, as in a textbook."""
        seen = windows(images) @ self.kernels + self.kernel_bias
        pooled = (seen**2).reshape(-1, POOLED, POOL, POOLED, POOL, self.channels).mean(axis=(2, 4))
        units = pooled.reshape(len(images), -1) @ self.hidden + self.hidden_bias
        return np.asarray(units**2 @ self.output + self.output_bias)


@kernel
def classify(images: Any, network: Network) -> Any:
    """Scores of encrypted images packed by columns, (images, SIDE²) → (images, CLASSES)."""
    with region("convolution"):
        seen = images @ network.convolution() + np.tile(network.kernel_bias, PLACES**2)
    with region("square"):
        seen = seen**2
    with region("average pooling"):
        pooled = seen @ network.pooling()
    with region("dense"):
        units = pooled @ (network.hidden / POOL**2) + network.hidden_bias
    with region("second square"):
        units = units**2
    with region("scores"):
        return units @ network.output + network.output_bias
