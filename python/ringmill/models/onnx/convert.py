"""An ONNX model as a `Model`: its graph walked once in each way of evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.errors import FileFormatError, ModelError, fail
from ringmill.models.after import After, Later
from ringmill.models.columns import Columns, Context
from ringmill.models.features import Outside
from ringmill.models.layouts import Layout
from ringmill.models.lowered import Lowered
from ringmill.models.model import Model, Options, calibrated
from ringmill.models.onnx import ensembles, nodes, trained
from ringmill.models.onnx.ends import afters, portable
from ringmill.models.onnx.evaluate import Node
from ringmill.models.onnx.nodes import Affine, Tensor, Value
from ringmill.models.onnx.pooling import evaluated_maxima
from ringmill.models.onnx.request import requested

Array = NDArray[Any]
#: The oldest opset that is read.
OLDEST = 13
#: How far the results of the file may be from those of the conversion, of the largest: single precision.
AGREEMENT = 1e-4


class Graph:
    """The nodes of a model in order, its constants, and what the client does at the end."""

    def __init__(self, model: Any) -> None:
        import onnx

        graph = model.graph
        opset = _opset(model)
        self.nodes = [Node(node, opset) for node in graph.node]
        self.constants: dict[str, Array] = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
        inputs = [i for i in graph.input if i.name not in self.constants]
        if len(inputs) != 1:
            names = ", ".join(i.name for i in inputs) or "none"
            fail(
                ModelError,
                "Inputs",
                f"The model has {len(inputs)} inputs ({names}); give one with one input.",
            )
        self.input = inputs[0].name
        dims = [int(d.dim_value) for d in inputs[0].type.tensor_type.shape.dim]
        # A first axis of unknown size is the batch. One that is fixed is an axis as any other.
        self.lead = int(bool(dims) and dims[0] <= 0)
        self.shape = tuple(dims[self.lead :])
        if any(size <= 0 for size in self.shape):
            fail(
                ModelError,
                "Inputs",
                f"Input {self.input!r} has axes of unknown size beside the batch. Fix them before export.",
            )
        self.outputs = [o.name for o in graph.output]
        self._dtype = onnx.helper.tensor_dtype_to_np_dtype(inputs[0].type.tensor_type.elem_type)
        self._known(model)
        self._fold()
        self.client = self._client()

    def _fold(self) -> None:
        """Evaluate the nodes that do not depend on the input."""
        reached = self._reached()
        values: dict[str, Any] = {**self.constants, "": None}
        for node in self.nodes:
            if not any(name in reached for name in node.inputs) and all(n in values for n in node.inputs):
                values.update(zip(node.outputs, node([values[n] for n in node.inputs]), strict=False))
        self.constants = {name: value for name, value in values.items() if value is not None}
        self.nodes = [node for node in self.nodes if any(name in reached for name in node.inputs)]

    def record(self, row: Array) -> dict[str, Array]:
        """The input of the file for one record of all features."""
        shape = (1, *self.shape) if self.lead else self.shape
        return {self.input: row.astype(self._dtype).reshape(shape)}

    def stacked(self, rows: list[Array]) -> Array:
        """Results of single records side by side, along the batch axis if the results have one."""
        if self.lead or (self.shape[:1] == (1,) and all(row.shape[:1] == (1,) for row in rows)):
            return np.concatenate(rows)
        return np.stack(rows)

    def _known(self, model: Any) -> None:
        """Refuse all operators that are not known, at once."""
        evaluated = nodes.SUPPORTED | ensembles.SERVER | {"Constant"}
        after = self._after_jumps()
        unknown = [
            n for n in self.nodes if n.op not in (nodes.JUMPS | nodes.FOLLOW if id(n) in after else evaluated)
        ]
        domains = {n.domain for n in model.graph.node} - {"", "ai.onnx", trained.DOMAIN}
        encrypted = self._reached()
        unknown = [n for n in unknown if any(name in encrypted for name in n.inputs)]
        if unknown or domains:
            places = {True: ", after one that the client runs", False: ""}
            listed = "; ".join(f"{n.name!r} ({n.op}{places[id(n) in after]})" for n in unknown)
            custom = f" Custom domains: {', '.join(sorted(domains))}." if domains else ""
            fail(
                ModelError,
                "Unsupported",
                f"Nodes of unsupported operators: {listed or 'none'}.{custom} "
                "docs/models.md lists the others.",
                nodes=[n.name for n in unknown],
                operators=sorted({n.op for n in unknown}),
            )

    def _reached(self) -> set[str]:
        """Names of the values that depend on the input."""
        reached = {self.input}
        for node in self.nodes:
            if any(name in reached for name in node.inputs):
                reached |= set(node.outputs)
        return reached

    def _client(self) -> list[Node]:
        """Nodes at the end that the client runs: exact there, and they may jump."""
        reached = self._reached()
        at_client = self._after_jumps()
        used: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name in node.inputs:
                used.setdefault(name, []).append(node)
        for node in reversed(self.nodes):
            alone = sum(name in reached for name in node.inputs) == 1
            followed = all(id(n) in at_client for name in node.outputs for n in used.get(name, []))
            if node.op in nodes.CLIENT and alone and followed:
                at_client.add(id(node))
        return [node for node in self.nodes if id(node) in at_client]

    def _after_jumps(self) -> set[int]:
        """Nodes that jump, and all that follows from them."""
        found: set[int] = set()
        reached, jumped = self._reached(), set[str]()
        for node in self.nodes:
            jumps = node.op in nodes.JUMPS and any(name in reached for name in node.inputs)
            if jumps or jumped.intersection(node.inputs):
                found.add(id(node))
                jumped |= set(node.outputs)
        return found

    @property
    def results(self) -> list[str]:
        """Values that are decrypted: outputs, and what the client's nodes begin with."""
        at_client = {id(node) for node in self.client}
        made = {name for node in self.client for name in node.outputs}
        reached = self._reached()
        wanted = [
            name for node in self.client for name in node.inputs if name in reached and name not in made
        ]
        wanted += [name for name in self.outputs if name not in made]
        order = [name for node in self.nodes if id(node) not in at_client for name in node.outputs]
        return [name for name in [self.input, *order] if name in wanted]


