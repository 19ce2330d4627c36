"""What every symbolic value shares: Python and NumPy constructs that are refused, each with its reason.

While a kernel is traced no value exists: what Python would decide from a value (``if``, ``float()``,
an index) cannot be decided. Each such construct raises ``KernelError`` naming the kernel's line.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from ringmill.trace.foreign import foreign
from ringmill.trace.layout import Shape
from ringmill.trace.where import refuse

T = TypeVar("T", bound="Tensor")

POLYNOMIAL = (
    "Approximate it by a polynomial on the interval of its input, for example "
    "ringmill.approximate(numpy.exp, (-4, 4), error=1e-3)(x)"
)
# What kernels work out and the prompt does not.
NOT_POLYNOMIAL = {
    "__rtruediv__": ("a divisor", "1/x is not a polynomial", POLYNOMIAL),
    "__rpow__": ("an exponent", "exponentials are not polynomials", POLYNOMIAL),
    "__abs__": ("abs()", "it is not a polynomial", POLYNOMIAL),
}
_BRANCH = "Compute both outcomes and let numpy.where(x > 0, a, b) choose, or decide from a plaintext argument"


def _refused(construct: str, why: str, remedy: str) -> Callable[..., NoReturn]:
    def method(self: Tensor, *_: object) -> NoReturn:
        refuse(
            "UnsupportedConstruct", f"{construct} of an encrypted {self.kind} is not possible: {why}", remedy
        )

    method.words = (construct, why, remedy)  # type: ignore[attr-defined]
    return method


def constant_array(value: object) -> NDArray[np.complex128]:
    """A plaintext operand as complex numbers; refuses what is not a finite number."""
    if present(value):
        refuse(
            "OutsideKernel",
            "an encrypted vector of the prompt is neither a kernel's value nor a clear one",
            "Write the computation as a kernel (@ringmill.kernel) and give it the vector as an argument",
        )
    if wrong := foreign(value):
        refuse("ForeignValue", f"a plaintext operand is not an array of plain numbers: {wrong[0]}", wrong[1])
    if any_masked(value):
        refuse(
            "MaskedValue",
            "a plaintext operand has masked elements",
            "Say what they count as: .filled(value), or .compressed() to leave them out",
        )
    try:
        # Whole numbers beyond 64 bits, fractions and decimal numbers are objects to NumPy.
        array = np.asarray(float(value) if isinstance(value, (int, Fraction, Decimal)) else value)
    except (ValueError, TypeError):
        array = np.asarray(None)
    except OverflowError:
        refuse(
            "NotFinite",
            "a plaintext operand is larger than any float",
            "Scale the data: floats end at 1.8e308",
        )
    if array.dtype.kind not in "biufc":
        refuse(
            "NotANumber",
            f"{type(value).__name__} is not a number or an array of numbers",
            "Operands of encrypted values are encrypted values, numbers and NumPy arrays",
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        place = tuple(int(i) for i in bad[0])
        shown = f"element {place}" if place else "the constant"
        refuse(
            "NotFinite",
            f"{shown} of a plaintext operand is {array[place]}",
            "Only finite numbers can be encoded: clean the data before the kernel sees it",
        )
    return array.astype(np.complex128)


def clear_array(value: Any) -> NDArray[Any]:
    """What a function of encrypted values computes with when it is called on clear ones: real if they are."""
    array = constant_array(value)
    return array if np.iscomplexobj(value) else array.real


def axes_of(axis: object, ndim: int, what: str) -> tuple[int, ...]:
    """The axes that ``axis`` names, as NumPy counts them: a number, several of them, or all for None."""
    if axis is None:
        return tuple(range(ndim))
    found = []
    for a in axis if isinstance(axis, tuple) else (axis,):
        if not isinstance(a, (int, np.integer)) or isinstance(a, bool) or not -ndim <= a < ndim:
            known = (
                f"Its axes are {', '.join(map(str, range(ndim)))}" if ndim else "It has no axes: leave it out"
            )
            refuse("BadAxis", f"axis {axis!r} of {what}", known)
        found.append(int(a) % ndim)
    if len(set(found)) < len(found):
        refuse("BadAxis", f"axis {axis!r} of {what} names an axis twice", "Name each axis once")
    return tuple(found)


def order_of(axes: tuple[Any, ...], ndim: int, what: str) -> tuple[int, ...]:
    """The axes in the order that the arguments of a transpose give: reversed without any."""
    given: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)) else axes or None
    if given is None:
        return tuple(reversed(range(ndim)))
    order = axes_of(tuple(given), ndim, what)
    if len(order) < ndim:
        refuse("BadAxis", f"{len(order)} axes of {what}", "Name every axis once")
    return order


def reshaped(x: Tensor, shape: tuple[Any, ...]) -> Shape:
    """The shape that the arguments of a reshape give, −1 worked out."""
    wanted = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    try:
        new: Shape = np.broadcast_to(np.empty(()), x.shape).reshape(wanted).shape
        return new
    except (ValueError, TypeError):
        refuse("BadReshape", f"an encrypted {x.kind} in shape {wanted}", "Keep the number of elements")


def any_masked(values: object) -> bool:
    """Whether a masked array, or one of several, has masked elements; as plain numbers they would count."""
    if isinstance(values, (list, tuple)):
        return any(any_masked(each) for each in values)
    return bool(np.ma.is_masked(values))


class Encrypted:
    """What is encrypted, in a kernel or at the prompt: NumPy leaves operators to it."""

    __slots__ = ()


def present(value: object) -> bool:
    """Whether this is an encrypted vector of the prompt."""
    return isinstance(value, Encrypted) and not isinstance(value, Tensor)


class Tensor(Encrypted, ABC):
    """A symbolic encrypted array. Arithmetic lives in the subclasses."""

    # NumPy arrays hand binary operators over to __array_ufunc__ below.
    __slots__ = ()
    # What a kernel may ask for beside operators and the names of the table (numpy_table.py).
    offers: ClassVar[str]

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """Logical shape, as NumPy would print it."""

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def kind(self) -> str:
        """How messages call this value: scalar, vector (100) or matrix (100×10)."""
        names = ("scalar", "vector", "matrix")
        size = "×".join(str(n) for n in self.shape)
        return names[min(self.ndim, 2)] + (f" ({size})" if size else "")

    def __repr__(self) -> str:
        return f"<encrypted {self.kind}, being traced>"

    def __len__(self) -> int:
        if not self.shape:
            refuse(
                "UnsupportedConstruct",
                "len() of an encrypted scalar",
                "Only vectors and matrices have a length",
            )
        return self.shape[0]

    if not TYPE_CHECKING:  # which would take every name for one that there is

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # a protocol that is asked for
                raise AttributeError(name)
            from ringmill.trace import numpy_table

            return numpy_table.method(self, name)

    def __format__(self, spec: str) -> str:
        if spec:
            refuse(
                "UnsupportedConstruct",
                f"the format {spec!r} of an encrypted {self.kind} is not possible: its value is unknown "
                "while the kernel is traced",
                "Show results after decryption",
            )
        return repr(self)

    __hash__ = _refused("hashing", "its equality would be encrypted", "Key by a name in its place")
    __bool__ = _refused("the truth value", "its value is unknown while the kernel is traced", _BRANCH)
    __eq__ = __ne__ = _refused(
        "comparison for equality",
        "the outcome would jump at one point, where no polynomial can",
        "Compare the distance, as abs(x - y) < 0.1, or values of 0 and 1 by 1 - (x - y)**2",
    )
    __int__ = __index__ = _refused(
        "int()", "its value is unknown while the kernel is traced", "Keep it encrypted"
    )
    __float__ = _refused("float()", "its value is unknown while the kernel is traced", POLYNOMIAL)
    __complex__ = _refused(
        "complex()", "its value is unknown while the kernel is traced", "Keep it encrypted"
    )
    __round__ = __trunc__ = __floor__ = __ceil__ = _refused(
        "rounding", "it is not a polynomial", "Keep the value and round after decryption"
    )
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _refused(
        "integer division", "it is not a polynomial", "Keep the value, and divide after decryption"
    )
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = _refused(
        "a bitwise operator",
        "CKKS computes on real and complex numbers",
        "For 0/1 values use a*b, a+b-a*b and 1-a",
    )
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refused(
        "a shift",
        "CKKS computes on real and complex numbers",
        "Use rotate(k) to move elements, * 2**k to scale",
    )
    __setitem__ = __delitem__ = _refused(
        "assignment to elements",
        "encrypted values do not change",
        "Build the result: x * mask + y * (1 - mask)",
    )
    __contains__ = _refused("`in`", "the outcome would be encrypted and cannot steer Python", _BRANCH)
    # pandas leaves operators to what has a higher priority than its tables.
    __pandas_priority__ = 10_000

    def __array__(self, *_: object, **__: object) -> NDArray[Any]:
        if sys._getframe(1).f_globals.get("__name__", "").startswith("scipy.sparse"):
            # What SciPy does not take for an array it leaves to our operator.
            boxed = np.empty((), dtype=object)
            boxed[()] = self
            return boxed
        refuse(
            "UnsupportedConstruct",
            f"conversion to a NumPy array of an encrypted {self.kind} is not possible: it is encrypted",
            "Keep it symbolic until the kernel returns; numpy.stack and numpy.concatenate join values",
        )

    @abstractmethod
    def _binary(self: T, op: str, other: object, *, reverse: bool) -> Any: ...

    @abstractmethod
    def __neg__(self: T) -> T: ...

    def __pos__(self: T) -> T:
        return self

    def __add__(self, other: object) -> Any:
        return self._binary("add", other, reverse=False)

    def __radd__(self, other: object) -> Any:
        return self._binary("add", other, reverse=True)

    def __sub__(self, other: object) -> Any:
        return self._binary("sub", other, reverse=False)

    def __rsub__(self, other: object) -> Any:
        return self._binary("sub", other, reverse=True)

    def __mul__(self, other: object) -> Any:
        return self._binary("mul", other, reverse=False)

    def __rmul__(self, other: object) -> Any:
        return self._binary("mul", other, reverse=True)

    def __truediv__(self, other: object) -> Any:
        from ringmill.trace import elementary, shifts

        if isinstance(other, Tensor):
            unshifted = shifts.quotient(self, other)
            return self * elementary.reciprocal(other) if unshifted is None else unshifted
        divisor = constant_array(other)
        if np.any(divisor == 0):
            refuse("DivisionByZero", "a plaintext divisor is zero", "Divide by numbers other than zero")
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            inverse = 1.0 / divisor
        if not np.all(np.isfinite(inverse)):
            refuse(
                "NotFinite",
                "one over a plaintext divisor is larger than any float",
                "Scale the data: floats end at 1.8e308",
            )
        return self * inverse

    def __rtruediv__(self, other: object) -> Any:
        from ringmill.trace import elementary

        return other * elementary.reciprocal(self)

    def __rpow__(self, base: object) -> Any:
        from ringmill.trace import elementary

        return elementary.exponential(base, self)

    def __abs__(self) -> Any:
        from ringmill.trace import elementary

        return elementary.absolute(self)

    def __gt__(self, other: object) -> Any:
        from ringmill.trace import elementary

        return elementary.greater(self, other)

    def __lt__(self, other: object) -> Any:
        from ringmill.trace import elementary

        return elementary.greater(other, self)

    # Where both are equal nothing is promised, so that there is no difference.
    __ge__ = __gt__
    __le__ = __lt__

    @abstractmethod
    def sum(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: object = None,
        out: object = None,
        *,
        keepdims: bool = False,
    ) -> Any:
        """Sum over all axes, or some, as ``numpy.sum``."""

    def mean(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: object = None,
        out: object = None,
        *,
        keepdims: bool = False,
    ) -> Any:
        """Mean over the same axes as ``sum``; one level more."""
        total = self.sum(axis, dtype, out, keepdims=keepdims)
        return total * (math.prod(total.shape) / math.prod(self.shape))

    def dot(self, other: object) -> Any:
        """The matrix product, as ``@``."""
        return self @ other

    @abstractmethod
    def __matmul__(self, other: object) -> Any: ...

    @abstractmethod
    def __rmatmul__(self, other: object) -> Any: ...

    @abstractmethod
    def __pow__(self, exponent: object) -> Any: ...

    @abstractmethod
    def bootstrap(self: T, *, iterations: int | None = None) -> T:
        """The same elements with fresh levels."""

    @abstractmethod
    def conj(self: T) -> T:
        """Complex conjugate of every element."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from ringmill.trace import numpy_table

        return numpy_table.of_ufunc(self, ufunc, method, inputs, options)

    def __array_function__(
        self, function: Callable[..., Any], types: object, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        from ringmill.trace import numpy_table

        return numpy_table.of_function(self, function, args, options)


def parts_of(x: Any) -> tuple[Any, ...]:
    """The ciphertexts of a value."""
    return x.parts if hasattr(type(x), "parts") else (x,)


def plain_sum(dtype: object, out: object) -> None:
    """Refuse what a sum of encrypted values cannot be asked for: another type, a place to go."""
    if out is not None:
        refuse("UnsupportedConstruct", "a sum into an array: it is encrypted", "Leave out=… away")
    if dtype is not None and np.dtype(dtype).kind not in "fc":  # type: ignore[call-overload]
        refuse(
            "BadType", f"a sum of type {dtype!r}", "Encrypted values are real or complex: leave dtype=… away"
        )


def no_iteration(x: Tensor, remedy: str = "Use whole-vector operations, or x[i] for one element") -> NoReturn:
    """Refuse to iterate over elements."""
    refuse(
        "UnsupportedConstruct",
        f"iteration of an encrypted {x.kind} is not possible: elements share one ciphertext",
        remedy,
    )


UFUNCS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b if isinstance(a, Encrypted) else b.__radd__(a),
    "subtract": lambda a, b: a - b if isinstance(a, Encrypted) else b.__rsub__(a),
    "multiply": lambda a, b: a * b if isinstance(a, Encrypted) else b.__rmul__(a),
    "divide": lambda a, b: a / b if isinstance(a, Encrypted) else b.__rtruediv__(a),
    "matmul": lambda a, b: a @ b if isinstance(a, Encrypted) else b.__rmatmul__(a),
    "power": lambda a, b: a**b if isinstance(a, Encrypted) else b.__rpow__(a),
    "negative": lambda a: -a,
    "positive": lambda a: a,
    "conjugate": lambda a: a.conj(),
    "square": lambda a: a * a,
    "less": lambda a, b: a < b if isinstance(a, Encrypted) else b > a,
    "less_equal": lambda a, b: a <= b if isinstance(a, Encrypted) else b >= a,
    "greater": lambda a, b: a > b if isinstance(a, Encrypted) else b < a,
    "greater_equal": lambda a, b: a >= b if isinstance(a, Encrypted) else b <= a,
    "equal": lambda a, b: a == b if isinstance(a, Encrypted) else b == a,
    "not_equal": lambda a, b: a != b if isinstance(a, Encrypted) else b != a,
}
