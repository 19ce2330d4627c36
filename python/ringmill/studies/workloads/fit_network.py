"""Trains the network of :mod:`ringmill.studies.workloads.network` in the clear and stores its weights.

``python -m ringmill.studies.workloads.fit_network`` takes seconds and is repeatable on one machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from ringmill.atomic import write_text
from ringmill.studies.stored import text_of
from ringmill.studies.workloads.network import CLASSES, POOL, POOLED, WEIGHTS, WINDOW, Network, windows
from ringmill.studies.workloads.records import Array, digits

CHANNELS = 4
UNITS = 32
EPOCHS = 80
BATCH = 32
STEP = 3e-3
# Penalty on the squares of all weights: small scores leave more bits of a modulus for their fraction.
PENALTY = 1e-3
SEED = 1
# Decimals that are stored.
DECIMALS = 5

Parts = dict[str, Array]


def start(random: np.random.Generator) -> Parts:
    """Weights before training, biases such that the square of a unit first acts like a ramp."""
    inputs = POOLED**2 * CHANNELS
    return {
        "kernels": random.normal(0, 0.5 / WINDOW, (WINDOW**2, CHANNELS)),
        "kernel_bias": np.full(CHANNELS, 0.5),
        "hidden": random.normal(0, 0.5 * inputs**-0.5, (inputs, UNITS)),
        "hidden_bias": np.full(UNITS, 0.5),
        "output": random.normal(0, UNITS**-0.5, (UNITS, CLASSES)),
        "output_bias": np.zeros(CLASSES),
    }


def gradient(parts: Parts, images: Array, labels: NDArray[np.int64]) -> Parts:
    """Gradient of the mean cross-entropy of a batch."""
    count = len(images)
    places = windows(images)
    seen = places @ parts["kernels"] + parts["kernel_bias"]
    pooled = (seen**2).reshape(-1, POOLED, POOL, POOLED, POOL, CHANNELS).mean(axis=(2, 4)).reshape(count, -1)
    units = pooled @ parts["hidden"] + parts["hidden_bias"]
    scores = units**2 @ parts["output"] + parts["output_bias"]
    # Softmax minus the truth.
    share = np.exp(scores - scores.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    share[np.arange(count), labels] -= 1
    share /= count
    on_units = share @ parts["output"].T * 2 * units
    on_pooled = (on_units @ parts["hidden"].T).reshape(-1, POOLED, 1, POOLED, 1, CHANNELS) / POOL**2
    spread = np.broadcast_to(on_pooled, (count, POOLED, POOL, POOLED, POOL, CHANNELS))
    on_seen = spread.reshape(seen.shape) * 2 * seen
    return {
        "kernels": np.einsum("bijk,bijc->kc", places, on_seen),
        "kernel_bias": on_seen.sum(axis=(0, 1, 2)),
        "hidden": pooled.T @ on_units,
        "hidden_bias": on_units.sum(axis=0),
        "output": (units**2).T @ share,
        "output_bias": share.sum(axis=0),
    }


def batches(random: np.random.Generator, count: int) -> Iterator[NDArray[np.int64]]:
    """Indices of every record once an epoch, in random order."""
    for _ in range(EPOCHS):
        yield from np.array_split(random.permutation(count), count // BATCH)


def fit() -> Network:
    """Adam (Kingma and Ba, ICLR 2015) with its usual constants and a step that falls to zero."""
    records = digits()
    random = np.random.default_rng(SEED)
    parts = start(random)
    first = {name: np.zeros_like(value) for name, value in parts.items()}
    second = {name: np.zeros_like(value) for name, value in parts.items()}
    plan = list(batches(random, len(records.seen)))
    for t, chosen in enumerate(plan, 1):
        slopes = gradient(parts, records.seen[chosen], records.seen_labels[chosen])
        for name, value in parts.items():
            slope = slopes[name] + PENALTY * value
            first[name] = 0.9 * first[name] + 0.1 * slope
            second[name] = 0.999 * second[name] + 0.001 * slope**2
            mean, spread = first[name] / (1 - 0.9**t), np.sqrt(second[name] / (1 - 0.999**t))
            parts[name] = value - STEP * (1 - t / len(plan)) * mean / (spread + 1e-8)
    return Network(**{name: np.round(value, DECIMALS) for name, value in parts.items()})


def main() -> None:
    """Fit, say how well, store."""
    network, records = fit(), digits()
    for what, images, labels in (
        ("seen", records.seen, records.seen_labels),
        ("unseen", records.unseen, records.unseen_labels),
    ):
        right = np.mean(network.scores(images).argmax(axis=1) == labels)
        print(f"{what}: {100 * right:.2f} % of {len(labels)} images")
    stored = {field.name: getattr(network, field.name).tolist() for field in fields(network)}
    write_text(WEIGHTS, text_of(stored))


if __name__ == "__main__":
    main()
