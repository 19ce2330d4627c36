"""The calls that Orion makes of a library, recorded: its layers see ciphertexts and plaintexts by number."""

# The calls and their names are Orion's.
# ruff: noqa: D102, N802

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmill.errors import CommandError, MismatchError, ProgramError, fail
from ringmill.interop.orion.recorded import Node, Series, Transform, evaluated, kernel_of, ordered, shape
from ringmill.trace import vector

if TYPE_CHECKING:
    from ringmill.compiled import Compiled
    from ringmill.keys import Keys

#: How far a scale may be from the nominal one: primes of a chain differ from it by less.
_DRIFT = 0.01

_UNSAVED = (
    *("SerializeSecretKey", "LoadSecretKey", "GenerateAndSerializeRotationKey", "LoadRotationKey"),
    *("RemoveRotationKeys", "SerializeDiagonal", "LoadPlaintextDiagonal", "RemovePlaintextDiagonals"),
)

#: Of a library that computes at once: keys, evaluators and memory that a recording has not.
_NOTHING = (
    *("NewKeyGenerator", "GenerateSecretKey", "GeneratePublicKey", "GenerateRelinearizationKey"),
    *("GenerateEvaluationKeys", "NewEncoder", "NewEncryptor", "NewDecryptor", "NewEvaluator"),
    *("NewPolynomialEvaluator", "NewLinearTransformEvaluator", "NewBootstrapper", "AddRotationKey"),
    *("GenerateLinearTransformRotationKey", "DeleteBootstrappers", "FreeCArray"),
)

#: Operations on two ciphertexts, on a ciphertext and a plaintext, and on a ciphertext and a number.
_TWO = {"AddCiphertext": "add", "SubCiphertext": "sub", "MulRelinCiphertext": "mul"}
_PLAIN = {"AddPlaintext": "add_plain", "SubPlaintext": "sub_plain", "MulPlaintext": "mul_plain"}
_NUMBER = {
    **{"AddScalar": "add_plain", "SubScalar": "sub_plain"},
    **{"MulScalarInt": "mul_plain", "MulScalarFloat": "mul_plain"},
}


