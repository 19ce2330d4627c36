"""Estimators by kernels of support vectors: SVC, SVR, ridge, processes, PCA, Nystroem, Fourier features."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from ringmill.errors import ModelError, fail
from ringmill.models.after import RESULTS, After, by_sign
from ringmill.models.columns import Columns, Context
from ringmill.models.lowered import Array, Lowered
from ringmill.models.sklearn.distances import squared
from ringmill.models.sklearn.linear import probed

KERNELS = ("linear", "poly", "polynomial", "rbf", "sigmoid")


def kernel(
    context: Context, x: Columns, vectors: Array, name: str, *, gamma: float, coef0: float, degree: float
) -> Columns:
    """Kernel values of each row with each vector, (vectors, features)."""
    if name == "linear":
        return x.affine(vectors.T)
    if name == "rbf":
        return context.function(squared(context, x, vectors), lambda d: np.exp(-gamma * d), "an RBF kernel")
    inner = x.affine(gamma * vectors.T, coef0)
    if name == "sigmoid":
        return context.function(inner, np.tanh, "a sigmoid kernel")
    return context.power(inner, int(degree), "a power of a kernel")


def _checked(estimator: Any, name: object, degree: float = 1) -> str:
    known = name in KERNELS and (
        name not in ("poly", "polynomial") or (degree >= 1 and degree == int(degree))
    )
    if not known:
        fail(
            ModelError,
            "Unsupported",
            f"{type(estimator).__name__} with kernel={name!r} is not supported. "
            "Take linear, rbf, sigmoid, or poly of a whole degree.",
            estimator=type(estimator).__name__,
            attribute="kernel",
        )
    return str(name)


def _support(estimator: Any) -> tuple[Array, dict[str, Any]]:
    name = _checked(estimator, estimator.kernel, estimator.degree)
    vectors = estimator.support_vectors_
    dense = np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors, float)
    return dense, {
        "name": name,
        "gamma": float(estimator._gamma),
        "coef0": float(estimator.coef0),
        "degree": estimator.degree,
    }


def _regressor(estimator: Any) -> Lowered:
    vectors, options = _support(estimator)
    weights, offset = np.asarray(estimator.dual_coef_, float).T, np.asarray(estimator.intercept_, float)

    def server(context: Context, x: Columns) -> Columns:
        return kernel(context, x, vectors, **options).affine(weights, offset)

    return Lowered(server, {"predict": After("flat")})


def pairs(estimator: Any) -> Array:
    """Weights of the support vectors in the decision of each pair of classes, (vectors, pairs)."""
    dual, counts = np.asarray(estimator.dual_coef_, float), estimator.n_support_
    starts = np.concatenate([[0], np.cumsum(counts)])
    found = []
    for i, j in combinations(range(len(counts)), 2):
        column = np.zeros(starts[-1])
        column[starts[i] : starts[i + 1]] = dual[j - 1, starts[i] : starts[i + 1]]
        column[starts[j] : starts[j + 1]] = dual[i, starts[j] : starts[j + 1]]
        found.append(column)
    return np.array(found).T


def _classifier(estimator: Any) -> Lowered:
    vectors, options = _support(estimator)
    classes = estimator.classes_
    binary = len(classes) == 2
    weights = np.asarray(estimator.dual_coef_, float).T if binary else pairs(estimator)
    offset = np.asarray(estimator.intercept_, float)

    def server(context: Context, x: Columns) -> Columns:
        return kernel(context, x, vectors, **options).affine(weights, offset)

    one_to_rest = RESULTS.then("one_to_rest", len(classes))
    if binary:
        methods = {"decision_function": After("flat"), "predict": by_sign(classes)}
    else:
        pairwise = estimator.decision_function_shape == "ovo"
        decision = RESULTS if pairwise else one_to_rest
        won = decision if estimator.break_ties else RESULTS.then("votes", len(classes))
        methods = {
            "decision_function": decision,
            "predict": won.then("largest").then("chosen", classes),
        }
    notes = ["The client takes the class of the decrypted decisions, by votes of the pairs of classes."]
    return Lowered(server, dict(methods), notes=notes)


def _one_class(estimator: Any) -> Lowered:
    found = _regressor(estimator)
    found.methods = {
        "decision_function": After("flat"),
        "predict": by_sign(np.array([-1, 1])),
        "score_samples": RESULTS.then("column", 0).then("plus", float(estimator.offset_[0])),
    }
    found.notes = ["The client takes the sign of the decrypted decision."]
    return found


def _gamma(estimator: Any, features: int) -> float:
    return 1.0 / features if estimator.gamma is None else float(estimator.gamma)


def _ridge(estimator: Any) -> Lowered:
    name = _checked(estimator, estimator.kernel, estimator.degree)
    vectors = np.asarray(estimator.X_fit_, float)
    gamma = _gamma(estimator, vectors.shape[1])
    dual = np.asarray(estimator.dual_coef_, float).reshape(len(vectors), -1)

    def server(context: Context, x: Columns) -> Columns:
        values = kernel(
            context, x, vectors, name, gamma=gamma, coef0=float(estimator.coef0), degree=estimator.degree
        )
        return values.affine(dual)

    return Lowered(server, {"predict": After("flat") if np.ndim(estimator.dual_coef_) == 1 else RESULTS})


def _nystroem(estimator: Any) -> Lowered:
    degree = 3 if estimator.degree is None else estimator.degree
    name = _checked(estimator, estimator.kernel, degree)
    vectors = np.asarray(estimator.components_, float)
    gamma = _gamma(estimator, vectors.shape[1])
    coef0 = 1.0 if estimator.coef0 is None else float(estimator.coef0)

    def server(context: Context, x: Columns) -> Columns:
        values = kernel(context, x, vectors, name, gamma=gamma, coef0=coef0, degree=degree)
        return values.affine(np.asarray(estimator.normalization_).T)

    return Lowered(server, {"transform": RESULTS})


def _fourier(estimator: Any) -> Lowered:
    weights, offset = np.asarray(estimator.random_weights_), np.asarray(estimator.random_offset_)
    scale = np.sqrt(2.0 / weights.shape[1])

    def server(context: Context, x: Columns) -> Columns:
        angles = x.affine(weights, offset)
        return context.function(angles, np.cos, "a random Fourier feature").scaled(scale)

    return Lowered(server, {"transform": RESULTS})


def _components(estimator: Any) -> Lowered:
    degree = 3 if estimator.degree is None else estimator.degree
    name = _checked(estimator, estimator.kernel, degree)
    vectors = np.asarray(estimator.X_fit_, float)
    gamma = float(getattr(estimator, "gamma_", _gamma(estimator, vectors.shape[1])))
    kept = np.flatnonzero(estimator.eigenvalues_)
    scaled = np.zeros_like(estimator.eigenvectors_)
    scaled[:, kept] = estimator.eigenvectors_[:, kept] / np.sqrt(estimator.eigenvalues_[kept])
    # Centring is affine in the kernel values.
    weights, offset = probed(lambda k: estimator._centerer.transform(k) @ scaled, len(vectors))

    def server(context: Context, x: Columns) -> Columns:
        coef0 = 1.0 if estimator.coef0 is None else float(estimator.coef0)
        return kernel(context, x, vectors, name, gamma=gamma, coef0=coef0, degree=degree).affine(
            weights, offset
        )

    return Lowered(server, {"transform": RESULTS})


def _terms(estimator: Any, covariance: Any, factor: float = 1.0) -> list[tuple[float, str, Array]]:
    """A covariance as a sum of kernels: (factor, kernel, scales or offset). Noise of single rows has none."""
    name = type(covariance).__name__
    if name == "Sum":
        return [*_terms(estimator, covariance.k1, factor), *_terms(estimator, covariance.k2, factor)]
    if name == "Product":
        for constant, other in ((covariance.k1, covariance.k2), (covariance.k2, covariance.k1)):
            if type(constant).__name__ == "ConstantKernel":
                return _terms(estimator, other, factor * float(constant.constant_value))
    if name == "RBF":
        return [(factor, "rbf", np.asarray(covariance.length_scale, float))]
    if name == "DotProduct":
        return [(factor, "linear", np.asarray(covariance.sigma_0, float) ** 2)]
    if name == "ConstantKernel":
        return [(factor * float(covariance.constant_value), "constant", np.zeros(()))]
    if name == "WhiteKernel":
        return []
    fail(
        ModelError,
        "Unsupported",
        f"{type(estimator).__name__} with the kernel {covariance} is not supported. "
        "Take sums of RBF, DotProduct, ConstantKernel and WhiteKernel, each times a constant.",
        estimator=type(estimator).__name__,
        attribute="kernel",
    )


def _process(estimator: Any) -> Lowered:
    vectors = np.asarray(estimator.X_train_, float)
    dual = np.asarray(estimator.alpha_, float).reshape(len(vectors), -1)
    terms = _terms(estimator, estimator.kernel_)

    def server(context: Context, x: Columns) -> Columns:
        parts = []
        for factor, name, number in terms:
            if name == "rbf":
                scales = np.broadcast_to(1 / number, vectors.shape[1])
                scaled = x.scaled(scales)
                values = kernel(context, scaled, vectors * scales, "rbf", gamma=0.5, coef0=0.0, degree=1)
            else:
                zero = np.zeros_like(vectors) if name == "constant" else vectors
                values = x.affine(zero.T, 1.0 if name == "constant" else float(number))
            parts.append(values.affine(factor * dual))
        total = Columns.added(parts, [1.0] * len(parts))
        return total.scaled(estimator._y_train_std, estimator._y_train_mean)

    return Lowered(server, {"predict": After("flat") if np.ndim(estimator.alpha_) == 1 else RESULTS})


CONVERTERS: dict[str, Callable[[Any], Lowered]] = {
    "SVC": _classifier,
    "NuSVC": _classifier,
    "SVR": _regressor,
    "NuSVR": _regressor,
    "OneClassSVM": _one_class,
    "GaussianProcessRegressor": _process,
    "KernelPCA": _components,
    "KernelRidge": _ridge,
    "Nystroem": _nystroem,
    "RBFSampler": _fourier,
}
