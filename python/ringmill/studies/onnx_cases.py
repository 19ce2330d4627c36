"""The test cases of the package onnx: each is right, or refused with a reason.

    python -m ringmill.studies.onnx_cases [--out FILE] [--suite NAME …]
    python -m ringmill.studies.onnx_cases --encrypted [--most ELEMENTS] [--suite NAME …]
    python -m ringmill.studies.onnx_cases --print [FILE]

Cases of nodes, and the models converted from PyTorch, of its operators, and the simple ones. A case is taken
if all of its operators are listed in docs/models.md and its first input is a tensor of at most 2^15 floats.
This input varies, as an encrypted one does; the others are constants. Older models are converted to opset 13.
Without ``--encrypted`` models are evaluated in the clear, with polynomials; with it encrypted, a record in a
ciphertext, those of few elements.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ringmill.atomic import write_text
from ringmill.errors import ModelError, RingmillError, fail
from ringmill.studies.stored import text_of

Row = dict[str, Any]
STORED = Path(__file__).resolve().parents[3] / "docs" / "measured" / "onnx-cases.json"
SUITES = ("node", "pytorch-converted", "pytorch-operator", "simple")
#: Elements of the first input at most.
MOST = 1 << 15
#: In names of cases whose operand has equal values: noise decides which of them is the largest.
TIES = ("select_last_index", "hardmax_one_hot")
#: Distance from the expected results, of the largest: polynomials of degree 63, and kinks.
CLOSE = 0.05


@dataclass(frozen=True)
class Case:
    """A model with inputs and the outputs that they give."""

    suite: str
    name: str
    model: Any
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]

    @property
    def operators(self) -> list[str]:
        """Operators of the model, each once."""
        return sorted({node.op_type for node in self.model.graph.node} - {"Constant"})


def cases(suite: str) -> Iterator[Case]:
    """Cases of listed operators whose first input is a tensor of floats, not too large."""
    from ringmill.models.onnx import nodes

    for case in _all(suite):
        operators, first = set(case.operators), case.inputs[0] if case.inputs else None
        arrays = all(isinstance(value, np.ndarray) for value in (*case.inputs, *case.outputs[:1]))
        if not arrays or first is None or not case.outputs or not operators <= nodes.SUPPORTED:
            continue
        if first.dtype in (np.float32, np.float64) and first.ndim and 0 < first.size <= MOST:
            yield case


def _all(suite: str) -> Iterator[Case]:
    if suite == "node":
        from onnx.backend.test.case.node import collect_testcases

        with warnings.catch_warnings():
            # Casts of infinities, on purpose.
            warnings.simplefilter("ignore")
            collected = collect_testcases(None)
        for found in collected:
            if found.model is not None and found.data_sets:
                inputs, outputs = found.data_sets[0]
                yield Case(suite, found.name, found.model, tuple(inputs), tuple(outputs))
        return
    import onnx
    from onnx.backend.test.loader import load_model_tests

    for found in load_model_tests(kind=suite):
        folder = Path(str(found.model_dir))
        model = onnx.load(folder / "model.onnx")
        data = sorted(folder.glob("test_data_set_*"))
        if data:
            yield Case(suite, found.name, model, _tensors(data[0], "input"), _tensors(data[0], "output"))


def _tensors(folder: Path, kind: str) -> tuple[Any, ...]:
    import onnx

    read = []
    for number in range(len(list(folder.glob(f"{kind}_*.pb")))):
        tensor = onnx.TensorProto()
        tensor.ParseFromString((folder / f"{kind}_{number}.pb").read_bytes())
        read.append(onnx.numpy_helper.to_array(tensor))
    return tuple(read)


def outcome(case: Case, *, encrypted: bool = False) -> str:
    """Nothing for the right results; why it is refused; or "wrong: …"."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found, want = _found(case, encrypted), np.asarray(case.outputs[0], float)
        except RingmillError as refused:
            return str(refused)
    if want.shape[:1] == (1,) and found.shape == want.shape[1:]:
        found = found[None]
    if found.shape != want.shape:
        return f"wrong: shape {found.shape} instead of {want.shape}"
    scale = max(1.0, float(np.abs(want[np.isfinite(want)]).max(initial=0.0)))
    apart = float(np.nanmax(np.abs(found - want), initial=0.0)) / scale
    return "" if apart <= CLOSE else f"wrong: {apart:.2g} of the largest value apart"


