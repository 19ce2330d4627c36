"""What the client makes of decrypted results, as data: it fits into a file, and needs NumPy alone.

An `After` is a function of decrypted results (rows, k): a name of ``FUNCTIONS``, what it is applied to, and
numbers or labels that it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ringmill.errors import ModelError, fail

Array = NDArray[Any]
#: How deep functions of functions go in a file.
DEEPEST = 32


def logistic(x: Array) -> Array:
    """1/(1 + exp(−x))."""
    return np.exp(-np.logaddexp(0.0, -x))


def softmax(x: Array) -> Array:
    """Exponentials, normalised over each row."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def normalised(x: Array) -> Array:
    """Parts of the sum of each row."""
    return np.asarray(x / x.sum(axis=1, keepdims=True))


def _shares(x: Array) -> Array:
    """Parts of the sum of each row; equal ones where it is 0."""
    sums = x.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(x, sums, out=np.full_like(x, 1 / x.shape[1]), where=sums != 0))


def two(p: Array) -> Array:
    """Probabilities of both classes from that of the second."""
    second = p[:, 0] if p.ndim == 2 else p
    return np.column_stack([1 - second, second])


def flat(results: Array) -> Array:
    """One column as a vector; more as they are."""
    return results[:, 0] if results.shape[1] == 1 else results


def _votes(d: Array, classes: int) -> Array:
    """How many pairs of classes each class wins."""
    won = np.zeros((len(d), classes))
    for k, (i, j) in enumerate(combinations(range(classes), 2)):
        won[:, i] += d[:, k] > 0
        won[:, j] += d[:, k] <= 0
    return won


def _one_to_rest(d: Array, classes: int) -> Array:
    """Votes of pairs, with sums of confidences that only break ties, as scikit-learn has them."""
    sums = np.zeros((len(d), classes))
    votes = np.zeros((len(d), classes))
    for k, (i, j) in enumerate(combinations(range(classes), 2)):
        sums[:, i] += d[:, k]
        sums[:, j] -= d[:, k]
        votes[:, i] += d[:, k] >= 0
        votes[:, j] += d[:, k] < 0
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


def _counted(labels: Array, classes: int, weights: Array | None) -> Array:
    """Votes for each class by row; labels are numbers of classes."""
    return np.array([np.bincount(row, weights, minlength=classes) for row in labels.astype(int)])


def _log_softmax(d: Array, axis: float) -> Array:
    """Logarithms of `softmax` along an axis."""
    moved = d - d.max(axis=int(axis), keepdims=True)
    return np.asarray(moved - np.log(np.exp(moved).sum(axis=int(axis), keepdims=True)))


def _normed(d: Array, order: float) -> Array:
    """Rows over their norms, as ONNX has it."""
    norms = np.linalg.norm(d, ord=order, axis=1, keepdims=True)
    return np.asarray(d / np.maximum(norms, 1e-30))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "same": lambda d: d,
    "flat": flat,
    "column": lambda d, j: d[:, j],
    "exp": np.exp,
    "tanh": np.tanh,
    "logistic": logistic,
    "softmax": softmax,
    "normalised": normalised,
    "normed": _normed,
    "two": two,
    "clipped": lambda d: (np.clip(d, -1, 1) + 1) / 2,
    "roots": lambda d: np.sqrt(np.maximum(d, 0)),
    "difference": lambda d: d[:, 1] - d[:, 0],
    "above": lambda d, limit: (d > limit).astype(int),
    "matrix": lambda d: d.reshape(len(d), -1),
    "shares": _shares,
    "interpolated": lambda d, at, values: np.interp(d, at, values),
    "plus": lambda d, offset: d + offset,
    "times": lambda d, factor: d * factor,
    "log_sum": lambda d: np.logaddexp.reduce(d, axis=1),
    "minus_exp2": lambda d: -np.exp2(-d),
    "largest": lambda d: np.argmax(d, axis=1),
    "smallest": lambda d: np.argmin(d, axis=1),
    "votes": _votes,
    "one_to_rest": _one_to_rest,
    "chosen": lambda numbers, labels: labels[numbers],
    "mean": lambda *values: np.average(np.asarray(values[:-1]), axis=0, weights=values[-1]),
    "beside": lambda *values: np.column_stack(values),
    "counted": _counted,
    "listed": lambda *values: list(values),
    "shaped": lambda d, *shape: d.reshape(len(d), *map(int, shape)),
    "softmax_along": lambda d, axis: np.exp(_log_softmax(d, axis)),
    "log_softmax_along": lambda d, axis: _log_softmax(d, axis),
    "argmax_along": lambda d, axis, keeps: np.argmax(d, axis=int(axis), keepdims=bool(keeps)),
    "argmin_along": lambda d, axis, keeps: np.argmin(d, axis=int(axis), keepdims=bool(keeps)),
}


