"""A trained model whose predictions are computed on encrypted records."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmill._checks.integers import whole
from ringmill.compiled import Compiled
from ringmill.errors import MismatchError, ModelError, fail
from ringmill.keys import Keys
from ringmill.models.columns import Columns, Context
from ringmill.models.features import Array, Features, Outside, numbers
from ringmill.models.lowered import Lowered
from ringmill.trace import kernel, matrix
from ringmill.trace.stack import Stack
from ringmill.values import Values

if TYPE_CHECKING:
    from ringmill.models.report import Report

#: Rows that are traced to choose parameters; then as many as their ring holds.
FIRST_ROWS = 1024
#: Rows times operations of a program: a compilation follows a bound for each, in some 24 bytes.
MOST_BOUNDS = 1 << 27
#: How far the estimator's own results may be from those of its conversion, of the largest of them.
AGREEMENT = 1e-6


@dataclass(frozen=True, slots=True)
class Options:
    """What can be chosen of a model: the arguments of `from_sklearn` and `from_onnx`, checked.

    Raises
    ------
        ModelError: an option that no model can have, before anything is learnt.
    """

    precision: int
    error: float
    margin: float
    rows: int | None
    security: int
    outside: Outside

    def __post_init__(self) -> None:
        whole(ModelError, "The precision in bits", self.precision, 1, 64)
        rows = self.rows
        if rows is not None and whole(ModelError, "The number of rows", rows, 1, 1 << 16).bit_count() != 1:
            fail(
                ModelError, "Option", f"rows={rows!r} is not possible: give a power of two, or leave it out."
            )
        if isinstance(self.security, bool) or self.security not in (128, 192, 256):
            fail(ModelError, "Option", f"security={self.security!r} is not possible: choose 128, 192 or 256.")
        if not isinstance(self.outside, str) or self.outside not in ("refuse", "clip"):
            fail(
                ModelError, "Option", f"outside={self.outside!r} is not possible: choose 'refuse' or 'clip'."
            )
        for option, value in (("error", self.error), ("margin", self.margin)):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < np.inf:
                fail(ModelError, "Option", f"{option}={value!r} is not possible: give a positive number.")


class Model:
    """A fitted estimator, evaluated on encrypted records; `from_sklearn` makes it.

    It has ``predict``, ``predict_proba``, ``decision_function`` and ``transform`` if the estimator has.
    Each encrypts, evaluates and decrypts in this process with keys of its own; `encrypt`, `evaluate` and
    `decrypt` are the same steps for a client and a server.

    Attributes
    ----------
        estimator: the fitted estimator.
        notes: a sentence for each thing that the client does before encryption or after decryption.
        features: names and ranges of the encrypted features.
        options: what was chosen when it was made.
        scale: (k,), the largest calibrated size of each result.
    """

    def __init__(
        self, estimator: Any, lowered: Lowered, features: Features, context: Context, options: Options
    ) -> None:
        self.estimator, self.features = estimator, features
        self.notes = lowered.notes
        self.options = options
        self._lowered, self._context = lowered, context
        self.scale = np.ones(0)
        self._numbers = np.zeros(0)
        self.seconds: dict[str, float] = {}

    def __getattr__(self, name: str) -> Any:
        methods = self.__dict__.get("_lowered")
        if methods is not None and name in methods.methods:
            return lambda X: methods.methods[name](self._encrypted(X))
        known = ", ".join(sorted(methods.methods)) if methods is not None else ""
        raise AttributeError(f"the model of {type(self.estimator).__name__} has no {name!r}; it has {known}")

    def __repr__(self) -> str:
        name, levels = type(self.estimator).__name__, self.compiled.cost["levels"]
        return f"<encrypted {name} of {self.features.count} features, {levels} levels>"

    @property
    def methods(self) -> list[str]:
        """Names of the estimator's methods that the model has."""
        return sorted(self._lowered.methods)

    @property
    def functions(self) -> list[tuple[str, float]]:
        """Every function that a polynomial stands for, with the error of the polynomial."""
        return [(site.name, site.error) for site in self._context.sites if site.function]

    # --- the function ---------------------------------------------------------------------------------

    def _results(self, base: list[Any]) -> Columns:
        return self._lowered.server(self._context, self.features.columns(base))

    def learn(self, units: Array) -> Array:
        """Evaluate calibration rows exactly, note all ranges, and return the results."""
        found = self._results(list(units.T))
        results = _values(found, len(units))
        low, high = found.bounds
        self._numbers = np.where(low == high, low, np.nan)
        self.scale = np.maximum(np.abs(results).max(axis=0), 1e-12)
        return results

    def clear(self, units: Array, *, exact: bool = False) -> Array:
        """Results (rows, k) without encryption: with polynomials for functions, or exact."""
        self._context.begin(exact=exact)
        return _values(self._results(list(units.T)), len(units))

    @cached_property
    def compiled(self) -> Compiled:
        """The kernel that a server evaluates: results over their largest calibrated size."""
        if not np.isnan(self._numbers).any():
            fail(ModelError, "Constant", "No result depends on the features. Nothing needs encryption here.")

        def results(x: Any) -> Any:
            self._context.begin()
            found = self._results(list(x.columns))
            unit = found.affine(np.diag(1 / self.scale))
            return Stack([unit.evaluated(int(k)) for k in np.flatnonzero(np.isnan(self._numbers))])

        made = kernel(results)
        width = len(self.features.varying)
        start = time.perf_counter()
        options = {"precision": self.options.precision, "security": self.options.security}
        rows = self.options.rows
        compiled = made.compile(matrix(rows or FIRST_ROWS, width, packing="columns"), **options)
        if rows is None:
            operations = sum(compiled.plan.counts.values())
            full = compiled.params.slots
            while full > FIRST_ROWS and full * operations > MOST_BOUNDS:
                full //= 2
            if full != FIRST_ROWS:
                compiled = made.compile(matrix(full, width, packing="columns"), params=compiled.params)
        self.seconds["compile"] = time.perf_counter() - start
        return compiled

    @property
    def rows(self) -> int:
        """Rows that one evaluation takes."""
        return int(self.compiled.signature.inputs["x"].shape[0])

    # --- client and server ----------------------------------------------------------------------------

    def units(self, X: Any) -> Array:
        """What is encrypted of rows: after the client's steps, each feature between −1 and 1.

        Raises
        ------
            ModelError: features in another order or number than calibrated, values that are no numbers,
                missing, or outside of their range.
        """
        data = prepared(self.estimator, self._lowered, X)
        if not len(data):
            fail(ModelError, "Features", "X has no rows. Give at least one.")
        if data.shape[1] != self.features.count:
            fail(
                ModelError,
                "Features",
                f"X has {data.shape[1]} features; the model was calibrated for {self.features.count}.",
                found=data.shape[1],
                expected=self.features.count,
            )
        return self.features.units(data, self.options.outside)

    @cached_property
    def keys(self) -> Keys:
        """Keys of this process, made when they are first needed."""
        start = time.perf_counter()
        made = self.compiled.keygen()
        self.seconds["keygen"] = time.perf_counter() - start
        return made

    def encrypt(self, keys: Any, X: Any) -> list[Values]:
        """Rows as encrypted arguments, one for each batch of `rows` rows."""
        return self.encrypt_units(keys, self.units(X))

    def encrypt_units(self, keys: Any, units: Array) -> list[Values]:
        """As `encrypt`, of what `units` made of the rows."""
        return [self.compiled.encrypt(keys, x=batch) for batch in self._batches(units)]

    def _batches(self, units: Array) -> Iterator[Array]:
        for first in range(0, len(units), self.rows):
            batch = units[first : first + self.rows]
            yield np.vstack([batch, np.zeros((self.rows - len(batch), units.shape[1]))])

    def evaluate(self, keys: Any, arguments: list[Values], **options: Any) -> list[Values]:
        """Results of encrypted arguments, by the evaluation keys alone; options as of `Compiled.evaluate`."""
        return [self.compiled.evaluate(keys, one, **options) for one in arguments]

    def results(self, keys: Any, results: list[Values], rows: int) -> Array:
        """Decrypted results (rows, k), before the estimator's methods."""
        found = np.vstack([np.reshape(self.compiled.decrypt(keys, one), (self.rows, -1)) for one in results])
        full = np.tile(self._numbers, (len(found), 1))
        encrypted = np.isnan(self._numbers)
        full[:, encrypted] = found.real * self.scale[encrypted]
        return full[:rows]

    def decrypt(self, keys: Any, results: list[Values], rows: int, method: str = "predict") -> Array:
        """What a method of the estimator gives for decrypted results.

        Raises
        ------
            MismatchError: a method that the model does not have.
        """
        if method not in self._lowered.methods:
            fail(
                MismatchError,
                "Method",
                f"The model has no method {method!r}; it has {', '.join(self.methods)}.",
                method=method,
            )
        return self._lowered.methods[method](self.results(keys, results, rows))

    def _encrypted(self, X: Any) -> Array:
        units = self.units(X)
        arguments = self.encrypt_units(self.keys, units)
        return self.results(self.keys, self.evaluate(self.keys, arguments), len(units))

    # --- in the clear ---------------------------------------------------------------------------------

    def approximated(self, X: Any, method: str = "predict") -> Array:
        """What a method gives with polynomials for functions, without encryption."""
        return self._lowered.methods[method](self.clear(self.units(X)))

    def report(self, X: Any, y: Any = None, *, title: str | None = None) -> Report:
        """Compare clear, approximated and encrypted predictions of rows; and scores, if ``y`` is given."""
        from ringmill.models.report import Report

        return Report.of(self, X, y, title)


