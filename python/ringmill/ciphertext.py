"""Encrypted vectors at the prompt: NumPy-like operators, one small program each.

For more than a few operations write a kernel (``ringmill.kernel``): it chooses parameters, shares work and
computes each part at the lowest level that it can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill import _native, html
from ringmill._checks.alignment import of_one_context, together
from ringmill._checks.arguments import checked
from ringmill._checks.bounds import bounded
from ringmill._checks.integers import rotation, rotations, whole
from ringmill._checks.ownership import has_room, of_kind, one_secret, that_bootstraps
from ringmill._checks.results import plausible
from ringmill._native import (
    INTEGER_FACTOR_MAX,
    Comparison,
    EvaluationKeys,
    Evaluator,
    MachineSpec,
    Params,
    PublicKey,
    SecretKey,
)
from ringmill.algebra import within
from ringmill.errors import (
    EncodingError,
    KeyMissingError,
    LevelError,
    MismatchError,
    ParameterError,
    ProgramError,
    fail,
)
from ringmill.keys import Keys
from ringmill.plain import Plain, is_public, operand
from ringmill.progress import Share, Show, share, shown
from ringmill.trace.base import NOT_POLYNOMIAL, POLYNOMIAL, UFUNCS, Encrypted, Tensor
from ringmill.trace.given import Bounded
from ringmill.trace.prompt import AtPrompt, Present, product
from ringmill.trace.spec import finite_array, same_shape


def _vector(name: str, values: ArrayLike) -> NDArray[np.complex128]:
    array = finite_array(name, values)
    if array.ndim != 1 or array.size == 0:
        fail(
            EncodingError,
            "NotAVector",
            f"{name} has shape {array.shape}, but one ciphertext holds a vector. "
            "Give one dimension, or use a kernel for matrices.",
            shape=array.shape,
        )
    return np.ascontiguousarray(array)


def _transposed(matrix: Any) -> Any:
    return matrix.transposed if isinstance(matrix, Plain) else np.transpose(matrix)


def _is_matrix(operand: Any) -> bool:
    if isinstance(operand, Plain):
        return operand.values.ndim == 2
    try:
        return not isinstance(operand, Encrypted) and np.ndim(operand) == 2
    except ValueError:  # rows of different lengths, which are refused as numbers
        return False


def _known(value: Any) -> Plain:
    """A number that everybody may know: its size is its bound."""
    return Plain(
        np.asarray(value, dtype=np.complex128), max(float(np.abs(value)), float(np.finfo(float).tiny))
    )


def _public(other: Any) -> Any:
    """An operand, with its size as the bound of a whole number."""
    return _known(float(other)) if is_public(other) else other


def _refused(construct: str, why: str, remedy: str) -> Any:
    first = construct if "(" in construct or "`" in construct else construct[0].upper() + construct[1:]
    where = ", in a kernel" if remedy is POLYNOMIAL else ""

    def method(self: Ciphertext, *_: object, **__: object) -> NoReturn:
        fail(
            EncodingError,
            "UnsupportedConstruct",
            f"{first} of an encrypted vector is not possible: {why}. {remedy}{where}.",
        )

    return method


_DECRYPT = ("its values are encrypted", "Decrypt it first, where the secret key is")


class Ciphertext(Encrypted):
    """An encrypted vector, bound to the evaluation keys that compute with it.

    ``+ - * **``, ``rotate``, ``sum``, ``mean``, ``conj`` work as in NumPy, as do ``np.sum``, ``np.dot`` and
    others. A product costs a level; operands of
    different levels are brought together exactly.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        native: _native.Ciphertext,
        evaluator: Evaluator,
        length: int,
        *,
        real: bool,
        clean: bool = False,
    ) -> None:
        if native.params != evaluator.params:
            fail(
                MismatchError,
                "ParamsMismatch",
                f"The ciphertext has parameters {native.params!r}, but the evaluation keys have "
                f"{evaluator.params!r}. Use keys and ciphertexts of one context.",
            )
        one_secret("ciphertext", native, "evaluation keys", evaluator)
        self._native = native
        self.evaluator = evaluator
        self._length = length
        self._real = real
        self._clean = clean or length == native.slots

    @property
    def length(self) -> int:
        """Number of elements."""
        return self._length

    @property
    def real(self) -> bool:
        """Whether everything that went into it was real."""
        return self._real

    @property
    def clean(self) -> bool:
        """Whether slots beyond the length are known to be zero; sums need that."""
        return self._clean

    @property
    def shape(self) -> tuple[int]:
        """Its length, as NumPy gives shapes."""
        return (self.length,)

    @property
    def ndim(self) -> int:
        """One axis."""
        return 1

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.length

    @property
    def native(self) -> _native.Ciphertext:
        """The ciphertext itself, to compute with, send or decrypt: refused if its values may wrap around."""
        has_room(self._native)
        return self._native

    @property
    def params(self) -> Params:
        """The parameters."""
        return self._native.params

    @property
    def identity(self) -> str | None:
        """The identity of the secret key that it is under, as ``keys.identity``; ``None`` if not known."""
        return self._native.identity

    @property
    def slots(self) -> int:
        """Packed slots: a power of two that is at least the length."""
        return self._native.slots

    @property
    def level(self) -> int:
        """Products that remain."""
        return self._native.level

    @property
    def scale(self) -> str:
        """The exact scale, as a product of powers."""
        return self._native.scale

    @property
    def error_log2(self) -> float:
        """log2 of the predicted error of the worst element."""
        return self._native.error_log2

    @property
    def nbytes(self) -> int:
        """Bytes of its residues in memory."""
        return self._native.nbytes

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return (
            f"<encrypted vector ({self.length}): {self.slots} slots, level {self.level}, "
            f"scale 2^{self._native.scale_log2:.2f}, predicted error 2^{self.error_log2:.1f}, "
            f"{self.nbytes} bytes>"
        )

    def _repr_html_(self) -> str:
        """Its facts for a notebook."""
        return html.table(f"encrypted vector ({self.length})", html.ciphertext(self.native))

    def _with(
        self, native: _native.Ciphertext, *, real: bool = True, length: int = 0, clean: bool | None = None
    ) -> Ciphertext:
        clean = self.clean if clean is None else clean
        return Ciphertext(native, self.evaluator, length or self.length, real=self.real and real, clean=clean)

    # ---- arithmetic ---------------------------------------------------------------------------

    def _paired(self, other: Ciphertext, *, sums: bool = False) -> Sequence[Ciphertext]:
        """Both in as many slots, at one level and, to be added, at one scale."""
        of_one_context(("left ciphertext", self), ("right ciphertext", other))
        if other.length != self.length:
            fail(
                MismatchError,
                "LengthMismatch",
                f"The left vector has {self.length} elements, the right one {other.length}. "
                "Operators work element by element: give both the same length.",
                left=self.length,
                right=other.length,
            )
        slots = max(self.slots, other.slots)
        a, b = self._seen(slots), other._seen(slots)
        return together([a, b]) if sums or a.level != b.level else (a, b)

    def _brought(self, other: Ciphertext, level: int) -> Ciphertext:
        """The same values at the scale of another vector and at a level: below the own if scales differ."""
        if self.scale != other.scale:
            return self._with(self.evaluator.aligned(self.native, other.native, level))
        return self if self.level == level else self.drop_level(level)

    def _seen(self, slots: int) -> Ciphertext:
        """The same elements in more slots: what is in the own ones repeats."""
        if slots == self.slots:
            return self
        return self._with(self.native.with_slots(slots), clean=False)

    def _applied(self, kernel: AtPrompt, arguments: dict[str, Any], vectors: dict[str, Ciphertext]) -> Any:
        """What a kernel gives for some vectors, the first of which this is, and other arguments."""
        for name, vector in vectors.items():
            of_one_context(("first ciphertext", self), (f"ciphertext {name!r}", vector))
        brought = dict(zip(vectors, together(list(vectors.values())), strict=True))
        magnitude = max(v.native.magnitude for v in brought.values())
        described = {
            name: Present((v.length,), real=v.real, within=v.slots, clean=v.clean)
            for name, v in brought.items()
        }
        made = kernel.on({**arguments, **described}, magnitude)
        bound = bounded(made.public, magnitude, "Promise what you know of them, as x.within(1.0)")
        signature = made.traced.signature
        inputs = {name: v._seen(signature.slots).native for name, v in brought.items()}
        with share(f"evaluate {signature.name}", shown()) as reported:
            found = self._evaluated(made, inputs, magnitude, bound, reported)
        results = []
        for result in signature.outputs.values():
            length = result.layout.size if result.layout.shape else self.length
            native = found[result.parts[0]]
            results.append(Ciphertext(native, self.evaluator, length, real=signature.real))
        return kernel.form(results)

    def _evaluated(
        self,
        made: Bounded,
        inputs: dict[str, _native.Ciphertext],
        magnitude: float,
        bound: float,
        report: Share,
    ) -> dict[str, _native.Ciphertext]:
        """Results of a program: of an equal one that costs less, where these keys and levels hold it."""
        traced, real = made.traced, made.traced.signature.real
        # What is folded follows from numbers, of which declared ones show no more than their bounds.
        other, larger = (traced, bound) if made.bounds else within(traced, magnitude, bound)
        if other is not traced:
            with suppress(KeyMissingError, LevelError, MismatchError, ParameterError, ProgramError):
                return self.evaluator.evaluate(other.text, inputs, magnitude, larger, real, report, {})
        return self.evaluator.evaluate(traced.text, inputs, magnitude, bound, real, report, made.bounds)

    def _plain(self, other: Any) -> tuple[float | NDArray[np.complex128], float, bool]:
        """A number or a vector in the clear, its bound, and whether it is of a real type."""
        given = operand(other)
        array, bound = given.values, given.magnitude
        if array.ndim == 0:
            if given.real:
                return float(array.real), bound, True
            array = np.broadcast_to(array, (self.length,))
        if array.shape != (self.length,):
            fail(
                MismatchError,
                "LengthMismatch",
                f"The vector has {self.length} elements, the plaintext operand has shape {array.shape}. "
                "Give a number or as many numbers as elements.",
                left=self.length,
                right=array.shape,
            )
        return np.ascontiguousarray(array), bound, given.real

    def __add__(self, other: Any) -> Ciphertext:
        if isinstance(other, Ciphertext):
            a, b = self._paired(other, sums=True)
            total = self.evaluator.add(a.native, b.native)
            return self._with(total, real=other.real, clean=a.clean and b.clean)
        plain, bound, real = self._plain(_public(other))
        if isinstance(plain, float) and (self.length == self.slots or not self.clean):
            return self._with(self.evaluator.add_scalar(self.native, plain, bound))
        if isinstance(plain, float):
            plain = np.full(self.length, plain, dtype=np.complex128)
        return self._with(self.evaluator.add_plain(self.native, plain, bound), real=real)

    __radd__ = __add__

    def __neg__(self) -> Ciphertext:
        return self._with(self.evaluator.negate(self.native))

    def __pos__(self) -> Ciphertext:
        return self

    def __sub__(self, other: Any) -> Ciphertext:
        if isinstance(other, Ciphertext):
            a, b = self._paired(other, sums=True)
            total = self.evaluator.sub(a.native, b.native)
            return self._with(total, real=other.real, clean=a.clean and b.clean)
        return self + (-other if is_public(other) else -operand(other))

    def __rsub__(self, other: Any) -> Ciphertext:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Ciphertext:
        if isinstance(other, Ciphertext):
            if min(self.level, other.level) == 0:
                fail(
                    LevelError,
                    "LevelExhausted",
                    f"A product needs a level; the left vector has {self.level} left, the right one "
                    f"{other.level}. Take parameters with more levels, or multiply less deeply.",
                    left=self.level,
                    right=other.level,
                )
            a, b = self._paired(other)
            product = self.evaluator.multiply(a.native, b.native)
            return self._with(product, real=other.real, clean=a.clean or b.clean)
        if is_public(other) and abs(other) <= INTEGER_FACTOR_MAX:
            return self._with(self.evaluator.multiply_integer(self.native, other))
        plain, bound, real = self._plain(_public(other))
        if isinstance(plain, float):
            return self._with(self.evaluator.multiply_scalar(self.native, plain, bound))
        product = self.evaluator.multiply_plain(self.native, plain, bound)
        return self._with(product, real=real, clean=True)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Ciphertext:
        if isinstance(other, Ciphertext):
            fail(
                EncodingError,
                "Division",
                "Division by an encrypted vector is not a polynomial. "
                "Approximate 1/x on its interval with ringmill.approximate in a kernel.",
            )
        if isinstance(other, Plain):
            fail(
                EncodingError,
                "Division",
                "A bound on the divisor bounds no quotient. Multiply by the reciprocal, with its bound: "
                "x * rm.plain(1 / divisor, magnitude=…).",
            )
        divisor = finite_array("the divisor", other)
        if np.any(divisor == 0):
            fail(EncodingError, "DivisionByZero", "The divisor is zero. Divide by other numbers.")
        reciprocal = 1.0 / divisor
        return self * (_known(reciprocal) if is_public(other) else reciprocal)

    def __pow__(self, exponent: int) -> Ciphertext:
        if not isinstance(exponent, (int, np.integer)) or isinstance(exponent, bool) or exponent < 1:
            fail(
                EncodingError,
                "Exponent",
                f"An encrypted vector cannot be raised to the power {exponent!r}. "
                "Use whole numbers from 1 up.",
            )
        powers = {1: self}

        def power(n: int) -> Ciphertext:
            # Halving keeps the depth at ⌈log2 n⌉; equal halves are one product.
            if n not in powers:
                powers[n] = power(n - n // 2) * power(n // 2)
            return powers[n]

        return power(int(exponent))

    def __matmul__(self, other: Any) -> Ciphertext:
        """The inner product with a vector, which every slot holds; or the product with a clear matrix."""
        return product(self, operand(other)) if _is_matrix(other) else self._inner(other)

    def __rmatmul__(self, other: Any) -> Ciphertext:
        return product(operand(other), self) if _is_matrix(other) else self._inner(other)

    def _inner(self, other: Any) -> Ciphertext:
        if not isinstance(other, (Ciphertext, Plain)):
            other = _vector("the plaintext operand of @", other)
        return self.__mul__(other).sum()

    # ---- moving elements ----------------------------------------------------------------------

    def rotate(self, k: int) -> Ciphertext:
        """Element i of the result is element i + k, cyclically over all slots: needs the key of k.

        Any whole number; a negative one rotates to the right.

        Raises
        ------
            EncodingError: a step that is no whole number.
            KeyMissingError: no key for it.
        """
        k = rotation(EncodingError, "The rotation", k)
        return self._with(self.evaluator.rotate(self.native, k), length=self.slots)

    def rotations(self, steps: Iterable[int]) -> list[Ciphertext]:
        """What `rotate` gives for each of several steps, in less time: needs the key of each.

        The vector is decomposed once for all of them (hoisting), which is half of the work of a rotation.

        Raises
        ------
            EncodingError: steps that are no whole numbers.
            KeyMissingError: a key that is missing.
        """
        turned = self.evaluator.rotate_hoisted(self.native, rotations(EncodingError, steps))
        return [self._with(native, length=self.slots) for native in turned]

    def sum(self, axis: int | None = None) -> Ciphertext:
        """Sum of all elements, in every slot: needs keys of rotations by the powers of two below the slots.

        After a slice the slots beyond the length are masked first, which costs a level.

        Raises
        ------
            EncodingError: another axis than 0.
            KeyMissingError: keys that are missing.
            LevelError: no level for the mask.
        """
        if axis is not None and not (isinstance(axis, (int, np.integer)) and axis in (0, -1)):
            fail(EncodingError, "Axis", f"An encrypted vector has no axis {axis!r}. Its only axis is 0.")
        whole = self if self.clean else self * np.ones(self.length)
        return self._with(self.evaluator.sum(whole.native, self.slots), clean=False)

    def mean(self, axis: int | None = None) -> Ciphertext:
        """Mean of all elements, in every slot; a level more than the sum.

        Raises
        ------
            KeyMissingError: keys that are missing.
            EncodingError: another axis than 0.
            LevelError: too few levels left.
        """
        return self.sum(axis) * _known(1.0 / self.length)

    def conj(self) -> Ciphertext:
        """Complex conjugate of every element: needs the conjugation key.

        Raises
        ------
            KeyMissingError: no conjugation key.
        """
        return self._with(self.evaluator.conjugate(self.native))

    def bootstrap(self, *, iterations: int | None = None, progress: Show | None = None) -> Ciphertext:
        """The same values with fresh levels: needs the keys that ``bootstrap_keys`` lists.

        Takes four slots or more, and level 3 or above (level 2 at sets of small rings:
        ``params.bootstraps["start"]``). Real vectors take less time than complex ones. A second iteration
        bootstraps what the first one left out: twice the time, for up to 36 bits on a chain from
        ``Params.bootstrapping(bits=…, iterations=2)``. Left out, iterations are as many as the chain was laid
        out for (``params.bootstraps["iterations"]``), and one for values whose bound is too small for two.
        ``progress`` shows how far it is: "none", "auto" (a bar on a terminal, lines elsewhere), "bar" or
        "lines"; left out, as `ringmill.showing` says.

        Raises
        ------
            KeyMissingError: keys that are missing, with the call that makes them.
            MismatchError: a level below the one where it starts.
            ParameterError: another number of iterations.
            ProgramError: too few slots; code ``Depth``, for parameters that do not bootstrap.
        """
        if isinstance(iterations, bool) or iterations not in (None, 1, 2):
            fail(
                ParameterError,
                "Iterations",
                f"A bootstrapping in {iterations!r} iterations is not possible: 1 or 2 are to be had.",
            )
        with that_bootstraps(self.params, self.slots), share("bootstrap", progress or shown()) as reported:
            return self._with(self.evaluator.bootstrap(self.native, self.real, iterations, reported))

    @checked
    def within(self, bound: float) -> Ciphertext:
        """The same values, with the promise that no slot is larger than ``bound``.

        The size of every result is bounded by those of its operands, and what may exceed the modulus is
        refused. You may know better. A promise that is broken gives wrong results; beside the elements of a
        slice stand those that it was cut from.

        Raises
        ------
            EncodingError: a bound that is no positive number.
        """
        return self._with(self._native.within(float(bound)))

    @checked
    def restated(self, magnitude: float, error_log2: float) -> Ciphertext:
        """The same values, which state these bounds and nothing else of their size and error.

        A vector that was read from a file of before version 4 states what its operands made of it. This is
        how to write it without that. Both bounds are public.

        Args:
            magnitude: bound on the size of a slot, no less than it states now.
            error_log2: log2 of a bound on the error of a slot, no less than it states now.

        Raises
        ------
            EncodingError: a bound that is not positive, or less than it states now.
        """
        return self._with(self._native.restated(float(magnitude), float(error_log2)))

    def drop_level(self, level: int) -> Ciphertext:
        """The same values with fewer levels: less to compute and to send.

        Raises
        ------
            LevelError: an invalid level, or one above the own.
        """
        level = whole(LevelError, "The level", level, 0, self.level)
        return self._with(self.evaluator.drop_level(self.native, level))

    def __getitem__(self, key: object) -> Ciphertext:
        if not isinstance(key, slice) or key.step not in (None, 1):
            fail(
                EncodingError,
                "Index",
                f"The index {key!r} of an encrypted vector is not possible: elements share a ciphertext. "
                "Take a slice x[a:b], which is a rotation.",
            )
        try:
            start, stop, _ = key.indices(self.length)
        except TypeError:
            fail(
                EncodingError,
                "Index",
                f"The slice [{key.start}:{key.stop}] has bounds that are no whole numbers. "
                "Give whole numbers: x[a:b].",
            )
        if stop <= start:
            fail(EncodingError, "Index", f"The slice [{key.start}:{key.stop}] is empty. Choose a < b.")
        moved = self.evaluator.rotate(self.native, start) if start else self.native
        return self._with(moved, length=stop - start, clean=False)

    def __iter__(self) -> Any:
        fail(EncodingError, "Index", "An encrypted vector cannot be iterated. Use whole-vector operations.")

    def __bool__(self) -> bool:
        fail(
            EncodingError,
            "Truth",
            "An encrypted vector has no truth value. Decrypt it first, where the secret key is.",
        )

    def _compared(self, other: object) -> Any:
        fail(
            EncodingError,
            "Comparison",
            "Encrypted vectors cannot be compared. Decrypt them first, where the secret key is.",
        )

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _compared

    __int__ = __index__ = _refused("int()", *_DECRYPT)
    __float__ = _refused("float()", *_DECRYPT)
    __complex__ = _refused("complex()", *_DECRYPT)
    __array__ = _refused("conversion to a NumPy array", *_DECRYPT)
    __contains__ = _refused("`in`", *_DECRYPT)

    def __format__(self, spec: str) -> str:
        if spec:
            _refused(f"the format {spec!r}", *_DECRYPT)(self)
        return repr(self)

    def __getattr__(self, name: str) -> NoReturn:
        kernels = name in ("T", "var", "std", "max", "min", "prod", "cumsum", "transpose", "ravel", "clip")
        raise AttributeError(
            f"an encrypted vector has no {name!r}"
            + (". Write it in a kernel (@ringmill.kernel), and call that with the vector." if kernels else "")
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        operator = UFUNCS.get(ufunc.__name__)
        if operator is None or method != "__call__" or options:
            name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
            remedy = (
                "Use the operator, and x.sum() for sums; what is encrypted goes into no array"
                if operator
                else f"{POLYNOMIAL}, in a kernel"
            )
            fail(
                EncodingError,
                "UnsupportedFunction",
                f"numpy.{name} of an encrypted vector is not possible. {remedy}.",
            )
        return operator(*inputs)

    def __array_function__(
        self, function: Callable[..., Any], types: object, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        known = _FUNCTIONS.get(function.__name__)
        if known is None or len(args) > 2 or set(options) - {"axis"}:
            fail(
                EncodingError,
                "UnsupportedFunction",
                f"numpy.{function.__name__} of an encrypted vector is not possible"
                f"{' with these options' if known else ''}. "
                f"Understood are operators and numpy.{', numpy.'.join(sorted(_FUNCTIONS))}.",
            )
        return known(*args, **options)

    def _rolled(self, shift: int) -> Ciphertext:
        """What ``numpy.roll`` gives."""
        if self.length != self.slots:
            fail(
                EncodingError,
                "Roll",
                f"A rotation goes around all {self.slots} slots, not around {self.length} elements. "
                "Write x.rotate(k) where that is meant, or np.roll in a kernel.",
            )
        return self.rotate(-rotation(EncodingError, "The roll", shift))

    def to_bytes(self) -> bytes:
        """The ciphertext for a file or a wire.

        Raises
        ------
            EncodingError: code ``Transparent``, for a vector that everybody could decrypt, as x - x.
            LevelError: code ``WrapsAround``, for values that the modulus may not hold.
        """
        if self.native.transparent:
            fail(
                EncodingError,
                "Transparent",
                "Nothing of the secret key is left in this vector, as in x - x: everybody could decrypt it, "
                "with all that was added to it. Encrypt what shall be secret, and add that.",
            )
        return self.native.to_bytes()

    def __reduce__(self) -> NoReturn:
        """Refused: keys would go with every vector."""
        fail(
            MismatchError,
            "Pickle",
            "An encrypted vector is bound to the keys that compute with it and does not pickle. Send "
            "x.to_bytes(), and read it by rm.Ciphertext.from_bytes(data, keys).",
        )

    def __copy__(self) -> Ciphertext:
        """Itself: nothing changes a vector."""
        return self

    def __deepcopy__(self, _memo: object) -> Ciphertext:
        """Itself."""
        return self

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        keys: Keys | EvaluationKeys | Evaluator,
        length: int | None = None,
        *,
        real: bool = False,
    ) -> Ciphertext:
        """Read what ``to_bytes`` wrote, to compute with ``keys``; give one ``Evaluator`` for many reads.

        Args:
            data: the bytes.
            keys: what computes with it.
            length: elements, as many as there are slots by default: the bytes do not contain it.
            real: whether its values are real, which the bytes do not contain either: `decrypt` gives real
                numbers then, and `bootstrap` takes less time. Imaginary parts that there are get lost.

        Raises
        ------
            EncodingError: a length that the slots do not hold.
            FileFormatError: damaged bytes, or another kind of file.
            MismatchError: no bytes, no keys to compute with; a ciphertext of other parameters, or under
                another secret key.
        """
        computing = (Keys, EvaluationKeys, Evaluator)
        of_kind("Ciphertext.from_bytes()", "keys", keys, computing, "Give what computes with it.")
        of_kind("Ciphertext.from_bytes()", "real", real, (bool,), "Say whether its values are real.")
        if isinstance(keys, Keys):
            keys = keys.evaluator()
        evaluator = Evaluator(keys) if isinstance(keys, EvaluationKeys) else keys
        native = _native.Ciphertext.from_bytes(evaluator.params, data)
        most = native.slots
        length = most if length is None else whole(EncodingError, "The length", length, 1, most)
        return cls(native, evaluator, length, real=real)


# What Python may ask for in vain; the words that kernels have for it are the same here.
for _name in (
    *("__rtruediv__", "__rpow__", "__abs__", "__round__", "__trunc__", "__floor__", "__ceil__"),
    *("__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__divmod__", "__rdivmod__"),
    *("__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__", "__invert__"),
    *("__lshift__", "__rlshift__", "__rshift__", "__rrshift__", "__setitem__", "__delitem__"),
):
    setattr(Ciphertext, _name, _refused(*(NOT_POLYNOMIAL.get(_name) or getattr(Tensor, _name).words)))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": Ciphertext.sum,
    "mean": Ciphertext.mean,
    "dot": UFUNCS["matmul"],
    "inner": lambda a, b: UFUNCS["matmul"](a, _transposed(b) if _is_matrix(b) else b),
    "roll": lambda x, shift, axis=None: x._rolled(shift),
    "shape": lambda x: x.shape,
    "ndim": lambda x: x.ndim,
    "size": lambda x: x.size,
}


def encrypt(
    values: ArrayLike,
    keys: Keys,
    *,
    slots: int | None = None,
    level: int | None = None,
    magnitude: float | None = None,
    key: PublicKey | SecretKey | None = None,
    machine: str | MachineSpec = "cpu",
) -> Ciphertext:
    """Encrypt a vector of numbers.

    Args:
        values: real or complex numbers, at most as many as the parameters have slots.
        keys: from ``keygen``.
        slots: packed slots, a power of two; the least that holds the values by default.
        level: products that shall remain; all by default. The scale is the one that products have there.
        magnitude: bound on the size of the values, 1 if none is declared. It is public: the ciphertext
            carries it, and nothing else of the values.
        key: encrypt with this key instead of the secret one, as a public key for which others encrypt.
        machine: where operations on the result run, as "cpu:threads=4" or a value of ``rm.machines``.

    Raises
    ------
        EncodingError: values that are not finite, too many, beyond the bound, or too large for the scale.
        MismatchError: keys of another kind; a ``key`` of other parameters, or of another secret key.
    """
    alone = "Give what rm.keygen made; a single key encrypts by its own method: key.encrypt(values)."
    of_kind("rm.encrypt()", "keys", keys, (Keys,), alone)
    if key is not None:
        of_kind("rm.encrypt()", "key", key, (PublicKey, SecretKey), "Left out, it is keys.secret.")
    array = _vector("values", values)
    if level is not None:
        level = whole(LevelError, "The level", level, 0, keys.params.max_level)
    scale = keys.params.scale_at(keys.params.max_level if level is None else level)
    if slots is not None:
        slots = whole(EncodingError, "The number of slots", slots, 1, keys.params.slots)
    encrypting = key or keys.secret
    if encrypting.params == keys.params:
        one_secret("key to encrypt with", encrypting, "keys to compute with", keys)
    native = encrypting.encrypt(array, slots=slots, level=level, magnitude=magnitude, scale=scale)
    return Ciphertext(native, keys.evaluator(machine), len(array), real=not np.any(array.imag), clean=True)


@checked
def bootstrap_keys(params: Params, slots: int, *, real: bool = True) -> dict[str, Any]:
    """What ``keygen`` has to make for ``Ciphertext.bootstrap``: ``keygen(params, **bootstrap_keys(…))``.

    Args:
        params: parameters that bootstrap, as ``Params.bootstrapping`` gives them.
        slots: packed slots of the ciphertexts, a power of two from 4 to N/2.
        real: whether their values are real, which takes fewer keys.

    Raises
    ------
        ProgramError: code ``Depth``, for parameters of too few levels to bootstrap.
    """
    slots = whole(EncodingError, "The number of slots", slots, 1, params.slots)
    with that_bootstraps(params, slots):
        rotations = _native.bootstrap_rotations(params, slots, real)
    return {"relin": True, "rotations": rotations, "conjugation": True, "encapsulation": True}


def _decrypted(call: str, cipher: Ciphertext, secret: SecretKey | Keys) -> NDArray[np.complex128]:
    """All slots of a vector."""
    other = (
        "Results of a kernel are for compiled.decrypt, native ciphertexts for the secret key's own method."
    )
    of_kind(call, "cipher", cipher, (Ciphertext,), other)
    of_kind(call, "secret", secret, (SecretKey, Keys), "Only the secret key decrypts: keys.secret.")
    key = secret.secret if isinstance(secret, Keys) else secret
    return key.decrypt(cipher.native)


@checked
def decrypt(cipher: Ciphertext, secret: SecretKey | Keys, *, check: bool = True) -> NDArray[Any]:
    """Decrypt a vector; real when everything that went into it was real.

    Raises
    ------
        MismatchError: no ciphertext, or no key that decrypts; a ciphertext of other parameters, or under
            another secret key.
        ResultError: values beyond the bound that the computation relied on, unless ``check`` is false.
    """
    values = _decrypted("rm.decrypt()", cipher, secret)[: cipher.length]
    if check:
        plausible(values, cipher.native)
    return values.real.copy() if cipher.real else values


def measure_error(cipher: Ciphertext, secret: SecretKey | Keys, expected: ArrayLike) -> Comparison:
    """Decrypt a vector whose values are known, and hold its error to the predicted one.

    Args:
        cipher: the vector.
        secret: the secret key.
        expected: what it should hold, a number for each element.

    Returns the predicted and the measured error of the worst element (log2) and which it is (``slot``);
    ``holds`` says whether the prediction was enough, as it is but once in a million ciphertexts. Of a real
    vector real parts are compared, as `decrypt` gives them.

    Raises
    ------
        EncodingError: expected values that are no finite numbers.
        MismatchError: as ``decrypt``; another number of expected values.
    """
    slots = _decrypted("rm.measure_error()", cipher, secret)
    if cipher.real:
        slots = slots.real.astype(np.complex128)
    wanted = slots.copy()  # what stands beside the elements is not compared
    wanted[: cipher.length] = same_shape("the vector", expected, (cipher.length,))
    return cipher.native.compare(slots, wanted)