class _Table(dict[int, Any]):
    """Objects by number; a number stands for one object."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what, self.next = what, 0

    def put(self, value: Any) -> int:
        self[self.next] = value
        self.next += 1
        return self.next - 1

    def __missing__(self, number: int) -> Any:
        fail(
            MismatchError,
            "NoObject",
            f"There is no {self.what} {number}: it was deleted, or belongs to another scheme.",
        )


class Backend:
    """What Orion calls a backend.

    Args:
        orion: Orion's parameters (`NewParameters`).
        **options: of `Kernel.compile`, such as `precision`. `magnitude` is worked out from what is encrypted
            unless it is given.

    Attributes
    ----------
        compiled: the kernels that were compiled, in their order.
    """

    def __init__(self, orion: Any, **options: Any) -> None:
        if orion.get_ringtype() != "standard":
            fail(
                ProgramError,
                "Ring",
                f"The ring type is {orion.get_ringtype()}. Ringmill computes in the standard ring: "
                "write ringtype: Standard.",
            )
        if orion.get_io_mode() != "none":
            self._unsaved()
        self.slots: int = orion.get_slots()
        self.scale: int = orion.get_default_scale()
        self._chain = [1 << bits for bits in orion.get_logq()]
        self._options = options
        self._plain, self._cipher = _Table("plaintext"), _Table("ciphertext")
        self._transforms, self._series = _Table("linear transform"), _Table("polynomial")
        self._kernels: dict[tuple[bytes, float], tuple[Compiled, Keys]] = {}

    @property
    def compiled(self) -> list[Compiled]:
        """The kernels that were compiled."""
        return [compiled for compiled, _ in self._kernels.values()]

    def within(self, numbers: list[int], bound: float) -> None:
        """Promise that no slot of these ciphertexts is larger than `bound`."""
        for number in numbers:
            node = self._cipher[number]
            if node.kind != "input":
                node.bound = bound if node.bound is None else min(bound, node.bound)

    # --- plaintexts -----------------------------------------------------------------------------------------

    def Encode(self, values: list[float], level: int, scale: int) -> int:
        del scale  # values are kept as they are
        return self._plain.put((self._vector(values), level))

    def Decode(self, number: int) -> list[float]:
        found: list[float] = self._plain[number][0].tolist()
        return found

    def DeletePlaintext(self, number: int) -> None:
        self._plain.pop(number, None)

    def GetPlaintextLevel(self, number: int) -> int:
        return int(self._plain[number][1])

    def SetPlaintextScale(self, number: int, scale: int) -> None:
        self._nominal(self._plain[number] and scale)

    def GetLivePlaintexts(self) -> list[int]:
        return list(self._plain)

    # --- ciphertexts ----------------------------------------------------------------------------------------

    def Encrypt(self, number: int) -> int:
        values, level = self._plain[number]
        return self._cipher.put(Node("input", values=values, level=level))

    def Decrypt(self, number: int) -> int:
        node = self._cipher[number]
        return self._plain.put((self._run(node), node.level))

    def DeleteCiphertext(self, number: int) -> None:
        self._cipher.pop(number, None)

    def GetCiphertextLevel(self, number: int) -> int:
        return int(self._cipher[number].level)

    def GetCiphertextDegree(self, number: int) -> int:
        return 1 if self._cipher[number] else 0

    def SetCiphertextScale(self, number: int, scale: int) -> None:
        self._nominal(self._cipher[number] and scale)

    def GetLiveCiphertexts(self) -> list[int]:
        return list(self._cipher)

    def GetCiphertextScale(self, number: int) -> int:
        return self.scale if self._cipher[number] else 0

    def GetPlaintextScale(self, number: int) -> int:
        return self.scale if self._plain[number] else 0

    def GetCiphertextSlots(self, number: int) -> int:
        return self.slots if self._cipher[number] else 0

    def GetPlaintextSlots(self, number: int) -> int:
        return self.slots if self._plain[number] else 0

    def GetModuliChain(self) -> list[int]:
        """The scales that primes stand for: the primes are chosen later."""
        return list(self._chain)

    # --- operations -----------------------------------------------------------------------------------------

    def Negate(self, number: int) -> int:
        return self._new("negate", number)

    def Rotate(self, number: int, amount: int) -> int:
        return self._new("rotate", number, extra=amount, into=number)

    def RotateNew(self, number: int, amount: int) -> int:
        return self._new("rotate", number, extra=amount)

    def Rescale(self, number: int) -> int:
        self._cipher[number] = self._lower(self._cipher[number])
        return number

    def RescaleNew(self, number: int) -> int:
        return self._cipher.put(self._lower(self._cipher[number]))

    def GenerateLinearTransform(
        self, indices: list[int], data: list[float], level: int, ratio: float, io_mode: str
    ) -> int:
        """Take a matrix by its diagonals, one after the other in `data`."""
        del level, ratio  # the steps are planned here
        if io_mode != "none":
            self._unsaved()
        if len(data) != len(indices) * self.slots:
            fail(
                MismatchError,
                "Diagonals",
                f"{len(indices)} diagonals of {self.slots} slots have {len(indices) * self.slots} numbers, "
                f"and {len(data)} were given.",
            )
        rows = self._finite(np.asarray(data, np.float64)).reshape(len(indices), self.slots)
        given = zip(indices, rows, strict=True)
        return self._transforms.put(Transform({index % self.slots: row for index, row in given}))

    def EvaluateLinearTransform(self, transform: int, number: int) -> int:
        return self._new("transform", number, extra=self._transforms[transform])

    def DeleteLinearTransform(self, number: int) -> None:
        self._transforms.pop(number, None)

    def GetLinearTransformRotationKeys(self, number: int) -> list[int]:
        """None: keys are those of the kernel that is planned."""
        del number
        return []

    def GenerateMonomial(self, coefficients: list[float]) -> int:
        return self._series.put(Series(tuple(self._finite(coefficients).tolist()), chebyshev=False))

    def GenerateChebyshev(self, coefficients: list[float]) -> int:
        return self._series.put(Series(tuple(self._finite(coefficients).tolist()), chebyshev=True))

    def GetPolyDepth(self, number: int) -> int:
        return int(self._series[number].depth)

    def EvaluatePolynomial(self, number: int, polynomial: int, scale: int) -> int:
        del scale
        series = self._series[polynomial]
        return self._new("polynomial", number, extra=series, down=series.depth)

    def GenerateMinimaxSignCoeffs(
        self, degrees: list[int], prec: int, logalpha: int, logerr: int, debug: int
    ) -> list[float]:
        """Coefficients of polynomials whose composition is a step, by the library that Orion brings."""
        return _minimax(degrees, prec, logalpha, logerr, debug)

    def Bootstrap(self, number: int, slots: int) -> int:
        del slots  # the others hold nothing that counts
        made = self._new("bootstrap", number)
        self._cipher[made].level = len(self._chain) - 1
        return made

    def DeleteScheme(self) -> None:
        """Forget all objects."""
        for table in (self._plain, self._cipher, self._transforms, self._series):
            table.clear()
        self._kernels.clear()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        base = name.removesuffix("New")
        into = name == base
        if base in _TWO:
            return lambda a, b: self._new(_TWO[base], a, b, into=a if into else None)
        if base in _PLAIN:
            return lambda a, b: self._plainly(_PLAIN[base], a, self._plain[b][0], into)
        if base in _NUMBER:
            return lambda a, x: self._plainly(_NUMBER[base], a, float(self._finite(x)), into)
        if name in _NOTHING:
            return lambda *_: None
        if name in _UNSAVED:
            self._unsaved()
        raise AttributeError(f"a backend of Orion has no call {name} that is known here")

    # --- inside ---------------------------------------------------------------------------------------------

    def _new(
        self, kind: str, *numbers: int, extra: Any = None, into: int | None = None, down: int = 0
    ) -> int:
        operands = tuple(self._cipher[number] for number in numbers)
        level = max(min(operand.level for operand in operands) - down, 0)
        node = Node(kind, operands, extra, level=level)
        if into is None:
            return self._cipher.put(node)
        self._cipher[into] = node
        return into

    def _plainly(self, kind: str, number: int, extra: Any, into: bool) -> int:
        return self._new(kind, number, extra=extra, into=number if into else None)

    def _lower(self, node: Node) -> Node:
        # The value stays: the level alone is counted, for layers that ask for it.
        return Node(node.kind, node.operands, node.extra, node.values, max(node.level - 1, 0), node.bound)

    def _vector(self, values: Any) -> Any:
        vector = self._finite(np.asarray(values, np.float64))
        if vector.shape != (self.slots,):
            fail(
                MismatchError, "Slots", f"A plaintext has {self.slots} values, and {vector.size} were given."
            )
        return vector

    def _finite(self, values: Any) -> Any:
        found = np.asarray(values, np.float64)
        if not np.isfinite(found).all():
            fail(MismatchError, "NotFinite", "Values and weights are finite numbers; some are not.")
        return found

    def _nominal(self, scale: int) -> None:
        if not math.isclose(scale, self.scale, rel_tol=_DRIFT):
            fail(
                ProgramError,
                "Scale",
                f"The scale {scale:g} would multiply values by {self.scale / scale:g}: scales are planned "
                "here. Multiply by the number instead.",
            )

    def _unsaved(self) -> None:
        fail(
            ProgramError,
            "IoMode",
            "Keys and diagonals in files of Orion are not read or written. Set io_mode: none; a kernel and "
            "its keys are saved by backend.compiled[0].save and keygen().save.",
        )

    def _run(self, node: Node) -> Any:
        """Decrypt what the recorded operations give on encrypted inputs."""
        nodes = ordered(node)
        given = [one.values for one in nodes if one.kind == "input"]
        if node.kind == "input":
            return node.values
        largest = max((float(np.abs(values).max()) for values in given if values is not None), default=0.0)
        # A power of two, and 1 at least: few kernels serve all data.
        bound = float(self._options.get("magnitude", 2.0 ** math.ceil(math.log2(max(largest, 1.0)))))
        key = (shape(nodes), bound)
        if key not in self._kernels:
            vectors = {f"x{i}": vector(self.slots) for i in range(len(given))}
            compiled = kernel_of(nodes).compile(**vectors, **{**self._options, "magnitude": bound})
            self._kernels[key] = (compiled, compiled.keygen())
        compiled, keys = self._kernels[key]
        named: dict[str, Any] = {f"x{i}": values for i, values in enumerate(given)}
        found = compiled.run(keys, **named)
        return np.real(found if isinstance(found, np.ndarray) else next(iter(found.values())))

    def clear(self, number: int) -> Any:
        """The value of a ciphertext in the clear, by the recorded operations on arrays."""
        nodes = ordered(self._cipher[number])
        return evaluated(nodes, [one.values for one in nodes if one.kind == "input"])


def _minimax(degrees: list[int], prec: int, logalpha: int, logerr: int, debug: int) -> list[float]:
    import ctypes

    try:
        from orion.backend.lattigo import bindings

        library = bindings.LattigoLibrary()
    except (ImportError, RuntimeError) as error:
        fail(
            CommandError,
            "NoMinimax",
            f"Polynomials of a step come from the library that Orion brings. It cannot be loaded: {error}.",
        )
    ints = ctypes.POINTER(ctypes.c_int)
    function = bindings.LattigoFunction(
        library.lib.GenerateMinimaxSignCoeffs,
        argtypes=[ints, *[ctypes.c_int] * 5],
        restype=bindings.ArrayResultDouble,
    )
    bindings.LattigoFunction.FreeCArray = bindings.LattigoFunction(
        library.lib.FreeCArray, argtypes=[ctypes.c_void_p], restype=None
    )
    found: list[float] = function(list(degrees), prec, logalpha, logerr, debug)
    return found


#: Every call that Orion makes of a library.
CALLS = sorted(
    {
        *(name for name in vars(Backend) if name[0].isupper()),
        *(name + end for name in (*_TWO, *_PLAIN, *_NUMBER) for end in ("", "New")),
        *_NOTHING,
        *_UNSAVED,
    }
)
