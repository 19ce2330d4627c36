"""The client of a model: what is done before encryption and after decryption, with NumPy alone.

``model.save(client=…)`` writes it, `ringmill.load_client` reads it. It holds ranges of features, labels, and
what a pipeline does before encryption; the weights are in the server's file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill import bundle
from ringmill._native import Params, PublicKey, SecretKey
from ringmill.client import Client, Terms
from ringmill.errors import FileFormatError, MismatchError, ModelError, fail
from ringmill.keys import Keys
from ringmill.models.after import After, array_json, array_of, refuse_portable
from ringmill.models.before import Before
from ringmill.models.features import Features, Outside, numbers
from ringmill.trace.signature import Signature
from ringmill.trace.spec import Spec
from ringmill.values import Values

Array = NDArray[Any]

#: The argument that rows are, in files of arrays.
ROWS = "X"


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Results as they are decrypted, and as the model gives them.

    Attributes
    ----------
        sizes: (k,), what each result is divided by before it is decrypted.
        numbers: (k,), results that do not depend on the features; NaN of the others.
    """

    sizes: Array
    numbers: Array

    def results(self, decrypted: ArrayLike, rows: int) -> Array:
        """Results (rows, k)."""
        found = np.reshape(np.asarray(decrypted), (rows, -1))
        full = np.tile(self.numbers, (rows, 1))
        encrypted = np.isnan(self.numbers)
        full[:, encrypted] = found.real * self.sizes[encrypted]
        return full


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Both ends of a model, which the client computes.

    Attributes
    ----------
        before: steps on rows, before encryption.
        features: names and ranges of what is encrypted.
        outside: what happens to values outside of their ranges.
        scale: of results.
        methods: what is made of results.
        width: columns of rows.
    """

    before: Before
    features: Features
    outside: Outside
    scale: Scale
    methods: Mapping[str, Callable[[Array], Any]]
    width: int

    def units(self, X: Any) -> Array:
        """What is encrypted of rows, each number between −1 and 1.

        Raises
        ------
            ModelError: rows of another width; values that are no numbers, missing, or outside of their range.
        """
        rows = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
        if rows.ndim < 2 or not len(rows) or int(np.prod(rows.shape[1:])) != self.width:
            fail(
                ModelError,
                "Features",
                f"X has shape {rows.shape}; the model takes rows of {self.width} features, one at least.",
                found=rows.shape,
                expected=self.width,
            )
        return self.features.placed(self.features.units(numbers(self.before(rows), "X"), self.outside))

    def to_json(self) -> dict[str, Any]:
        """As data.

        Raises
        ------
            ModelError: code ``NotPortable``, for a method that another library computes.
        """
        methods = {n: f.to_json() for n, f in self.methods.items() if hasattr(f, "to_json")}
        if len(methods) < len(self.methods):
            missing = sorted(set(self.methods) - set(methods))
            refuse_portable(f"{', '.join(missing)} of this model", methods=missing)
        return {
            "before": self.before.to_json(),
            "features": self.features.to_json(),
            "outside": self.outside,
            "sizes": array_json(self.scale.sizes),
            "numbers": array_json(np.where(np.isnan(self.scale.numbers), 0, self.scale.numbers)),
            "encrypted": array_json(np.isnan(self.scale.numbers)),
            "methods": methods,
            "width": self.width,
        }

    @classmethod
    def from_json(cls, data: Any) -> Ends:
        """Read what ``to_json`` wrote; ``ValueError`` and the like on anything else."""
        if data["outside"] not in ("refuse", "clip") or type(data["width"]) is not int:
            raise ValueError("outside or width")
        scale = Scale(
            array_of(data["sizes"]), np.where(array_of(data["encrypted"]), np.nan, array_of(data["numbers"]))
        )
        if scale.sizes.shape != scale.numbers.shape or scale.sizes.ndim != 1:
            raise ValueError("sizes of results")
        return cls(
            Before.from_json(data["before"]),
            Features.from_json(data["features"]),
            data["outside"],
            scale,
            {str(name): After.from_json(each) for name, each in data["methods"].items()},
            data["width"],
        )


class ModelClient(Client):
    """What the client's file of a model holds.

    Attributes
    ----------
        ends: what is done before encryption and after decryption.
    """

    KIND: ClassVar[str] = "model client"
    _PARTS: ClassVar[frozenset[str]] = frozenset({"signature", "params", "model"})

    def __init__(self, signature: Signature, params: Params, terms: Terms, ends: Ends) -> None:
        super().__init__(signature, params, terms)
        self.ends = ends

    @property
    def methods(self) -> list[str]:
        """Names of the methods that `decrypt` has."""
        return sorted(self.ends.methods)

    @property
    def arguments(self) -> dict[str, Spec]:
        """Rows, by the name that files of arrays have for them."""
        return {ROWS: Spec((self.ends.width,))}

    def encrypt(self, key: PublicKey | SecretKey | Keys, X: Any = None, /, **named: Any) -> Values:
        """Encrypt rows; options as of `Client.encrypt`.

        Args:
            key: the public key, the secret key, or all keys.
            X: rows, as the model takes them: numbers, or labels where the model encodes them.
            named: options, or the rows as ``X=``.

        Raises
        ------
            MismatchError, EncodingError: as `Client.encrypt`.
            ModelError: rows that the model does not take.
        """
        given = dict(X) if isinstance(X, Mapping) and set(X) == {ROWS} else {ROWS: X}
        rows = named.pop(ROWS, given[ROWS])
        return super().encrypt(key, {"x": self.ends.units(rows)}, **named)

    def decrypt(
        self, secret: SecretKey | Keys, results: Values, method: str = "predict", **options: Any
    ) -> Any:
        """What a method of the model gives; options as of `Client.decrypt`.

        Raises
        ------
            MismatchError: as `Client.decrypt`; a method that the model does not have.
        """
        if method not in self.ends.methods:
            fail(
                MismatchError,
                "Method",
                f"The model has no method {method!r}; it has {', '.join(self.methods)}.",
                method=method,
            )
        return self.ends.methods[method](self._results(secret, results, **options))

    def decrypted(self, secret: SecretKey | Keys, results: Values, **options: Any) -> dict[str, Array]:
        """What every method gives, by its name."""
        found = self._results(secret, results, **options)
        made = {name: method(found) for name, method in self.ends.methods.items()}
        # Several outputs of a network are arrays of their own.
        listed = {f"{n}{i}": v for n, vs in made.items() if isinstance(vs, list) for i, v in enumerate(vs)}
        return {n: np.asarray(v) for n, v in made.items() if not isinstance(v, list)} | listed

    def _results(self, secret: SecretKey | Keys, results: Values, **options: Any) -> Array:
        found = super().decrypt(secret, results, **options)
        return self.ends.scale.results(found, results.records or 1)

    def _parts(self) -> dict[str, bytes]:
        return {**super()._parts(), "model": json.dumps(self.ends.to_json()).encode()}

    @classmethod
    def _made_of(
        cls, signature: Signature, params: Params, terms: Terms, read: bundle.Bundle, path: str
    ) -> ModelClient:
        try:
            ends = Ends.from_json(json.loads(read.parts["model"]))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            if isinstance(error, FileFormatError):
                raise
            bundle.refuse_damaged(path, f"what it says of its model cannot be read ({error})")
        if set(signature.inputs) != {"x"} or not signature.lanes:
            bundle.refuse_damaged(path, "its kernel is not that of a model")
        return cls(signature, params, terms, ends)
