"""Logistic regression *trained* on encrypted records, after HELR (Han, Song, Cheon, Park, AAAI 2019).

All records stand in one ciphertext, a row each, sides powers of two, and times their label ±1. Weights stand
in every row. A step of Nesterov's method is then two products of ciphertexts, two sums over rows or columns,
and a cubic in place of the sigmoid:

    u_i = z_i·v                      a product, a sum along the rows
    g = Σ_i σ(−u_i)·z_i / records    the cubic times z, a sum along the columns, which leaves it in every row
    w′ = v + γ·g,   v′ = (1 − η)·w′ + η·w

and takes four levels, because every constant is folded into what is multiplied anyway:

- with a³ = γ·c₃/records the term γ·c₃·u³/records is (a·u)³, and the mask that spreads u over a row carries a;
- (1 − η) is left out of v′ and made good by the next mask; what multiplies older values costs the newest no
  level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.studies.workloads.records import Array, Split
from ringmill.trace import kernel, region, total
from ringmill.trace.layout import power_of_two
from ringmill.trace.marks import within_everywhere as within

# The first feature of a prepared record is one: its weight is the bias.
INTERCEPT = 1


@dataclass(frozen=True, slots=True)
class Schedule:
    """Steps of a training run, all known before it begins.

    Attributes
    ----------
        steps: iterations.
        rate: γ of each step.
        interval: |u| up to which the cubic follows the sigmoid, within ``error``.
        reach: promised bound on every |u|.
        largest: promised bound on every weight. Both promises decide the length of the modulus.
    """

    steps: int = 7
    rate: float = 2.0
    interval: float = 8.0
    reach: float = 16.0
    largest: float = 8.0
    linear: float = field(init=False)
    cubic: float = field(init=False)
    error: float = field(init=False)

    def __post_init__(self) -> None:
        # Least squares on the interval, as the paper has it: 1/(1 + e^u) ≈ 1/2 + linear·u + cubic·u³.
        u = np.linspace(-self.interval, self.interval, 2001)
        terms = np.stack([u, u**3], axis=1)
        wanted = 1 / (1 + np.exp(u)) - 0.5
        found = np.linalg.lstsq(terms, wanted, rcond=None)[0]
        object.__setattr__(self, "linear", float(found[0]))
        object.__setattr__(self, "cubic", float(found[1]))
        object.__setattr__(self, "error", float(np.max(np.abs(terms @ found - wanted))))

    def momentum(self) -> list[float]:
        """η of each step: λ₀ = 0, λ_{t+1} = (1 + √(1 + 4λ_t²))/2, η_t = (1 − λ_t)/λ_{t+1} from λ₁ on."""
        ratios, now = [], 1.0
        for _ in range(self.steps):
            after = (1 + math.sqrt(1 + 4 * now * now)) / 2
            ratios.append((1 - now) / after)
            now = after
        return ratios


def prepared(records: Array, labels: NDArray[np.int64]) -> Array:
    """Records with a one before each, times ±1 by their label (0 or 1): what the client encrypts."""
    signs = 2.0 * labels - 1.0
    return np.asarray(signs[:, None] * np.concatenate([np.ones((len(records), INTERCEPT)), records], axis=1))


def padded(z: Array) -> Array:
    """The same with both sides powers of two; rows of zeros teach nothing."""
    rows, columns = z.shape
    return np.pad(z, ((0, power_of_two(rows) - rows), (0, power_of_two(columns) - columns)))


@kernel
def train(z: Any, records: int, schedule: Schedule) -> Any:
    """Weights in every row after the schedule, from zero, on encrypted records prepared and padded."""
    momentum = schedule.momentum()
    scale = schedule.rate / records
    # a and k with (γ/m)·(linear·u + cubic·u³) = k·(a·u) + (a·u)³.
    a = math.cbrt(scale * schedule.cubic)
    k = scale * schedule.linear / a
    with region("step 1"):
        older = v = total(z, 0) * (scale / 2)
    # v stands for v times `owed`, the factor that the combination below leaves out.
    owed = 1.0
    for step in range(1, schedule.steps):
        with region(f"step {step + 1}"):
            u = within(total(z * v, 1, times=a * owed), a * schedule.reach)
            # A mean of records, none above 1, by shares between 0 and 1 but for the error of the cubic.
            most = schedule.rate * (1 + schedule.error)
            gradient = within(total((u * u + k) * (u * z) + z * (scale / 2), 0), most)
            newer = within(v * owed + gradient, schedule.largest)
            eta = momentum[step]
            last = step + 1 == schedule.steps
            v = newer if last else newer + older * (eta / (1 - eta))
            owed = 1 - eta
            older = newer
    return v


def train_clear(z: Array, schedule: Schedule, *, exact: bool = False) -> Array:
    """The same steps as a textbook writes them, with the cubic or with the exact sigmoid; z not padded."""
    w = v = np.zeros(z.shape[1])
    for step, eta in enumerate(schedule.momentum()):
        u = z @ v
        share = 1 / (1 + np.exp(u)) if exact else 0.5 + schedule.linear * u + schedule.cubic * u**3
        w_new = v + schedule.rate * (share @ z) / len(z)
        # The paper begins with η = 0.
        v = (1 - eta) * w_new + eta * w if step else w_new
        w = w_new
    return w


def accuracy(weights: Array, split: Split) -> float:
    """Share of unseen records that weights (intercept first; padding ignored) judge rightly."""
    features = split.unseen.shape[1]
    scores = split.unseen @ weights[INTERCEPT : INTERCEPT + features] + weights[0]
    return float(np.mean((scores > 0) == (split.unseen_labels == 1)))