def prepared(estimator: Any, lowered: Lowered, X: Any) -> Array:
    """Rows after the client's steps, as numbers (rows, features)."""
    _same_features(estimator, X)
    data = X
    for step in lowered.client:
        try:
            data = step.transform(data)
        except (TypeError, ValueError) as refused:
            name = type(step).__name__
            said = str(refused).split("\n")[0].rstrip(".")
            fail(ModelError, "ClientStep", f"The client's step {name} refuses X: {said}.", estimator=name)
    return numbers(data, "X")


def calibrated(
    estimator: Any, lowered: Lowered, data: Array, names: Sequence[str], options: Options
) -> tuple[Model, Array]:
    """A model with the ranges of calibration data (rows, features), and its exact results on them."""
    if not len(data) or not np.isfinite(data).all():
        fail(ModelError, "Missing", "The calibration data are empty, or have missing or infinite values.")
    features = Features(data, names, options.margin)
    model = Model(estimator, lowered, features, Context(options.margin, options.error), options)
    return model, model.learn(features.units(data, "clip"))


def _values(columns: Columns, rows: int) -> Array:
    """Columns of arrays side by side, (rows, k)."""
    return np.column_stack([np.broadcast_to(columns.evaluated(k), rows) for k in range(columns.count)])


def _same_features(estimator: Any, X: Any) -> None:
    expected, shape = getattr(estimator, "n_features_in_", None), np.shape(X)
    if expected is not None and len(shape) == 2 and shape[1] != expected:
        fail(
            ModelError,
            "Features",
            f"X has {shape[1]} features; the model was fitted to {expected}.",
            found=shape[1],
            expected=expected,
        )
    fitted = getattr(estimator, "feature_names_in_", None)
    given = getattr(X, "columns", None)
    if fitted is None or given is None or list(given) == list(fitted):
        return
    missing = [str(name) for name in fitted if name not in set(given)]
    unknown = [str(name) for name in given if name not in set(fitted)]
    if missing or unknown:
        said = [f"{', '.join(missing)} missing"] * bool(missing) + [f"{', '.join(unknown)} unknown"] * bool(
            unknown
        )
        fail(ModelError, "Features", f"X has other features than the model was fitted to: {'; '.join(said)}.")
    fail(
        ModelError,
        "Features",
        "X has the features in another order than the model was fitted to. "
        "Reorder them: X[list(model.estimator.feature_names_in_)].",
    )


