"""ONNX models on encrypted records: against the package's own test cases and its reference implementation."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from networks import convolutional, made, network, single
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import ringmill as rm
from ringmill.models.onnx import page
from ringmill.studies.onnx_cases import STORED, SUITES, cases, row
from ringmill.studies.onnx_cases import page as case_page

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


def test_batch_normalisation_at_opset_13_takes_the_stored_mean() -> None:
    file, x = convolutional(), RNG.uniform(-1, 1, (30, 1, 4, 4)).astype(np.float32)
    old = onnx.ModelProto()
    old.CopyFrom(file)
    old.opset_import[0].version = 13
    np.testing.assert_allclose(rm.from_onnx(old, x).approximated(x), rm.from_onnx(file, x).approximated(x))


def test_several_outputs_are_a_list() -> None:
    steps = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("ArgMax", ["a"], ["b"], axis=1)]
    x = RNG.uniform(-1, 1, (10, 3))
    w = single(3, 4)
    model = rm.from_onnx(made(steps, {"w": w}, ["N", 3], ["a", "b"]), x)
    found, labels = model.outputs(x)
    np.testing.assert_allclose(found, x @ w, atol=1e-4)
    np.testing.assert_array_equal(labels[:, 0], np.argmax(found, axis=1))


def test_pooling_by_maxima_is_evaluated_on_request() -> None:
    pool = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    steps = [
        helper.make_node("Conv", ["x", "k"], ["c"]),
        helper.make_node("MaxPool", ["c"], ["p"], **pool),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "w"], ["y"]),
    ]
    file = made(steps, {"k": single(2, 1, 3, 3), "w": single(8, 3)}, ["N", 1, 6, 6], ["y"])
    x = RNG.uniform(-1, 1, (40, 1, 6, 6)).astype(np.float32)
    with pytest.raises(rm.ModelError, match=r"takes 4 rounds of \|a − b\|, 42 in all. Ask for it by"):
        rm.from_onnx(file, x)
    with pytest.raises(rm.ModelError, match="approximate= has Relu; it takes GlobalMaxPool"):
        rm.from_onnx(file, x, approximate=["Relu"])
    model = rm.from_onnx(file, x, approximate=["MaxPool"])
    own = ReferenceEvaluator(file).run(None, {"x": x})[0]
    errors = sum(error for _, error in model.functions)
    assert np.max(np.abs(model.approximated(x) - own)) <= errors * np.abs(single(8, 3)).sum()
    np.testing.assert_allclose(
        model._lowered.methods["predict"](model.clear(model.units(x), exact=True)), own, atol=1e-5
    )


def test_a_softmax_in_the_middle_is_evaluated_on_request() -> None:
    steps = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Softmax", ["a"], ["s"], axis=-1),
        helper.make_node("MatMul", ["s", "v"], ["y"]),
    ]
    file = made(steps, {"w": single(4, 5), "v": single(5, 2)}, ["N", 3, 4], ["y"])
    x = RNG.uniform(-1, 1, (40, 3, 4)).astype(np.float32)
    with pytest.raises(rm.ModelError, match="takes 15 exponentials, 3 inverses and 15 products"):
        rm.from_onnx(file, x)
    model = rm.from_onnx(file, x, approximate=["Softmax"])
    np.testing.assert_allclose(
        model.approximated(x), ReferenceEvaluator(file).run(None, {"x": x})[0], atol=5e-3
    )


#: Test cases of the package in `make test`; all of them are in `make test-full`.
FEW = 40
STORED_CASES = json.loads(STORED.read_text(encoding="utf-8"))["rows"]


def test_cases_of_the_package_are_as_stored() -> None:
    kept = [row for row in STORED_CASES if row["suite"] == "node"]
    known = {row["case"]: row["outcome"] for row in kept[:: max(1, len(kept) // FEW)]}
    found = {case.name: row(case)["outcome"] for case in cases("node") if case.name in known}
    assert found == known
    assert len(found) >= FEW


def test_no_stored_case_is_wrong() -> None:
    assert all(each["outcome"] in ("right", "refused") for each in STORED_CASES)
    assert all(each["why"].endswith(".") for each in STORED_CASES if each["outcome"] == "refused")


@pytest.mark.long
@pytest.mark.parametrize("suite", SUITES)
def test_all_cases_of_the_package_are_as_stored(suite: str) -> None:
    kept = [each for each in STORED_CASES if each["suite"] == suite]
    assert [row(case) for case in cases(suite)] == kept


def _bad(op: str, **attributes: Any) -> Any:
    return made([helper.make_node(op, ["x"], ["y"], **attributes)], {}, ["N", 4], ["y"])


def _wrong(folder: Path) -> Iterator[tuple[str, Callable[[], Any], str]]:
    x = RNG.uniform(-1, 1, (10, 4))
    good = network(4)
    yield "no model", lambda: rm.from_onnx(3, x), "A int is no model"
    yield "no file", lambda: rm.from_onnx(folder / "none.onnx", x), "cannot be read as an ONNX file"
    (folder / "junk.onnx").write_bytes(b"junk")
    yield "junk", lambda: rm.from_onnx(folder / "junk.onnx", x), "."
    outside = folder / "outside.onnx"
    onnx.save(network(4), outside, save_as_external_data=True, location="weights.bin", size_threshold=0)
    (folder / "weights.bin").unlink()
    yield "external data", lambda: rm.from_onnx(outside, x), "weights.bin"
    yield "shape", lambda: rm.from_onnx(good, x[:, :3]), "X has shape (10, 3) of float64; give numbers of"
    yield "text", lambda: rm.from_onnx(good, [["a"] * 4]), "give numbers of shape (rows, 4)"
    yield "operator", lambda: rm.from_onnx(_bad("Round"), x), "'Round of y' (Round)"
    custom = made([helper.make_node("Magic", ["x"], ["y"], domain="my.own")], {}, ["N", 4], ["y"])
    yield "custom", lambda: rm.from_onnx(custom, x), "Custom domains: my.own"
    old = made([helper.make_node("Cast", ["x"], ["y"], to="FLOAT")], {}, ["N", 4], ["y"], opset=5)
    yield (
        "opset",
        lambda: rm.from_onnx(old, x),
        "The model has opset 5, and is not converted to 13: No Adapter",
    )
    steps = [helper.make_node("LogSoftmax", ["x"], ["s"]), helper.make_node("Erf", ["s"], ["y"])]
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


def test_files_of_older_opsets_are_converted() -> None:
    x = RNG.uniform(-1, 1, (10, 4))
    old = made([helper.make_node("Clip", ["x"], ["y"], min=-2.0, max=2.0)], {}, ["N", 4], ["y"], opset=9)
    np.testing.assert_allclose(rm.from_onnx(old, x).approximated(x), x, atol=1e-3)


def test_two_inputs_are_refused_by_name() -> None:
    file = made([helper.make_node("Add", ["x", "z"], ["y"])], {}, ["N", 4], ["y"])
    file.graph.input.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, ["N", 4]))
    with pytest.raises(rm.ModelError, match=r"The model has 2 inputs \(x, z\)"):
        rm.from_onnx(file, np.ones((3, 4)))


def test_the_page_has_the_table_of_operators() -> None:
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert page() in text, "run python scripts/reference.py"
    assert case_page(STORED_CASES) in text, "run python scripts/reference.py"


PADS = [{"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"}, {"pads": [0, 1, 1, 0]}]


@pytest.mark.parametrize("pads", PADS, ids=["upper", "lower", "unequal"])
@pytest.mark.parametrize("op", ["AveragePool", "MaxPool", "Conv"])
@pytest.mark.parametrize(("side", "kernel", "stride"), [(3, 2, 2), (5, 3, 2), (4, 2, 3), (5, 2, 1)])
def test_windows_are_those_of_onnxruntime(
    op: str, pads: dict[str, Any], side: int, kernel: int, stride: int
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pool = {} if op == "Conv" else {"kernel_shape": [kernel, kernel]}
    names = ["x", "w"] if op == "Conv" else ["x"]
    nodes = [helper.make_node(op, names, ["y"], strides=[stride] * 2, **pads, **pool)]
    constants = {"w": single(2, 1, kernel, kernel)} if op == "Conv" else {}
    file, x = made(nodes, constants, ["N", 1, side, side], ["y"]), RNG.uniform(-1, 1, (20, 1, side, side))
    session = runtime.InferenceSession(file.SerializeToString(), providers=["CPUExecutionProvider"])
    (own,) = session.run(None, {"x": x.astype(np.float32)})
    model = rm.from_onnx(file, x, approximate=["MaxPool"])
    found = model.clear(model.units(x), exact=True).reshape(own.shape)
    np.testing.assert_allclose(found, own, atol=1e-5)
