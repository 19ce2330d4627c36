"""A module of HEIR as a program: what it takes, what it computes, and how a client packs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmill._native import Params
from ringmill.errors import FileFormatError, MismatchError, ProgramError, RingmillError, fail
from ringmill.interop.heir import mlir
from ringmill.interop.heir.interpret import Interpreter, reached, tensor_of, unknown
from ringmill.trace import Kernel, kernel, vector
from ringmill.trace.callables import with_arguments
from ringmill.trace.marks import bootstrap

if TYPE_CHECKING:
    from ringmill.compiled import Compiled


#: Bits of the largest primes of parameters here.
LARGEST_PRIME = 60


@dataclass(frozen=True)
class Scheme:
    """Parameters as the module has them: ring degree 2^log_n, primes, and log2 of the scale."""

    log_n: int
    q: list[int]
    p: list[int]
    scale_bits: int

    def params(self, *, insecure: bool = False) -> Params:
        """Return the parameters; digits are as many as the special primes allow.

        HEIR takes special primes above 2^60, which machines here have no words for. As many primes below it
        stand for them: ciphertexts are the same, and evaluation keys are made here.

        Raises
        ------
        ParameterError
            The module's parameters have less than 128 bits of security.
        """
        dnum, special = -(-len(self.q) // max(len(self.p), 1)), self.p
        if any(prime.bit_length() > LARGEST_PRIME for prime in special):
            count = len(special) + len(self.q)
            near = Params.from_bits(
                self.log_n, [LARGEST_PRIME], [LARGEST_PRIME] * count, 1, scale_bits=40, insecure=True
            ).p
            special = [prime for prime in near if prime not in self.q][: len(self.p)]
        return Params.from_primes(
            self.log_n, self.q, special, dnum, scale_bits=self.scale_bits, insecure=insecure
        )


@dataclass(frozen=True)
class Argument:
    """An argument of the server's function: its ciphertexts, or the shape of a clear one.

    ``zero`` marks an encryption of zero, with which a sum begins; nobody gives it here.
    """

    name: str
    shape: tuple[int, ...] | None
    encrypted: bool
    zero: bool = False

    @property
    def parts(self) -> list[str]:
        """The names of its ciphertexts."""
        count = math.prod(self.shape or ())
        return [self.name] if count == 1 else [f"{self.name}_{i}" for i in range(count)]


class Program:
    """A function of a module, with the functions by which its client packs and unpacks."""

    def __init__(self, module: Any, function: str | None = None) -> None:
        self._functions = mlir.functions(module)
        self.name = _entry(self._functions, function)
        self.slots = _slots(module)
        self.scheme = _scheme(module)
        body = self._functions[self.name].regions[0].block
        zeros = _zeros(self._functions[self.name], len(body.args))
        self._all = [
            Argument(f"arg{i}", mlir.shape_of(a.type), mlir.holds_ciphertexts(a.type), zero)
            for i, (a, zero) in enumerate(zip(body.args, zeros, strict=True))
        ]
        self.arguments = [argument for argument in self._all if not argument.zero]
        self._results = [mlir.shape_of(operand.type) for operand in body.last_op.operands]
        own = [self.name, *(name for name in self._functions if name.startswith(f"{self.name}__"))]
        missing = unknown(self._functions[name] for name in reached(self._functions, own))
        if missing:
            listed = ", ".join(f"{name} ({count} times)" for name, count in sorted(missing.items()))
            fail(
                ProgramError,
                "Operation",
                f"The module has operations that Ringmill does not know: {listed}. Lower it to the CKKS "
                "dialect with --torch-linalg-to-ckks or --mlir-to-ckks.",
                operations=missing,
            )
        if not any(argument.encrypted for argument in self.arguments):
            fail(ProgramError, "NothingEncrypted", f"No argument of {self.name} is a ciphertext.")

    def __repr__(self) -> str:
        given = ", ".join(a.name for a in self.arguments)
        return f"<HEIR program {self.name}({given}), {self.slots} slots, N = 2^{self.scheme.log_n}>"

    # --- the client's functions -----------------------------------------------------------------------------

    def pack(self, *values: Any) -> dict[str, Any]:
        """Return the vectors that are encrypted for arguments in their order, and clear arguments, by name.

        Raises
        ------
        MismatchError
            Another number of arguments, or an argument of another shape.
        """
        if len(values) != len(self.arguments):
            fail(
                MismatchError,
                "Arguments",
                f"{self.name} takes {len(self.arguments)} arguments, and {len(values)} were given.",
            )
        packed: dict[str, Any] = {}
        for index, value in enumerate(values):
            packed.update(self.pack_argument(index, value))
        return packed

    def pack_argument(self, index: int, value: Any) -> dict[str, Any]:
        """Return the vectors that are encrypted for one argument, by name; a clear argument as it is."""
        argument = self.arguments[index]
        if not argument.encrypted:
            return {argument.name: _shaped(argument.name, value, argument.shape)}
        function = self._client(f"encrypt__{argument.name}")
        taken, *keys = self._functions[function].regions[0].block.args
        given = _shaped(argument.name, value, mlir.shape_of(taken.type))
        (vectors,) = self._clear.call(function, [given, *[None] * len(keys)])
        parts = [vectors] if argument.shape is None else list(vectors.reshape(-1))
        return dict(zip(argument.parts, parts, strict=True))

    def unpack(self, results: Any) -> Any:
        """Return the result from decrypted vectors by name (`out0`, `out1` … in the order of ciphertexts).

        A module of one result gives an array or a number, one of several a tuple.
        """
        vectors = list(results.values()) if isinstance(results, dict) else list(results)
        found = []
        for index, shape in enumerate(self._results):
            count = math.prod(shape or ())
            own, vectors = [np.asarray(vector) for vector in vectors[:count]], vectors[count:]
            function = self._client(f"decrypt__result{index}")
            keys = len(self._functions[function].regions[0].block.args) - 1
            given = own[0] if shape is None else tensor_of(own, shape)
            found += self._clear.call(function, [given, *[None] * keys])
        return found[0] if len(found) == 1 else tuple(found)

    def __call__(self, *values: Any) -> Any:
        """Return the result in the clear, by the module's own functions on arrays of slots."""
        packed = self.pack(*values)
        results = self._clear.call(self.name, self._operands(packed))
        return self.unpack(_flat(results))

    # --- the server's function ------------------------------------------------------------------------------

    @cached_property
    def kernel(self) -> Kernel:
        """The server's function as a kernel of vectors; what is clear is an argument in the clear."""

        def body(**given: Any) -> tuple[Any, ...]:
            machine = Interpreter(self._functions, self.slots, bootstrap)
            return tuple(_flat(machine.call(self.name, self._operands(given))))

        names = [n for a in self.arguments for n in (a.parts if a.encrypted else [a.name])]
        return kernel(with_arguments(body, self.name, names))

    def compile(self, *, faithful: bool = False, insecure: bool = False, **options: Any) -> Compiled:
        """Compile the server's function.

        Args:
            faithful: keep the module's ring degree, primes and scale, so that a client may keep its
                ciphertexts. Otherwise parameters are chosen for the arithmetic, by `precision` and
                `magnitude`.
            insecure: take the module's parameters even below 128 bits of security.
            **options: clear arguments by name, and options of `Kernel.compile`.

        Raises
        ------
        ParameterError
            The module's parameters do not hold the program, or have less than 128 bits of security.
        """
        if faithful:
            options["params"] = self.scheme.params(insecure=insecure)
        for argument in self.arguments:
            if argument.encrypted:
                options.update({name: vector(self.slots) for name in argument.parts})
            elif argument.name not in options:
                fail(
                    MismatchError,
                    "Arguments",
                    f"{argument.name} of {self.name} is clear: give its value, {argument.name}=…",
                )
        return self.kernel.compile(**options)

    # --- inside ---------------------------------------------------------------------------------------------

    @property
    def _clear(self) -> Interpreter:
        return Interpreter(self._functions, self.slots)

    def _client(self, role: str) -> str:
        name = f"{self.name}__{role}"
        if name not in self._functions:
            fail(ProgramError, "Function", f"The module has no function {name}, which the client needs.")
        return name

    def _operands(self, given: dict[str, Any]) -> list[Any]:
        operands: list[Any] = []
        for argument in self._all:
            if not (argument.encrypted or argument.zero):
                operands.append(given[argument.name])
                continue
            parts = [np.zeros(self.slots) if argument.zero else given[name] for name in argument.parts]
            operands.append(parts[0] if argument.shape is None else tensor_of(parts, argument.shape))
        return operands


