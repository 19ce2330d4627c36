"""The clinic's model: breast-cancer records, and logistic regression trained on a part of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringmill.studies.workloads.records import tumours

Array = NDArray[np.float64]

# Inverse strength of the penalty on weights. Small weights keep scores inside a short interval, on which a
# polynomial of low degree follows the sigmoid.
PENALTY = 0.1
TEST_PART = 0.3


@dataclass(frozen=True, slots=True)
class Clinic:
    """A trained model and the records that it has not seen.

    Attributes
    ----------
        test: (records, features), every entry in [−1, 1].
        labels: 1 for benign, 0 for malignant.
        bound: no record can have a score beyond ± this.
    """

    test: Array
    labels: NDArray[np.int64]
    train_records: int
    weights: Array
    bias: float
    bound: float

    def scores(self) -> Array:
        """Scores of the test records, in the clear."""
        return np.asarray(self.test @ self.weights + self.bias)

    def probabilities(self) -> Array:
        """Probabilities of benign, by the exact sigmoid."""
        return np.asarray(1.0 / (1.0 + np.exp(-self.scores())))


def train() -> Clinic:
    """Load the records that ship with scikit-learn, split them, fit."""
    from sklearn.linear_model import LogisticRegression

    split = tumours(TEST_PART)
    model = LogisticRegression(C=PENALTY, max_iter=5000).fit(split.seen, split.seen_labels)
    weights, bias = np.asarray(model.coef_[0]), float(model.intercept_[0])
    bound = float(np.sum(np.abs(weights)) + abs(bias))
    return Clinic(split.unseen, split.unseen_labels, len(split.seen), weights, bias, bound)
