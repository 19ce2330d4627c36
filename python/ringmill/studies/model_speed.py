"""How fast logistic regression of 30 features is: rows a second, bytes of a row, the first prediction.

Times are those of the processor, in all threads of the process; the least of some runs.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ringmill.models import from_sklearn
from ringmill.models.columns import Columns

Row = dict[str, Any]
ROOT = Path(__file__).resolve().parents[3]
STEPS = ("encrypt", "evaluate", "decrypt")
#: Runs of each step.
REPEATS = 5
#: Rows for a library that takes them one at a time.
FEW = 50


def speed(peer: Path | None = None, concrete: Path | None = None) -> list[Row]:
    """A row for Ringmill, and one for each peer whose interpreter is there.

    TenSEAL has the same rows and weights. Concrete ML has the same training rows, and learns by itself.
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = load_breast_cancer(return_X_y=True)
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(x, y)
    start, spent = time.perf_counter(), time.process_time()
    model = from_sklearn(fitted, x)
    model.predict(x[:5])
    first = {
        "first_seconds": round(time.perf_counter() - start, 3),
        "first_processor_seconds": round(time.process_time() - spent, 3),
    }
    rows = np.resize(x, (model.rows, x.shape[1]))
    runs = [_timed(model, rows) for _ in range(REPEATS)]
    alone = from_sklearn(fitted, x, rows=1)
    single = [_timed(alone, x[:1])[0] for _ in range(REPEATS)]
    sent, back, labels = runs[0][1]
    least = {step: min(seconds[step] for seconds, _ in runs) for step in STEPS}
    ours = _row("Ringmill", least, len(rows), len(sent.to_bytes()) / len(rows))
    ours |= {
        "bytes_down": round(len(back.to_bytes()) / len(rows)),
        "bytes_up_secret": round(len(model.encrypt(model.keys.secret, rows).to_bytes()) / len(rows)),
        "single_row_seconds": round(min(sum(one.values()) for one in single), 5),
        "single_row_layout": alone.layout,
        "single_row_bytes_up": len(alone.encrypt(alone.keys.public, x[:1]).to_bytes()),
        "flips": int(np.sum(labels != fitted.predict(rows))),
        **first,
    }
    found = [ours]
    if peer is not None:
        found.append(_peer(peer, model, rows))
    if concrete is not None:
        scaled = fitted[0].transform(x)
        found.append(_concrete(concrete, scaled, y, scaled[:FEW], fitted.predict(x[:FEW])))
    return found


def _timed(model: Any, rows: Any) -> tuple[dict[str, float], list[Any]]:
    """Seconds of the processor for each step, and what each gives: arguments, results, labels."""
    keys, found = model.keys, rows
    steps: list[Callable[[Any], Any]] = [
        lambda given: model.encrypt(keys.public, given),
        lambda given: model.evaluate(keys, given),
        lambda given: model.decrypt(keys, given),
    ]
    clock, values = [time.process_time()], []
    for step in steps:
        found = step(found)
        clock.append(time.process_time())
        values.append(found)
    return dict(zip(STEPS, np.diff(clock).tolist(), strict=True)), values


def _row(name: str, least: dict[str, float], rows: int, up: float) -> Row:
    return {
        "library": name,
        "rows": rows,
        "seconds": {step: round(value, 5) for step, value in least.items()},
        "rows_a_second": round(rows / sum(least.values())),
        "bytes_up": round(up),
    }


def _peer(python: Path, model: Any, rows: Any) -> Row:
    """TenSEAL on the same numbers between −1 and 1, with the decision's weights on them."""
    found = model._lowered.server(
        model._context, Columns.of_features(model.features, [np.zeros(1)] * rows.shape[1])
    )
    asked = {
        "rows": model.units(rows).tolist(),
        "weights": (found.weights[:, [0]].toarray()[:, 0] / model.scale[0]).tolist(),
        "offset": float(found.offset[0] / model.scale[0]),
        "first": 40,
        "scale": 37,
        "repeats": REPEATS,
    }
    said = _asked(python, "tenseal_logistic.py", asked)
    least = {step: said[step] for step in STEPS}
    return {**_row(said["name"], least, len(rows), said["bytes_up"]), "error": said["error"]}


def _concrete(python: Path, train: Any, labels: Any, rows: Any, own: Any) -> Row:
    """Concrete ML fitted to the same rows; ``flips`` are labels that differ from scikit-learn's."""
    asked = {
        "train": train.tolist(),
        "labels": labels.tolist(),
        "rows": rows.tolist(),
        "repeats": REPEATS,
    }
    said = _asked(python, "concrete_logistic.py", asked)
    least = {step: said[step] for step in STEPS}
    flips = int(np.sum(np.array(said["labels"]) != own))
    return {**_row(said["name"], least, len(rows), said["bytes_up"]), "flips": flips}


def _asked(python: Path, program: str, request: dict[str, Any]) -> Any:
    done = subprocess.run(
        [str(python), str(ROOT / "benches" / "peers" / program)],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
    )
    # Libraries may write lines before the answer.
    return json.loads(done.stdout.splitlines()[-1])