def load(source: str | Path, function: str | None = None) -> Program:
    """Read a module of HEIR's CKKS dialect.

    Args:
        source: the path of a file, or the module's text.
        function: the function to run; needed where the module has several with the role of a server.

    Raises
    ------
    FileFormatError
        The text is no module, or has no parameters.
    ProgramError
        The module has operations that are not known; all are named.
    CommandError
        The package xdsl is not installed.
    """
    text = source if isinstance(source, str) and "\n" in source else None
    if text is None:
        path = Path(source)
        try:
            if path.stat().st_size > mlir.LARGEST:
                fail(FileFormatError, "TooLarge", f"{path} has more than {mlir.LARGEST >> 20} MB.")
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            fail(FileFormatError, "Unreadable", f"{path} cannot be read: {error}.")
    module = mlir.read(text)
    try:
        return Program(module, function)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, RingmillError):
            raise
        fail(FileFormatError, "NoModule", f"The module is not one of HEIR: {error}.")


def _flat(results: list[Any]) -> list[Any]:
    found: list[Any] = []
    for result in results:
        tensor = isinstance(result, np.ndarray) and result.dtype.hasobject
        found += list(result.reshape(-1)) if tensor else [result]
    return found


def _shaped(name: str, value: Any, shape: tuple[int, ...] | None) -> Any:
    array = np.asarray(value, np.float64)
    if array.shape != (shape or ()):
        fail(
            MismatchError,
            "Shape",
            f"{name} has the shape {array.shape}, and the module takes {shape or 'a number'}.",
        )
    if not np.isfinite(array).all():
        fail(MismatchError, "NotFinite", f"{name} has values that are no finite numbers.")
    return float(array) if shape is None else array


