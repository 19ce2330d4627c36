"""What NumPy and Python may ask of an encrypted vector: functions that work, refusals of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ringmill._checks.integers import rotation
from ringmill.ciphertext.elements import Elements
from ringmill.ciphertext.facts import Facts
from ringmill.ciphertext.operands import is_matrix, transposed
from ringmill.errors import EncodingError, fail
from ringmill.trace.base import NOT_POLYNOMIAL, POLYNOMIAL, UFUNCS, Tensor

if TYPE_CHECKING:
    from typing_extensions import Self


def _refused(construct: str, why: str, remedy: str) -> Any:
    first = construct if "(" in construct or "`" in construct else construct[0].upper() + construct[1:]
    where = ", in a kernel" if remedy is POLYNOMIAL else ""

    def method(self: Facts, *_: object, **__: object) -> NoReturn:
        fail(
            EncodingError,
            "UnsupportedConstruct",
            f"{first} of an encrypted vector is not possible: {why}. {remedy}{where}.",
        )

    return method


_DECRYPT = ("its values are encrypted", "Decrypt it first, where the secret key is")


class Answering(Elements):
    """An encrypted vector towards NumPy and Python."""

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

    def _rolled(self, shift: int) -> Self:
        """What ``numpy.roll`` gives."""
        if self.length != self.slots:
            fail(
                EncodingError,
                "Roll",
                f"A rotation goes around all {self.slots} slots, not around {self.length} elements. "
                "Write x.rotate(k) where that is meant, or np.roll in a kernel.",
            )
        return self.rotate(-rotation(EncodingError, "The roll", shift))


# What Python may ask for in vain; the words that kernels have for it are the same here.
for _name in (
    *("__rtruediv__", "__rpow__", "__abs__", "__round__", "__trunc__", "__floor__", "__ceil__"),
    *("__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__divmod__", "__rdivmod__"),
    *("__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__", "__invert__"),
    *("__lshift__", "__rlshift__", "__rshift__", "__rrshift__", "__setitem__", "__delitem__"),
):
    setattr(Answering, _name, _refused(*(NOT_POLYNOMIAL.get(_name) or getattr(Tensor, _name).words)))

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": Answering.sum,
    "mean": Answering.mean,
    "dot": UFUNCS["matmul"],
    "inner": lambda a, b: UFUNCS["matmul"](a, transposed(b) if is_matrix(b) else b),
    "roll": lambda x, shift, axis=None: x._rolled(shift),
    "shape": lambda x: x.shape,
    "ndim": lambda x: x.ndim,
    "size": lambda x: x.size,
}
