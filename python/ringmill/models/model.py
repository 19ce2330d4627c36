"""A trained model whose predictions are computed on encrypted records."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmill._checks.arguments import checked
from ringmill._checks.integers import whole
from ringmill.compiled import Compiled
from ringmill.errors import MismatchError, ModelError, fail
from ringmill.keys import Keys
from ringmill.models.before import before
from ringmill.models.client import Ends, ModelClient, Scale
from ringmill.models.columns import Columns, Context
from ringmill.models.features import Array, Features, Outside, numbers
from ringmill.models.layouts import LAYOUTS, Held, Layout, Layouts
from ringmill.models.lowered import Lowered
from ringmill.models.records import Stage
from ringmill.values import Values

if TYPE_CHECKING:
    from ringmill.models.report import Report

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
    layout: Layout = "auto"

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
        if not isinstance(self.layout, str) or self.layout not in LAYOUTS:
            fail(
                ModelError,
                "Option",
                f"layout={self.layout!r} is not possible: choose {', '.join(map(repr, LAYOUTS))}.",
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
    """

    def __init__(
        self, estimator: Any, lowered: Lowered, features: Features, context: Context, options: Options
    ) -> None:
        self.estimator, self.features = estimator, features
        self.notes = lowered.notes
        self.options = options
        self._lowered, self._context = lowered, context
        self._scale = Scale(np.ones(0), np.zeros(0))
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
    def scale(self) -> Array:
        """(k,), the largest calibrated size of each result."""
        return self._scale.sizes

    @property
    def methods(self) -> list[str]:
        """Names of the estimator's methods that the model has."""
        return sorted(self._lowered.methods)

    @property
    def functions(self) -> list[tuple[str, float]]:
        """Every function that a polynomial stands for, with the error of the polynomial."""
        return [(site.name, site.error) for site in self._context.sites if site.function or site.steps]

    # --- the function ---------------------------------------------------------------------------------

    def _results(self, base: list[Any]) -> Columns:
        return self._lowered.server(self._context, Columns.of_features(self.features, base))

    def learn(self, units: Array) -> Array:
        """Evaluate calibration rows exactly, note all ranges, and return the results."""
        found = self._results(list(units.T))
        results = _values(found, len(units))
        low, high = found.bounds
        sizes = np.maximum(np.abs(results).max(axis=0), 1e-12)
        self._scale = Scale(sizes, np.where(low == high, low, np.nan))
        return results

    def clear(self, units: Array, *, exact: bool = False) -> Array:
        """Results (rows, k) without encryption: with polynomials for functions, or exact."""
        self._context.begin(exact=exact)
        return _values(self._results(list(units.T)), len(units))

    @cached_property
    def compiled(self) -> Compiled:
        """The kernel that a server evaluates: results over their largest calibrated size."""
        return self._held.compiled

    @property
    def layout(self) -> str:
        """``"rows"`` along the slots, a ciphertext a feature, or a ``"record"`` in one ciphertext."""
        return "record" if self.stages else "rows"

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Where the results of each part stand in the slots of a record; none with the layout ``"rows"``."""
        return self._held.stages

    @cached_property
    def _held(self) -> Held:
        encrypted = np.flatnonzero(np.isnan(self._scale.numbers))
        if not len(encrypted):
            fail(ModelError, "Constant", "No result depends on the features. Nothing needs encryption here.")

        def scaled(base: Sequence[Any]) -> Columns:
            return self._results(list(base)).scaled(1 / self.scale)

        start = time.perf_counter()
        options = {"precision": self.options.precision, "security": self.options.security}
        layouts = Layouts(self.features, self._context, scaled, encrypted, self.options.rows, options)
        held = layouts.held(self.options.layout)
        self.seconds["compile"] = time.perf_counter() - start
        return held

    @property
    def rows(self) -> int:
        """Rows that one evaluation takes."""
        return self.compiled.signature.lanes

    @cached_property
    def cost(self) -> dict[str, float]:
        """What the evaluation of one batch takes, known before anything runs.

        ``rows`` of the batch, ``levels``, ``seconds`` on one core by its machine's costs, ``peak_bytes``.
        """
        work = self.compiled.work()
        return {
            "rows": self.rows,
            "levels": self.compiled.cost["levels"],
            "seconds": float(work["seconds"]),
            "peak_bytes": int(work["peak_bytes"]),
        }

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

    def encrypt(self, keys: Any, X: Any) -> Values:
        """Rows as encrypted arguments: for every `rows` rows a ciphertext a feature, or one; see `layout`."""
        return self.encrypt_units(keys, self.units(X))

    def encrypt_units(self, keys: Any, units: Array) -> Values:
        """As `encrypt`, of what `units` made of the rows."""
        compiled = self.compiled  # which decides where features stand
        return compiled.encrypt(keys, x=self.features.placed(units))

    def evaluate(self, keys: Any, arguments: Values, **options: Any) -> Values:
        """Results of encrypted arguments, by the evaluation keys alone; options as of `Compiled.evaluate`."""
        return self.compiled.evaluate(keys, arguments, **options)

    def results(self, keys: Any, results: Values) -> Array:
        """Decrypted results (rows, k), before the estimator's methods."""
        return self._scale.results(self.compiled.decrypt(keys, results), results.records or 1)

    def decrypt(self, keys: Any, results: Values, method: str = "predict") -> Array:
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
        return self._lowered.methods[method](self.results(keys, results))

    def _encrypted(self, X: Any) -> Array:
        units = self.units(X)
        arguments = self.encrypt_units(self.keys, units)
        return self.results(self.keys, self.evaluate(self.keys, arguments))

    # --- files ----------------------------------------------------------------------------------------

    def client(self) -> ModelClient:
        """The model for its client alone: both ends, with NumPy alone, and no weights.

        Raises
        ------
            ModelError: code ``NotPortable``, for a step before encryption or a method that needs the library
                which the model comes from.
        """
        of = self.compiled.client()
        steps = before(self._lowered.client)
        methods, width = self._lowered.methods, self._width
        ends = Ends(steps, self.features, self.options.outside, self._scale, methods, width)
        ends.to_json()  # refuses what no file holds
        return ModelClient(of.signature, of.params, of.terms, ends)

    @property
    def _width(self) -> int:
        """Columns of rows, before the client's steps."""
        return int(getattr(self.estimator, "n_features_in_", self.features.count))

    @checked
    def save(self, *, client: str | Path | None = None, server: str | Path | None = None) -> int:
        """Write a file for the client, one for the server, or both; returns all bytes.

        Args:
            client: both ends of the model and what keys it needs, without weights: `ringmill.load_client`
                reads it, and NumPy is enough to use it.
            server: the kernel with its weights, as ``ringmill evaluate`` takes it.

        Raises
        ------
            FileFormatError: code ``Unwritable``; nothing is left behind then.
            MismatchError: no path.
            ModelError: as `client`, before anything is written.
        """
        if client is None and server is None:
            fail(
                MismatchError,
                "WrongKind",
                'model.save() has no path. Give save(client="client.rm", server="server.rm").',
            )
        own = None if client is None else self.client()
        size = 0 if server is None else self.compiled.save(server)
        return size + (0 if own is None or client is None else own.save(client))

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
    return np.column_stack([np.broadcast_to(value, rows) for value in columns.all_evaluated()])


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
