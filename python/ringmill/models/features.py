"""What a model takes: numbers for each feature, in the ranges that calibration data show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ringmill.errors import ModelError, fail
from ringmill.models.after import array_json, array_of

Array = NDArray[Any]
#: What happens to values outside of the ranges.
Outside = Literal["refuse", "clip"]


class Features:
    """Names and ranges of the columns that are encrypted.

    Args:
        data: calibration rows, (rows, features).
        names: a name for each feature.
        margin: by which fraction of its width each range is extended on both sides.
    """

    def __init__(self, data: Array, names: Sequence[str], margin: float) -> None:
        self.names = list(names)
        low, high = data.min(axis=0), data.max(axis=0)
        slack = margin * (high - low)
        self.low, self.high = low - slack, high + slack
        #: Features that vary; the others are numbers of the model.
        self.varying = np.flatnonzero(high > low)
        if not len(self.varying):
            fail(ModelError, "Constant", "No feature varies in the calibration data. Give rows that differ.")
        #: Whether those that do not vary are encrypted too, as zeros, so that the others keep their places.
        self.spread = False

    def to_json(self) -> dict[str, Any]:
        """As data."""
        ranges = {"names": self.names, "low": array_json(self.low), "high": array_json(self.high)}
        return {**ranges, "spread": True} if self.spread else ranges

    @classmethod
    def from_json(cls, data: Any) -> Features:
        """Read what ``to_json`` wrote; ``ValueError`` and the like on anything else."""
        low, high = array_of(data["low"]), array_of(data["high"])
        names = [str(name) for name in data["names"]]
        if not (low.shape == high.shape == (len(names),) and np.isfinite([low, high]).all()):
            raise ValueError("ranges of features")
        made = cls(np.stack([low, high]), names, 0.0)
        made.spread = data.get("spread", False) is True
        return made

    @property
    def count(self) -> int:
        """The number of features."""
        return len(self.names)

    def placed(self, units: Array) -> Array:
        """What is encrypted of `units`: these, or all features where they are spread."""
        if not self.spread:
            return units
        every = np.zeros((len(units), self.count))
        every[:, self.varying] = units
        return every

    def units(self, data: Array, outside: Outside) -> Array:
        """Rows as numbers between −1 and 1, (rows, varying features).

        Raises
        ------
            ModelError: ``Outside``: a value outside of its range, unless it is clipped; ``Missing``.
        """
        if np.isnan(data).any() or np.isinf(data).any():
            row, feature = np.argwhere(~np.isfinite(data))[0]
            fail(
                ModelError,
                "Missing",
                f"Feature {self.names[feature]!r} is {data[row, feature]} in row {row}. "
                "Fill missing values before, as SimpleImputer does.",
                feature=self.names[feature],
                row=int(row),
            )
        beyond = np.maximum(self.low - data, data - self.high)
        # Sums in another order may differ in the last bits.
        slack = 1e-9 * np.maximum(1.0, np.maximum(np.abs(self.low), np.abs(self.high)))
        if outside == "refuse" and (beyond > slack).any():
            row, feature = np.unravel_index(np.argmax(beyond - slack), beyond.shape)
            wider = "raise margin=, " if self.high[feature] > self.low[feature] else ""
            count = int((beyond > slack).any(axis=1).sum())
            fail(
                ModelError,
                "Outside",
                f"Feature {self.names[feature]!r} is {data[row, feature]:g} in row {row}; the model was "
                f"calibrated for {self.low[feature]:g} to {self.high[feature]:g} ({count} rows are outside). "
                f"Calibrate with data that have such values, {wider}or give outside='clip'.",
                feature=self.names[feature],
                row=int(row),
                value=float(data[row, feature]),
                low=float(self.low[feature]),
                high=float(self.high[feature]),
            )
        v = self.varying
        half, middle = (self.high[v] - self.low[v]) / 2, (self.high[v] + self.low[v]) / 2
        return np.asarray(np.clip((data[:, v] - middle) / half, -1.0, 1.0))


def numbers(data: Any, name: str) -> Array:
    """Rows as numbers, (rows, features).

    Raises
    ------
        ModelError: ``NotNumbers``: text, or another number of axes.
    """
    dense = data.toarray() if hasattr(data, "toarray") else data
    try:
        array = np.asarray(dense, dtype=float)
    except (TypeError, ValueError):
        fail(
            ModelError,
            "NotNumbers",
            f"{name} has values that are not numbers. Encode them in the model, as OneHotEncoder does.",
        )
    if array.ndim != 2:
        fail(
            ModelError,
            "NotNumbers",
            f"{name} has {array.ndim} axes; give rows and features, as an array of two axes.",
        )
    return array
