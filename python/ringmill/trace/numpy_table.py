"""One table from names of NumPy to what does their work on encrypted values, or to advice.

NumPy asks for functions (``__array_function__``) and ufuncs (``__array_ufunc__``), kernels for methods: all
look here. Handlers are written in terms of others, or stand in `gather.py`, `statistics.py`, `algebra.py` and
`elementary.py`. What has none is refused, with what to write in its place: docs/reference/numpy.md.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ringmill.trace import algebra, elementary, gather, statistics
from ringmill.trace.base import UFUNCS, Tensor
from ringmill.trace.where import MissingError, refuse

Handler = Callable[..., Any]


def _moves(*names: str) -> dict[str, Handler]:
    """Functions of one array that only move elements: NumPy says which goes where."""
    functions = {name: getattr(np, name) for name in names if hasattr(np, name)}
    return {name: functools.partial(gather.by_numbers, function) for name, function in functions.items()}


def _joins(*names: str) -> dict[str, Handler]:
    """Functions of a sequence of arrays that are put side by side."""
    functions = {name: getattr(np, name) for name in names if hasattr(np, name)}
    return {name: functools.partial(gather.joined, function) for name, function in functions.items()}


def _reshape(x: Any, *shape: Any, order: str = "C", copy: Any = None, **old: Any) -> Any:
    wanted = shape or tuple(old.values())[:1]
    if order != "C":
        return gather.by_numbers(np.reshape, x, *wanted, order=order)
    return x.reshape(*wanted)


FUNCTIONS: dict[str, Handler] = {
    # Elements in another place.
    **_moves("flip", "fliplr", "flipud", "rot90", "swapaxes", "moveaxis", "squeeze", "expand_dims"),
    **_moves("broadcast_to", "take", "delete", "diagonal", "diag", "diagflat", "tril", "triu"),
    **_moves("atleast_1d", "atleast_2d", "split", "array_split", "hsplit", "vsplit", "unstack", "rollaxis"),
    **_moves("take_along_axis", "trim_zeros"),
    **_joins("concatenate", "concat", "stack", "vstack", "hstack", "column_stack", "dstack", "block"),
    "compress": lambda condition, x, axis=None: _compressed(x, condition, axis),
    "pad": gather.padded,
    "insert": gather.inserted,
    "append": lambda x, y, axis=None: gather.joined(
        np.concatenate, [x, y] if axis is not None else [_flat(x), _flat(y)], axis=axis or 0
    ),
    "repeat": gather.repeated,
    "tile": gather.tiled,
    "roll": gather.rolled,
    "reshape": _reshape,
    "ravel": lambda x, order="C": _flat(x) if order == "C" else gather.by_numbers(np.ravel, x, order=order),
    "transpose": lambda x, axes=None: x.transpose() if axes is None else x.transpose(tuple(axes)),
    "permute_dims": lambda x, axes=None: x.transpose() if axes is None else x.transpose(tuple(axes)),
    "matrix_transpose": lambda x: gather.by_numbers(np.matrix_transpose, x),
    "copy": lambda x, order="K", subok=False: x,
    "real": lambda x: (x + x.conj()) * 0.5,
    "imag": lambda x: (x - x.conj()) * -0.5j,
    # Sums.
    "sum": statistics.total,
    "mean": statistics.mean,
    "average": statistics.average,
    "var": statistics.var,
    "std": statistics.std,
    "cov": statistics.cov,
    "cumsum": statistics.cumsum,
    "cumulative_sum": lambda x, axis=None, **rest: statistics.cumsum(x, axis, **rest),
    "diff": statistics.diff,
    "prod": statistics.product,
    "trapezoid": statistics.trapezoid,
    # Of 0/1 values, such as comparisons give.
    "all": statistics.product,
    "any": lambda x, axis=None: 1 - statistics.product(1 - x, axis),
    "ptp": lambda x, axis=None: statistics.largest(x, axis) - statistics.largest(x, axis, least=True),
    **dict.fromkeys(("max", "amax"), statistics.largest),
    **dict.fromkeys(("min", "amin"), functools.partial(statistics.largest, least=True)),
    # Products.
    "dot": algebra.dot,
    "inner": algebra.inner,
    "outer": algebra.outer,
    "kron": algebra.kron,
    "vdot": lambda a, b: algebra.vecdot(_flat(a), _flat(b)),
    "tensordot": algebra.tensordot,
    "einsum": algebra.einsum,
    "convolve": algebra.convolve,
    "correlate": algebra.correlate,
    "polyval": algebra.polyval,
    "trace": lambda x, offset=0: gather.by_numbers(np.diagonal, x, offset).sum(-1),
    "linalg.trace": lambda x, *, offset=0: gather.by_numbers(np.diagonal, x, offset).sum(-1),
    "linalg.diagonal": lambda x, *, offset=0: gather.by_numbers(np.diagonal, x, offset),
    "linalg.norm": statistics.norm,
    "linalg.vector_norm": statistics.norm,
    "linalg.matrix_norm": statistics.norm,
    "linalg.matrix_power": algebra.matrix_power,
    "linalg.outer": algebra.outer,
    "linalg.matmul": lambda a, b: UFUNCS["matmul"](a, b),
    "linalg.multi_dot": lambda arrays: functools.reduce(UFUNCS["matmul"], arrays),
    "linalg.tensordot": algebra.tensordot,
    "linalg.vecdot": lambda a, b, axis=-1: algebra.vecdot(a, b, axis),
    "linalg.matrix_transpose": lambda x: gather.by_numbers(np.matrix_transpose, x),
    # Choices.
    "where": elementary.where,
    "clip": lambda x, a_min=None, a_max=None, *, min=None, max=None: elementary.clip(
        x, a_min if min is None else min, a_max if max is None else max
    ),
    # What is known without the values.
    "shape": lambda x: x.shape,
    "ndim": lambda x: x.ndim,
    "size": lambda x: x.size,
    "zeros_like": lambda x, **_: np.zeros(x.shape),
    "ones_like": lambda x, **_: np.ones(x.shape),
    "full_like": lambda x, fill_value, **_: np.full(x.shape, fill_value),
    "iscomplexobj": lambda x: False,
    "broadcast_arrays": lambda *arrays: _broadcast(arrays),
}

# Ufuncs beside the operators of base.py and those of one argument that are fitted as they are.
UFUNC_HANDLERS: dict[str, Handler] = {
    "absolute": elementary.absolute,
    "fabs": elementary.absolute,
    "sign": elementary.sign,
    "reciprocal": elementary.reciprocal,
    "maximum": elementary.maximum,
    "fmax": elementary.maximum,
    "minimum": functools.partial(elementary.maximum, least=True),
    "fmin": functools.partial(elementary.maximum, least=True),
    "heaviside": lambda x, half: elementary.greater(x, 0),
    "float_power": lambda a, b: UFUNCS["power"](a, b),
    "hypot": lambda a, b: elementary.unary("numpy.sqrt", np.sqrt, a * a + b * b),
    "vecdot": lambda a, b: algebra.vecdot(a, b),
    "matvec": lambda a, b: UFUNCS["matmul"](a, b),
    "vecmat": lambda a, b: UFUNCS["matmul"](a, b),
    "logical_and": lambda a, b: UFUNCS["multiply"](a, b),
    "logical_or": lambda a, b: _either(a, b),
    "logical_not": lambda a: 1 - a,
    "logical_xor": lambda a, b: elementary.difference(a, b) ** 2,
    "deg2rad": lambda x: x * (np.pi / 180),
    "radians": lambda x: x * (np.pi / 180),
    "rad2deg": lambda x: x * (180 / np.pi),
    "degrees": lambda x: x * (180 / np.pi),
    "logaddexp": lambda a, b: elementary.unary("numpy.logaddexp", _softplus, elementary.difference(a, b)) + b,
}


def _softplus(t: Any) -> Any:
    return np.logaddexp(0.0, t)


_KEEP = "Keep the value, and do it after decryption"
_CLEAR = "Encrypted values are finite numbers: leave it out"
_ORDER = (
    "The order of encrypted values would be encrypted: compare two by x > y, or take numpy.max or numpy.min"
)
_SOLVE = "Write the elimination out for the size that you have, with divisors that stay away from 0"

#: Names that have no handler, and what to do instead.
ADVICE: dict[str, str] = {
    **dict.fromkeys(("floor", "ceil", "trunc", "rint", "round", "around", "fix", "modf"), _KEEP),
    **dict.fromkeys(
        ("floor_divide", "remainder", "fmod", "mod", "divmod", "spacing", "nextafter", "frexp"), _KEEP
    ),
    **dict.fromkeys(("isnan", "isinf", "isfinite", "isneginf", "isposinf", "nan_to_num", "isnat"), _CLEAR),
    **dict.fromkeys(
        ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift", "bitwise_count"),
        "CKKS computes on real numbers: for 0/1 values use a*b, a+b-a*b and 1-a",
    ),
    **dict.fromkeys(
        ("equal", "not_equal", "array_equal", "isclose", "allclose"), "Compare the distance: abs(x - y) < 0.1"
    ),
    **dict.fromkeys(
        ("sort", "argsort", "partition", "argpartition", "median", "quantile", "percentile"), _ORDER
    ),
    **dict.fromkeys(
        ("argmax", "argmin", "searchsorted", "unique", "unique_values", "nonzero", "histogram"), _ORDER
    ),
    **dict.fromkeys(("bincount", "digitize", "interp", "lexsort", "count_nonzero", "in1d", "isin"), _ORDER),
    **dict.fromkeys(
        tuple(f"linalg.{n}" for n in ("inv", "solve", "det", "pinv", "lstsq", "cholesky", "qr", "slogdet")),
        _SOLVE,
    ),
    **dict.fromkeys(
        tuple(f"linalg.{n}" for n in ("svd", "eig", "eigh", "eigvals", "eigvalsh", "svdvals")), _SOLVE
    ),
    **dict.fromkeys(("linalg.matrix_rank", "linalg.cond"), _KEEP),
    **dict.fromkeys(("signbit",), "Write x < 0"),
    **dict.fromkeys(("copysign",), "Write abs(x) * numpy.sign(y)"),
    **dict.fromkeys(("arctan2",), "Take numpy.arctan(y / x) where x > 0 is declared"),
    **dict.fromkeys(("angle",), _KEEP),
    **dict.fromkeys(("cumprod", "cumulative_prod"), "Multiply slices: y = x[1:] * x[:-1] and so on"),
    **dict.fromkeys(
        ("cross", "linalg.cross"),
        "Write it by components, x[[1, 2, 0]] * y[[2, 0, 1]] - x[[2, 0, 1]] * y[[1, 2, 0]]",
    ),
    **dict.fromkeys(("corrcoef",), "Divide numpy.cov by the deviations, on a known interval"),
    **dict.fromkeys(
        ("save", "savetxt", "array2string", "array_repr", "array_str"),
        "Encrypted results are saved by their client",
    ),
    **dict.fromkeys(
        ("copyto", "put", "place", "putmask", "fill_diagonal"), "Build the result: x * mask + y * (1 - mask)"
    ),
    **dict.fromkeys(("meshgrid",), "Write x[None, :] and y[:, None]: they broadcast"),
    **dict.fromkeys(("astype",), "All are real or complex numbers: leave it out"),
    **dict.fromkeys(("gradient",), "Write differences of slices, x[2:] - x[:-2]"),
}

# Methods whose names or arguments differ from those of functions.
METHODS: dict[str, Handler] = {
    "flatten": lambda x, order="C": FUNCTIONS["ravel"](x, order),
    "astype": lambda x, dtype=float, **_: x,
    "squeeze": FUNCTIONS["squeeze"],
    "compress": lambda x, condition, axis=None: _compressed(x, condition, axis),
    "flat": lambda x: x,
    "conjugate": lambda x: x.conj(),
    "dot": algebra.dot,
}
PROPERTIES = ("real", "imag")
_METHODS = (
    *(
        "sum",
        "mean",
        "var",
        "std",
        "max",
        "min",
        "cumsum",
        "prod",
        "ravel",
        "swapaxes",
        "squeeze",
        "repeat",
        "ptp",
    ),
    *(
        "take",
        "compress",
        "diagonal",
        "trace",
        "clip",
        "copy",
        "round",
        "argmax",
        "argmin",
        "sort",
        "argsort",
        "any",
    ),
    *("all", "nonzero", "cumprod", "searchsorted", "partition", "put", "flatten", "astype", "conjugate"),
)


def _flat(x: Any) -> Any:
    if not isinstance(x, Tensor):
        return np.ravel(x)
    values: Any = x
    return x if x.ndim == 1 else values.reshape(-1)


def _compressed(x: Any, condition: Any, axis: Any) -> Any:
    if isinstance(condition, Tensor):
        refuse("BadIndex", "an encrypted condition of numpy.compress", "Multiply by the condition instead")
    return gather.by_numbers(lambda index: np.compress(condition, index, axis), x)


def _broadcast(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    shape = np.broadcast_shapes(*(np.shape(a) for a in arrays))
    return tuple(np.broadcast_to(a, shape) for a in arrays)


def _either(a: Any, b: Any) -> Any:
    return UFUNCS["subtract"](UFUNCS["add"](a, b), UFUNCS["multiply"](a, b))


def method(x: Tensor, name: str) -> Any:
    """A method or an attribute of NumPy's arrays."""
    if name in PROPERTIES:
        return FUNCTIONS[name](x)
    handler = METHODS.get(name) or (FUNCTIONS.get(name) if name in _METHODS else None)
    if handler is not None:
        return functools.partial(_called, name, handler, x)
    if name in _METHODS or name in ADVICE:
        raise MissingError(f"an encrypted {x.kind} has no {name!r}", ADVICE[name])
    raise MissingError(
        f"an encrypted {x.kind} has no {name!r}",
        f"Beside operators and methods of NumPy's arrays there are {x.offers}",
    )