class Network:
    """A model as an estimator: rows in, outputs of the file in the clear."""

    def __init__(self, model: Any, graph: Graph) -> None:
        self.model, self.graph = model, graph

    def transform(self, rows: Any) -> Array:
        """Rows (rows, *shape) as (rows, features)."""
        array, shape = np.asarray(rows), self.graph.shape
        # Records of a batch of one may come without that axis.
        if shape[:1] == (1,) and array.ndim == len(shape) and array.shape[1:] == shape[1:]:
            array = array[:, None]
        if array.dtype.kind not in "biuf" or array.shape[1:] != shape:
            fail(
                ModelError,
                "Features",
                f"X has shape {array.shape} of {array.dtype}; give numbers of shape (rows, "
                f"{', '.join(map(str, shape))}).",
            )
        return array.reshape(len(array), -1).astype(float)

    def predict(self, rows: Any) -> Any:
        """The first output, row by row in single precision."""
        return self.outputs(rows)[0]

    def outputs(self, rows: Any) -> list[Array]:
        """All outputs, row by row in single precision."""
        from onnx.reference import ReferenceEvaluator

        evaluator = ReferenceEvaluator(self.model, new_ops=[evaluated_maxima()])
        graph = self.graph
        records = [graph.record(row) for row in self.transform(rows)]
        try:
            found: list[Any] = [evaluator.run(None, record) for record in records]
        except Exception as refused:
            said = str(refused).split("\n")[0].rstrip(".")[:120]
            fail(
                ModelError,
                "Reference",
                "The reference implementation of ONNX, with which conversions are compared, does not "
                f"evaluate the file: {said}. Export labels as whole numbers, or with another opset.",
            )
        return [graph.stacked([np.asarray(each) for each in own]) for own in zip(*found, strict=True)]


def _walk(
    graph: Graph, affine: Affine, asked: frozenset[str], context: Context, x: Columns
) -> dict[str, Value]:
    """Evaluate every node that the server runs."""
    values: dict[str, Value] = dict(graph.constants)
    values[graph.input] = Tensor(x, graph.shape, graph.lead)
    values[""] = None
    at_client = {id(node) for node in graph.client}
    for node in graph.nodes:
        if id(node) in at_client:
            continue
        first = values.get(node.inputs[0]) if node.inputs else None
        if node.op == "Shape" and isinstance(first, Tensor):
            values.update(zip(node.outputs, node([np.zeros(first.full)]), strict=False))
            continue
        missing = [name for name in node.inputs if name not in values]
        if missing:
            fail(
                ModelError,
                "Unsupported",
                f"Node {node.name!r} takes {missing[0]!r}, which no node gives.",
            )
        operands = [values[name] for name in node.inputs]
        encrypted = [value for value in operands if isinstance(value, Tensor)]
        if not encrypted:  # it goes by shapes alone
            values.update(zip(node.outputs, node(operands), strict=False))  # type: ignore[arg-type]
            continue
        values.update(
            zip(node.outputs, _node(context, node, operands, encrypted, affine, asked), strict=False)
        )
    return values


