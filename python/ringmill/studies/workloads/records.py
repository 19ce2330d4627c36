"""The records that workloads run on: all ship with scikit-learn, none is downloaded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TEST_PART = 0.2
SEED = 0
# Features beyond this many standard deviations are cut: outliers decide no diagnosis, and every feature,
# divided by it, then lies in [−1, 1].
CLIP = 3.0


class Split(NamedTuple):
    """Records to learn from and records to be judged by; every feature within [−1, 1]."""

    seen: Array
    seen_labels: NDArray[np.int64]
    unseen: Array
    unseen_labels: NDArray[np.int64]


def _split(records: Array, labels: NDArray[np.int64], part: float | int = TEST_PART) -> Split:
    from sklearn.model_selection import train_test_split

    seen, unseen, seen_labels, unseen_labels = train_test_split(
        records, labels, test_size=part, random_state=SEED, stratify=labels
    )
    return Split(seen, seen_labels, unseen, unseen_labels)


def digits() -> Split:
    """Hand-written digits: 1,797 images of 8 × 8 grey values in [0, 1], row by row; labels 0 to 9."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return _split(images / 16.0, labels)


def three_or_eight() -> Split:
    """The images of threes and eights, less the mean of those to learn from; label 1 for an eight.

    63 grey values: the first is nought in every image.
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    chosen = np.isin(labels, (3, 8))
    split = _split(images[chosen, 1:] / 16.0, (labels[chosen] == 8).astype(np.int64))
    mean = split.seen.mean(axis=0)
    return split._replace(seen=split.seen - mean, unseen=split.unseen - mean)


def odd_or_even(side: int = 14, seen: int = 1024) -> Split:
    """Hand-written digits in the size that HELR is measured by, less the mean of those to learn from.

    Images of ``side`` × ``side`` grey values, interpolated, without the first, which is nought in all: 195.
    ``seen`` of them are to learn from, the other 773 to judge by; label 1 for an odd digit.
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    places = np.linspace(0, 7, side)
    between = np.stack([np.interp(places, np.arange(8), one) for one in np.eye(8)], axis=1)
    large = (between @ (images.reshape(-1, 8, 8) / 16.0) @ between.T).reshape(len(images), -1)[:, 1:]
    split = _split(large, (labels % 2).astype(np.int64), len(images) - seen)
    mean = split.seen.mean(axis=0)
    return split._replace(seen=split.seen - mean, unseen=split.unseen - mean)


def tumours(part: float = TEST_PART) -> Split:
    """Breast-cancer records, 569 of 30 measurements, standardised by those to learn from.

    Label 1 for benign. ``part`` of the records, a number in (0, 1), are kept to judge by.
    """
    from sklearn.datasets import load_breast_cancer

    records, labels = load_breast_cancer(return_X_y=True)
    split = _split(records, labels, part)
    mean, spread = split.seen.mean(axis=0), split.seen.std(axis=0)

    def prepared(x: Array) -> Array:
        return np.asarray(np.clip((x - mean) / spread, -CLIP, CLIP) / CLIP)

    return split._replace(seen=prepared(split.seen), unseen=prepared(split.unseen))
