"""What a kernel's encrypted arguments look like and how a client packs them into ciphertexts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill.errors import EncodingError, MismatchError, fail
from ringmill.trace import lanes as lane
from ringmill.trace.base import any_masked
from ringmill.trace.cut import Cut
from ringmill.trace.foreign import foreign
from ringmill.trace.graph import Graph
from ringmill.trace.layout import Layout, Shape, power_of_two
from ringmill.trace.stack import Stack
from ringmill.trace.symbol import Symbol

Packing = Literal["slots", "columns", "scalars"]

# What sizes may be above a bound: those of complex numbers are rounded roots, and no bound is that close.
ROUNDING = 2.0**-40

Slots = NDArray[np.complex128]


@dataclass(frozen=True, slots=True)
class Spec:
    """Shape and packing of one encrypted argument, and where its elements lie, if that is declared.

    Where several ciphertexts share an argument, each holds ``rows`` indices along the first axis, ``pitch``
    slots apart; both are 0 where one has all.
    """

    shape: Shape
    packing: Packing = "slots"
    real: bool = True
    low: float | None = None
    high: float | None = None
    rows: int = 0
    pitch: int = 0

    @property
    def magnitude(self) -> float | None:
        """The size of the largest element, if bounds are declared."""
        return None if self.low is None or self.high is None else max(abs(self.low), abs(self.high))

    def bounded(self, magnitude: float) -> Spec:
        """The same with bounds: those that are declared, or ± the magnitude."""
        return self if self.low is not None else replace(self, low=-magnitude, high=magnitude)

    def between(self, low: float, high: float) -> Spec:
        """The same with these bounds."""
        return replace(self, low=low, high=high)

    @property
    def slots_needed(self) -> int:
        """Slots that one ciphertext of this argument uses."""
        if self.packing == "columns":
            return self.shape[0]
        if self.packing == "scalars":
            return 1
        if self.rows:
            return (self.rows - 1) * self.pitch + math.prod(self.shape[1:])
        return math.prod(self.shape)

    @property
    def ciphertexts(self) -> int:
        """Ciphertexts that carry this argument."""
        if self.rows:
            return -(-self.shape[0] // self.rows)
        return 1 if self.packing == "slots" else self.shape[-1]

    @property
    def whole(self) -> bool:
        """Whether one ciphertext carries it, under its own name."""
        return self.packing == "slots" and not self.rows

    def parts(self, name: str) -> list[str]:
        """Names of the ciphertexts that carry argument ``name``."""
        return [name] if self.whole else [f"{name}.{j}" for j in range(self.ciphertexts)]

    def layouts(self, slots: int) -> list[Layout]:
        """Layout of every ciphertext."""
        if self.packing == "scalars" or not self.shape:
            return [Layout.scalar(slots)] * self.ciphertexts
        if not self.rows:
            shape = self.shape[:1] if self.packing == "columns" else self.shape
            return [Layout.contiguous(shape, slots)] * self.ciphertexts
        row = self.shape[1:]
        strides = (self.pitch, *Layout.contiguous(row, slots).strides)
        last = self.shape[0] - self.rows * (self.ciphertexts - 1)
        full = Layout((self.rows, *row), strides, slots)
        return [full] * (self.ciphertexts - 1) + [Layout((last, *row), strides, slots)]

    def symbols(self, graph: Graph, name: str) -> Symbol | Stack | Cut:
        """The symbolic argument that the kernel's function receives."""
        parts = [
            Symbol(graph, graph.input(part, layout), layout, clean=True)
            for part, layout in zip(self.parts(name), self.layouts(graph.slots), strict=True)
        ]
        if self.low is not None and self.high is not None:
            for part in parts:
                graph.ranges[part.node] = (self.low, self.high)
                graph.promise(part.node, max(abs(self.low), abs(self.high)) or 2.0**-20)
        if self.rows:
            return Cut(parts, 0)
        return parts[0] if self.whole else Stack(parts)

    def hold_shape(self, name: str, shape: Shape, *, many: bool = False) -> None:
        """Refuse an argument of another shape; ``many`` records along a first axis may be taken."""
        if shape == self.shape or (many and shape[1:] == self.shape and shape[:1] > (0,)):
            return
        remedy = "Pass an array of that shape, or compile the kernel again for the new one"
        if many:
            remedy = "Pass one record of that shape, or many along a first axis"
        elif len(shape) == len(self.shape) + 1 and shape[1:] == self.shape and shape[0] > 0:
            remedy = f"Compile it with batch={shape[0]} to take as many records along a first axis"
        fail(
            EncodingError,
            "ShapeMismatch",
            f"Argument {name!r} has shape {shape}, but the kernel was compiled for {self.shape}. {remedy}.",
            argument=name,
            expected=self.shape,
            found=shape,
        )

    def pack(
        self, name: str, values: ArrayLike, slots: int, magnitude: float = math.inf, lanes: int = 0
    ) -> dict[str, Slots]:
        """Slot vectors of a concrete argument, by ciphertext name.

        Raises
        ------
            EncodingError: values that are no finite numbers, of another shape, complex where the argument is
                real, or larger than ``magnitude``.
        """
        array = self.checked(name, values, magnitude, many=lanes > 0)
        if array.ndim > len(self.shape):
            self.hold_shape(name, array.shape[array.shape[0] == lanes :])
        return self.placed(name, array, slots, lanes)

    def checked(
        self, name: str, values: ArrayLike, magnitude: float = math.inf, *, many: bool = False
    ) -> Slots:
        """An argument as an array of the declared shape, or ``many`` along a first axis.

        Raises
        ------
            EncodingError: as `pack`.
        """
        array = finite_array(name, values)
        self.hold_shape(name, array.shape, many=many)
        if self.real and np.any(array.imag != 0):
            fail(
                EncodingError,
                "ComplexValue",
                f"Argument {name!r} holds complex numbers, but was declared real. "
                "Declare it with dtype=complex, or pass its real part.",
                argument=name,
            )
        _bounded(name, array, magnitude)
        _declared(name, array, self)
        return array

    def placed(self, name: str, array: Slots, slots: int, lanes: int = 0) -> dict[str, Slots]:
        """Slot vectors of an array of the declared shape, or of one for each lane."""
        layouts = self.layouts(slots // (lanes or 1))
        # The first axis of the array is that of lanes where it has one more than the argument.
        first = array.ndim - len(self.shape)
        if self.rows:
            each = [
                array[(slice(None),) * first + (slice(at, at + self.rows),)]
                for at in range(0, self.shape[0], self.rows)
            ]
        else:
            each = [array] if self.whole else [array[..., j] for j in range(self.ciphertexts)]

        def place(layout: Layout, part: Slots) -> Slots:
            return layout.place(part) if not lanes else lane.placed(layout, part, lanes)

        return {
            part: place(layout, own)
            for part, layout, own in zip(self.parts(name), layouts, each, strict=True)
        }


def declared_bound(name: str, magnitude: float) -> float:
    """A declared bound on the size of numbers; refused unless positive and finite."""
    bound = float(magnitude)
    if not (math.isfinite(bound) and bound > 0):
        fail(
            EncodingError,
            "BadBound",
            f"A bound of {bound!r} on {name} is not possible. Give a positive number.",
        )
    return bound


def finite_array(name: str, values: ArrayLike, use: str = "encrypted") -> NDArray[np.complex128]:
    """Numbers as a complex array; refuses what is not a finite number, naming the element, and masks.

    ``use`` is what they are for.
    """
    if wrong := foreign(values):
        fail(
            EncodingError,
            "ForeignValue",
            f"Argument {name!r} is not an array of plain numbers: {wrong[0]}. {wrong[1]}.",
            argument=name,
        )
    if any_masked(values):
        fail(
            EncodingError,
            "MaskedValue",
            f"Argument {name!r} has masked elements, and a ciphertext has no mask. "
            "Say what they count as: .filled(value), or .compressed() to leave them out.",
            argument=name,
        )
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "biufc":
        fail(
            EncodingError,
            "NotANumber",
            f"Argument {name!r} is {type(values).__name__} of dtype {array.dtype}, not an array of numbers. "
            "Convert it to a float or complex array of one shape first.",
            argument=name,
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        fail(
            EncodingError,
            "NotFinite",
            f"Element {index} of argument {name!r} is {array[index]}: only finite numbers can be {use}. "
            "Replace or remove such values first.",
            argument=name,
            index=index,
        )
    return array.astype(np.complex128)


def same_shape(name: str, values: ArrayLike, shape: Shape) -> NDArray[np.complex128]:
    """Numbers that are known to be right, in the shape of what they are compared with."""
    array = finite_array(name, values, "compared")
    if array.shape != shape:
        fail(
            MismatchError,
            "ShapeMismatch",
            f"The values expected of {name} have shape {array.shape}, but it decrypts to {shape}. "
            "Give one number for each element.",
            expected=shape,
            found=array.shape,
        )
    return array


def _bounded(name: str, array: NDArray[np.complex128], magnitude: float) -> None:
    """Refuse values beyond what the kernel was compiled for: results could wrap around silently."""
    size = np.abs(array)
    if np.any(size > magnitude * (1 + ROUNDING)):
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(size)), size.shape))
        largest = float(np.max(size))
        shown = f"{largest:g}" if f"{largest:g}" != f"{magnitude:g}" else repr(largest)
        fail(
            EncodingError,
            "Magnitude",
            f"Element {index} of argument {name!r} has size {shown}, but the kernel was compiled for "
            f"values up to {magnitude:g}. Scale the data, or compile with magnitude={shown} or more.",
            argument=name,
            index=index,
            size=largest,
            magnitude=magnitude,
        )


