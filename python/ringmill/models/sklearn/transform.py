"""Transformers: affine ones, polynomials of the features, and those that run at the client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.models.after import RESULTS
from ringmill.models.columns import Columns, Context
from ringmill.models.lowered import Array, Lowered
from ringmill.models.sklearn.linear import affine, probed

#: Transformers that are affine functions of the features.
AFFINE = [
    "FactorAnalysis",
    "FastICA",
    "FeatureAgglomeration",
    "GaussianRandomProjection",
    "GenericUnivariateSelect",
    "IncrementalPCA",
    "KernelCenterer",
    "MaxAbsScaler",
    "MinMaxScaler",
    "NeighborhoodComponentsAnalysis",
    "PCA",
    "PLSSVD",
    "RFE",
    "RFECV",
    "RobustScaler",
    "SelectFdr",
    "SelectFpr",
    "SelectFromModel",
    "SelectFwe",
    "SelectKBest",
    "SelectPercentile",
    "SequentialFeatureSelector",
    "SparseRandomProjection",
    "StandardScaler",
    "TruncatedSVD",
    "VarianceThreshold",
]
#: Preparation of data that has jumps, tables or divisions: the client does it before encryption.
CLIENT = [
    "AdditiveChi2Sampler",
    "Binarizer",
    "FeatureHasher",
    "FunctionTransformer",
    "KBinsDiscretizer",
    "KNNImputer",
    "MissingIndicator",
    "Normalizer",
    "OneHotEncoder",
    "OrdinalEncoder",
    "PowerTransformer",
    "QuantileTransformer",
    "SimpleImputer",
    "SkewedChi2Sampler",
    "SplineTransformer",
    "TargetEncoder",
    "CountVectorizer",
    "TfidfVectorizer",
    "TfidfTransformer",
    "HashingVectorizer",
    "DictVectorizer",
    "IterativeImputer",
]


def at_client(estimator: Any) -> bool:
    """Whether a transformer, or a part of it, runs at the client."""
    name = type(estimator).__name__
    if name in CLIENT:
        return getattr(estimator, "func", name) is not None
    parts = getattr(estimator, "transformers_", None) or getattr(estimator, "transformer_list", None) or ()
    steps = getattr(estimator, "steps", None) or ()
    return any(at_client(part[1]) for part in (*parts, *steps))


def client(estimator: Any) -> Lowered:
    """A transformer that runs at the client: what it gives is encrypted."""
    name = type(estimator).__name__
    note = f"The client runs {name} before encryption."
    return Lowered(lambda _context, x: x, {"transform": RESULTS}, [estimator], [note])


def _affine(estimator: Any) -> Lowered:
    weights, offset = probed(_dense(estimator.transform), estimator.n_features_in_)
    return Lowered(affine(weights, offset), {"transform": RESULTS})


def _dense(transform: Callable[[Array], Any]) -> Callable[[Array], Array]:
    def dense(x: Array) -> Array:
        found = transform(x)
        return np.asarray(found.toarray() if hasattr(found, "toarray") else found)

    return dense


def monomials(context: Context, x: Columns, powers: Array) -> Columns:
    """Products of powers of columns; ``powers`` is (monomials, features)."""
    made: dict[tuple[int, ...], Columns] = {}

    def monomial(wanted: tuple[int, ...]) -> Columns:
        if wanted not in made:
            factors = [j for j, power in enumerate(wanted) for _ in range(power)]
            if not factors:
                made[wanted] = Columns.constant(np.ones(1))
            elif len(factors) == 1:
                made[wanted] = x.chosen(factors)
            else:
                # Halves of the factors: the least number of levels.
                halves = factors[: len(factors) // 2], factors[len(factors) // 2 :]
                left, right = (
                    monomial(tuple(np.bincount(half, minlength=len(wanted)).tolist())) for half in halves
                )
                made[wanted] = context.product(left, right, "a product of features")
        return made[wanted]

    return Columns.joined([monomial(tuple(int(p) for p in row)) for row in powers])


def _polynomial_features(estimator: Any) -> Lowered:
    powers = np.asarray(estimator.powers_)
    return Lowered(lambda context, x: monomials(context, x, powers), {"transform": RESULTS})


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {
    **dict.fromkeys(AFFINE, _affine),
    "PolynomialFeatures": _polynomial_features,
}
