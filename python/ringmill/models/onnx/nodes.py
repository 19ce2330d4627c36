"""What becomes of each operator: an affine map, a product, a function, or a step of the client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, vstack

from ringmill.errors import ModelError, fail
from ringmill.models.columns import Columns, Context, diagonal
from ringmill.models.onnx.evaluate import Node
from ringmill.models.onnx.pooling import averages, windows

Array = NDArray[Any]
Shape = tuple[int, ...]

#: Affine in one encrypted operand if the others are constants.
AFFINE = frozenset(
    [
        "Add",
        "AveragePool",
        "BatchNormalization",
        "Cast",
        "Concat",
        "Conv",
        "ConvTranspose",
        "CumSum",
        "DepthToSpace",
        "Div",
        "Dropout",
        "Expand",
        "Flatten",
        "Gather",
        "Gemm",
        "GlobalAveragePool",
        "Identity",
        "MatMul",
        "Mean",
        "Mul",
        "Neg",
        "Pad",
        "ReduceMean",
        "ReduceSum",
        "Reshape",
        "Slice",
        "SpaceToDepth",
        "Split",
        "Squeeze",
        "Sub",
        "Sum",
        "Tile",
        "Transpose",
        "Unsqueeze",
    ]
)
#: Functions of every element.
FUNCTIONS = frozenset(
    [
        "Abs",
        "Celu",
        "Clip",
        "Cos",
        "Elu",
        "Erf",
        "Exp",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "LeakyRelu",
        "Log",
        "Mish",
        "Reciprocal",
        "Relu",
        "Selu",
        "Sigmoid",
        "Sin",
        "Softplus",
        "Softsign",
        "Sqrt",
        "Swish",
        "Tanh",
    ]
)
#: Of two encrypted operands.
BOTH = frozenset(
    [
        "Add",
        "Sub",
        "Mul",
        "Div",
        "MatMul",
        "Gemm",
        "Concat",
        "Sum",
        "Mean",
        "Pow",
        "ReduceSumSquare",
        "LayerNormalization",
        "PRelu",
        "ReduceProd",
    ]
)
#: They jump, or look at all elements: the client runs them, and what follows from them.
JUMPS = frozenset(
    [
        "ArgMax",
        "ArgMin",
        "Equal",
        "Greater",
        "GreaterOrEqual",
        "Hardmax",
        "Less",
        "LessOrEqual",
        "Normalizer",
        "ReduceL1",
        "ReduceL2",
        "ReduceLogSumExp",
        "ReduceMax",
        "ReduceMin",
    ]
)
#: What may follow from them: no weights of layers are among their operands.
FOLLOW = frozenset(
    [
        "Abs",
        "Add",
        "And",
        "ArrayFeatureExtractor",
        "Cast",
        "Concat",
        "Div",
        "Exp",
        "Flatten",
        "Gather",
        "Identity",
        "Log",
        "LogSoftmax",
        "Max",
        "Min",
        "Mul",
        "Neg",
        "Not",
        "Or",
        "ReduceSum",
        "Reshape",
        "Sigmoid",
        "Slice",
        "Softmax",
        "Sqrt",
        "Squeeze",
        "Sub",
        "Sum",
        "Unsqueeze",
        "Where",
    ]
)
#: Done by the client where nothing but the like follows.
CLIENT = frozenset(
    [
        "ArgMax",
        "ArgMin",
        "Cast",
        "Exp",
        "Flatten",
        "Hardmax",
        "Identity",
        "LogSoftmax",
        "Reshape",
        "Sigmoid",
        "Softmax",
        "Sqrt",
        "Squeeze",
        "Tanh",
        "Unsqueeze",
    ]
)
#: Evaluated where they are asked for by ``approximate=``, since they take many functions.
REQUEST = frozenset(["GlobalMaxPool", "MaxPool", "Softmax"])
#: Known from shapes.
SHAPES = frozenset(["ConstantOfShape", "Shape"])
SUPPORTED = AFFINE | FUNCTIONS | BOTH | CLIENT | REQUEST | SHAPES


@dataclass(frozen=True, slots=True)
class Tensor:
    """An encrypted tensor: a column for each element.

    Attributes
    ----------
        columns: of the elements, in C order.
        shape: without the batch axis.
        lead: 1 if the first axis of the file is the batch, 0 if a record is the whole tensor.
    """

    columns: Columns
    shape: Shape
    lead: int

    @property
    def full(self) -> Shape:
        """The shape of one record in the file."""
        return (1,) * self.lead + self.shape

    @property
    def index(self) -> Array:
        """The column of each element."""
        return np.arange(self.columns.count).reshape(self.shape)


Value = Tensor | Array | None


def _refuse(node: Node, why: str, instead: str) -> Any:
    fail(
        ModelError,
        "Unsupported",
        f"Node {node.name!r} ({node.op}) is not supported: {why}. {instead}.",
        node=node.name,
        operator=node.op,
    )


#: Unit vectors that a node is evaluated on at once.
PROBES = 1024


class Affine:
    """Affine nodes as matrices, each found once."""

    def __init__(self) -> None:
        self._known: dict[int, list[tuple[csc_array, Array, Shape]]] = {}

    def __call__(self, node: Node, operands: list[Value]) -> list[Tensor]:
        """Apply a node that is affine in its one encrypted operand."""
        at = next(k for k, value in enumerate(operands) if isinstance(value, Tensor))
        x = operands[at]
        assert isinstance(x, Tensor)
        if id(node) not in self._known:
            self._known[id(node)] = self._probe(node, operands, at, x)
        return [
            Tensor(x.columns.affine(weights, offset), shape, x.lead)
            for weights, offset, shape in self._known[id(node)]
        ]

    def _probe(
        self, node: Node, operands: list[Value], at: int, x: Tensor
    ) -> list[tuple[csc_array, Array, Shape]]:
        """Weights, offset and shape of each result, by what the node gives for unit vectors."""
        if node.op == "AveragePool":
            found = windows(node, x.shape, 2 - x.lead)
            return [(averages(found, x.columns.count), np.zeros(len(found.elements)), found.shape)]
        count = x.columns.count
        blocks: list[list[csc_array]] = []
        zero: list[Array] = []
        for first in range(0, count, PROBES):
            size = min(PROBES, count - first)
            probes = np.vstack([np.zeros((1, count)), np.eye(size, count, first)])
            rows = self._rows(node, operands, at, probes.reshape(size + 1, *x.shape), x)
            flat = [results.reshape(size + 1, -1) for results in rows]
            zero = [results[0] for results in flat]
            shapes = [tuple(results.shape[1:]) for results in rows]
            blocks.append([csc_array(results[1:] - results[0]) for results in flat])
        parts = (csc_array(vstack(own)) for own in zip(*blocks, strict=True))
        return list(zip(parts, zero, shapes, strict=True))

    def _rows(self, node: Node, operands: list[Value], at: int, probes: Array, x: Tensor) -> list[Array]:
        together = self._together(node, operands, at, probes) if x.lead else None
        return self._apart(node, operands, at, probes, x) if together is None else together

    def _together(self, node: Node, operands: list[Value], at: int, probes: Array) -> list[Array] | None:
        """All probes as one batch; none for a node that has the size of its batch written down."""
        try:
            results = [r.astype(float) for r in node(_with(operands, at, probes.astype(np.float64)))]
            halves = [r.astype(float) for r in node(_with(operands, at, probes[:2].astype(np.float64)))]
        except ModelError:  # it has another batch
            return None
        # Rows must not know of each other.
        same = all(
            r.shape[:1] == probes.shape[:1] and np.array_equal(r[:2], h)
            for r, h in zip(results, halves, strict=True)
        )
        return results if same else None

    def _apart(self, node: Node, operands: list[Value], at: int, probes: Array, x: Tensor) -> list[Array]:
        single = [node(_with(operands, at, probe.reshape(x.full).astype(np.float64))) for probe in probes]
        if x.lead and any(r.shape[:1] != (1,) for r in single[0]):
            _refuse(
                node,
                "it moves or merges the batch axis",
                "Keep the batch as the first axis, or export the model with a fixed batch",
            )
        rows = [np.stack([np.asarray(s[k], float) for s in single]) for k in range(len(single[0]))]
        return [r[:, 0] if x.lead else r for r in rows]


def _with(operands: list[Value], at: int, value: Array) -> list[Array | None]:
    """Operands with an array for the encrypted one; constants in its precision."""
    found: list[Array | None] = []
    for k, operand in enumerate(operands):
        if k == at:
            found.append(value)
        elif isinstance(operand, np.ndarray) and operand.dtype.kind == "f":
            found.append(operand.astype(value.dtype))
        else:
            assert not isinstance(operand, Tensor)
            found.append(operand)
    return found


def function(context: Context, node: Node, x: Tensor, operands: list[Value]) -> Tensor:
    """A function of every element."""
    constants = operands[1:]
    if any(isinstance(c, Tensor) or np.size(c) > 1 for c in constants if c is not None):
        _refuse(node, "it has another function in each element", "Give it one number")

    def applied(v: Any) -> Any:
        array = np.atleast_1d(np.asarray(v, np.float64))
        found = node([array, *(np.asarray(c, np.float64) if c is not None else None for c in constants)])[0]
        return found.reshape(np.shape(v))

    return Tensor(context.function(x.columns, applied, f"{node.op} at {node.name!r}"), x.shape, x.lead)


def _broadcast(a: Tensor, b: Tensor) -> tuple[Columns, Columns, Shape]:
    """Columns of two tensors element by element; those of one rank beside the batch axis, if there is one."""
    i, j = np.broadcast_arrays(a.index.reshape(a.full), b.index.reshape(b.full))
    return a.columns.chosen(i.ravel()), b.columns.chosen(j.ravel()), i.shape[a.lead :]


def _tensor(node: Node, value: Value, like: Tensor) -> Tensor:
    """A constant as a tensor of columns that are numbers."""
    if isinstance(value, Tensor):
        return value
    array = np.asarray(value, float)
    if like.lead:
        array = array.reshape((1,) * (len(like.full) - array.ndim) + array.shape)
        if array.shape[:1] != (1,):
            _refuse(node, "a constant has a value for each row", "Give all rows one constant")
        array = array[0]
    return Tensor(Columns.constant(array.ravel()), array.shape, like.lead)


def two(context: Context, node: Node, operands: list[Value]) -> Tensor:
    """An operator of two encrypted operands."""
    like = next(value for value in operands if isinstance(value, Tensor))
    tensors = [_tensor(node, value, like) for value in operands]
    a, b = tensors[:2]
    if node.op in ("Add", "Sub", "Sum", "Mean"):
        total = a
        for other in tensors[1:]:
            left, right, shape = _broadcast(total, other)
            sign = -1.0 if node.op == "Sub" else 1.0
            total = Tensor(Columns.added([left, right], [1.0, sign]), shape, a.lead)
        scale = 1 / len(operands) if node.op == "Mean" else 1.0
        return Tensor(total.columns.scaled(scale), total.shape, a.lead)
    if node.op == "Mul":
        left, right, shape = _broadcast(a, b)
        same = a is b
        return Tensor(
            context.product(left, left if same else right, f"product at {node.name!r}"), shape, a.lead
        )
    if node.op == "Div":
        inverse = Tensor(
            context.function(b.columns, np.reciprocal, f"inverse at {node.name!r}"), b.shape, b.lead
        )
        left, right, shape = _broadcast(a, inverse)
        return Tensor(context.product(left, right, f"quotient at {node.name!r}"), shape, a.lead)
    if node.op == "Concat":
        axis = int(node.attributes["axis"])
        axis = (axis + len(a.full) if axis < 0 else axis) - a.lead
        if axis < 0:
            _refuse(node, "it joins rows", "Join tensors of a row")
        starts = np.cumsum([0, *(part.columns.count for part in tensors)])
        index = np.concatenate([p.index + s for p, s in zip(tensors, starts, strict=False)], axis=axis)
        joined = Columns.joined([part.columns for part in tensors]).chosen(index.ravel())
        return Tensor(joined, index.shape, a.lead)
    if node.op == "MatMul" and len(a.shape) == len(b.shape) == 2:
        return _matrices(context, node, a, b)
    return _refuse(node, "both operands are encrypted", "Multiply by constants")  # type: ignore[no-any-return]


def two_of_gemm(context: Context, node: Node, operands: list[Value], affine: Affine) -> Tensor:
    """alpha·A·B + beta·C of encrypted A and C."""
    a, b, c = operands
    assert isinstance(a, Tensor)
    product = affine(node.without_addend, [a, b])[0]
    c = _tensor(node, c, a)
    beta = float(node.attributes.get("beta", 1.0))
    scaled = Tensor(c.columns.scaled(beta), c.shape, c.lead)
    left, right, shape = _broadcast(product, scaled)
    return Tensor(Columns.added([left, right], [1.0, 1.0]), shape, a.lead)


def _matrices(context: Context, node: Node, a: Tensor, b: Tensor) -> Tensor:
    (m, k), (_, n) = a.shape, b.shape
    i, p, j = np.meshgrid(np.arange(m), np.arange(k), np.arange(n), indexing="ij")
    left, right = a.columns.chosen(a.index[i, p].ravel()), b.columns.chosen(b.index[p, j].ravel())
    products = context.product(left, right, f"product at {node.name!r}")
    targets = (i * n + j).ravel()
    sums = csc_array((np.ones(m * k * n), (np.arange(m * k * n), targets)), shape=(m * k * n, m * n))
    return Tensor(products.affine(sums), (m, n), a.lead)


def power(context: Context, node: Node, x: Tensor, exponent: Value) -> Tensor:
    """Whole powers by products, others as functions."""
    if not isinstance(exponent, np.ndarray) or exponent.size != 1:
        return _refuse(node, "its exponent is no single number", "Give it one number")  # type: ignore[no-any-return]
    value = float(exponent.ravel()[0])
    if value == int(value) and 1 <= value <= 64:
        return Tensor(context.power(x.columns, int(value), f"power at {node.name!r}"), x.shape, x.lead)
    name = f"power {value:g} at {node.name!r}"
    return Tensor(context.function(x.columns, lambda v: np.power(v, value), name), x.shape, x.lead)


def squares(context: Context, node: Node, operands: list[Value], affine: Affine) -> Tensor:
    """A sum of squares over axes."""
    x = operands[0]
    assert isinstance(x, Tensor)
    squared = Tensor(context.product(x.columns, x.columns, f"square at {node.name!r}"), x.shape, x.lead)
    return affine(node.sum, [squared, *operands[1:]])[0]


def product(context: Context, node: Node, operands: list[Value]) -> Tensor:
    """A product over axes: halves of the factors are multiplied, ⌈log2 n⌉ levels."""
    x, *rest = operands
    assert isinstance(x, Tensor)
    given: Any = rest[0] if rest and rest[0] is not None else node.attributes.get("axes")
    ndim = len(x.full)
    axes = [int(a) % ndim for a in np.ravel(given)] if given is not None else list(range(x.lead, ndim))
    if x.lead and 0 in axes:
        return _refuse(node, "it multiplies rows", "Multiply elements of a row")  # type: ignore[no-any-return]
    kept = [a for a in range(ndim) if a not in axes]
    factors = np.transpose(x.index.reshape(x.full), [*axes, *kept])
    factors = factors.reshape(-1, int(np.prod([x.full[a] for a in kept], dtype=int)))
    parts = [x.columns.chosen(row) for row in factors]
    while len(parts) > 1:
        odd = parts[len(parts) // 2 * 2 :]
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [context.product(a, b, f"product at {node.name!r}") for a, b in pairs] + odd
    keeps = bool(node.attributes.get("keepdims", 1))
    shape = [1 if a in axes else n for a, n in enumerate(x.full) if keeps or a not in axes]
    return Tensor(parts[0], tuple(shape[x.lead :]), x.lead)


def slopes(context: Context, node: Node, x: Tensor, slope: Value) -> Tensor:
    """PRelu: slope·x + (1 − slope)·max(x, 0)."""
    if not isinstance(slope, np.ndarray):
        return _refuse(node, "its slope is encrypted", "Give it a constant")  # type: ignore[no-any-return]
    # Exporters give a slope a channel as a vector, which ONNX would align with the last axis.
    channels = slope.ndim == 1 and len(x.full) > 2 and slope.shape[0] == x.full[1] != x.full[-1]
    wanted = slope.reshape(-1, *(1,) * (len(x.full) - 2)) if channels else slope
    each = np.broadcast_to(wanted.astype(float), x.full).ravel()
    positive = context.function(x.columns, lambda v: np.maximum(v, 0.0), f"PRelu at {node.name!r}")
    return Tensor(Columns.added([x.columns, positive], [each, 1 - each]), x.shape, x.lead)


def members(groups: Array, count: int) -> tuple[Array, csc_array]:
    """The group of each of ``count`` columns, and the matrix that sums groups, (count, groups)."""
    of = np.zeros(count, int)
    of[groups.ravel()] = np.repeat(np.arange(len(groups)), groups.shape[1])
    return of, csc_array((np.ones(count), (np.arange(count), of)), shape=(count, len(groups)))


def layer_norm(context: Context, node: Node, operands: list[Value]) -> list[Tensor]:
    """LayerNormalization over the last axes, the means, and the inverse roots of the variances."""
    x, scale, *rest = operands
    assert isinstance(x, Tensor)
    axis = int(node.attributes.get("axis", -1))
    axis = (axis + len(x.full) if axis < 0 else axis) - x.lead
    if axis < 0:
        return _refuse(node, "it normalises over the batch axis", "Take a later axis")  # type: ignore[no-any-return]
    groups = x.index.reshape(int(np.prod(x.shape[:axis], dtype=int)), -1)
    count = groups.shape[1]
    of, member = members(groups, x.columns.count)
    mean = x.columns.affine(member / count)
    centred = x.columns.affine(diagonal(np.ones(x.columns.count)) - member @ member.T / count)
    squared = context.product(centred, centred, f"variance at {node.name!r}")
    epsilon = float(node.attributes.get("epsilon", 1e-5))
    variance = squared.affine(member / count, epsilon)
    inverse = context.function(variance, lambda v: 1 / np.sqrt(v), f"inverse root at {node.name!r}")
    spread = inverse.chosen(of)
    normal = context.product(centred, spread, f"normalisation at {node.name!r}")
    factor = np.broadcast_to(np.asarray(scale, float), x.shape[axis:]).ravel()
    bias = np.broadcast_to(np.asarray(rest[0], float), x.shape[axis:]).ravel() if rest else np.zeros(count)
    times = len(groups)
    scaled = normal.scaled(np.tile(factor, times), np.tile(bias, times))
    reduced = (*x.shape[:axis], *(1 for _ in x.shape[axis:]))
    return [Tensor(scaled, x.shape, x.lead), *(Tensor(each, reduced, x.lead) for each in (mean, inverse))]