def _node(
    context: Context,
    node: Node,
    operands: list[Value],
    encrypted: list[Tensor],
    affine: Affine,
    asked: frozenset[str],
) -> list[Tensor]:
    x = operands[0]
    if node.op in nodes.REQUEST and isinstance(x, Tensor):
        return [requested(context, node, x, asked)]
    if node.op == "Pow" and isinstance(x, Tensor):
        return [nodes.power(context, node, x, operands[1])]
    if node.op == "PRelu" and isinstance(x, Tensor):
        return [nodes.slopes(context, node, x, operands[1])]
    if node.op == "LayerNormalization":
        return nodes.layer_norm(context, node, operands)
    if node.op in ensembles.SERVER and isinstance(x, Tensor):
        return [ensembles.evaluated(context, node, x)]
    if node.op == "ReduceProd":
        return [nodes.product(context, node, operands)]
    if node.op == "ReduceSumSquare":
        return [nodes.squares(context, node, operands, affine)]
    if node.op in nodes.FUNCTIONS and isinstance(x, Tensor):
        return [nodes.function(context, node, x, operands)]
    if node.op == "Gemm" and len(encrypted) == 2 and isinstance(operands[1], np.ndarray):
        return [nodes.two_of_gemm(context, node, operands, affine)]
    if len(encrypted) > 1:
        return [nodes.two(context, node, operands)]
    if node.op == "Div" and not isinstance(x, Tensor):
        y = encrypted[0]
        inverse = context.function(y.columns, np.reciprocal, f"inverse at {node.name!r}")
        numerator = np.broadcast_to(np.asarray(x, float), y.full).ravel()
        return [Tensor(inverse.scaled(numerator), y.shape, y.lead)]
    if node.op in nodes.AFFINE:
        return affine(node, operands)
    return [nodes._refuse(node, "it may only end a model", "Leave it out, or move it to the end")]


def _lowered(graph: Graph, network: Network, asked: frozenset[str]) -> Lowered:
    affine = Affine()
    shapes: dict[str, tuple[int, ...]] = {}

    def server(context: Context, x: Columns) -> Columns:
        values = _walk(graph, affine, asked, context, x)
        parts = []
        for name in graph.results:
            value = values.get(name)
            if value is None:
                fail(ModelError, "Unsupported", f"Output {name!r} is none that Ringmill computes.")
            if not isinstance(value, Tensor):
                fail(ModelError, "Constant", f"Output {name!r} does not depend on the input.")
            if not value.columns.count:
                fail(ModelError, "Constant", f"Output {name!r} has no elements. Leave it out.")
            shapes[name] = value.shape
            parts.append(value.columns)
        return Columns.joined(parts)

    def outputs(d: Array) -> list[Array]:
        values: dict[str, Any] = {
            n: v.astype(float) if v.dtype.kind == "f" else v for n, v in graph.constants.items()
        }
        values[""] = None
        at = 0
        for name in graph.results:
            shape = shapes[name]
            size = int(np.prod(shape, dtype=int))
            values[name] = d[:, at : at + size].reshape(len(d), *shape)
            at += size
        rows = []
        for row in range(len(d)):
            one = slice(row, row + 1) if graph.lead else row
            own = {n: v[one] if n in shapes else v for n, v in values.items()}
            for node in graph.client:
                found = node([own[n] for n in node.inputs])
                # A cast to single precision would not go with constants in double.
                found = [r.astype(float) if r.dtype == np.float32 else r for r in found]
                own.update(zip(node.outputs, found, strict=False))
            rows.append([own[name] for name in graph.outputs])
        return [graph.stacked(list(each)) for each in zip(*rows, strict=True)]

    notes = [f"The client runs {node.op} at {node.name!r} after decryption." for node in graph.client]
    methods: dict[str, Any] = {"predict": lambda d: outputs(d)[0], "outputs": outputs}
    if portable(graph):
        methods = {
            "predict": Later(lambda: afters(graph, shapes)[0]),
            "outputs": Later(lambda: After("listed", tuple(afters(graph, shapes)))),
        }
    return Lowered(server, methods, [network], notes)


