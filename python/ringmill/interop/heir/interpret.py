"""Carrying out functions of a module: by NumPy in the clear, and on the symbols of a trace.

One table has every operation. A ciphertext is what supports `+`, `-`, `*` and `numpy.roll`: an array of
slots, or a symbol. Relinearisation, rescaling and level reduction change no slot: nothing is done for them.
Where values are symbols, the planner of Ringmill places them anew.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ringmill.errors import ProgramError, RingmillError, fail
from ringmill.interop.heir import mlir

Handler = Callable[["Interpreter", Any, list[Any]], Any]

#: Operations of one function at most, loops unrolled: a layout of 2^16 slots takes some millions.
STEPS = 1 << 28


class Interpreter:
    """Carries out functions on ciphertexts of `slots` slots."""

    def __init__(
        self, functions: dict[str, Any], slots: int, bootstrap: Callable[[Any], Any] = lambda value: value
    ) -> None:
        self.functions = functions
        self.slots = slots
        self.bootstrap = bootstrap
        self._left = STEPS

    def call(self, name: str, arguments: Sequence[Any]) -> list[Any]:
        """Return the results of a function.

        Raises
        ------
        ProgramError
            An index outside of its tensor, operands that do not fit an operation, or a function that does not
            end within `STEPS` operations.
        """
        body = self.functions[name].regions[0].block
        try:
            return self._block(body, arguments, {})
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            if isinstance(error, RingmillError):
                raise
            fail(ProgramError, "Malformed", f"Function {name} of the module cannot be carried out: {error}.")

    def _block(self, block: Any, arguments: Sequence[Any], outer: dict[Any, Any]) -> list[Any]:
        values = outer
        for argument, value in zip(block.args, arguments, strict=True):
            values[argument] = value
        for operation in block.ops:
            results: list[Any]
            name = mlir.name_of(operation)
            operands = [values[operand] for operand in operation.operands]
            if name in ("func.return", "scf.yield"):
                return operands
            self._left -= 1
            if self._left < 0:
                fail(ProgramError, "Endless", f"A function takes more than {STEPS} operations.")
            if name in ("scf.for", "scf.if"):
                results = (self._loop if name == "scf.for" else self._branch)(operation, operands, values)
            else:
                try:
                    given = _OPERATIONS[name](self, operation, operands)
                    results = given if isinstance(given, list) else [given]
                except IndexError as error:
                    fail(ProgramError, "Index", f"{name} has an index outside of its tensor: {error}.")
            values.update(zip(operation.results, results, strict=True))
        return []

    def _loop(self, operation: Any, operands: list[Any], values: dict[Any, Any]) -> list[Any]:
        first, last, step, *carried = operands
        if step <= 0:
            fail(ProgramError, "Step", f"scf.for counts by {step}. Steps are 1 and more.")
        # An insertion changes a tensor of the loop in place; what came in stays as it is.
        carried = [value.copy() if isinstance(value, np.ndarray) else value for value in carried]
        for i in range(first, last, step):
            carried = self._block(operation.regions[0].block, [i, *carried], values)
        return carried

    def _branch(self, operation: Any, operands: list[Any], values: dict[Any, Any]) -> list[Any]:
        chosen = operation.regions[0 if operands[0] else 1]
        return self._block(chosen.block, [], values) if chosen.blocks else []


def reached(functions: dict[str, Any], first: Iterable[str]) -> list[str]:
    """Return the names of functions that are called from the first ones, these included."""
    found, waiting = [], list(first)
    while waiting:
        name = waiting.pop()
        if name in found or name not in functions:
            continue
        found.append(name)
        for operation in functions[name].regions[0].walk():
            if mlir.name_of(operation) == "func.call":
                waiting.append(mlir.attribute(operation, "callee").string_value())
    return found


def unknown(functions: Iterable[Any]) -> dict[str, int]:
    """Return the operations in functions that are not known here, and how often each occurs."""
    known = set(operations())
    found: Counter[str] = Counter()
    for function in functions:
        found.update(mlir.name_of(operation) for operation in function.regions[0].walk())
    return {name: count for name, count in sorted(found.items()) if name not in known}


def operations() -> list[str]:
    """Return the names of all operations that are carried out."""
    return sorted({*_OPERATIONS, "func.return", "scf.yield", "scf.for", "scf.if"})


# --- ciphertexts --------------------------------------------------------------------------------------------


def _rotate(machine: Interpreter, operation: Any, operands: list[Any]) -> Any:
    if len(operands) > 1:
        by = operands[1]
    else:
        given = mlir.attribute(operation, "static_shift") or mlir.attribute(operation, "offset")
        by = int(given.value.data)
    by %= machine.slots
    return np.roll(operands[0], -by) if by else operands[0]


def _sum(_: Interpreter, __: Any, operands: list[Any]) -> Any:
    first, second = operands
    # A sum may begin with an encryption of zero, which is an array of zeros here.
    if _zero(first) or _zero(second):
        return second if _zero(first) else first
    return first + second


def _zero(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not value.any()


def _product(_: Interpreter, __: Any, operands: list[Any]) -> Any:
    value, plain = operands
    # HEIR multiplies by one where it needs another scale.
    return value if np.all(plain == 1.0) else value * plain


def _encode(machine: Interpreter, _: Any, operands: list[Any]) -> Any:
    vector = np.asarray(operands[0], np.float64).reshape(-1)
    if len(vector) > machine.slots:
        fail(
            ProgramError,
            "Slots",
            f"lwe.rlwe_encode has {len(vector)} numbers, and a ciphertext here has {machine.slots} slots.",
        )
    return np.pad(vector, (0, machine.slots - len(vector)))


def _decode(machine: Interpreter, operation: Any, operands: list[Any]) -> Any:
    shape = mlir.shape_of(operation.results[0].type)
    vector = np.asarray(operands[0]).real
    return float(vector[0]) if shape is None else vector[: math.prod(shape)].reshape(shape)


def _same(_: Interpreter, __: Any, operands: list[Any]) -> Any:
    return operands[0]


def _negative(_: Interpreter, __: Any, operands: list[Any]) -> Any:
    return -operands[0]


def _binary(function: Callable[[Any, Any], Any]) -> Handler:
    return lambda _, __, operands: function(operands[0], operands[1])


# --- tensors ------------------------------------------------------------------------------------------------


def _at(tensor: Any, index: Sequence[int]) -> tuple[int, ...]:
    for i, size in zip(index, tensor.shape, strict=True):
        if not 0 <= i < size:
            raise IndexError(f"{list(index)} in a tensor of {list(tensor.shape)}")
    return tuple(index)


def _empty(_: Interpreter, operation: Any, __: list[Any]) -> Any:
    of_type = operation.results[0].type
    return np.zeros(mlir.shape_of(of_type) or (), _element(of_type))


def _element(of_type: Any) -> type:
    if mlir.holds_ciphertexts(of_type):
        return object
    name = str(of_type.element_type)
    return np.int64 if name == "index" or name.startswith("i") else np.float64


def _insert(_: Interpreter, operation: Any, operands: list[Any]) -> Any:
    value, tensor, *index = operands
    alone = len(list(operation.operands[1].uses)) == 1
    tensor = tensor if alone and _of_loop(operation.operands[1]) else tensor.copy()
    tensor[_at(tensor, index)] = value
    return tensor


def _of_loop(value: Any) -> bool:
    """Whether a value belongs to the body of a loop, so that nobody else holds its array."""
    owner = value.owner
    if not hasattr(owner, "args"):
        return mlir.name_of(owner) in ("tensor.insert", "scf.for")
    inside = owner.parent_op()
    return inside is not None and mlir.name_of(inside) == "scf.for"


def _slice(operation: Any, operands: list[Any], rank: int) -> tuple[slice, ...]:
    """Return the slices of a tensor that offsets, sizes and strides of an operation name, constant or not."""
    dynamic = iter(operands)

    def numbers(name: str) -> list[int]:
        marked = mlir.integers(mlir.attribute(operation, name))
        return [int(next(dynamic)) if n == np.iinfo(np.int64).min else n for n in marked]

    offsets, sizes, strides = (numbers(f"static_{what}") for what in ("offsets", "sizes", "strides"))
    if len(offsets) != rank:
        raise IndexError(f"{len(offsets)} offsets in a tensor of {rank} axes")
    return tuple(
        slice(offset, offset + size * stride, stride)
        for offset, size, stride in zip(offsets, sizes, strides, strict=True)
    )


def _extract_slice(_: Interpreter, operation: Any, operands: list[Any]) -> Any:
    tensor = operands[0]
    taken = tensor[_slice(operation, operands[1:], tensor.ndim)]
    return taken.reshape(mlir.shape_of(operation.results[0].type)).copy()


def _insert_slice(_: Interpreter, operation: Any, operands: list[Any]) -> Any:
    value, tensor = operands[0], operands[1].copy()
    target = tensor[_slice(operation, operands[2:], tensor.ndim)]
    target[...] = value.reshape(target.shape)
    return tensor


def tensor_of(values: Sequence[Any], shape: tuple[int, ...], element: type = object) -> Any:
    """Return a tensor with each value as one element, also where values are arrays of slots."""
    made: Any = np.empty(len(values), element)
    for i, value in enumerate(values):
        made[i] = value
    return made.reshape(shape)


def _from_elements(_: Interpreter, operation: Any, operands: list[Any]) -> Any:
    of_type = operation.results[0].type
    return tensor_of(operands, mlir.shape_of(of_type) or (), _element(of_type))


def _reshape(_: Interpreter, operation: Any, operands: list[Any]) -> Any:
    return operands[0].reshape(mlir.shape_of(operation.results[0].type))


def _splat(_: Interpreter, operation: Any, operands: list[Any]) -> Any:
    return np.full(mlir.shape_of(operation.results[0].type) or (), operands[0])


def _concat(_: Interpreter, operation: Any, operands: list[Any]) -> Any:
    return np.concatenate(operands, axis=int(mlir.attribute(operation, "dim").value.data))


# --- numbers ------------------------------------------------------------------------------------------------

#: The predicates of `arith.cmpi` by number, signed and unsigned; indices are never negative.
_COMPARISONS = [operator.eq, operator.ne, *(operator.lt, operator.le, operator.gt, operator.ge) * 2]


def _compare(_: Interpreter, operation: Any, operands: list[Any]) -> Any:
    return _COMPARISONS[int(mlir.attribute(operation, "predicate").value.data)](operands[0], operands[1])


def _select(_: Interpreter, __: Any, operands: list[Any]) -> Any:
    return operands[1] if operands[0] else operands[2]


def _division(function: Callable[[int, int], int]) -> Handler:
    def divide(_: Interpreter, operation: Any, operands: list[Any]) -> Any:
        if operands[1] == 0:
            fail(ProgramError, "Division", f"{mlir.name_of(operation)} divides by zero.")
        return function(int(operands[0]), int(operands[1]))

    return divide


def _towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _constant(_: Interpreter, operation: Any, __: list[Any]) -> Any:
    return mlir.constant(mlir.attribute(operation, "value"))


def _store(_: Interpreter, operation: Any, operands: list[Any]) -> list[Any]:
    value, storage, *index = operands
    storage[(int(mlir.attribute(operation, "site_id").value.data), *index)] = value
    return []


def _load(_: Interpreter, operation: Any, operands: list[Any]) -> Any:
    storage, *index = operands
    site = int(mlir.attribute(operation, "site_id").value.data)
    try:
        return storage[(site, *index)]
    except KeyError:
        where = f"site {site}" + (f" at {index}" if index else "")
        fail(ProgramError, "Preprocessing", f"preprocessing.load reads {where}, where nothing is stored.")


def _call(machine: Interpreter, operation: Any, operands: list[Any]) -> Any:
    name = mlir.attribute(operation, "callee").string_value()
    if name not in machine.functions:
        fail(ProgramError, "Function", f"func.call names {name}, which the module does not have.")
    return machine.call(name, operands)


#: What the dialect of CKKS has, and that of LWE with an r before the name.
_ARITHMETIC: dict[str, Handler] = {
    "add": _sum,
    "add_plain": _sum,
    "sub": _binary(operator.sub),
    "sub_plain": _binary(operator.sub),
    "mul": _binary(operator.mul),
    "mul_plain": _product,
    "negate": _negative,
}

_OPERATIONS: dict[str, Handler] = {
    **{f"ckks.{name}": handler for name, handler in _ARITHMETIC.items()},
    **{f"lwe.r{name}": handler for name, handler in _ARITHMETIC.items()},
    "ckks.rotate": _rotate,
    "ckks.relinearize": _same,
    "ckks.rescale": _same,
    "ckks.level_reduce": _same,
    "ckks.bootstrap": lambda machine, _, operands: machine.bootstrap(operands[0]),
    "lwe.rlwe_encode": _encode,
    "lwe.rlwe_encrypt": _same,
    "lwe.rlwe_decrypt": _same,
    "lwe.rlwe_decode": _decode,
    "tensor.empty": _empty,
    "tensor.extract": lambda _, __, operands: operands[0][_at(operands[0], operands[1:])],
    "tensor.insert": _insert,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.from_elements": _from_elements,
    "tensor.collapse_shape": _reshape,
    "tensor.expand_shape": _reshape,
    "tensor.reshape": _reshape,
    "tensor.splat": _splat,
    "tensor.concat": _concat,
    "tensor.cast": _same,
    "preprocessing.empty": lambda _, __, ___: {},
    "preprocessing.store": _store,
    "preprocessing.load": _load,
    "func.call": _call,
    "arith.constant": _constant,
    "arith.addi": _binary(operator.add),
    "arith.subi": _binary(operator.sub),
    "arith.muli": _binary(operator.mul),
    "arith.divsi": _division(_towards_zero),
    "arith.divui": _division(operator.floordiv),
    "arith.floordivsi": _division(operator.floordiv),
    "arith.ceildivsi": _division(lambda a, b: -(-a // b)),
    "arith.remsi": _division(lambda a, b: a - b * _towards_zero(a, b)),
    "arith.remui": _division(operator.mod),
    "arith.minsi": _binary(min),
    "arith.maxsi": _binary(max),
    "arith.minui": _binary(min),
    "arith.maxui": _binary(max),
    "arith.andi": _binary(operator.and_),
    "arith.ori": _binary(operator.or_),
    "arith.xori": _binary(operator.xor),
    "arith.cmpi": _compare,
    "arith.select": _select,
    "arith.index_cast": _same,
    "arith.index_castui": _same,
    "arith.extsi": _same,
    "arith.extui": _same,
    "arith.trunci": _same,
    "arith.extf": _same,
    "arith.truncf": _same,
    "arith.sitofp": lambda _, __, operands: float(operands[0]),
    "arith.addf": _binary(operator.add),
    "arith.subf": _binary(operator.sub),
    "arith.mulf": _binary(operator.mul),
    "arith.divf": _binary(operator.truediv),
    "arith.negf": _negative,
}