def _called(name: str, handler: Handler, *args: Any, **options: Any) -> Any:
    """A handler, called as NumPy's function would be; options that change nothing are left out."""
    options = {k: v for k, v in options.items() if not _usual(k, v)}
    if "out" in options:
        refuse(
            "UnsupportedConstruct",
            f"numpy.{name} into an array is not possible: the result is encrypted",
            "Leave out=… away, and take what the function returns",
        )
    try:
        inspect.signature(handler).bind(*args, **options)
    except TypeError as error:
        refuse(
            "BadArguments",
            f"numpy.{name}: {error}",
            "Give the arguments that stand in docs/reference/numpy.md",
        )
    except ValueError:  # no signature
        pass
    return handler(*args, **options)


def _usual(option: str, value: Any) -> bool:
    if option in ("out", "initial") and (value is None or value is np._NoValue):
        return True
    if option == "dtype":
        return value is None or np.dtype(value).kind in "fc"
    return option in ("where", "subok", "copy", "keepdims") and value is np._NoValue


def of_function(
    x: Tensor, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """What ``function(*args, **options)`` gives, one of its arguments being encrypted."""
    module = getattr(function, "__module__", "") or ""
    inner = module.removeprefix("numpy").lstrip(".")
    name = f"{inner}.{function.__name__}" if inner in ("linalg", "fft") else function.__name__
    handler = FUNCTIONS.get(name)
    if handler is None:
        refuse("UnsupportedFunction", f"numpy.{name} of an encrypted {x.kind} is not possible", _advice(name))
    return _called(name, handler, *args, **options)


def _advice(name: str) -> str:
    return ADVICE.get(name, "Write it in sums, products and functions that docs/reference/numpy.md lists")


def of_ufunc(
    x: Tensor, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """What a ufunc of encrypted values gives."""
    name = ufunc.__name__
    options = {k: v for k, v in options.items() if not _usual(k, v)}
    if method != "__call__":
        return _ufunc_method(x, name, method, inputs, options)
    if "out" in options:
        refuse(
            "UnsupportedConstruct",
            f"numpy.{name} of an encrypted {x.kind} into an array is not possible: the result is encrypted",
            "Write a = a + x in place of a += x, and so for other operators, without out=",
        )
    if options:
        refuse(
            "UnsupportedFunction",
            f"numpy.{name} of an encrypted {x.kind} with {', '.join(options)} is not possible",
            "Leave the options away; numpy.where(mask, a, b) chooses by a clear mask",
        )
    handler = UFUNCS.get(name) or UFUNC_HANDLERS.get(name)
    if handler is not None:
        return handler(*inputs)
    if name in ADVICE or ufunc.nin != 1 or ufunc.nout != 1:
        refuse("UnsupportedFunction", f"numpy.{name} of an encrypted {x.kind} is not possible", _advice(name))
    own = hasattr(np, name)
    return elementary.unary(f"numpy.{name}" if own else name, ufunc, x)


_REDUCED = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}


def _ufunc_method(x: Tensor, name: str, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if method == "reduce" and name in _REDUCED:
        rest = dict(zip(("axis",), inputs[1:], strict=False))
        return _called(name, FUNCTIONS[_REDUCED[name]], inputs[0], **{"axis": 0, **rest, **options})
    if method == "accumulate" and name == "add":
        return _called("cumsum", FUNCTIONS["cumsum"], *inputs, **{"axis": 0, **options})
    if method == "outer" and not options:
        a, b = inputs
        return UFUNCS[name](np.reshape(a, (*np.shape(a), *[1] * np.ndim(b))), b)
    refuse(
        "UnsupportedFunction",
        f"numpy.{name}.{method} of an encrypted {x.kind} is not possible",
        "Use the operator, and x.sum() for sums",
    )