def from_onnx(
    model: Any,
    X: Any,
    *,
    precision: int = 20,
    error: float = 1e-3,
    margin: float = 0.1,
    rows: int | None = None,
    security: int = 128,
    outside: Outside = "refuse",
    layout: Layout = "auto",
    approximate: Sequence[str] = (),
) -> Model:
    """Make a model for encrypted records of an ONNX file.

    Args:
        model: path of the file, or ``onnx.ModelProto``; one input, whose first axis is the batch.
        X: calibration rows, (rows, *shape of the input).
        precision, error, margin, rows, security, outside, layout: as of ``from_sklearn``.
        approximate: operators to be evaluated though they take many functions: "MaxPool", "GlobalMaxPool",
            "Softmax" before the end of a model. Where one is missing, the message says what it takes.

    Returns
    -------
        The model: ``predict`` gives the first output, ``outputs`` all of them as a list.

    Raises
    ------
        ModelError: operators that are not supported, all at once; more than one input; axes of unknown
            size; calibration data of another shape.
        FileFormatError: a file that is not ONNX, or has external data that are missing.
    """
    options = Options(precision, error, margin, rows, security, outside, layout)
    proto = trained.unzipped(_read(model))
    # What has operators of trained models is written in others before its opset can be raised.
    graph = Graph(_normalised(trained.rewritten(proto)))
    proto = proto if trained.has_own(proto) else _normalised(proto)
    network = Network(proto, graph)
    lowered = _lowered(graph, network, _asked(approximate))
    names = [f"{graph.input}{list(map(int, at))}" for at in np.ndindex(*graph.shape)]
    made, results = calibrated(network, lowered, network.transform(X), names, options)
    few = min(len(results), 8)
    found = zip(network.outputs(np.asarray(X)[:few]), lowered.methods["outputs"](results[:few]), strict=True)
    if not all(_agree(own, np.asarray(ours)) for own, ours in found):
        fail(
            ModelError,
            "Disagrees",
            "The conversion gives other results than the reference implementation of ONNX. "
            "Please report the model.",
        )
    return made


def _agree(own: Array, ours: Array) -> bool:
    """Whether the conversion gives what the file does, in single precision; labels are equal."""
    if own.shape != ours.shape:
        return False
    if own.dtype.kind not in "fc":
        return bool(np.array_equal(own, ours))
    scale = max(1.0, float(np.abs(own).max(initial=0.0)))
    return bool(np.max(np.abs(own - ours), initial=0.0) <= AGREEMENT * scale)


def _asked(operators: Any) -> frozenset[str]:
    if not isinstance(operators, Iterable):
        found = type(operators).__name__
        fail(ModelError, "Option", f"approximate= is a list of names of operators, and a {found} was given.")
    given = [operators] if isinstance(operators, str) else list(operators)
    odd = [str(op) for op in given if op not in nodes.REQUEST]
    if odd:
        known = ", ".join(sorted(nodes.REQUEST))
        fail(ModelError, "Option", f"approximate= has {', '.join(odd)}; it takes {known}.")
    return frozenset(given)


def _opset(model: Any) -> int:
    """The opset of the main domain; a file of trained models alone may have none."""
    return max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=OLDEST)


def _normalised(model: Any) -> Any:
    """A model of opset 13 or later, with batch normalisation of opset 14 or later.

    At opset 13 onnx's reference takes the mean of the batch even where the stored one is meant.
    """
    from onnx import version_converter

    opset = _opset(model)
    normalises = any(node.op_type == "BatchNormalization" for node in model.graph.node)
    least = OLDEST + 1 if normalises else OLDEST
    if opset >= least:
        return model
    try:
        return version_converter.convert_version(model, least)
    except Exception as refused:
        # The assertion of the converter without its place.
        said = str(refused).split("\n")[0].rpartition(" failed: ")[2].rstrip(".")
        fail(
            ModelError,
            "Opset",
            f"The model has opset {opset}, and is not converted to {least}: {said}. "
            f"Export it at opset {least} or later.",
            opset=opset,
        )


def _read(model: Any) -> Any:
    import onnx

    if isinstance(model, onnx.ModelProto):
        return model
    if not isinstance(model, (str, Path)):
        fail(
            ModelError,
            "Estimator",
            f"A {type(model).__name__} is no model. Give a path or onnx.ModelProto.",
        )
    try:
        return onnx.load(str(model))
    except Exception as refused:
        said = str(refused).split("\n")[0].rstrip(".")
        fail(FileFormatError, "Onnx", f"{model} cannot be read as an ONNX file: {said}.", path=str(model))