def from_sklearn(
    estimator: Any,
    X: Any,
    *,
    precision: int = 20,
    error: float = 1e-3,
    margin: float = 0.1,
    rows: int | None = None,
    security: int = 128,
    outside: Outside = "refuse",
) -> Model:
    """Make a model for encrypted records of a fitted estimator or pipeline of scikit-learn.

    Args:
        estimator: fitted; docs/models.md lists what is supported.
        X: calibration rows, as the estimator takes them. They give the range of every feature and of every
            value that a function is applied to.
        precision: bits of the results after the binary point, relative to their largest calibrated size.
        error: the distance that each polynomial may have from its function; kinks come no closer than degree
            63 does, and ``model.functions`` lists what is reached.
        margin: by which fraction of its width every calibrated range is extended on both sides.
        rows: rows of one evaluation, a power of two; as many as the ring holds by default.
        security: bits of security: 128, 192 or 256.
        outside: what is done with features outside of their range: "refuse" or "clip".

    Returns
    -------
        The model. Nothing is compiled or encrypted before it is needed.

    Raises
    ------
        ModelError: an estimator that is not fitted or not supported, calibration data that do not fit it, or
            an estimator whose own results on them are others than those of its conversion.
    """
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    from ringmill.models.sklearn import lower

    name = type(estimator).__name__
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        fail(
            ModelError,
            "Estimator",
            f"A {type(estimator).__name__} is not an estimator of scikit-learn. "
            "Give a fitted one, as LogisticRegression().fit(X, y).",
        )
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        fail(ModelError, "NotFitted", f"{name} is not fitted. Call fit(X, y) first.", estimator=name)
    options = Options(precision, error, margin, rows, security, outside)
    lowered = lower(estimator)
    array = prepared(estimator, lowered, X)
    names = _names(lowered.client[-1]) if lowered.client else list(getattr(X, "columns", []))
    if not names or len(names) != array.shape[1]:
        names = [f"x{j}" for j in range(array.shape[1])]
    model, results = calibrated(estimator, lowered, array, [str(n) for n in names], options)
    _agrees(estimator, lowered, results, X)
    return model


def _names(step: Any) -> list[Any]:
    try:
        return list(step.get_feature_names_out())
    except (AttributeError, TypeError, ValueError):
        return []


def _agrees(estimator: Any, lowered: Lowered, results: Array, X: Any) -> None:
    """Refuse an estimator that computes something else than its conversion, as another version may."""
    for method, make in lowered.methods.items():
        if not hasattr(estimator, method):
            continue
        own, ours = np.asarray(getattr(estimator, method)(X)), np.asarray(make(results))
        if own.dtype.kind in "fc" and own.shape == ours.shape:
            least = AGREEMENT * max(1.0, float(np.abs(own).max(initial=0.0)))
            same = bool(np.all(np.abs(own - ours) <= least))
        else:
            # Rows whose decision is 0 may fall to either side.
            same = own.shape == ours.shape and bool(np.mean(own == ours) >= 0.999)
        if not same:
            name = type(estimator).__name__
            fail(
                ModelError,
                "Disagrees",
                f"{name}.{method} gives other results than its conversion, by an option or a version that "
                "Ringmill does not know. Please report the estimator and its parameters.",
                estimator=name,
                attribute=method,
            )
