"""What encryption and polynomials change of a model's predictions: the accuracy report."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmill.models.records import slots_of

if TYPE_CHECKING:
    from ringmill.models.model import Model

#: Rows whose labels differ that a report lists.
LISTED = 20
#: Parts of the slots that a plan shows.
CELLS = 64


@dataclass(frozen=True, slots=True)
class Report:
    """A model on some rows: clear, with polynomials in the clear, and encrypted.

    Attributes
    ----------
        title: of the report.
        rows: number of rows.
        scores: accuracy, or R² of a regressor, by kind ("clear", "approximated", "encrypted"); empty without
            true values.
        flips: rows whose encrypted prediction is another class than the clear one; empty for regressors.
        approximation: largest distance of a result with polynomials from the exact one, over the largest
            result.
        encryption: largest distance of a decrypted result from the one with polynomials, likewise.
        predicted: the part of `Compiled.error_parts` for ``encryption``.
        functions: (where, error) of every polynomial.
        seconds: by step: compile, keygen, encrypt, evaluate, decrypt.
        processor: seconds that the processor spent on encrypt, evaluate, decrypt, in all threads.
        bytes_up, bytes_down: of arguments and results, for each row of a full batch.
        key_bytes: of evaluation keys.
        notes: what the client does.
        facts: parameters, levels, rows of a batch, in a line each.
        plan: of a record in one ciphertext, each linear map: ``name`` of what follows it, its ``diagonals``
            and ``rotations``, where its ``results`` stand, and ``cells``, the share of each 64th of the
            slots that they take.
    """

    title: str
    rows: int
    scores: dict[str, float]
    flips: list[int]
    approximation: float
    encryption: float
    predicted: float
    functions: list[tuple[str, float]]
    seconds: dict[str, float]
    processor: dict[str, float]
    bytes_up: float
    bytes_down: float
    key_bytes: int
    notes: list[str]
    facts: dict[str, str]
    plan: list[dict[str, Any]]

    @classmethod
    def of(cls, model: Model, X: Any, y: Any, title: str | None) -> Report:
        """Run a model on rows in the three ways."""
        estimator, compiled, keys = model.estimator, model.compiled, model.keys
        seconds, processor = dict(model.seconds), {}

        def timed(step: str, work: Callable[[], Any]) -> Any:
            start, spent = time.perf_counter(), time.process_time()
            made = work()
            seconds[step] = time.perf_counter() - start
            processor[step] = time.process_time() - spent
            return made

        units = model.units(X)
        arguments = timed("encrypt", lambda: model.encrypt_units(keys, units))
        evaluated = timed("evaluate", lambda: model.evaluate(keys, arguments))
        encrypted = timed("decrypt", lambda: model.results(keys, evaluated))
        batches = -(-len(units) // model.rows)
        approximated = model.clear(units)
        exact = model.clear(units, exact=True)
        scale = model.scale
        methods = model._lowered.methods
        found = {
            kind: _predicted(methods, d)
            for kind, d in (("approximated", approximated), ("encrypted", encrypted))
        }
        found["clear"] = np.asarray(estimator.predict(X)) if hasattr(estimator, "predict") else None
        scores = {}
        labels = found["clear"] is not None and found["clear"].dtype.kind not in "fc"
        if y is not None and found["clear"] is not None:
            measure = _accuracy if labels else _r2
            scores = {
                kind: measure(np.asarray(y), found[kind]) for kind in ("clear", "approximated", "encrypted")
            }
        flips = []
        if labels:
            differ = np.any(np.reshape(found["clear"] != found["encrypted"], (len(units), -1)), axis=1)
            flips = [int(row) for row in np.flatnonzero(differ)]
        return cls(
            title=title or f"{type(estimator).__name__} on encrypted records",
            rows=len(units),
            scores=scores,
            flips=flips,
            approximation=float(np.max(np.abs(approximated - exact) / scale)),
            encryption=float(np.max(np.abs(encrypted - approximated) / scale)),
            predicted=2.0 ** max(part["encryption"] for part in compiled.error_parts.values()),
            functions=model.functions,
            seconds=seconds,
            processor=processor,
            bytes_up=len(arguments.to_bytes()) / batches / model.rows,
            bytes_down=len(evaluated.to_bytes()) / batches / model.rows,
            key_bytes=keys.evaluation.nbytes,
            notes=list(model.notes),
            facts={
                "parameters": repr(compiled.params),
                "levels": str(compiled.cost["levels"]),
                "rows of one evaluation": f"{model.rows:,}",
                "packing": (
                    "a record in one ciphertext"
                    if model.stages
                    else "rows along the slots, a ciphertext a feature"
                ),
                "bootstrappings": str(len(compiled.bootstraps)),
                "predicted for one evaluation": (
                    f"{model.cost['seconds']:.3g} s on one core, {model.cost['peak_bytes'] / 2**20:,.0f} MiB"
                ),
                "margin of ranges": f"{model.options.margin:g} of the calibrated width, on both sides",
                "encrypted features": str(len(model.features.varying)),
            },
            plan=_plan(model),
        )

    def lines(self) -> list[tuple[str, str]]:
        """The figures, each with its name."""
        reported = [("rows", f"{self.rows:,}")]
        reported += [(f"score, {kind}", f"{score:.4f}") for kind, score in self.scores.items()]
        if self.flips or self.scores:
            listed = ", ".join(map(str, self.flips[:LISTED])) + (", …" if len(self.flips) > LISTED else "")
            reported.append(
                ("labels that differ", f"{len(self.flips)}" + (f" (rows {listed})" if listed else ""))
            )
        reported.append(("largest error of polynomials", f"{self.approximation:.2g} of the largest result"))
        reported.append(
            ("largest error of encryption", f"{self.encryption:.2g} (predicted at most {self.predicted:.2g})")
        )
        reported += [(f"polynomial for {name}", f"error {error:.2g}") for name, error in self.functions]
        reported += [(f"seconds, {step}", f"{value:.3g}") for step, value in self.seconds.items()]
        spent = ", ".join(f"{value:.3g}" for value in self.processor.values())
        reported.append(("seconds of the processor", f"{spent} ({', '.join(self.processor)})"))
        reported.append(("bytes of a row, up and down", f"{self.bytes_up:,.0f}, {self.bytes_down:,.0f}"))
        reported.append(("bytes of evaluation keys", f"{self.key_bytes:,}"))
        return [*reported, *self.facts.items()]

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.lines())
        lines = [self.title, *(f"  {name:<{width}}  {value}" for name, value in self.lines())]
        return "\n".join([*lines, *(f"  - {note}" for note in self.notes)])

    def facts_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return asdict(self)

    def html(self) -> str:
        """The report as a page of its own; needs the extra ``report``."""
        from ringmill import __version__
        from ringmill.report.page import template

        return template("ringmill.models", "report.html").render(report=self, version=__version__)

    def save(self, path: str | Path) -> Path:
        """Write the page; returns its path."""
        from ringmill.atomic import write_text

        write_text(Path(path), self.html())
        return Path(path)


def _plan(model: Model) -> list[dict[str, Any]]:
    """The linear maps of a record, and which parts of the slots their results take."""
    stages = model.stages
    if not stages:
        return []
    slots = slots_of(model.features.count, stages)
    count = min(CELLS, slots)
    rows = []
    for stage in stages:
        taken = np.bincount(stage.places * count // slots, minlength=count) * count / slots
        rows.append(
            {
                "name": stage.name,
                "results": "where operands stand" if stage.kept else "close together",
                "diagonals": stage.diagonals,
                "rotations": stage.rotations,
                "cells": [round(float(share), 3) for share in taken],
            }
        )
    return rows


def _predicted(methods: dict[str, Any], results: Any) -> Any:
    return np.asarray(methods["predict"](results)) if "predict" in methods else None


def _accuracy(y: Any, found: Any) -> float:
    return float(np.mean(y == found))


def _r2(y: Any, found: Any) -> float:
    return float(1 - np.sum((y - found) ** 2) / np.sum((y - np.mean(y, axis=0)) ** 2))