@dataclass(frozen=True, slots=True, eq=False)
class After:
    """A function of decrypted results (rows, k).

    Attributes
    ----------
        name: of ``FUNCTIONS``, or "columns", which applies the inner one to some columns of the results.
        of: what gives its arguments; none for the results themselves.
        numbers: further arguments: numbers, arrays, or ``None``.
    """

    name: str
    of: tuple[Callable[[Array], Any], ...] = ()
    numbers: tuple[Any, ...] = ()

    def __call__(self, d: Array) -> Any:
        """What it makes of results."""
        if self.name == "columns":
            first, last = self.numbers
            return self.of[0](d[:, int(first) : int(last)])
        return FUNCTIONS[self.name](*([f(d) for f in self.of] or [d]), *self.numbers)

    def then(self, name: str, *numbers: Any) -> After:
        """Another function of what this one gives."""
        return After(name, (self,), numbers)

    def largest(self, classes: Array) -> After:
        """The class with the largest number in each row."""
        return self.then("largest").then("chosen", classes)

    def above(self, limit: float, classes: Array) -> After:
        """The second class where the number in the only column is above a limit."""
        return self.then("column", 0).then("above", limit).then("chosen", classes)

    def to_json(self) -> list[Any]:
        """As data.

        Raises
        ------
            ModelError: code ``NotPortable``, for a part that scikit-learn or ONNX computes.
        """
        return [self.name, [_data(each) for each in self.of], [array_json(n) for n in self.numbers]]

    @classmethod
    def from_json(cls, data: Any, deep: int = 0) -> After:
        """Read what ``to_json`` wrote; ``ValueError`` and the like on anything else."""
        name, of, numbers = data
        if deep > DEEPEST or (name != "columns" and name not in FUNCTIONS):
            raise ValueError(f"a function {name!r:.40}")
        if name == "columns" and (len(of), len(numbers)) != (1, 2):
            raise ValueError("columns of nothing")
        return cls(
            name,
            tuple(cls.from_json(each, deep + 1) for each in of),
            tuple(array_of(each) for each in numbers),
        )


class Later:
    """An `After` that is known once the widths of results are."""

    def __init__(self, make: Callable[[], After]) -> None:
        self.make = make

    def __call__(self, d: Array) -> Any:
        """What it makes of results."""
        return self.make()(d)

    def to_json(self) -> list[Any]:
        """As data, as `After.to_json`."""
        return self.make().to_json()


def _data(each: Callable[[Array], Any]) -> list[Any]:
    if isinstance(each, (After, Later)):
        return each.to_json()
    refuse_portable("a step after decryption")


def refuse_portable(what: str, **fields: Any) -> NoReturn:
    """Refuse to write what another library computes at the client."""
    fail(
        ModelError,
        "NotPortable",
        f"The client's file needs NumPy alone, and {what} runs in the library that the model comes from. "
        "Keep the model object at the client, and give the server model.save(server=…).",
        **fields,
    )


def array_json(value: Any) -> Any:
    """Numbers or labels as data."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind == "O":
        array = np.asarray([str(each) for each in array.ravel()]).reshape(array.shape)
    if array.dtype.kind not in "biufU":
        refuse_portable(f"an array of {array.dtype}")
    return {"dtype": array.dtype.str, "values": array.tolist()}


def array_of(data: Any) -> Any:
    """Read what ``array_json`` wrote: an array, a number, or ``None``."""
    if data is None:
        return None
    dtype = np.dtype(str(data["dtype"]))
    if dtype.kind not in "biufU":
        raise ValueError(f"an array of {dtype}")
    array = np.asarray(data["values"], dtype=dtype)
    return array if array.ndim else array.item()


RESULTS = After("same")


def by_sign(classes: Array) -> After:
    """The second class where the decision is positive."""
    return RESULTS.above(0, classes)


def by_largest(classes: Array) -> After:
    """The class with the largest result."""
    return RESULTS.largest(classes)


def of_two() -> After:
    """Probabilities of two classes from the decision between them."""
    return RESULTS.then("column", 0).then("logistic").then("two")
