"""ONNX models on encrypted records: against the package's own test cases and its reference implementation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from networks import convolutional, made, network, single
from onnx import TensorProto, helper
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator

import ringmill as rm
from ringmill.models.onnx import nodes, page

ROOT = Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(11)


def test_a_perceptron_predicts_encrypted() -> None:
    file, x = network(4), RNG.uniform(-1, 1, (40, 4))
    model = rm.from_onnx(file, x)
    own = ReferenceEvaluator(file).run(None, {"x": x.astype(np.float32)})[0]
    assert model.notes == ["The client runs Softmax at 'Softmax of y' after decryption."]
    ((_, error),) = model.functions
    assert error <= 1e-3
    found = model.predict(x)
    np.testing.assert_allclose(found, own, atol=2e-3)
    np.testing.assert_allclose(found, model.approximated(x), atol=1e-5)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_a_convolutional_network_is_a_sum_a_function_and_a_sum() -> None:
    file, x = convolutional(), RNG.uniform(-1, 1, (30, 1, 4, 4))
    model = rm.from_onnx(file, x)
    own = ReferenceEvaluator(file).run(None, {"x": x.astype(np.float32)})[0]
    assert len(model.functions) == 1
    # ReLU has a kink: the report says how close its polynomial comes.
    assert np.max(np.abs(model.approximated(x) - own)) <= 20 * model.functions[0][1]


def test_a_file_is_read_from_its_path(tmp_path: Path) -> None:
    file, x = network(3), RNG.uniform(-1, 1, (20, 3))
    onnx.save(file, tmp_path / "network.onnx")
    model = rm.from_onnx(tmp_path / "network.onnx", x)
    np.testing.assert_allclose(model.approximated(x), rm.from_onnx(file, x).approximated(x))


def test_several_outputs_are_a_list() -> None:
    steps = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("ArgMax", ["a"], ["b"], axis=1)]
    x = RNG.uniform(-1, 1, (10, 3))
    w = single(3, 4)
    model = rm.from_onnx(made(steps, {"w": w}, ["N", 3], ["a", "b"]), x)
    found, labels = model.outputs(x)
    np.testing.assert_allclose(found, x @ w, atol=1e-4)
    np.testing.assert_array_equal(labels[:, 0], np.argmax(found, axis=1))


#: Test cases of the package in `make test`; all of them are in `make test-full`.
FEW = 40
#: Of the largest expected value: polynomials of degree 63, and kinks.
CLOSE = 0.05


def _cases() -> Iterator[Any]:
    """Test cases of supported operators whose first input is a small tensor of floats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            if case.model is None or not case.data_sets:
                continue
            inputs, outputs = case.data_sets[0]
            arrays = all(isinstance(value, np.ndarray) for value in (*inputs, outputs[0]))
            operators = {node.op_type for node in case.model.graph.node}
            if not arrays or not inputs or not operators <= nodes.SUPPORTED | {"Constant"}:
                continue
            first = inputs[0]
            if first.dtype in (np.float32, np.float64) and first.ndim and 0 < first.size <= 600:
                yield case


def _run(case: Any) -> str:
    """One case with its first input encrypted and the others constant: right, or refused."""
    (first, *others), (want, *_) = case.data_sets[0]
    file = onnx.ModelProto()
    file.CopyFrom(case.model)
    names = [i.name for i in file.graph.input]
    for name, value in zip(names[1:], others, strict=False):
        file.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    del file.graph.input[1:]
    # Records near the one of the case, so that every feature varies.
    x = first[None] + np.concatenate(
        [np.zeros((1, *first.shape)), RNG.uniform(-0.05, 0.05, (3, *first.shape))]
    )
    try:
        model = rm.from_onnx(file, x, margin=0.01)
        found = model.approximated(x)[0]
    except rm.RingmillError as refused:
        return str(refused)
    if want.shape[:1] == (1,) and found.shape == want.shape[1:]:
        found = found[None]
    assert found.shape == want.shape, case.name
    finite = want[np.isfinite(want)]
    scale = max(1.0, float(np.abs(finite).max(initial=0.0)))
    assert np.nanmax(np.abs(found - want), initial=0.0) <= CLOSE * scale, case.name
    return ""


