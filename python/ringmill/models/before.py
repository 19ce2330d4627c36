"""What the client does with rows before encryption, as data: it fits into a file, and needs NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.errors import ModelError, fail
from ringmill.models.after import DEEPEST, array_json, array_of, refuse_portable

Array = NDArray[Any]

#: Functions that ``FunctionTransformer`` may apply.
UFUNCS = ("abs", "arcsinh", "cbrt", "exp", "expm1", "log", "log10", "log1p", "log2", "sqrt", "square", "tanh")


def _numbers(rows: Array, what: str) -> Array:
    try:
        return rows.astype(float)
    except (TypeError, ValueError):
        fail(
            ModelError, "NotNumbers", f"{what} takes numbers, and X has other values. Check the columns of X."
        )


def _scaled(rows: Array, scale: Array, offset: Array) -> Array:
    return np.asarray(_numbers(rows, "A scaler") * scale + offset)


def _filled(rows: Array, values: Array) -> Array:
    out = _numbers(rows, "An imputer")
    return np.where(np.isnan(out), values, out)


def _one_hot(rows: Array, unknown: str, *categories: Array) -> Array:
    parts = []
    for j, (known, dropped) in enumerate(zip(categories[::2], categories[1::2], strict=True)):
        index = _index(rows[:, j], known, unknown, j)
        hot = index[:, None] == np.arange(len(known))
        parts.append(np.delete(hot, dropped, axis=1) if dropped is not None else hot)
    return np.hstack(parts).astype(float)


def _index(column: Array, known: Array, unknown: str, j: int) -> NDArray[np.int64]:
    """The number of each value among the known ones; −1 of another."""
    text = known.dtype.kind == "U"
    values = np.asarray([str(v) for v in column]) if text else _numbers(column, "An encoder")
    same = values[:, None] == known
    found = np.where(same.any(axis=1), same.argmax(axis=1), -1)
    if unknown == "error" and (found < 0).any():
        row = int(np.flatnonzero(found < 0)[0])
        fail(
            ModelError,
            "Category",
            f"Column {j} of what is encoded has {column[row]!r} in row {row}, which was not seen when the "
            "model was fitted. Leave the row out.",
            row=row,
        )
    return np.asarray(found)


def _ordinal(rows: Array, unknown: float | None, *categories: Array) -> Array:
    out = np.empty(rows.shape)
    for j, known in enumerate(categories):
        index = _index(rows[:, j], known, "error" if unknown is None else "value", j)
        out[:, j] = np.where(index < 0, np.nan if unknown is None else unknown, index)
    return out


def _above(rows: Array, threshold: float) -> Array:
    return (_numbers(rows, "Binarizer") > threshold).astype(float)


def _unit(rows: Array, order: float) -> Array:
    numbers = _numbers(rows, "Normalizer")
    norms = np.linalg.norm(numbers, ord=order, axis=1, keepdims=True)
    return np.asarray(numbers / np.where(norms == 0, 1.0, norms))


def _ufunc(rows: Array, name: str) -> Array:
    if name not in UFUNCS:
        raise ValueError(name)
    return np.asarray(getattr(np, name)(_numbers(rows, name)))


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "scaled": _scaled,
    "filled": _filled,
    "one_hot": _one_hot,
    "ordinal": _ordinal,
    "above": _above,
    "unit": _unit,
    "ufunc": _ufunc,
    "flat": lambda rows: rows.reshape(len(rows), -1),
}


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """A step on rows.

    Attributes
    ----------
        name: of ``FUNCTIONS``, or "turn" for steps one after the other, or "beside" for steps on some.
        steps: the inner ones.
        numbers: what a function takes beside rows; of "beside" the columns of each step.
    """

    name: str
    steps: tuple[Before, ...] = ()
    numbers: tuple[Any, ...] = ()

    def __call__(self, rows: Array) -> Array:
        """What it makes of rows."""
        if self.name == "turn":
            for step in self.steps:
                rows = step(rows)
            return rows
        if self.name == "beside":
            parts = [
                step(rows[:, np.asarray(which, int)])
                for step, which in zip(self.steps, self.numbers, strict=True)
            ]
            return np.hstack([_numbers(part, "The model") for part in parts])
        return FUNCTIONS[self.name](rows, *self.numbers)

    def to_json(self) -> list[Any]:
        """As data."""
        return [self.name, [step.to_json() for step in self.steps], [array_json(n) for n in self.numbers]]

    @classmethod
    def from_json(cls, data: Any, deep: int = 0) -> Before:
        """Read what ``to_json`` wrote; ``ValueError`` and the like on anything else."""
        name, steps, numbers = data
        if deep > DEEPEST or (name not in ("turn", "beside") and name not in FUNCTIONS):
            raise ValueError(f"a step {name!r:.40}")
        if name == "beside" and len(steps) != len(numbers):
            raise ValueError("columns of no step")
        inner = tuple(cls.from_json(step, deep + 1) for step in steps)
        return cls(name, inner, tuple(array_of(each) for each in numbers))


def before(steps: Sequence[Any]) -> Before:
    """The client's steps of a model, with NumPy alone.

    Raises
    ------
        ModelError: code ``NotPortable``, for a step that needs scikit-learn.
    """
    return Before("turn", tuple(_portable(step) for step in steps))


def _portable(step: Any) -> Before:
    name = type(step).__name__
    if isinstance(step, str) or step is None:
        return Before("turn")  # passes through
    if name in _MADE:
        made = _MADE[name](step)
        if made is not None:
            return made
    refuse_portable(f"{name}, a step before encryption,")


def _scaler(step: Any) -> Before:
    count = step.n_features_in_
    zero = step.transform(np.zeros((1, count)))[0]
    return Before("scaled", (), (step.transform(np.ones((1, count)))[0] - zero, zero))


def _imputer(step: Any) -> Before | None:
    plain = (
        not step.add_indicator and isinstance(step.missing_values, float) and np.isnan(step.missing_values)
    )
    values = np.asarray(step.statistics_)
    return Before("filled", (), (values.astype(float),)) if plain and values.dtype.kind in "biuf" else None


def _hot(step: Any) -> Before | None:
    if getattr(step, "_infrequent_enabled", False):
        return None
    dropped = step.drop_idx_ if step.drop_idx_ is not None else [None] * len(step.categories_)
    pairs = [p for both in zip(map(_labels, step.categories_), dropped, strict=True) for p in both]
    return Before("one_hot", (), (str(step.handle_unknown), *pairs))


def _labels(values: Any) -> Array:
    array = np.asarray(values)
    return array if array.dtype.kind in "biufU" else np.asarray([str(v) for v in array])


def _order(step: Any) -> Before | None:
    unknown = step.unknown_value if step.handle_unknown == "use_encoded_value" else None
    return Before("ordinal", (), (unknown, *map(_labels, step.categories_)))


def _columns(step: Any) -> Before | None:
    steps, which = [], []
    for name, inner, _ in step.transformers_:
        columns = list(step._transformer_to_input_indices[name])
        if (isinstance(inner, str) and inner == "drop") or not columns:
            continue
        weight = float((step.transformer_weights or {}).get(name, 1.0))
        made = _portable(inner)
        if weight != 1:
            made = Before("turn", (made, Before("scaled", (), (weight, 0.0))))
        steps.append(made)
        which.append(np.asarray(columns))
    return Before("beside", tuple(steps), tuple(which))


def _function(step: Any) -> Before | None:
    name = getattr(step.func, "__name__", "")
    known = name in UFUNCS and step.func is getattr(np, name) and not step.kw_args
    return Before("ufunc", (), (name,)) if known else None


_MADE: dict[str, Callable[[Any], Before | None]] = {
    "StandardScaler": _scaler,
    "MinMaxScaler": lambda step: None if step.clip else _scaler(step),
    "MaxAbsScaler": _scaler,
    "RobustScaler": _scaler,
    "SimpleImputer": _imputer,
    "OneHotEncoder": _hot,
    "OrdinalEncoder": _order,
    "ColumnTransformer": _columns,
    "Pipeline": lambda step: Before("turn", tuple(_portable(inner) for _, inner in step.steps)),
    "Binarizer": lambda step: Before("above", (), (float(step.threshold),)),
    "Normalizer": lambda step: Before("unit", (), ({"l1": 1.0, "l2": 2.0, "max": np.inf}[step.norm],)),
    "FunctionTransformer": _function,
    "Network": lambda step: Before("flat"),
}
