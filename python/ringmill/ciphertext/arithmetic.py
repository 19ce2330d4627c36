"""``+ - * / **`` of encrypted vectors, and kernels at the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringmill import _native
from ringmill._checks.alignment import of_one_context, together
from ringmill._checks.bounds import bounded
from ringmill._native import INTEGER_FACTOR_MAX
from ringmill.algebra import within
from ringmill.ciphertext.facts import Facts
from ringmill.ciphertext.operands import public_number, with_bound
from ringmill.errors import (
    EncodingError,
    KeyMissingError,
    LevelError,
    MismatchError,
    ParameterError,
    ProgramError,
    fail,
)
from ringmill.progress import Share, share, shown
from ringmill.trace.given import Bounded
from ringmill.trace.plain import Plain, is_public, operand
from ringmill.trace.prompt import AtPrompt, Present
from ringmill.trace.spec import finite_array

if TYPE_CHECKING:
    from typing_extensions import Self


class Arithmetic(Facts):
    """Operators element by element; operands of different levels are brought together exactly."""

    def _paired(self, other: Self, *, sums: bool = False) -> Sequence[Self]:
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

    def _brought(self, other: Self, level: int) -> Self:
        """The same values at the scale of another vector and at a level: below the own if scales differ."""
        if self.scale != other.scale:
            return self._with(self.evaluator.aligned(self.native, other.native, level))
        return self if self.level == level else self.drop_level(level)

    def _seen(self, slots: int) -> Self:
        """The same elements in more slots: what is in the own ones repeats."""
        if slots == self.slots:
            return self
        return self._with(self.native.with_slots(slots), clean=False)

    def _applied(self, kernel: AtPrompt, arguments: dict[str, Any], vectors: dict[str, Self]) -> Any:
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
            layout = result.layouts[0]
            length = layout.size if layout.shape else self.length
            native = found[result.parts[0]]
            results.append(type(self)(native, self.evaluator, length, real=signature.real))
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

    def __add__(self, other: Any) -> Self:
        if isinstance(other, type(self)):
            a, b = self._paired(other, sums=True)
            total = self.evaluator.add(a.native, b.native)
            return self._with(total, real=other.real, clean=a.clean and b.clean)
        plain, bound, real = self._plain(with_bound(other))
        if isinstance(plain, float) and (self.length == self.slots or not self.clean):
            return self._with(self.evaluator.add_scalar(self.native, plain, bound))
        if isinstance(plain, float):
            plain = np.full(self.length, plain, dtype=np.complex128)
        return self._with(self.evaluator.add_plain(self.native, plain, bound), real=real)

    __radd__ = __add__

    def __neg__(self) -> Self:
        return self._with(self.evaluator.negate(self.native))

    def __pos__(self) -> Self:
        return self

    def __sub__(self, other: Any) -> Self:
        if isinstance(other, type(self)):
            a, b = self._paired(other, sums=True)
            total = self.evaluator.sub(a.native, b.native)
            return self._with(total, real=other.real, clean=a.clean and b.clean)
        return self + (-other if is_public(other) else -operand(other))

    def __rsub__(self, other: Any) -> Self:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Self:
        if isinstance(other, type(self)):
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
        plain, bound, real = self._plain(with_bound(other))
        if isinstance(plain, float):
            return self._with(self.evaluator.multiply_scalar(self.native, plain, bound))
        product = self.evaluator.multiply_plain(self.native, plain, bound)
        return self._with(product, real=real, clean=True)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Self:
        if isinstance(other, type(self)):
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
        return self * (public_number(reciprocal) if is_public(other) else reciprocal)

    def __pow__(self, exponent: int) -> Self:
        if not isinstance(exponent, (int, np.integer)) or isinstance(exponent, bool) or exponent < 1:
            fail(
                EncodingError,
                "Exponent",
                f"An encrypted vector cannot be raised to the power {exponent!r}. "
                "Use whole numbers from 1 up.",
            )
        powers = {1: self}

        def power(n: int) -> Any:
            # Halving keeps the depth at ⌈log2 n⌉; equal halves are one product.
            if n not in powers:
                powers[n] = power(n - n // 2) * power(n // 2)
            return powers[n]

        power(int(exponent))
        return powers[int(exponent)]
