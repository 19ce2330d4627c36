"""Ten estimators on three real data sets: what encryption changes.

    python -m ringmill.studies.models [--out FILE] [--only NAME …] [--data NAME …]

Each estimator is fitted to one half of a data set and predicts the other half, in the clear and encrypted. A
row of the file has both scores, the rows whose label differs, and the time and bytes of a row.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ringmill.atomic import write_text
from ringmill.models import from_sklearn
from ringmill.studies.stored import text_of

Row = dict[str, Any]

#: Bits of results: labels need no more, and kernels of large values allow 18.
PRECISION = 16


def _scaled(estimator: Any, *steps: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), *steps, estimator)


def estimators() -> dict[str, Callable[[], Any]]:
    """Return what makes each estimator, by its name."""
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import NearestCentroid
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC, LinearSVC

    return {
        "logistic regression": lambda: _scaled(LogisticRegression(max_iter=5000)),
        "linear SVC": lambda: _scaled(LinearSVC()),
        "ridge": lambda: _scaled(RidgeClassifier()),
        "linear discriminants": lambda: _scaled(LinearDiscriminantAnalysis()),
        "quadratic discriminants": lambda: _scaled(QuadraticDiscriminantAnalysis(reg_param=0.1), PCA(8)),
        "naive Bayes": lambda: _scaled(GaussianNB(var_smoothing=1e-2)),
        "nearest centroid": lambda: _scaled(NearestCentroid()),
        "SVC, polynomial kernel": lambda: _scaled(SVC(kernel="poly", degree=2), PCA(8)),
        "SVC, RBF kernel": lambda: _scaled(SVC(), PCA(8)),
        "perceptron, tanh": lambda: _scaled(
            MLPClassifier((16,), activation="tanh", max_iter=3000, random_state=0)
        ),
    }


def data() -> dict[str, Callable[[], tuple[Any, Any]]]:
    """Return what loads each data set, by its name."""
    from sklearn import datasets

    def loaded(load: Callable[..., Any]) -> Callable[[], tuple[Any, Any]]:
        return lambda: load(return_X_y=True)

    return {
        "tumours": loaded(datasets.load_breast_cancer),
        "wine": loaded(datasets.load_wine),
        "digits": loaded(datasets.load_digits),
    }


def row(name: str, estimator: Any, dataset: str, x: Any, y: Any) -> Row:
    """Fit on the even rows, predict the odd ones, encrypted and in the clear."""
    order = np.random.default_rng(0).permutation(len(x))
    train, test = order[::2], order[1::2]
    estimator.fit(x[train], y[train])
    model = from_sklearn(estimator, x[train], margin=0.25, outside="clip", precision=PRECISION)
    found = model.report(x[test], y[test])
    spent = {step: round(found.processor[step], 4) for step in ("encrypt", "evaluate", "decrypt")}
    batches = -(-found.rows // model.rows)
    return {
        "estimator": name,
        "data": dataset,
        "rows": found.rows,
        "features": model.features.count,
        "classes": len(set(y.tolist())),
        "clear": round(found.scores["clear"], 4),
        "encrypted": round(found.scores["encrypted"], 4),
        "flips": len(found.flips),
        "error": found.encryption,
        "predicted_error": found.predicted,
        "levels": model.compiled.cost["levels"],
        "seconds": spent,
        "rows_a_second_full": round(batches * model.rows / sum(spent.values())),
        "bytes_up": round(found.bytes_up),
        "bytes_down": round(found.bytes_down),
    }


def main() -> int:
    """Run all pairs, print a line each, and write the rows."""
    parser = argparse.ArgumentParser(prog="python -m ringmill.studies.models", description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", nargs="+", choices=list(estimators()), default=list(estimators()))
    parser.add_argument("--data", nargs="+", choices=list(data()), default=list(data()))
    options = parser.parse_args()
    rows = []
    for dataset in options.data:
        x, y = data()[dataset]()
        for name in options.only:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = row(name, estimators()[name](), dataset, x, y)
            rows.append(made)
            print(
                f"{dataset:<8} {name:<24} clear {made['clear']:.4f}  encrypted {made['encrypted']:.4f}  "
                f"flips {made['flips']} of {made['rows']}  {made['seconds']['evaluate']} s",
                flush=True,
            )
    if options.out:
        write_text(options.out, text_of({"rows": rows}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