def _declared(name: str, array: NDArray[np.complex128], spec: Spec) -> None:
    """Refuse values outside of the declared bounds: functions of them are polynomials there alone."""
    if spec.low is None or spec.high is None:
        return
    room = ROUNDING * max(abs(spec.low), abs(spec.high))
    outside = (array.real < spec.low - room) | (array.real > spec.high + room)
    if np.any(outside):
        index = tuple(int(i) for i in np.argwhere(outside)[0])
        fail(
            EncodingError,
            "OutsideBounds",
            f"Element {index} of argument {name!r} is {array.real[index]:g}, and values from {spec.low:g} "
            f"to {spec.high:g} were declared. Scale or clip the data, or declare other bounds and compile "
            "again.",
            argument=name,
            index=index,
            low=spec.low,
            high=spec.high,
        )


def _bounds(low: object, high: object, *, real: bool) -> tuple[float | None, float | None]:
    """Declared bounds, checked."""
    if low is None and high is None:
        return None, None
    numbers = [
        isinstance(b, (int, float, np.integer, np.floating)) and not isinstance(b, bool) for b in (low, high)
    ]
    if not all(numbers) or not all(math.isfinite(float(b)) for b in (low, high)):  # type: ignore[arg-type]
        fail(
            EncodingError,
            "BadBounds",
            f"The bounds are low={low!r} and high={high!r}; give two finite numbers, or neither.",
            low=low,
            high=high,
        )
    if not low < high:  # type: ignore[operator]
        fail(
            EncodingError,
            "BadBounds",
            f"The bounds are low={low!r} and high={high!r}: the lower one is not below the upper one.",
            low=low,
            high=high,
        )
    if not real:
        fail(
            EncodingError,
            "BadBounds",
            "Complex numbers have no lower and upper bound: give magnitude= to compile.",
            low=low,
            high=high,
        )
    return float(low), float(high)  # type: ignore[arg-type]