def _entry(functions: dict[str, Any], wanted: str | None) -> str:
    if wanted is not None:
        if wanted not in functions:
            known = ", ".join(functions)
            fail(ProgramError, "Function", f"The module has no function {wanted}; it has {known}.")
        return wanted
    servers = [name for name, function in functions.items() if "entry" in _roles(function)]
    if len(servers) != 1:
        fail(
            ProgramError,
            "Function",
            f"The module has {len(servers)} functions of the role entry. Name one: function=…, "
            f"one of {', '.join(functions)}.",
        )
    return servers[0]


def _roles(function: Any) -> list[str]:
    interface = mlir.attribute(function, "heir.interface")
    roles = interface.data.get("roles") if interface is not None else None
    return [str(role.data) for role in roles.data] if roles is not None else []


def _zeros(function: Any, count: int) -> list[bool]:
    """Which arguments are encryptions of zero."""
    given = mlir.attribute(function, "arg_attrs")
    each = given.data if given is not None else [None] * count
    return [one is not None and "client.enc_zero_arg" in one.data for one in each]


def _slots(module: Any) -> int:
    for name in ("scheme.requested_slot_count", "scheme.actual_slot_count"):
        given = module.attributes.get(name)
        if given is not None:
            return int(given.value.data)
    fail(FileFormatError, "Slots", "The module does not say how many slots its ciphertexts have.")


def _scheme(module: Any) -> Scheme:
    given = module.attributes.get("ckks.schemeParam")
    text = str(given.value.data) if given is not None else ""

    def number(name: str) -> int:
        return int(re.search(rf"\b{name} = (\d+)", text)[1])  # type: ignore[index]

    def numbers(name: str) -> list[int]:
        return [int(n) for n in re.search(rf"\b{name} = \[([\d, ]*)\]", text)[1].split(",") if n.strip()]  # type: ignore[index]

    try:
        return Scheme(number("logN"), numbers("Q"), numbers("P"), number("logDefaultScale"))
    except (TypeError, ValueError):
        fail(
            FileFormatError,
            "NoScheme",
            "The module has no CKKS parameters (ckks.schemeParam). Lower it to the CKKS dialect first.",
        )
