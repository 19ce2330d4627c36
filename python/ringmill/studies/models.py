"""Ten estimators on three real data sets: what encryption changes.

    python -m ringmill.studies.models [--out FILE] [--only NAME …] [--data NAME …] [--speed]
        [--peer PYTHON] [--concrete PYTHON]
    python -m ringmill.studies.models --print [FILE]

Each estimator is fitted to one half of a data set and predicts the other half, in the clear and encrypted. A
row of the file has both scores, the rows whose label differs, time of the processor, and bytes. Rows take the
place of those of the same pair in the file. ``--speed`` measures logistic regression instead, beside TenSEAL
and Concrete ML if their interpreters are given. ``--print`` prints what a file holds.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ringmill.atomic import write_text
from ringmill.models import from_sklearn
from ringmill.studies.model_speed import ROOT, speed
from ringmill.studies.stored import text_of

Row = dict[str, Any]
STORED = ROOT / "docs" / "measured" / "models.json"

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
            MLPClassifier((16,), activation="tanh", alpha=1.0, max_iter=3000, random_state=0)
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


def page(stored: dict[str, list[Row]]) -> str:
    """The tables of a file of this study, for ``docs/models.md``."""
    rows = stored["rows"]
    names = list(dict.fromkeys(row["data"] for row in rows))
    lines = [f"| estimator | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for estimator in dict.fromkeys(row["estimator"] for row in rows):
        cells = {row["data"]: _cell(row) for row in rows if row["estimator"] == estimator}
        lines.append(f"| {estimator} | {' | '.join(cells.get(name, '') for name in names)} |")
    lines += [
        "",
        "| library | rows a second | encrypt, evaluate, decrypt | bytes of a row up |",
        "|---|---|---|---|",
    ]
    for row in stored["speed"]:
        steps = ", ".join(
            f"{1e3 * row['seconds'][step]:.3g} ms" for step in ("encrypt", "evaluate", "decrypt")
        )
        lines.append(f"| {row['library']} | {row['rows_a_second']:,} | {steps} | {row['bytes_up']:,} |")
    ours = stored["speed"][0]
    lines += [
        "",
        f"{ours['rows']:,} rows of 30 features a batch. One row alone, in one ciphertext of "
        f"{ours['single_row_bytes_up']:,} bytes, takes {1e3 * ours['single_row_seconds']:.3g} ms; "
        f"`from_sklearn` and the first prediction take "
        f"{ours['first_processor_seconds']:.2g} s of the processor.",
        "",
    ]
    for row in stored.get("digits", []):
        spent = row["seconds"]
        lines += [
            f"A convolutional network on hand-written digits, from ONNX: {row['images']:,} images take "
            f"{spent['evaluate']:.3g} s to evaluate, {spent['encrypt']:.3g} s to encrypt, and "
            f"{row['bytes_up']:,} bytes each. Of {row['unseen']:,} images that training never saw "
            f"{row['encrypted']:.1%} are read right, {row['clear']:.1%} in the clear; "
            f"{row['flips']} labels differ. One image alone, in one ciphertext of "
            f"{row['single']['bytes_up']:,} bytes, takes {row['single']['seconds']:.3g} s to evaluate.",
            "",
        ]
    return "\n".join(lines)


def _cell(row: Row) -> str:
    spent = sum(row["seconds"].values())
    return f"{row['clear']:.1%}, {row['encrypted']:.1%}, {row['flips']} of {row['rows']}, {spent:.2g} s"


def merged(old: list[Row], new: list[Row]) -> list[Row]:
    """Rows with the new ones in place of those of the same pairs."""
    known = {(row["data"], row["estimator"]): row for row in [*old, *new]}
    order = {name: at for at, name in enumerate([*data(), *estimators()])}
    return [known[key] for key in sorted(known, key=lambda key: [order[name] for name in key])]


def main() -> int:
    """Run all pairs, print a line each, and write the rows."""
    parser = argparse.ArgumentParser(prog="python -m ringmill.studies.models", description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--print", dest="stored", type=Path, nargs="?", const=STORED)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--peer", type=Path, help="interpreter of an environment with TenSEAL")
    parser.add_argument("--concrete", type=Path, help="interpreter of an environment with Concrete ML")
    parser.add_argument("--only", nargs="+", choices=list(estimators()), default=list(estimators()))
    parser.add_argument("--data", nargs="+", choices=list(data()), default=list(data()))
    options = parser.parse_args()
    if options.stored:
        print(page(json.loads(options.stored.read_text(encoding="utf-8"))))
        return 0
    stored: dict[str, list[Row]] = {"rows": [], "speed": []}
    if options.out and options.out.exists():
        stored = json.loads(options.out.read_text(encoding="utf-8"))
    if options.speed:
        stored["speed"] = speed(options.peer, options.concrete)
        for measured in stored["speed"]:
            print(measured)
        _written(options.out, stored)
        return 0
    for dataset in options.data:
        x, y = data()[dataset]()
        for name in options.only:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = row(name, estimators()[name](), dataset, x, y)
            stored["rows"] = merged(stored["rows"], [made])
            _written(options.out, stored)
            print(
                f"{dataset:<8} {name:<24} clear {made['clear']:.4f}  encrypted {made['encrypted']:.4f}  "
                f"flips {made['flips']} of {made['rows']}  {made['seconds']['evaluate']} s",
                flush=True,
            )
    return 0


def _written(out: Path | None, stored: dict[str, list[Row]]) -> None:
    if out:
        write_text(out, text_of(stored))


if __name__ == "__main__":
    raise SystemExit(main())