def _positive(**sizes: Any) -> None:
    for name, size in sizes.items():
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < 1:
            fail(
                EncodingError,
                "BadShape",
                f"The {name} is {size!r}; give a whole number of at least 1.",
                name=name,
                value=size,
            )


def _packing(given: str, *allowed: str) -> None:
    if given not in allowed:
        fail(
            EncodingError,
            "BadPacking",
            f"Packing {given!r} is not known here: choose {' or '.join(repr(a) for a in allowed)}.",
            packing=given,
        )


def _real(dtype: type) -> bool:
    if dtype not in (float, complex):
        fail(EncodingError, "BadType", f"dtype {dtype!r} is not float or complex.", dtype=str(dtype))
    return dtype is float


def scalar(dtype: type = float, *, low: float | None = None, high: float | None = None) -> Spec:
    """An encrypted number, the same in every slot of one ciphertext.

    ``low`` and ``high`` say where the elements lie; functions of them are polynomials there (1/x from 0.3 to
    1.7). Data beyond are refused. Left out, it is ± the ``magnitude`` that is compiled for.

    Raises
    ------
        EncodingError: a type that is neither ``float`` nor ``complex``; invalid bounds.
    """
    real = _real(dtype)
    return Spec((), "slots", real, *_bounds(low, high, real=real))