def _found(case: Case, encrypted: bool) -> Any:
    import onnx
    from onnx import version_converter

    from ringmill.models.onnx import from_onnx, nodes

    file = onnx.ModelProto()
    file.CopyFrom(case.model)
    opset = max((o.version for o in file.opset_import if o.domain in ("", "ai.onnx")), default=0)
    if opset < 13:
        try:
            file = version_converter.convert_version(file, 13)
        except Exception as refused:
            said = str(refused).split("\n")[0].rstrip(".")[:80]
            fail(ModelError, "Opset", f"onnx.version_converter does not convert it to opset 13: {said}.")
    known = {i.name for i in file.graph.initializer}
    names = [i.name for i in file.graph.input if i.name not in known]
    for name, value in zip(names[1:], case.inputs[1:], strict=False):
        file.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    kept = [i for i in file.graph.input if i.name == names[0]]
    # Before version 4 every constant was an input too.
    file.ir_version = max(file.ir_version, 8)
    del file.graph.input[:]
    file.graph.input.extend(kept)
    # Records near the one of the case, so that every feature varies.
    first = case.inputs[0]
    near = np.random.default_rng(11).uniform(-0.05, 0.05, (3, *first.shape))
    x = first[None] + np.concatenate([np.zeros((1, *first.shape)), near])
    asked = sorted(nodes.REQUEST & set(case.operators))
    if encrypted:
        model = from_onnx(file, x, margin=0.01, approximate=asked, precision=12, rows=1, layout="record")
        return np.asarray(model.predict(x[:1])[0], float)
    model = from_onnx(file, x, margin=0.01, approximate=asked)
    return np.asarray(model.approximated(x)[0], float)


def row(case: Case, *, encrypted: bool = False) -> Row:
    """A case with its outcome."""
    said = outcome(case, encrypted=encrypted)
    kind = "right" if not said else "wrong" if said.startswith("wrong") else "refused"
    made = {"suite": case.suite, "case": case.name, "operators": case.operators, "outcome": kind}
    return {**made, "why": said} if said else made


def page(rows: list[Row]) -> str:
    """The tables for ``docs/models.md``: counts by suite, and the operators of what is refused."""
    lines = ["| test cases | taken | right | refused | wrong |", "|---|---|---|---|---|"]
    for suite in SUITES:
        of = Counter(row["outcome"] for row in rows if row["suite"] == suite)
        lines.append(f"| {suite} | {sum(of.values())} | {of['right']} | {of['refused']} | {of['wrong']} |")
    refused: dict[str, list[str]] = {}
    for each in rows:
        if each["outcome"] != "right":
            refused.setdefault(", ".join(f"`{op}`" for op in each["operators"]), []).append(each["why"])
    lines += ["", "| refused: operators | cases | the first reason |", "|---|---|---|"]
    for operators, why in sorted(refused.items()):
        lines.append(f"| {operators} | {len(why)} | {why[0].replace('|', chr(92) + '|')} |")
    return "\n".join([*lines, ""])


def main() -> int:
    """Run the cases, print what is not right, and write the rows."""
    parser = argparse.ArgumentParser(prog="python -m ringmill.studies.onnx_cases", description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--suite", nargs="+", choices=SUITES, default=list(SUITES))
    parser.add_argument("--print", dest="stored", type=Path, nargs="?", const=STORED)
    parser.add_argument("--encrypted", action="store_true")
    parser.add_argument("--most", type=int, default=256, help="elements of a case that is encrypted")
    options = parser.parse_args()
    if options.stored:
        print(page(json.loads(options.stored.read_text(encoding="utf-8"))["rows"]))
        return 0
    rows = []
    for suite in options.suite:
        for case in cases(suite):
            if options.encrypted and (
                case.inputs[0].size > options.most or any(name in case.name for name in TIES)
            ):
                continue
            rows.append(row(case, encrypted=options.encrypted))
            if rows[-1]["outcome"] != "right":
                print(f"{suite} {case.name}: {rows[-1]['why']}", flush=True)
    if options.encrypted:
        print(dict(Counter(each["outcome"] for each in rows)))
    if options.out:
        write_text(options.out, text_of({"rows": rows}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