def _conforms(cases: list[Any], least: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = [_run(case) for case in cases]
    right = sum(not said for said in outcomes)
    assert right >= least * len(cases), {said for said in outcomes if said}
    assert all(said.endswith(".") for said in outcomes if said)


def test_cases_of_the_package_are_right_or_refused() -> None:
    cases = list(_cases())
    _conforms(cases[:: max(1, len(cases) // FEW)], 0.8)


@pytest.mark.long
def test_all_cases_of_the_package_are_right_or_refused() -> None:
    _conforms(list(_cases()), 0.85)


def _bad(op: str, **attributes: Any) -> Any:
    return made([helper.make_node(op, ["x"], ["y"], **attributes)], {}, ["N", 4], ["y"])


def _wrong(folder: Path) -> Iterator[tuple[str, Callable[[], Any], str]]:
    x = RNG.uniform(-1, 1, (10, 4))
    good = network(4)
    yield "no model", lambda: rm.from_onnx(3, x), "A int is no model"
    yield "no file", lambda: rm.from_onnx(folder / "none.onnx", x), "cannot be read as an ONNX file"
    (folder / "junk.onnx").write_bytes(b"junk")
    yield "junk", lambda: rm.from_onnx(folder / "junk.onnx", x), "."
    yield "shape", lambda: rm.from_onnx(good, x[:, :3]), "X has shape (10, 3) of float64; give numbers of"
    yield "text", lambda: rm.from_onnx(good, [["a"] * 4]), "give numbers of shape (rows, 4)"
    yield "operator", lambda: rm.from_onnx(_bad("Round"), x), "'Round of y' (Round)"
    custom = made([helper.make_node("Magic", ["x"], ["y"], domain="my.own")], {}, ["N", 4], ["y"])
    yield "custom", lambda: rm.from_onnx(custom, x), "Custom domains: my.own"
    old = made([helper.make_node("Relu", ["x"], ["y"])], {}, ["N", 4], ["y"], opset=9)
    yield "opset", lambda: rm.from_onnx(old, x), "The model has opset 9; 13 is the oldest"
    steps = [helper.make_node("Softmax", ["x"], ["s"]), helper.make_node("Neg", ["s"], ["y"])]
    yield "middle", lambda: rm.from_onnx(made(steps, {}, ["N", 4], ["y"]), x), "it may only end a model"
    yield "pole", lambda: rm.from_onnx(_bad("Reciprocal"), x), "."
    unknown = made([helper.make_node("Relu", ["x"], ["y"])], {}, ["N", "M"], ["y"])
    yield "axes", lambda: rm.from_onnx(unknown, x), "axes of unknown size beside the batch"
    yield "hole", lambda: rm.from_onnx(good, np.full((3, 4), np.nan)), "missing or infinite values"
    model = rm.from_onnx(good, x)
    yield "far", lambda: model.predict(x + 9), "the model was calibrated for"


def test_wrong_use_is_refused_in_a_sentence(tmp_path: Path) -> None:
    for name, call, said in _wrong(tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(rm.RingmillError) as caught:
                call()
        assert said in str(caught.value), name
        assert str(caught.value).endswith("."), name


def test_two_inputs_are_refused_by_name() -> None:
    file = made([helper.make_node("Add", ["x", "z"], ["y"])], {}, ["N", 4], ["y"])
    file.graph.input.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, ["N", 4]))
    with pytest.raises(rm.ModelError, match=r"The model has 2 inputs \(x, z\)"):
        rm.from_onnx(file, np.ones((3, 4)))


def test_the_page_has_the_table_of_operators() -> None:
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert page() in text, "run python scripts/reference.py"