def vector(
    length: int,
    packing: Literal["slots", "scalars"] = "slots",
    dtype: type = float,
    *,
    low: float | None = None,
    high: float | None = None,
) -> Spec:
    """An encrypted vector.

    ``slots`` puts all elements into one ciphertext. ``scalars`` makes one ciphertext an element, that
    element in every slot: the weights for a matrix by columns.

    ``low`` and ``high`` say where the elements lie; functions of them are polynomials there (1/x from 0.3 to
    1.7). Data beyond are refused. Left out, it is ± the ``magnitude`` that is compiled for.

    Raises
    ------
        EncodingError: a length, a packing or a type that there is not; invalid bounds.
    """
    _positive(length=length)
    _packing(packing, "slots", "scalars")
    real = _real(dtype)
    return Spec((int(length),), packing, real, *_bounds(low, high, real=real))


def matrix(
    rows: int,
    columns: int,
    packing: Literal["slots", "columns"] = "slots",
    dtype: type = float,
    *,
    low: float | None = None,
    high: float | None = None,
) -> Spec:
    """An encrypted matrix.

    ``slots`` flattens it row by row into one ciphertext: few ciphertexts, products need rotations.
    ``columns`` makes one ciphertext a column: products with weights need no rotations, which suits many
    records of few features.

    ``low`` and ``high`` say where the elements lie; functions of them are polynomials there (1/x from 0.3 to
    1.7). Data beyond are refused. Left out, it is ± the ``magnitude`` that is compiled for.

    Raises
    ------
        EncodingError: a side, a packing or a type that there is not; invalid bounds.
    """
    _positive(rows=rows, columns=columns)
    _packing(packing, "slots", "columns")
    real = _real(dtype)
    return Spec((int(rows), int(columns)), packing, real, *_bounds(low, high, real=real))


def spec_of(name: str, values: ArrayLike) -> Spec:
    """The description of an argument of these values; ``name`` is for messages."""
    array = finite_array(name, values)
    if array.ndim > 2 or array.size == 0:
        fail(
            EncodingError,
            "NoDescription",
            f"Argument {name!r} has shape {array.shape}, and numbers, vectors and matrices are encrypted. "
            "Give an array of up to two dimensions with an element at least.",
            argument=name,
            shape=array.shape,
        )
    return Spec(array.shape, real=not np.any(array.imag))


def cut(specs: dict[str, Spec], slots: int) -> dict[str, Spec]:
    """Cut along the first axis what one ciphertext does not hold, and what is as long as one of these.

    Each ciphertext has as many indices as the widest of them allows, in the same slots, so that parts go
    together. Distances are powers of two: sums along the axis then stand in all rows. Others are left as they
    are.
    """
    long = {s.shape[0] for s in specs.values() if s.packing == "slots" and math.prod(s.shape) > slots}
    of = {n: s for n, s in specs.items() if s.packing == "slots" and s.shape[:1] and s.shape[0] in long}
    pitch = power_of_two(max((math.prod(s.shape[1:]) for s in of.values()), default=1))
    rows = max(slots // pitch, 1)
    return {
        name: replace(spec, rows=rows, pitch=pitch) if name in of and spec.shape[0] > rows else spec
        for name, spec in specs.items()
    }


def slots_for(specs: dict[str, Spec]) -> int:
    """Slots of a program: the least power of two that holds every argument."""
    return power_of_two(max(spec.slots_needed for spec in specs.values()))
